//! r4: a task can be asked for as it stands, and tasks can be listed. Over gRPC version 0.3 knows no list.

use a2a::types::{GetTaskRequest, ListTasksRequest, TaskState};
use proof::{Wire, World};

use crate::support::{begin, cannot_list, script, state, task};

on_every_binding!(tasks_are_shown_and_listed);

async fn tasks_are_shown_and_listed(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let begun = task(&client, begin("work, wait, text made, done")).await;
    let get = || {
        client.get_task(GetTaskRequest {
            id: begun.id.clone(),
            ..GetTaskRequest::default()
        })
    };
    assert_eq!(state(&get().await.unwrap()), TaskState::Working, "{wire}");
    assert!(world.gates.open(&begun.id), "{wire}");
    world.settle(&begun.id).await;
    let done = get().await.unwrap();
    assert_eq!(state(&done), TaskState::Completed, "{wire}");
    assert_eq!((done.artifacts.len(), done.history.len()), (1, 1), "{wire}");

    // Tasks of the same millisecond are listed in the order of their ids.
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    let asking = task(&client, script("ask")).await;
    let list = |status| {
        client.list_tasks(ListTasksRequest {
            status,
            ..ListTasksRequest::default()
        })
    };
    if cannot_list(wire) {
        let none = list(TaskState::Unspecified).await.unwrap_err().to_string();
        assert!(none.contains("has no ListTasks"), "{wire}: {none}");
        return;
    }
    let all = list(TaskState::Unspecified).await.unwrap().tasks;
    let ids: Vec<_> = all.iter().map(|task| &*task.id).collect();
    assert_eq!(ids, [&*asking.id, &*begun.id], "{wire}: newest first");
    let some = list(TaskState::Completed).await.unwrap().tasks;
    assert_eq!(some.len(), 1, "{wire}");
}
