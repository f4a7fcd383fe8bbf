//! The cost of a request in transactions, and what survives when the process is killed between two of them.

use a2a::types::TaskState;
use agent::{EventKind, State};
use serde_json::json;

use crate::support::{World, approve, output, state};

#[tokio::test]
async fn an_approved_request_takes_at_most_eight_transactions() {
    let world = World::new();
    let bench = world.begin().await;
    // The first request also records what the agent is able to do.
    bench.say("greet Ada").await;
    let before = bench.store.stats().commits;
    let task = bench.say("note hello in notes.md").await;
    assert_eq!(state(&task), TaskState::InputRequired, "{task:?}");
    let task = bench.answer(&task, approve()).await;
    assert_eq!(state(&task), TaskState::Completed, "{task:?}");
    let took = bench.store.stats().commits - before;
    assert_eq!(bench.handle.status().await.unwrap().state, State::Idle);
    assert!(took <= 8, "{took} transactions");
    assert!(took >= 5, "{took} transactions: are they counted?");
}

#[tokio::test]
async fn a_call_of_a_plain_agent_that_asks_nothing_takes_one_transaction() {
    let skills = skill::Registry::new().with(crate::support::greet).unwrap();
    let (kit, store) = crate::support::plain(skills).await;
    for number in 0..2_u64 {
        let before = store.stats().commits;
        let message =
            skill::extension::call(format!("m-{number}"), "greet", json!({ "who": "Ada" }));
        let task = kit.send_for_task(message).await;
        assert_eq!(output(&task), "Hello, Ada!");
        assert_eq!(store.stats().commits - before, 1);
    }
}

#[tokio::test]
async fn a_plain_agent_asks_before_a_skill_that_is_marked() {
    let world = World::new();
    let skills = skill::Registry::new().with(world.notes.clone()).unwrap();
    let (kit, _) = crate::support::plain(skills).await;
    let note = json!({ "path": "a.md", "content": "hello" });
    let message = skill::extension::call("m-1", "write-note", note);
    let task = kit.send_for_task(message).await;
    assert_eq!(state(&task), TaskState::InputRequired, "{task:?}");
    assert!(world.notes.written.lock().unwrap().is_empty());
    let answer = skill::extension::answer("m-2", &task, Some(approve()));
    let task = kit.send_for_task(answer).await;
    assert_eq!(state(&task), TaskState::Completed, "{task:?}");
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn looking_at_a_plain_agent_writes_nothing() {
    let store = store::Store::memory(agent::TABLES);
    let population = agent::Population::new(agent::Parts::new(store.clone()));
    let plain = population.plain("plain", "Plain");
    let status = plain.status().await.unwrap();
    assert_eq!((status.id.as_str(), status.event), ("plain", 0));
    assert!(plain.history().await.unwrap().is_empty());
    plain.sleep().await.unwrap();
    assert_eq!(plain.status().await.unwrap().event, 0);
    assert_eq!(store.stats().commits, 0);

    // Its journal begins with the first event, and its birth is before that.
    plain.pause().await.unwrap();
    let history = plain.history().await.unwrap();
    let kinds: Vec<_> = history.iter().map(|(_, it)| &it.event.what).collect();
    assert!(
        matches!(kinds[..], [EventKind::Born { .. }, EventKind::Paused]),
        "{kinds:?}"
    );
    assert_eq!(plain.check().await.unwrap().differs, None);
    population.close().await;
}

#[tokio::test]
async fn what_was_done_is_in_the_history_when_it_is_read() {
    let world = World::new();
    let bench = world.begin().await;
    bench.call("greet", json!({ "who": "Ada" })).await;
    let history = bench.handle.history().await.unwrap();
    let called = |it: &agent::EventKind| matches!(it, agent::EventKind::Called { .. });
    assert!(history.iter().any(|(_, record)| called(&record.event.what)));
    let checked = bench.handle.check().await.unwrap();
    assert_eq!(checked.differs, None);
}
