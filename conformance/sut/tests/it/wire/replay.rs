//! Sending twice: the same message of the same caller is one message, whichever way it comes.

use serde_json::{Value, json};

use super::caller::{BINDINGS, Binding};
use crate::support::sut::{Store, Sut};

fn message(text: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

async fn total(sut: &Sut) -> Value {
    let mut caller = sut.caller(Binding::JsonRpc).await;
    caller.call("ListTasks", json!({})).await.unwrap()["totalSize"].clone()
}

#[tokio::test]
async fn a_repeated_send_gets_the_answer_of_the_first() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        for text in ["task once", "echo once"] {
            let request = message(text);
            let first = caller.call("SendMessage", request.clone()).await.unwrap();
            let before = total(&sut).await;
            let mut other = sut.caller(binding).await;
            let again = other.call("SendMessage", request).await.unwrap();
            assert_eq!(again, first, "{binding:?} {text}");
            assert_eq!(total(&sut).await, before, "{binding:?} {text}");
        }
    }
}

#[tokio::test]
async fn sends_at_the_same_time_make_one_task() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let request = message("task once");
        let mut sends = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (mut caller, request) = (sut.caller(binding).await, request.clone());
            sends.spawn(async move { caller.call("SendMessage", request).await.unwrap() });
        }
        let answers = sends.join_all().await;
        for answer in &answers {
            assert_eq!(
                answer["task"]["id"], answers[0]["task"]["id"],
                "{binding:?}"
            );
            assert_eq!(
                answer["task"]["status"]["state"], "TASK_STATE_COMPLETED",
                "{binding:?}"
            );
        }
    }
    assert_eq!(total(&sut).await, BINDINGS.len());
}

#[tokio::test]
async fn the_same_id_with_anything_else_changed_is_refused() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let request = message("task once");
        let first = caller.call("SendMessage", request.clone()).await.unwrap();
        let changed = |path: &str, value: Value| {
            let mut changed = request.clone();
            *changed.pointer_mut(path).unwrap() = value;
            changed
        };
        for other in [
            changed("/message/parts/0/text", json!("task twice")),
            changed(
                "/message/parts",
                json!([{"text": "task once"}, {"text": "more"}]),
            ),
            changed("/message", {
                let mut message = request["message"].clone();
                message["contextId"] = json!("another");
                message
            }),
        ] {
            let failure = caller.call("SendMessage", other.clone()).await.unwrap_err();
            assert_eq!(
                failure.reason(),
                Some("INVALID_PARAMS"),
                "{binding:?} {other}"
            );
        }
        // It was another operation.
        let failure = caller
            .open("SendStreamingMessage", request.clone())
            .await
            .unwrap_err();
        assert_eq!(failure.reason(), Some("INVALID_PARAMS"), "{binding:?}");
        assert_eq!(
            caller.call("SendMessage", request).await.unwrap(),
            first,
            "{binding:?}"
        );
    }
}

/// Clients with constant ids of messages got an old task for their second message.
#[tokio::test]
async fn without_asking_for_it_a_used_id_is_a_new_message() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        caller.unset("a2a-extensions");
        let request = message("task once");
        let before = total(&sut).await.as_u64().unwrap();
        let first = caller.call("SendMessage", request.clone()).await.unwrap();
        let again = caller.call("SendMessage", request.clone()).await.unwrap();
        assert_ne!(again["task"]["id"], first["task"]["id"], "{binding:?}");
        let mut other = request;
        other["message"]["parts"][0]["text"] = "task twice".into();
        let other = caller.call("SendMessage", other).await.unwrap();
        let made = &other["task"]["artifacts"][0]["parts"][0]["text"];
        assert_eq!(made, "task twice", "{binding:?} {other}");
        assert_eq!(total(&sut).await, before + 3, "{binding:?}");
    }
}

/// The same id for the question and for the answer was taken for the first message again.
#[tokio::test]
async fn an_answer_may_have_the_id_of_its_question() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        caller.unset("a2a-extensions");
        let mut request = json!({"message": {
            "messageId": "tck-input-required", "role": "ROLE_USER", "parts": [{"text": "1"}],
        }});
        let asked = caller.call("SendMessage", request.clone()).await.unwrap();
        assert_eq!(
            asked["task"]["status"]["state"],
            "TASK_STATE_INPUT_REQUIRED"
        );
        request["message"]["taskId"] = asked["task"]["id"].clone();
        let done = caller.call("SendMessage", request).await.unwrap();
        assert_eq!(
            done["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
    }
}

#[tokio::test]
async fn a_key_names_a_send_that_may_be_repeated() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        caller.unset("a2a-extensions");
        caller.set("idempotency-key", &format!("\"{binding:?}\""));
        let request = message("task once");
        let first = caller.call("SendMessage", request.clone()).await.unwrap();
        let again = caller.call("SendMessage", request.clone()).await.unwrap();
        assert_eq!(again, first, "{binding:?}");
        let failure = caller.call("SendMessage", message("task once")).await;
        let failure = failure.unwrap_err();
        assert_eq!(
            failure.fields(),
            ["Idempotency-Key"],
            "{binding:?} {failure:?}"
        );
        caller.set("idempotency-key", &format!("another of {binding:?}"));
        let other = caller.call("SendMessage", request.clone()).await.unwrap();
        assert_ne!(other["task"]["id"], first["task"]["id"], "{binding:?}");
        for bad in [" ".to_owned(), "k".repeat(2000)] {
            caller.set("idempotency-key", &bad);
            let failure = caller
                .call("SendMessage", request.clone())
                .await
                .unwrap_err();
            assert_eq!(
                failure.fields(),
                ["Idempotency-Key"],
                "{binding:?} {failure:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_repeated_send_is_known_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Folder(folder.path().join("data"));
    let sut = Sut::start(&store).await;
    let request = message("task once");
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let first = caller.call("SendMessage", request.clone()).await.unwrap();
    sut.kill().await;

    let sut = Sut::start(&store).await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    assert_eq!(
        caller.call("SendMessage", request.clone()).await.unwrap(),
        first
    );
    let mut other = request;
    other["message"]["parts"][0]["text"] = "task twice".into();
    let failure = caller.call("SendMessage", other).await.unwrap_err();
    assert_eq!(failure.reason(), Some("INVALID_PARAMS"));
}
