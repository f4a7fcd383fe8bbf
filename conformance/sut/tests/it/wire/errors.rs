//! A2A 5.4: one table of errors, in the words of each binding.

use serde_json::{Value, json};

use super::caller::{BINDINGS, Binding, Caller, Failure};
use crate::support::sut::Sut;

/// A row: the JSON-RPC code, the gRPC status, the HTTP status and the reason.
type Row = (i64, i64, i64, &'static str);

const TASK_NOT_FOUND: Row = (-32001, 5, 404, "TASK_NOT_FOUND");
const TASK_NOT_CANCELABLE: Row = (-32002, 9, 400, "TASK_NOT_CANCELABLE");
const UNSUPPORTED_OPERATION: Row = (-32004, 9, 400, "UNSUPPORTED_OPERATION");
const VERSION_NOT_SUPPORTED: Row = (-32009, 9, 400, "VERSION_NOT_SUPPORTED");
const TASK_GENERATION_MISMATCH: Row = (-32010, 10, 409, "TASK_GENERATION_MISMATCH");
const INVALID_PARAMS: Row = (-32602, 3, 400, "INVALID_PARAMS");

fn check(binding: Binding, failure: &Failure, (json_rpc, grpc, http, reason): Row) {
    let code = match binding {
        Binding::JsonRpc => json_rpc,
        Binding::Rest => http,
        Binding::Grpc => grpc,
    };
    assert_eq!(
        (failure.code, failure.reason()),
        (code, Some(reason)),
        "{binding:?}: {failure:?}"
    );
    assert!(!failure.message.is_empty(), "{binding:?} {reason}");
}

fn message(prefix: &str, fields: Value) -> Value {
    let id = format!("{prefix}-{}", uuid::Uuid::new_v4());
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "go"}]});
    let Value::Object(fields) = fields else {
        panic!("fields are an object");
    };
    for (name, value) in fields {
        message[name] = value;
    }
    json!({"message": message})
}

async fn task(caller: &mut Caller, prefix: &str) -> Value {
    let sent = caller
        .call("SendMessage", message(prefix, json!({})))
        .await
        .unwrap();
    sent["task"].clone()
}

#[tokio::test]
async fn every_operation_on_a_task_says_that_it_does_not_know_it() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let config = json!({"taskId": "nobody", "id": "c", "url": "http://127.0.0.1:9/"});
        for (operation, request) in [
            ("GetTask", json!({"id": "nobody"})),
            ("CancelTask", json!({"id": "nobody"})),
            ("SendMessage", message("any", json!({"taskId": "nobody"}))),
            ("CreateTaskPushNotificationConfig", config.clone()),
            (
                "GetTaskPushNotificationConfig",
                json!({"taskId": "nobody", "id": "c"}),
            ),
            (
                "ListTaskPushNotificationConfigs",
                json!({"taskId": "nobody"}),
            ),
            (
                "DeleteTaskPushNotificationConfig",
                json!({"taskId": "nobody", "id": "c"}),
            ),
        ] {
            let failure = caller.call(operation, request).await;
            check(binding, &failure.expect_err(operation), TASK_NOT_FOUND);
        }
        for (operation, request) in [
            ("SubscribeToTask", json!({"id": "nobody"})),
            (
                "SendStreamingMessage",
                message("any", json!({"taskId": "nobody"})),
            ),
        ] {
            check(
                binding,
                &caller.open(operation, request).await.unwrap_err(),
                TASK_NOT_FOUND,
            );
        }
    }
}

#[tokio::test]
async fn a_finished_task_is_finished() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        for prefix in ["tck-complete-task", "tck-reject-task", "tck-task-failure"] {
            let task = task(&mut caller, prefix).await;
            let id = &task["id"];
            let failure = caller
                .call("CancelTask", json!({"id": id}))
                .await
                .unwrap_err();
            check(binding, &failure, TASK_NOT_CANCELABLE);
            let more = message("any", json!({"taskId": id}));
            let failure = caller.call("SendMessage", more.clone()).await.unwrap_err();
            check(binding, &failure, UNSUPPORTED_OPERATION);
            let failure = caller.open("SendStreamingMessage", more).await.unwrap_err();
            check(binding, &failure, UNSUPPORTED_OPERATION);
            let failure = caller
                .open("SubscribeToTask", json!({"id": id}))
                .await
                .unwrap_err();
            check(binding, &failure, UNSUPPORTED_OPERATION);
            assert_eq!(
                caller.call("GetTask", json!({"id": id})).await.unwrap(),
                task
            );
        }
    }
}

#[tokio::test]
async fn a_task_stays_in_its_context() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let task = task(&mut caller, "tck-input-required").await;
        let elsewhere = json!({"taskId": task["id"], "contextId": "elsewhere"});
        let failure = caller
            .call("SendMessage", message("any", elsewhere))
            .await
            .unwrap_err();
        check(binding, &failure, INVALID_PARAMS);
        assert!(!failure.fields().is_empty(), "{failure:?}");
    }
}

#[tokio::test]
async fn wrong_requests_name_what_is_wrong() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        for (operation, request, field) in [
            ("SendMessage", json!({}), "message"),
            (
                "SendMessage",
                message("any", json!({"parts": []})),
                "message.parts",
            ),
            (
                "SendMessage",
                message("any", json!({"parts": [{}]})),
                "message.parts[0]",
            ),
            (
                "SendMessage",
                message("any", json!({"messageId": ""})),
                "message.messageId",
            ),
            ("ListTasks", json!({"pageSize": 101}), "pageSize"),
            (
                "ListTasks",
                json!({"pageToken": "no such page"}),
                "pageToken",
            ),
        ] {
            let failure = caller.call(operation, request.clone()).await.unwrap_err();
            check(binding, &failure, INVALID_PARAMS);
            let named = failure.fields();
            assert!(
                named.iter().any(|named| named.starts_with(field)),
                "{operation} {request}: {failure:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_version_is_refused_with_its_own_error() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        caller.set("a2a-version", "9.9");
        let failure = caller.call("ListTasks", json!({})).await.unwrap_err();
        check(binding, &failure, VERSION_NOT_SUPPORTED);
    }
}

#[tokio::test]
async fn a_message_for_another_generation_is_refused() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let task = task(&mut caller, "tck-input-required").await;
        let generation: i64 = task["generation"].as_str().unwrap().parse().unwrap();
        let mut more = message("tck-complete-task", json!({"taskId": task["id"]}));
        for wrong in [generation - 1, generation + 1] {
            more["configuration"] = json!({"ifGenerationMatch": wrong.to_string()});
            let failure = caller.call("SendMessage", more.clone()).await.unwrap_err();
            check(binding, &failure, TASK_GENERATION_MISMATCH);
        }
        more["configuration"] = json!({"ifGenerationMatch": generation.to_string()});
        let sent = caller.call("SendMessage", more).await.unwrap();
        assert_eq!(
            sent["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
    }
}
