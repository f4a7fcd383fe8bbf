//! The fence around a skill: its time, its output, hooks, and skills that call skills.

use std::sync::{Arc, Mutex};

use a2a::types::TaskState;
use agent::{Agent, Hook, Manifest, Options};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use skill::{
    Context, Definition, Handler, Outcome, Registry, Reply, SkillError, SkillInput, extension,
    skill,
};

use super::support::{Bench, greet, registry, said, state};

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct Nothing {}

/// Never ends.
#[skill(tags = ["test"], examples = ["wait"], seconds = 60)]
async fn wait(_input: Nothing) -> Result<(), SkillError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_skill_has_its_time_and_no_more() {
    let bench = Bench::with(Registry::new().with(wait).unwrap()).await;
    let task = bench.call("wait", json!({})).await.unwrap();
    assert_eq!(state(&task), TaskState::Failed);
    assert_eq!(extension::failure_code(&task).unwrap(), "timed-out");
    assert_eq!(said(&task), "the call took longer than its limit of 60s");
}

#[tokio::test(start_paused = true)]
async fn a_skill_that_does_not_listen_is_cancelled_all_the_same() {
    let bench = Bench::with(Registry::new().with(wait).unwrap()).await;
    let task = bench.begin("wait", json!({})).await;
    assert_eq!(state(&task), TaskState::Working);
    let cancelled = bench.cancel(&task.id).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
}

struct Liar;

impl Handler for Liar {
    fn run(&self, _: Value, _: Context) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Ok(Reply::Done(json!({ "text": 7 }))) })
    }
}

#[tokio::test]
async fn an_output_that_is_not_what_was_promised_is_a_failure() {
    let known = registry();
    let honest = known.get("greet").unwrap().clone();
    let skills = Registry::new()
        .with_handler(honest, Arc::new(Liar))
        .unwrap();
    let bench = Bench::with(skills).await;
    let task = bench.call("greet", json!({ "who": "Ada" })).await.unwrap();
    assert_eq!(state(&task), TaskState::Failed);
    assert_eq!(extension::failure_code(&task).unwrap(), "invalid-output");
    assert!(said(&task).contains("/text"), "{}", said(&task));
}

/// Writes down what passes, and answers for the skill when the name is Bob.
struct Watch(Arc<Mutex<Vec<String>>>, &'static str);

impl Hook for Watch {
    fn before<'a>(
        &'a self,
        definition: &'a Definition,
        input: &'a mut Value,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Reply<Value>>, SkillError>> {
        self.0
            .lock()
            .unwrap()
            .push(format!("{} before {}", self.1, definition.id));
        let bob = input["who"] == "Bob";
        let nobody = input["who"] == "Nobody";
        if input["who"] == "Eve" {
            input["who"] = json!("Alice");
        }
        Box::pin(async move {
            match (bob, nobody) {
                (true, _) => Ok(Some(Reply::Done(json!({ "text": "Bob again" })))),
                (_, true) => Err(SkillError::failed("nobody is there")),
                _ => Ok(None),
            }
        })
    }

    fn after<'a>(
        &'a self,
        _: &'a Definition,
        reply: Reply<Value>,
        _: &'a Context,
    ) -> BoxFuture<'a, Outcome> {
        self.0.lock().unwrap().push(format!("{} after", self.1));
        Box::pin(async { Ok(reply) })
    }

    fn on_error<'a>(
        &'a self,
        _: &'a Definition,
        error: SkillError,
        _: &'a Context,
    ) -> BoxFuture<'a, Outcome> {
        self.0.lock().unwrap().push(format!("{} error", self.1));
        Box::pin(async { Err(error) })
    }
}

#[tokio::test]
async fn hooks_see_calls_pass_change_them_and_answer_instead() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut options = Options::default();
    options.skills = Registry::new().with(greet).unwrap();
    options.hooks = vec![
        Arc::new(Watch(seen.clone(), "outer")),
        Arc::new(Watch(seen.clone(), "inner")),
    ];
    let bench = Bench::of(Agent::create(Manifest::new("Watched"), options).unwrap()).await;
    let take = || std::mem::take(&mut *seen.lock().unwrap());

    let task = bench.call("greet", json!({ "who": "Eve" })).await.unwrap();
    assert_eq!(extension::output(&task).unwrap()["text"], "Hello, Alice!");
    assert_eq!(
        take(),
        [
            "outer before greet",
            "inner before greet",
            "inner after",
            "outer after"
        ]
    );

    let task = bench.call("greet", json!({ "who": "Bob" })).await.unwrap();
    assert_eq!(extension::output(&task).unwrap()["text"], "Bob again");
    assert_eq!(take(), ["outer before greet", "outer after"]);

    let task = bench
        .call("greet", json!({ "who": "Nobody" }))
        .await
        .unwrap();
    assert_eq!(state(&task), TaskState::Failed);
    assert_eq!(take(), ["outer before greet", "outer error"]);
}

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct Relay {
    skill: String,
    input: Value,
}

