//! A message names a skill, and a task with what it gave comes of it.

use a2a::error::Error;
use a2a::types::{Answer, Message, TaskState};
use serde_json::json;
use skill::extension;
use skill::{Registry, Reply, SkillError, SkillInput, reply, skill};

use super::support::{Bench, Shop, greet, id, registry, said, state};

#[tokio::test]
async fn a_call_becomes_a_completed_task_with_the_output() {
    let bench = Bench::with(registry()).await;
    let task = bench
        .call("greet", json!({ "who": "Ada", "times": 2 }))
        .await
        .unwrap();
    assert_eq!(state(&task), TaskState::Completed);
    let output = extension::output(&task).unwrap();
    assert_eq!(output, json!({ "text": "Hello, Ada! Hello, Ada!" }));
    assert_eq!(bench.load(&task.id).await, task);
}

#[tokio::test]
async fn the_context_of_a_call_tells_the_skill_and_the_time() {
    let bench = Bench::with(registry()).await;
    let task = bench.call("greet", json!({ "who": "Ada" })).await.unwrap();
    let parts: Vec<_> = task.context_id.split('-').collect();
    assert_eq!(parts[0], "greet");
    assert!(
        parts[1].starts_with("20") && parts[1].contains('T'),
        "{parts:?}"
    );
    // Two letters of the millisecond, and 80 random bits in letters of five.
    assert_eq!(parts[2].len(), 2 + 16);
}

#[tokio::test]
async fn all_faults_of_an_input_are_told_and_no_task_comes_of_it() {
    let bench = Bench::with(registry()).await;
    let refused = bench.call("greet", json!({ "who": 1, "times": 9 })).await;
    let Err(Error::InvalidParams { violations, .. }) = refused else {
        panic!("{refused:?}");
    };
    let fields: Vec<_> = violations.iter().map(|it| &*it.field).collect();
    assert!(fields.contains(&"message.parts.who"), "{fields:?}");
    assert!(fields.contains(&"message.parts.times"), "{fields:?}");
}

#[tokio::test]
async fn a_skill_that_is_not_there_is_refused() {
    let bench = Bench::with(registry()).await;
    let refused = bench.call("fly", json!({})).await;
    assert!(
        matches!(&refused, Err(Error::InvalidParams { message, .. }) if message.contains("\"fly\"")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_name_that_is_no_text_names_no_skill() {
    let bench = Bench::with(registry()).await;
    let mut call = extension::call(id(), "greet", json!({ "who": "Ada" }));
    let metadata = json!({ extension::SKILL: 5 });
    call.metadata = Some(serde_json::from_value(metadata).unwrap());
    let refused = bench.send(call).await;
    assert!(
        matches!(refused, Err(Error::InvalidParams { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn an_agent_of_one_skill_takes_plain_text() {
    let bench = Bench::with(Registry::new().with(greet).unwrap()).await;
    let Answer::Task(task) = bench.send(Message::user(id(), "Ada")).await.unwrap() else {
        panic!("no task");
    };
    assert_eq!(
        extension::output(&task).unwrap(),
        json!({ "text": "Hello, Ada!" })
    );
}

#[tokio::test]
async fn an_agent_of_several_skills_says_what_there_is() {
    let bench = Bench::with(registry()).await;
    let Answer::Message(help) = bench.send(Message::user(id(), "hm?")).await.unwrap() else {
        panic!("no message");
    };
    let text = help.parts[0].as_text().unwrap();
    assert!(text.contains("- greet: Greets a person."), "{text}");
    assert!(text.contains("- order: "), "{text}");
}

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct Intent {
    kind: String,
}

/// Ends as it is told to.
#[skill(tags = ["test"], examples = ["end well"])]
async fn end(input: Intent) -> Result<Reply<String>, SkillError> {
    match &*input.kind {
        "success" => Ok(reply::success("done")
            .artifact(reply::text_artifact("note", "text"))
            .artifact(reply::file_artifact("a.bin", "application/x", vec![1, 2]))
            .into()),
        "failure" => Ok(reply::failure("not today").into()),
        "info" => Ok(reply::info("it is late")),
        "error" => Err(SkillError::coded("no-money", "there is no money")),
        "refuse" => Err(SkillError::Refused("I will not".to_owned())),
        _ => panic!("asked to"),
    }
}

#[tokio::test]
async fn a_skill_ends_its_task_in_its_own_words() {
    let bench = Bench::with(Registry::new().with(end).unwrap()).await;
    let ended = async |kind: &str| bench.call("end", json!({ "kind": kind })).await.unwrap();

    let success = ended("success").await;
    assert_eq!(
        (state(&success), said(&success)),
        (TaskState::Completed, "done".to_owned())
    );
    assert_eq!(success.artifacts.len(), 2);
    assert_eq!(success.artifacts[1].parts[0].filename, "a.bin");

    let failure = ended("failure").await;
    assert_eq!(
        (state(&failure), said(&failure)),
        (TaskState::Failed, "not today".to_owned())
    );

    let error = ended("error").await;
    assert_eq!(state(&error), TaskState::Failed);
    assert_eq!(extension::failure_code(&error).unwrap(), "no-money");

    let refused = ended("refuse").await;
    assert_eq!(
        (state(&refused), said(&refused)),
        (TaskState::Rejected, "I will not".to_owned())
    );

    let info = bench
        .send(extension::call(id(), "end", json!({ "kind": "info" })))
        .await;
    assert!(matches!(&info, Ok(Answer::Message(_))), "{info:?}");
}

#[tokio::test]
async fn a_crash_is_told_and_ends_the_task() {
    let bench = Bench::with(Registry::new().with(end).unwrap()).await;
    let crashed = bench.call("end", json!({ "kind": "crash" })).await.unwrap();
    assert_eq!(state(&crashed), TaskState::Failed);
    assert_eq!(extension::failure_code(&crashed).unwrap(), "crashed");
    assert_eq!(said(&crashed), "skill \"end\" crashed");
}

#[tokio::test]
async fn progress_is_told_while_the_work_goes_on() {
    let bench = Bench::with(Registry::new().with(Shop::default()).unwrap()).await;
    let task = bench
        .call("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    let told = task.history.iter().find_map(extension::progress).unwrap();
    assert_eq!((told.progress, told.total), (1.0, Some(2.0)));
}
