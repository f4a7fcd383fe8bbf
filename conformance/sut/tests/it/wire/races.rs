//! Calls at the moment when a task ends: each gets an answer.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::caller::BINDINGS;
use crate::support::sut::Sut;

/// Tasks that each client makes.
const TASKS: usize = 60;
/// Clients of each binding.
const CLIENTS: usize = 3;

fn message(prefix: &str, task: Option<&Value>) -> Value {
    let id = format!("{prefix}-{}", uuid::Uuid::new_v4());
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "go"}]});
    if let Some(task) = task {
        message["taskId"] = task.clone();
    }
    json!({"message": message})
}

/// A cancel that reached a run as it left was once never answered.
#[tokio::test]
async fn calls_that_meet_the_end_of_a_task_are_answered() {
    let sut = Sut::in_memory().await;
    let mut clients = JoinSet::new();
    for binding in BINDINGS {
        for number in 0..CLIENTS {
            let mut caller = sut.caller(binding).await;
            clients.spawn(async move {
                for turn in number..number + TASKS {
                    let sent = caller
                        .call("SendMessage", message("tck-complete-task", None))
                        .await;
                    let task = sent.unwrap()["task"]["id"].clone();
                    // The task is over for us, and its run is about to leave.
                    let (failure, reason) = match turn % 3 {
                        0 => {
                            let failure = caller.call("CancelTask", json!({"id": task})).await;
                            (failure.unwrap_err(), "TASK_NOT_CANCELABLE")
                        }
                        1 => {
                            let failure = caller
                                .call("SendMessage", message("any", Some(&task)))
                                .await;
                            (failure.unwrap_err(), "UNSUPPORTED_OPERATION")
                        }
                        _ => {
                            let request = message("any", Some(&task));
                            let failure = caller.open("SendStreamingMessage", request).await;
                            (failure.unwrap_err(), "UNSUPPORTED_OPERATION")
                        }
                    };
                    assert_eq!(failure.reason(), Some(reason), "{binding:?}");
                }
            });
        }
    }
    clients.join_all().await;
}

/// The end of a task and a cancel, at the same time, from two sides: one of them was first, and all
/// agree which.
#[tokio::test]
async fn a_cancel_against_the_end_has_one_outcome() {
    let sut = Sut::in_memory().await;
    let mut clients = JoinSet::new();
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let mut other = sut.caller(binding).await;
        clients.spawn(async move {
            for _ in 0..TASKS {
                let asked = caller
                    .call("SendMessage", message("tck-multi-turn", None))
                    .await;
                let task = asked.unwrap()["task"]["id"].clone();
                let answer = message("more", Some(&task));
                let (answered, cancelled) = tokio::join!(
                    caller.call("SendMessage", answer),
                    other.call("CancelTask", json!({"id": task})),
                );
                let kept = caller.call("GetTask", json!({"id": task})).await.unwrap();
                let state = kept["status"]["state"].as_str().unwrap();
                match &cancelled {
                    Ok(cancelled) => assert_eq!(
                        (cancelled, state),
                        (&kept, "TASK_STATE_CANCELED"),
                        "{binding:?}"
                    ),
                    Err(failure) => {
                        assert_eq!(failure.reason(), Some("TASK_NOT_CANCELABLE"), "{binding:?}");
                        assert_eq!(state, "TASK_STATE_COMPLETED", "{binding:?}");
                    }
                }
                match &answered {
                    Ok(answered) => {
                        assert_eq!(answered["task"]["status"]["state"], state, "{binding:?}")
                    }
                    Err(failure) => {
                        assert_eq!(
                            failure.reason(),
                            Some("UNSUPPORTED_OPERATION"),
                            "{binding:?}"
                        );
                        assert_eq!(state, "TASK_STATE_CANCELED", "{binding:?}");
                    }
                }
            }
        });
    }
    clients.join_all().await;
}
