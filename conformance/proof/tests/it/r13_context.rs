//! r13: the ids of contexts and tasks go with everything that belongs to them.

use a2a::types::{Event as Payload, Message};
use futures_util::StreamExt as _;
use proof::{Wire, World};

use crate::support::{script, task};

on_every_binding!(ids_go_with_what_is_theirs);

async fn ids_go_with_what_is_theirs(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let mut request = script("say soon, ask");
    request.message.as_mut().unwrap().context_id = "a context of the caller's".to_owned();
    let asking = task(&client, request).await;
    assert_eq!(asking.context_id, "a context of the caller's", "{wire}");
    let ids = |message: &Message| (message.context_id.clone(), message.task_id.clone());
    let expected = (asking.context_id.clone(), asking.id.clone());
    let question = asking.status.as_ref().unwrap().message.as_ref().unwrap();
    assert_eq!(ids(question), expected, "{wire}: what the agent says");
    assert_eq!(
        ids(&asking.history[0]),
        expected,
        "{wire}: what it was told"
    );

    // A message that names the task continues it, and every event names its context.
    let mut more = script("work, text made, done");
    more.message.as_mut().unwrap().task_id = asking.id.clone();
    let mut events = client.send_streaming_message(more).await.unwrap();
    let mut count = 0;
    while let Some(event) = events.next().await {
        let found = match &event.unwrap().response().payload {
            Payload::Task(task) => (task.context_id.clone(), task.id.clone()),
            Payload::StatusUpdate(it) => (it.context_id.clone(), it.task_id.clone()),
            Payload::ArtifactUpdate(it) => (it.context_id.clone(), it.task_id.clone()),
            other => panic!("{wire}: {other:?}"),
        };
        assert_eq!(found, expected, "{wire}");
        count += 1;
    }
    assert!(count >= 3, "{wire}: {count} events");

    // A message without a context gets a new one.
    let one = task(&client, script("done")).await.context_id;
    let other = task(&client, script("done")).await.context_id;
    assert!(!one.is_empty() && one != other, "{wire}");
}
