//! Names and requests of the methods.

use axum::body::to_bytes;
use serde_json::{Value, json};

use super::{Table, method_name};
use crate::api::rules::RULES;

#[test]
fn a_route_has_a_name() {
    for (verb, path, name) in [
        ("GET", "/api/sessions", "getSessions"),
        (
            "GET",
            "/api/sessions/{id}/messages",
            "getSessionsByIdMessages",
        ),
        ("PATCH", "/api/sessions/{id}", "patchSessionsById"),
        (
            "POST",
            "/api/memory/vector-search",
            "postMemoryVectorSearch",
        ),
        ("GET", "/api/agent/law", "getAgentLaw"),
        ("PUT", "/api/users/{name}", "putUsersByName"),
        ("GET", "/metrics", "getMetrics"),
    ] {
        assert_eq!(method_name(verb, path), name);
    }
}

#[test]
fn every_route_but_the_chat_and_ag_ui_is_one_method() {
    let table = Table::of(RULES);
    assert_eq!(table.names().count(), RULES.len() - 2);
}

async fn request(name: &str, fields: Value) -> (String, Value) {
    let table = Table::of(RULES);
    let Value::Object(fields) = fields else {
        panic!("{fields}");
    };
    let request = table.get(name).unwrap().request(fields).unwrap();
    let line = format!("{} {}", request.method(), request.uri());
    let body = to_bytes(request.into_body(), 1 << 16).await.unwrap();
    let body = match body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&body).unwrap(),
    };
    (line, body)
}

#[tokio::test]
async fn fields_go_into_the_path_the_query_and_the_body() {
    let fields = json!({ "id": "a/b c", "after": "3.0", "limit": 5, "agent": null });
    let line = "GET /api/sessions/a%2Fb%20c/messages?after=3.0&limit=5";
    let (asked, body) = request("getSessionsByIdMessages", fields).await;
    assert_eq!((&*asked, body), (line, Value::Null));

    let fields = json!({ "id": "x", "decision": "approve", "agent": "scout" });
    let (asked, body) = request("postApprovalsById", fields).await;
    assert_eq!(asked, "POST /api/approvals/x?agent=scout");
    assert_eq!(body, json!({ "decision": "approve" }));

    // Where the body has the field, it is there.
    let fields = json!({ "command": "hello", "agent": "scout" });
    let (asked, body) = request("postAgentCommand", fields).await;
    assert_eq!(asked, "POST /api/agent/command");
    assert_eq!(body, json!({ "command": "hello", "agent": "scout" }));

    let fields = json!({ "kinds": ["heard", "thought"] });
    let (asked, _) = request("getJournal", fields).await;
    assert_eq!(asked, "GET /api/journal?kinds=heard%2Cthought");
}

#[test]
fn a_parameter_of_the_path_is_needed() {
    let table = Table::of(RULES);
    let failure = table.get("getSessionsById").unwrap();
    let failure = failure.request(serde_json::Map::new()).unwrap_err();
    assert_eq!(failure.told(), ("invalid", "id is missing"));
}
