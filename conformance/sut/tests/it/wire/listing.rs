//! ListTasks as it is printed: what must be there although empty, and what must not.

use std::collections::BTreeSet;

use a2a::types::Timestamp;
use serde_json::{Value, json};

use super::caller::{BINDINGS, Binding, Caller};
use crate::support::sut::Sut;

async fn send(caller: &mut Caller, text: &str, context: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    let message = json!({
        "messageId": id, "contextId": context, "role": "ROLE_USER", "parts": [{"text": text}],
    });
    let sent = caller
        .call("SendMessage", json!({"message": message}))
        .await
        .unwrap();
    sent["task"].clone()
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test]
async fn four_fields_are_printed_even_when_there_is_nothing() {
    let sut = Sut::in_memory().await;
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let mut caller = sut.caller(binding).await;
        let listed = caller.call("ListTasks", json!({})).await.unwrap();
        assert_eq!(
            listed,
            json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}),
            "{binding:?}"
        );
        let listed = caller
            .call("ListTasks", json!({"pageSize": 7}))
            .await
            .unwrap();
        assert_eq!(listed["pageSize"], 7, "{binding:?}: {listed}");
    }
}

#[tokio::test]
async fn what_was_not_asked_for_is_not_there_at_all() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let context = format!("context-{binding:?}");
        let whole = send(&mut caller, "task", &context).await;
        assert!(keys(&whole).contains(&"artifacts"), "{whole}");

        let listed = caller
            .call("ListTasks", json!({"contextId": context}))
            .await
            .unwrap();
        assert!(
            !keys(&listed["tasks"][0]).contains(&"artifacts"),
            "{binding:?}: {listed}"
        );
        let filter = json!({"contextId": context, "historyLength": 0, "includeArtifacts": true});
        let listed = caller.call("ListTasks", filter).await.unwrap();
        assert!(
            !keys(&listed["tasks"][0]).contains(&"history"),
            "{binding:?}: {listed}"
        );
        assert_eq!(
            listed["tasks"][0]["artifacts"], whole["artifacts"],
            "{binding:?}"
        );
        let task = caller
            .call("GetTask", json!({"id": whole["id"], "historyLength": 0}))
            .await
            .unwrap();
        assert!(!keys(&task).contains(&"history"), "{binding:?}: {task}");
    }
}

#[tokio::test]
async fn pages_are_whole_while_new_tasks_come_in() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let context = format!("pages-{binding:?}");
        let mut sent = BTreeSet::new();
        for number in 0..7 {
            let task = send(&mut caller, &format!("task {number}"), &context).await;
            sent.insert(task["id"].as_str().unwrap().to_owned());
        }
        let (mut seen, mut token) = (Vec::new(), String::new());
        loop {
            let filter = json!({"contextId": context, "pageSize": 3, "pageToken": token});
            let page = caller.call("ListTasks", filter).await.unwrap();
            seen.extend(page["tasks"].as_array().unwrap().iter().cloned());
            token = page["nextPageToken"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            if token.is_empty() {
                break;
            }
            // It is as new as any that was read, so nothing old moves.
            send(&mut caller, "task late", &context).await;
        }
        let times: Vec<Timestamp> = seen
            .iter()
            .map(|task| serde_json::from_value(task["status"]["timestamp"].clone()).unwrap())
            .collect();
        assert!(
            times.is_sorted_by(|one, next| one >= next),
            "{binding:?}: {times:?}"
        );
        let ids: Vec<&str> = seen
            .iter()
            .map(|task| task["id"].as_str().unwrap())
            .collect();
        let distinct: BTreeSet<String> = ids.iter().map(|&id| id.to_owned()).collect();
        assert_eq!(
            distinct.len(),
            ids.len(),
            "{binding:?}: a task was listed twice"
        );
        assert!(
            distinct.is_superset(&sent),
            "{binding:?}: a task was left out"
        );
    }
}

#[tokio::test]
async fn a_page_token_belongs_to_its_filter() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for number in 0..3 {
        send(&mut caller, &format!("task {number}"), "mine").await;
    }
    let page = caller
        .call("ListTasks", json!({"contextId": "mine", "pageSize": 1}))
        .await
        .unwrap();
    let token = &page["nextPageToken"];
    let other = json!({"contextId": "other", "pageSize": 1, "pageToken": token});
    // Either refused or answered for the other filter, never with tasks of the first.
    if let Ok(page) = caller.call("ListTasks", other).await {
        assert_eq!(page["tasks"], json!([]), "{page}");
    }
}
