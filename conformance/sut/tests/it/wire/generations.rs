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

/// Strict clients and kits refuse fields that 1.0 does not have.
#[tokio::test]
async fn generations_are_shown_to_those_who_ask_for_them() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        for (version, extension, shown) in [
            ("1.0", "", false),
            ("1.0", "https://example.com/other", false),
            ("1.1", "", true),
            ("1.0", a2a::service::REPEATABLE, true),
        ] {
            let mut caller = sut.caller(binding).await;
            caller.set("a2a-version", version);
            caller.set("a2a-extensions", extension);
            let message = || {
                let id = format!("tck-stream-001-{}", uuid::Uuid::new_v4());
                json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": "go"}]}})
            };
            let sent = caller.call("SendMessage", message()).await.unwrap();
            let id = json!({"id": sent["task"]["id"]});
            let got = caller.call("GetTask", id.clone()).await.unwrap();
            let list = caller
                .call("ListTasks", json!({"pageSize": 1}))
                .await
                .unwrap();
            let events = caller
                .open("SendStreamingMessage", message())
                .await
                .unwrap();
            let mut seen: Vec<Value> = events.rest().await.into_iter().map(|it| it.body).collect();
            seen.extend([sent, got, list]);
            for reply in seen {
                let text = reply.to_string();
                assert_eq!(
                    text.contains("generation"),
                    shown,
                    "{binding:?} {version} {text}"
                );
            }
        }
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
