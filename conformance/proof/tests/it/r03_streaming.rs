//! r3: what happens to a task arrives while it happens, in order, and from a cursor what is left of it.

use a2a::client::Events;
use a2a::event::Event;
use a2a::types::{Event as Payload, SubscribeToTaskRequest};
use futures_util::StreamExt as _;
use proof::{Wire, World};

use crate::support::script;

on_every_binding!(events_arrive_as_they_happen);

async fn events_arrive_as_they_happen(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let request = script("work, wait, pieces 2, wait, done");
    let mut events = client.send_streaming_message(request).await.unwrap();
    let Payload::Task(task) = first(&mut events).await.response().payload.clone() else {
        panic!("{wire}: the first event is the task");
    };
    assert_eq!(
        word(&first(&mut events).await),
        "TASK_STATE_WORKING",
        "{wire}"
    );
    // The agent waits: what was read came while the task was open.
    world.settle(&task.id).await;
    assert!(world.gates.open(&task.id), "{wire}");
    assert_eq!(word(&first(&mut events).await), "first", "{wire}");
    assert_eq!(word(&first(&mut events).await), "last", "{wire}");
    world.settle(&task.id).await;

    // Another one takes the stream up behind its second event, and hears the same rest.
    let request = SubscribeToTaskRequest {
        id: task.id.clone(),
        ..SubscribeToTaskRequest::default()
    };
    let resumed = client.resume_task(request, 2).await.unwrap();
    assert!(world.gates.open(&task.id), "{wire}");
    assert_eq!(words(events).await, ["TASK_STATE_COMPLETED"], "{wire}");
    let rest = ["first", "last", "TASK_STATE_COMPLETED"];
    assert_eq!(words(resumed).await, rest, "{wire}");
}

async fn first(events: &mut Events) -> Event {
    events.next().await.unwrap().unwrap()
}

async fn words(events: Events) -> Vec<&'static str> {
    events.map(|event| word(&event.unwrap())).collect().await
}

fn word(event: &Event) -> &'static str {
    match &event.response().payload {
        Payload::ArtifactUpdate(update) if update.last_chunk => "last",
        Payload::ArtifactUpdate(_) => "first",
        _ => event.state().unwrap().name().unwrap(),
    }
}
