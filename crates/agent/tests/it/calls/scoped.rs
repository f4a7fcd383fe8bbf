//! Answers are known by their scope, so that work which goes on in the middle finds its own.

use std::sync::{Arc, Mutex};

use a2a::types::TaskState;
use agent::{Agent, Manifest, Options};
use serde_json::json;
use skill::{Context, SkillError, SkillInput, skill};
use store::Store;

use super::support::{Approval, Bench, approved, registry, state, tables};

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct Nothing {}

/// Remembers what it has done, as work does that goes on in the middle.
#[derive(Clone, Default)]
struct Careful {
    done: Arc<Mutex<Vec<String>>>,
}

#[skill(tags = ["test"], examples = ["be careful"], replayable)]
impl Careful {
    /// Asks about two things, each under its own name, and goes on with the second if the first is done.
    async fn run(&self, _input: Nothing, ctx: Context) -> Result<String, SkillError> {
        for name in ["first", "second"] {
            if self.done.lock().unwrap().iter().any(|it| it == name) {
                continue;
            }
            let asked: Approval = ctx.scoped(name).ask(format!("{name}?")).await?;
            let who = format!("{name} {}", asked.approved);
            ctx.call("greet", json!({ "who": who })).await?;
            self.done.lock().unwrap().push(name.to_owned());
        }
        Ok("both".to_owned())
    }
}

async fn bench(careful: &Careful, store: &Store) -> Bench {
    let mut options = Options::default();
    options.skills = registry().with(careful.clone()).unwrap();
    Bench::on(
        Agent::create(Manifest::new("Test"), options).unwrap(),
        store.clone(),
    )
    .await
}

#[tokio::test]
async fn work_that_goes_on_in_the_middle_finds_its_own_answers() {
    let (careful, store) = (Careful::default(), Store::memory(&tables()));
    let before = bench(&careful, &store).await;
    let task = before.call("careful", json!({})).await.unwrap();
    assert_eq!(state(&task), TaskState::InputRequired);
    let task = before.answer(&task, approved()).await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "the second question"
    );
    assert_eq!(*careful.done.lock().unwrap(), ["first"]);
    drop(before);

    // Another process: the first is done, so the second is the first question that is asked. It has no answer yet.
    let after = bench(&careful, &store).await;
    let task = after
        .answer(&task, Some(json!({ "approved": false })))
        .await;
    assert_eq!(state(&task), TaskState::Completed);
    assert_eq!(skill::extension::output(&task), Some(json!("both")));
}
