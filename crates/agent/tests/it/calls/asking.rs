//! A skill asks, and the answer comes in another turn, maybe in another process.

use std::sync::Arc;

use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Message, TaskState};
use agent::{Agent, Manifest, Options};
use serde_json::json;
use skill::{Registry, Reply, SkillError, SkillInput, extension, skill};
use store::Store;
use tokio::sync::Semaphore;

use super::support::{Approval, Bench, Shop, approved, id, said, state, tables};

fn agent(shop: &Shop) -> Agent {
    let mut options = Options::default();
    options.skills = Registry::new()
        .with(shop.clone())
        .unwrap()
        .with(unsure)
        .unwrap();
    Agent::create(Manifest::new("Shop"), options).unwrap()
}

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct Nothing {}

/// Asks, and cannot be begun again.
#[skill(tags = ["test"], examples = ["ask me"])]
async fn unsure(_input: Nothing, ctx: skill::Context) -> Result<bool, SkillError> {
    let answer: Approval = ctx.ask("Go on?").await?;
    Ok(answer.approved)
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let shop = Shop::default();
    let bench = Bench::of(agent(&shop)).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    assert_eq!(state(&task), TaskState::InputRequired);
    let question = extension::question(&task).unwrap();
    assert_eq!((&*question.message, question.number), ("Order a lamp?", 0));
    assert_eq!(question.schema["properties"]["approved"]["type"], "boolean");

    let task = bench.answer(&task, approved()).await;
    assert_eq!(extension::question(&task).unwrap().number, 1);
    let task = bench.answer(&task, approved()).await;
    assert_eq!(state(&task), TaskState::Completed, "{task:?}");
    assert_eq!(extension::output(&task).unwrap(), "a lamp as 1: true");
}

/// A client that uses one id for all of its messages was asked the same question for ever.
#[tokio::test]
async fn answers_may_have_the_id_of_the_message_that_opened_their_task() {
    let bench = Bench::of(agent(&Shop::default())).await;
    let send = async |message: Message| {
        let call = Call::by(bench.context().caller);
        let answer = bench
            .server
            .send_message(call, bench.request(message))
            .await;
        match answer.unwrap().payload {
            Answer::Task(task) => task,
            other => panic!("no task: {other:?}"),
        }
    };
    let mut task = send(extension::call("1", "order", json!({ "what": "a lamp" }))).await;
    for number in 0..2 {
        assert_eq!(extension::question(&task).unwrap().number, number);
        task = send(extension::answer("1", &task, approved())).await;
    }
    assert_eq!(state(&task), TaskState::Completed, "{task:?}");
}

/// Asks twice; between the two it stands at a gate.
#[derive(Clone)]
struct Gated(Arc<Semaphore>);

impl skill::Skill for Gated {
    const SPEC: skill::Spec = skill::Spec::new(
        skill::Id::new("gated"),
        "Gated",
        "Asks, waits, and asks again.",
        skill::OneOrMore::new(&["test"]),
        skill::OneOrMore::new(&["ask me twice"]),
    );
    type Input = Nothing;
    type Output = bool;

    async fn run(&self, _: Nothing, ctx: skill::Context) -> Result<Reply<bool>, SkillError> {
        ctx.ask::<Approval>("First?").await?;
        drop(self.0.acquire().await);
        let second: Approval = ctx.ask("Second?").await?;
        Ok(Reply::Done(second.approved))
    }
}

/// Two answered the same question, and the later of them was taken for the answer to the next.
#[tokio::test]
async fn a_second_answer_to_one_question_is_none_to_the_next() {
    let gate = Arc::new(Semaphore::new(0));
    let bench = Bench::with(Registry::new().with(Gated(gate.clone())).unwrap()).await;
    let task = bench.call("gated", json!({})).await.unwrap();
    // Both are recorded while the skill stands at the gate, so before the second question is there.
    for approved in [true, false] {
        let answer = Some(json!({ "approved": approved }));
        let answer = extension::answer(id(), &task, answer);
        bench.send_at_once(answer).await;
    }
    gate.add_permits(1);
    let asked = bench
        .until(&task.id, |task| {
            extension::question(task).is_some_and(|it| it.number == 1)
        })
        .await;
    let answer = extension::answer(id(), &asked, approved());
    bench.send_at_once(answer).await;
    let ended = bench
        .until(&task.id, |task| state(task).is_terminal())
        .await;
    assert_eq!(state(&ended), TaskState::Completed, "{ended:?}");
    assert_eq!(extension::output(&ended).unwrap(), true);
}

#[tokio::test]
async fn an_answer_in_words_will_do() {
    let shop = Shop::default();
    let bench = Bench::of(agent(&shop)).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    let task = bench.say(&task, "Yes").await;
    let task = bench.say(&task, "no").await;
    assert_eq!(extension::output(&task).unwrap(), "a lamp as 1: false");
}

#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_again() {
    let shop = Shop::default();
    let bench = Bench::of(agent(&shop)).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    let task = bench
        .answer(&task, Some(json!({ "approved": "maybe" })))
        .await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(
        said(&task).contains("not understood: /approved"),
        "{}",
        said(&task)
    );
    let task = bench.answer(&task, approved()).await;
    assert_eq!(extension::question(&task).unwrap().number, 1);
}

#[tokio::test]
async fn a_declined_question_ends_the_call() {
    let shop = Shop::default();
    let bench = Bench::of(agent(&shop)).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    let task = bench.answer(&task, None).await;
    assert_eq!(state(&task), TaskState::Rejected);
    assert_eq!(extension::failure_code(&task).unwrap(), "declined");
}

#[tokio::test]
async fn a_task_that_waits_can_be_cancelled_and_nothing_is_kept_of_it() {
    let shop = Shop::default();
    let bench = Bench::of(agent(&shop)).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    // The skill holds the shop while it waits.
    let held = std::sync::Arc::strong_count(&shop.orders);
    let cancelled = bench.cancel(&task.id).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
    assert!(std::sync::Arc::strong_count(&shop.orders) <= held);
}

/// The questions of one task, each answered by another process.
#[tokio::test]
async fn a_restart_between_any_two_steps_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let mut options = store::Options::new(folder.path());
        options.tables = tables();
        Store::open(&options).unwrap()
    };
    let shop = Shop::default();
    let bench = Bench::on(agent(&shop), open()).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    bench.server.stop().await;

    let bench = Bench::on(agent(&shop), open()).await;
    let task = bench.answer(&task, approved()).await;
    assert_eq!(extension::question(&task).unwrap().number, 1, "{task:?}");
    bench.server.stop().await;

    let bench = Bench::on(agent(&shop), open()).await;
    let task = bench.answer(&task, approved()).await;
    assert_eq!(extension::output(&task).unwrap(), "a lamp as 1: true");
    // What must not be done twice was done once.
    assert_eq!(*shop.orders.lock().unwrap(), ["reserve a lamp"]);
    bench.server.stop().await;
}

#[tokio::test]
async fn a_skill_that_cannot_be_begun_again_fails_and_says_so() {
    let store = Store::memory(&tables());
    let shop = Shop::default();
    let bench = Bench::on(agent(&shop), store.clone()).await;
    let task = bench.call("unsure", json!({})).await.unwrap();
    assert_eq!(state(&task), TaskState::InputRequired);

    let another = Bench::on(agent(&shop), store).await;
    let task = another.answer(&task, approved()).await;
    assert_eq!(state(&task), TaskState::Failed);
    assert_eq!(extension::failure_code(&task).unwrap(), "not-replayable");
}
