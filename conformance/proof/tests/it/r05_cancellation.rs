//! r5: a task that has not ended is ended, its agent is told, and subscribers see it.

use a2a::types::{CancelTaskRequest, SubscribeToTaskRequest, TaskState};
use futures_util::StreamExt as _;
use proof::{Wire, World};

use crate::support::{begin, state, task};

on_every_binding!(a_task_is_cancelled);

async fn a_task_is_cancelled(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let begun = task(&client, begin("work, wait, done")).await;
    world.settle(&begun.id).await;
    let subscribe = SubscribeToTaskRequest {
        id: begun.id.clone(),
        ..SubscribeToTaskRequest::default()
    };
    let watching = client.subscribe_to_task(subscribe).await.unwrap();
    let cancel = || {
        client.cancel_task(CancelTaskRequest {
            id: begun.id.clone(),
            ..CancelTaskRequest::default()
        })
    };
    assert_eq!(
        state(&cancel().await.unwrap()),
        TaskState::Canceled,
        "{wire}"
    );
    assert!(!world.gates.holds(&begun.id), "{wire}: the agent works on");
    let states: Vec<_> = watching.map(|event| event.unwrap().state()).collect().await;
    let expected = [TaskState::Working, TaskState::Canceled].map(Some);
    assert_eq!(states, expected, "{wire}");
    assert_eq!(
        state(&cancel().await.unwrap()),
        TaskState::Canceled,
        "{wire}: again"
    );
}
