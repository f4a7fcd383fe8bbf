//! What answers for an agent with what a skill has to work with.

use std::sync::{Arc, Mutex};

use a2a::server::TABLES;
use a2a::types::{Answer, Message, TaskState};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use skill::{Agent, Context, Manifest, Mind, Options, Outcome, Reply};
use store::Store;

use crate::support::{Approval, Bench, approved, id, registry, state};

/// Asks about two things, each under its own name, and goes on with the second if the first is done.
#[derive(Clone, Default)]
struct Careful {
    done: Arc<Mutex<Vec<String>>>,
}

impl Mind for Careful {
    fn answer(
        &self,
        message: Message,
        ctx: Context,
    ) -> futures_util::future::BoxFuture<'static, Outcome> {
        let mind = self.clone();
        async move {
            assert!(!message.task_id.is_empty() && !message.context_id.is_empty());
            for name in ["first", "second"] {
                if mind.done.lock().unwrap().iter().any(|it| it == name) {
                    continue;
                }
                let asked: Approval = ctx.scoped(name).ask(format!("{name}?")).await?;
                let who = format!("{name} {}", asked.approved);
                ctx.call("greet", json!({ "who": who })).await?;
                mind.done.lock().unwrap().push(name.to_owned());
            }
            Ok(Reply::Done(Value::String("both".to_owned())))
        }
        .boxed()
    }
}

async fn bench(mind: &Careful, store: &Store) -> Bench {
    let mut options = Options::default();
    options.skills = registry();
    options.mind = Some(Arc::new(mind.clone()));
    Bench::on(
        Agent::create(Manifest::new("Test"), options).unwrap(),
        store.clone(),
    )
    .await
}

#[tokio::test]
async fn work_that_goes_on_in_the_middle_finds_its_own_answers() {
    let (mind, store) = (Careful::default(), Store::memory(TABLES));
    let before = bench(&mind, &store).await;
    let Answer::Task(task) = before.send(Message::user(id(), "go")).await.unwrap() else {
        unreachable!("it asks, so there is a task");
    };
    assert_eq!(state(&task), TaskState::InputRequired);
    let task = before.answer(&task, approved()).await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "the second question"
    );
    assert_eq!(*mind.done.lock().unwrap(), ["first"]);
    drop(before);

    // Another process: the first is done, so the second is the first question that is asked. It has no answer yet.
    let after = bench(&mind, &store).await;
    let task = after
        .answer(&task, Some(json!({ "approved": false })))
        .await;
    assert_eq!(state(&task), TaskState::Completed);
    assert_eq!(skill::extension::output(&task), Some(json!("both")));
}

#[tokio::test]
async fn a_message_that_names_a_skill_does_not_come_to_mind() {
    let (mind, store) = (Careful::default(), Store::memory(TABLES));
    let bench = bench(&mind, &store).await;
    let task = bench.call("greet", json!({ "who": "Ada" })).await.unwrap();
    assert_eq!(state(&task), TaskState::Completed);
    assert!(mind.done.lock().unwrap().is_empty());
}
