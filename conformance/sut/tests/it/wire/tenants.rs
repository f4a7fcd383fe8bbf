//! Tenants: a field of every request, and over REST the first segment of the path.

use serde_json::{Value, json};

use super::caller::BINDINGS;
use crate::support::sut::Sut;

fn message(tenant: &str, prefix: &str) -> Value {
    let id = format!("{prefix}-{}", uuid::Uuid::new_v4());
    let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "go"}]});
    json!({"tenant": tenant, "message": message})
}

#[tokio::test]
async fn a_tenant_sees_its_own_tasks_whichever_way_they_came() {
    let sut = Sut::in_memory().await;
    for maker in BINDINGS {
        let tenant = format!("tenant-of-{maker:?}");
        let mut caller = sut.caller(maker).await;
        let sent = caller
            .call("SendMessage", message(&tenant, "tck-complete-task"))
            .await;
        let task = sent.unwrap()["task"].clone();
        let id = &task["id"];
        for binding in BINDINGS {
            let mut caller = sut.caller(binding).await;
            let found = caller
                .call("GetTask", json!({"tenant": tenant, "id": id}))
                .await;
            assert_eq!(found.unwrap(), task, "{maker:?} {binding:?}");
            let listed = caller
                .call("ListTasks", json!({"tenant": tenant}))
                .await
                .unwrap();
            assert_eq!(listed["totalSize"], 1, "{maker:?} {binding:?}");
            for other in ["", "another"] {
                let failure = caller
                    .call("GetTask", json!({"tenant": other, "id": id}))
                    .await;
                assert_eq!(
                    failure.unwrap_err().reason(),
                    Some("TASK_NOT_FOUND"),
                    "{maker:?} {binding:?} {other}"
                );
                let listed = caller
                    .call("ListTasks", json!({"tenant": other}))
                    .await
                    .unwrap();
                assert_eq!(listed["totalSize"], 0, "{maker:?} {binding:?} {other}");
            }
        }
    }
}

#[tokio::test]
async fn every_operation_of_a_tenant_has_its_address() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let tenant = format!("all-of-{binding:?}");
        let mut caller = sut.caller(binding).await;
        let mut request = message(&tenant, "tck-cancel");
        request["configuration"] = json!({"returnImmediately": true});
        let sent = caller.call("SendMessage", request).await.unwrap();
        let id = &sent["task"]["id"];
        let config =
            json!({"tenant": tenant, "taskId": id, "id": "c", "url": "http://127.0.0.1:9/"});
        let made = caller
            .call("CreateTaskPushNotificationConfig", config)
            .await
            .unwrap();
        assert_eq!(made["id"], "c", "{binding:?}");
        let named = json!({"tenant": tenant, "taskId": id, "id": "c"});
        let got = caller
            .call("GetTaskPushNotificationConfig", named.clone())
            .await
            .unwrap();
        assert_eq!(got, made, "{binding:?}");
        let listed = caller
            .call(
                "ListTaskPushNotificationConfigs",
                json!({"tenant": tenant, "taskId": id}),
            )
            .await;
        assert_eq!(listed.unwrap()["configs"], json!([made]), "{binding:?}");
        caller
            .call("DeleteTaskPushNotificationConfig", named)
            .await
            .unwrap();

        let mut reader = sut.caller(binding).await;
        let mut events = reader
            .open("SubscribeToTask", json!({"tenant": tenant, "id": id}))
            .await
            .unwrap();
        assert_eq!(&events.event().await.body["task"]["id"], id, "{binding:?}");
        caller
            .call("CancelTask", json!({"tenant": tenant, "id": id}))
            .await
            .unwrap();
        assert!(!events.rest().await.is_empty(), "{binding:?}");
        let streamed = caller
            .open(
                "SendStreamingMessage",
                message(&tenant, "tck-complete-task"),
            )
            .await;
        assert!(!streamed.unwrap().rest().await.is_empty(), "{binding:?}");
    }
}

/// With the right id and a wrong tenant, each operation that names a task answers as if it did not exist.
#[tokio::test]
async fn no_operation_reaches_the_task_of_another_tenant() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let tenant = format!("owner-of-{binding:?}");
        let mut caller = sut.caller(binding).await;
        let mut request = message(&tenant, "tck-cancel");
        request["configuration"] = json!({"returnImmediately": true});
        let sent = caller.call("SendMessage", request).await.unwrap();
        let id = &sent["task"]["id"];
        let config =
            json!({"tenant": tenant, "taskId": id, "id": "c", "url": "http://127.0.0.1:9/"});
        let made = caller.call("CreateTaskPushNotificationConfig", config);
        made.await.unwrap();
        for other in ["", "another"] {
            for row in a2a::operation::TABLE {
                let mut request = json!({"tenant": other, "taskId": id, "id": "c"});
                match row.name {
                    // They name no task.
                    "ListTasks" | "GetExtendedAgentCard" => continue,
                    "SendMessage" | "SendStreamingMessage" => {
                        request = message(other, "tck-complete-task");
                        request["message"]["taskId"] = id.clone();
                    }
                    "GetTask" | "CancelTask" | "SubscribeToTask" => {
                        request = json!({"tenant": other, "id": id});
                    }
                    "CreateTaskPushNotificationConfig" => {
                        request["url"] = json!("http://127.0.0.1:9/");
                    }
                    "ListTaskPushNotificationConfigs" => {
                        request = json!({"tenant": other, "taskId": id});
                    }
                    _ => {}
                }
                let mut caller = sut.caller(binding).await;
                let failure = match row.name {
                    "SendStreamingMessage" | "SubscribeToTask" => {
                        caller.open(row.name, request).await.map(drop).unwrap_err()
                    }
                    name => caller.call(name, request).await.map(drop).unwrap_err(),
                };
                assert_eq!(
                    failure.reason(),
                    Some("TASK_NOT_FOUND"),
                    "{binding:?} {} as {other:?}",
                    row.name
                );
            }
        }
        // It was neither cancelled nor continued.
        let found = caller
            .call("GetTask", json!({"tenant": tenant, "id": id}))
            .await;
        assert_eq!(
            found.unwrap()["status"],
            sent["task"]["status"],
            "{binding:?}"
        );
    }
}
