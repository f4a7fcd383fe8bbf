//! A2A 1.1 ahead of its time: every change of a task has a number, and one can wait for the next.

use serde_json::{Value, json};

use super::caller::BINDINGS;
use crate::support::sut::Sut;

fn generation(task: &Value) -> i64 {
    task["generation"]
        .as_str()
        .expect("a 64-bit number is a string")
        .parse()
        .unwrap()
}

#[tokio::test]
async fn a_call_can_wait_for_the_next_generation() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let id = format!("tck-cancel-{}", uuid::Uuid::new_v4());
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "go"}]});
        let request = json!({"message": message, "configuration": {"returnImmediately": true}});
        let sent = caller.call("SendMessage", request).await.unwrap();
        let id = sent["task"]["id"].clone();
        // A caller with an older generation is answered at once, with the newest.
        let mut task = caller
            .call("GetTask", json!({"id": id, "currentGeneration": "0"}))
            .await
            .unwrap();
        while task["status"]["state"] != "TASK_STATE_WORKING" {
            let known = generation(&task).to_string();
            let next = caller
                .call("GetTask", json!({"id": id, "currentGeneration": known}))
                .await
                .unwrap();
            assert!(generation(&next) > generation(&task), "{binding:?}");
            task = next;
        }
        let known = generation(&task).to_string();
        let mut other = sut.caller(binding).await;
        let waiting = other.call("GetTask", json!({"id": id, "currentGeneration": known}));
        let (changed, cancelled) =
            tokio::join!(waiting, caller.call("CancelTask", json!({"id": id})));
        assert_eq!(changed.unwrap(), cancelled.unwrap(), "{binding:?}");
    }
}

#[tokio::test]
async fn every_event_bears_the_next_generation() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let id = format!("tck-stream-artifact-chunked-{}", uuid::Uuid::new_v4());
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "go"}]});
        let events = caller
            .open("SendStreamingMessage", json!({"message": message}))
            .await
            .unwrap();
        let events = events.rest().await;
        let numbers: Vec<_> = events.iter().map(|event| event.id.unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5], "{binding:?}");
        let task = json!({"id": events[0].body["task"]["id"]});
        assert_eq!(
            generation(&caller.call("GetTask", task).await.unwrap()),
            5,
            "{binding:?}"
        );
    }
}
