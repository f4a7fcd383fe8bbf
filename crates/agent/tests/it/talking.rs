//! Talking to an agent that thinks by rules.

use std::time::Duration;

use a2a::types::TaskState;
use agent::State;
use memory::{Keep, Reason};
use serde_json::json;

use crate::support::{World, output, state};

#[tokio::test]
async fn a_request_is_done_by_a_skill() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say("greet Ada").await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "Hello, Ada!")
    );
    let status = bench.handle.status().await.unwrap();
    assert_eq!((status.state, status.working), (State::Idle, 0));
}

#[tokio::test]
async fn what_is_not_understood_is_rejected_with_the_reason() {
    let world = World::new();
    let bench = world.begin().await;
    for (request, told) in [
        ("flibber the gibbet", "I did not understand"),
        ("/flibber", "There is no tool /flibber"),
        ("/greet", "greet needs who"),
    ] {
        let task = bench.say(request).await;
        assert_eq!(state(&task), TaskState::Rejected, "{request}");
        assert!(output(&task).contains(told), "{}", output(&task));
    }
    let task = bench.say("/help").await;
    assert_eq!(state(&task), TaskState::Completed);
}

#[tokio::test]
async fn what_is_not_understood_is_logged_all_the_same() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("flibber the gibbet").await;
    let scout = bench.memory.space("scout").unwrap();
    let said = |it: &memory::Record| it.content.text == "flibber the gibbet";
    assert_eq!(scout.records(said).await.unwrap().len(), 1);
}

#[tokio::test]
async fn it_remembers_a_statement_with_its_speaker() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say("remember that Ada likes coffee").await;
    assert_eq!(output(&task), "I will remember: Ada likes coffee");
    bench.killed().await;

    let bench = world.begin().await;
    let task = bench.say("recall what Ada likes").await;
    assert!(
        output(&task).contains("Ada likes coffee"),
        "{}",
        output(&task)
    );
    assert!(output(&task).contains("user:ada"), "{}", output(&task));
}

#[tokio::test]
async fn what_contradicts_a_belief_is_said_to() {
    let world = World::new();
    // The default law logs what is less than 0.7 sure.
    let mut law = agent::Law::default();
    law.memory.rules.truncate(1);
    law.memory.rules[0].condition.min_confidence = 0.1;
    let bench = world.begin_with(law, None).await;
    bench.say("remember that the office is in Riga").await;
    let input = serde_json::json!({ "text": "The office is not in Riga.", "confidence": 0.3 });
    let task = bench.call("remember", input).await;
    assert!(output(&task).contains("doubted"), "{}", output(&task));
    assert!(
        output(&task).contains("office is in Riga"),
        "{}",
        output(&task)
    );
}

#[tokio::test]
async fn a_pause_stops_it_where_it_is_and_loses_nothing() {
    let world = World::new();
    let bench = world.begin().await;
    bench.handle.pause().await.unwrap();
    let asked = bench.say("greet Ada");
    let watched = async {
        loop {
            let status = bench.handle.status().await.unwrap();
            if let Some((task, _)) = status.queue.first() {
                assert_eq!((status.state, status.working), (State::Idle, 0));
                break task.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let resumed = async {
        let waiting = watched.await;
        bench.handle.resume().await.unwrap();
        waiting
    };
    let (task, waiting) = tokio::join!(asked, resumed);
    assert_eq!(
        (task.id.as_str(), output(&task).as_str()),
        (waiting.as_str(), "Hello, Ada!")
    );
}

#[tokio::test]
async fn a_pause_holds_what_others_call_by_name() {
    let world = World::new();
    let bench = world.begin().await;
    bench.handle.pause().await.unwrap();
    let called = bench.call("greet", json!({ "who": "Ada" }));
    tokio::pin!(called);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut called).await;
    assert!(early.is_err(), "nothing is done during a pause");
    bench.handle.resume().await.unwrap();
    assert_eq!(output(&called.await), "Hello, Ada!");
}

#[tokio::test]
async fn it_sees_what_others_share_with_it_and_writes_its_own() {
    let world = World::new();
    let bench = world.begin().await;
    let library = bench.memory.space("library").unwrap();
    let reason = Reason::new("user:bob", 0.8, "roads", "he was there").unwrap();
    let closed = Keep::belief("The bridge is closed.", reason);
    library.keep(closed).await.unwrap();
    let task = bench.say("recall the bridge").await;
    let said = output(&task);
    assert!(said.contains("from user:bob in library"), "{said}");
    bench.say("remember that the road is open").await;
    let shared = library.records(|_| true).await.unwrap();
    assert_eq!(shared.len(), 1, "a view is for reading");
}

#[tokio::test]
async fn a_message_that_names_a_skill_is_no_request_to_think_about() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.call("greet", json!({ "who": "Ada" })).await;
    assert_eq!(state(&task), TaskState::Completed);
    let history = bench.handle.history().await.unwrap();
    let heard = |it: &agent::EventKind| matches!(it, agent::EventKind::Heard(_));
    assert!(!history.iter().any(|(_, record)| heard(&record.event.what)));
}