/// Calls another skill.
#[skill(tags = ["test"], examples = ["relay"])]
async fn relay(input: Relay, ctx: Context) -> Result<Value, SkillError> {
    match ctx.call(&input.skill, input.input).await? {
        Reply::Done(output) => Ok(output),
        other => Err(SkillError::failed(format!("{other:?}"))),
    }
}

#[tokio::test]
async fn a_skill_calls_what_it_was_granted_and_nothing_else() {
    let bench = Bench::with(registry().with(relay).unwrap()).await;
    let relayed = async |skill: &str, input: Value| {
        let input = json!({ "skill": skill, "input": input });
        bench.call("relay", input).await.unwrap()
    };
    let task = relayed("greet", json!({ "who": "Ada" })).await;
    assert_eq!(extension::output(&task).unwrap()["text"], "Hello, Ada!");
    let task = relayed("greet", json!({})).await;
    assert_eq!(extension::failure_code(&task).unwrap(), "invalid-input");
    let task = relayed("fly", json!({})).await;
    assert_eq!(extension::failure_code(&task).unwrap(), "unknown-skill");

    // What it was not granted is not there for it.
    let mut manifest = Manifest::new("Narrow");
    let granted = [("relay".to_owned(), vec!["relay".to_owned()])];
    manifest.grants = granted.into_iter().collect();
    let mut options = Options::default();
    options.skills = registry().with(relay).unwrap();
    let narrow = Bench::of(Agent::create(manifest, options).unwrap()).await;
    let input = json!({ "skill": "greet", "input": { "who": "Ada" } });
    let task = narrow.call("relay", input).await.unwrap();
    assert_eq!(extension::failure_code(&task).unwrap(), "unknown-skill");

    // However deep they call each other, it ends.
    let mut input = json!({ "skill": "greet", "input": { "who": "Ada" } });
    for _ in 0..20 {
        input = json!({ "skill": "relay", "input": input });
    }
    let task = bench.call("relay", input).await.unwrap();
    assert!(said(&task).contains("nested more than"), "{}", said(&task));
}

#[tokio::test]
async fn tools_of_servers_are_granted_like_skills_and_hidden_ones_are_not_offered() {
    let mut manifest = Manifest::new("With tools");
    manifest.skills = Some(vec!["relay".to_owned()]);
    let granted = [("relay".to_owned(), vec!["greet".to_owned()])];
    manifest.grants = granted.into_iter().collect();
    let mut options = Options::default();
    options.skills = Registry::new().with(relay).unwrap();
    options.tools = registry().narrow(["order"]).unwrap();
    options.hidden_tools = registry().narrow(["greet"]).unwrap();
    let agent = Agent::create(manifest.clone(), options.clone()).unwrap();
    let ids: Vec<_> = agent.skills().iter().map(|it| it.id.clone()).collect();
    assert_eq!(ids, ["relay", "order"], "the manifest narrows skills alone");
    let bench = Bench::of(agent).await;
    let call = |skill: &str| json!({ "skill": skill, "input": { "who": "Ada", "what": "a lamp" } });
    let task = bench.call("relay", call("greet")).await.unwrap();
    assert_eq!(extension::output(&task).unwrap()["text"], "Hello, Ada!");
    let task = bench.call("relay", call("order")).await.unwrap();
    assert_eq!(extension::failure_code(&task).unwrap(), "unknown-skill");
    assert!(bench.call("greet", json!({ "who": "Ada" })).await.is_err());

    manifest.skills = None;
    options.skills = registry().with(relay).unwrap();
    let twice = Agent::create(manifest, options).unwrap_err();
    assert!(twice.to_string().contains("is registered twice"), "{twice}");
}
