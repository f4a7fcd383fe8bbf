//! A2A 3.6: the version a caller announces. Absent it is 0.3; only major and minor count.

use axum::body::Body;
use serde_json::json;

use super::caller::{BINDINGS, Binding, json_rpc};
use crate::support::sut::Sut;

const NOT_SUPPORTED: Option<&str> = Some("VERSION_NOT_SUPPORTED");

#[tokio::test]
async fn other_versions_are_refused_by_every_operation() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        for version in ["0.3", "0.2", "1.2", "2.0", "9.9", "1", "one", "1.0, 2.0"] {
            caller.set("a2a-version", version);
            for (operation, request) in [
                ("SendMessage", json!({})),
                ("GetTask", json!({"id": "x"})),
                ("ListTasks", json!({})),
                ("CancelTask", json!({"id": "x"})),
                ("GetExtendedAgentCard", json!({})),
            ] {
                let failure = caller.call(operation, request).await.unwrap_err();
                assert_eq!(
                    failure.reason(),
                    NOT_SUPPORTED,
                    "{binding:?} {version} {operation}"
                );
            }
            for (operation, request) in [
                ("SendStreamingMessage", json!({})),
                ("SubscribeToTask", json!({"id": "x"})),
            ] {
                let failure = caller.open(operation, request).await.unwrap_err();
                assert_eq!(
                    failure.reason(),
                    NOT_SUPPORTED,
                    "{binding:?} {version} {operation}"
                );
            }
        }
        for version in ["1.0", "1.0.7", " 1.0 ", "1.1", "1.1.3"] {
            caller.set("a2a-version", version);
            assert!(
                caller.call("ListTasks", json!({})).await.is_ok(),
                "{binding:?} {version}"
            );
        }
    }
}

#[tokio::test]
async fn without_a_version_it_is_0_3() {
    let sut = Sut::in_memory().await;
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let mut caller = sut.caller(binding).await;
        for version in [None, Some("")] {
            caller.unset("a2a-version");
            if let Some(version) = version {
                caller.set("a2a-version", version);
            }
            let failure = caller.call("ListTasks", json!({})).await.unwrap_err();
            assert_eq!(failure.reason(), NOT_SUPPORTED, "{binding:?} {version:?}");
        }
    }
    // The name of the gRPC service is that of its version.
    let mut caller = sut.caller(Binding::Grpc).await;
    caller.unset("a2a-version");
    assert!(caller.call("ListTasks", json!({})).await.is_ok());
}

#[tokio::test]
async fn the_version_may_stand_in_the_query() {
    let sut = Sut::in_memory().await;
    for (query, status) in [
        ("?A2A-Version=1.0", 200),
        ("?a2a-version=1.0.3", 200),
        ("?A2A-Version=0.3", 400),
    ] {
        let mut caller = sut.caller(Binding::Rest).await;
        caller.unset("a2a-version");
        let request = caller.builder("GET", &format!("/a2a/rest/tasks{query}"));
        let answer = caller.raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, status, "{query}: {answer:?}");

        let request = caller.builder("POST", &format!("/a2a/jsonrpc{query}"));
        let request = request.header("content-type", "application/json");
        let body = json_rpc("ListTasks", json!({})).to_string();
        let answer = caller.raw(request.body(body.into()).unwrap()).await;
        assert_eq!(
            answer.text.contains("-32009"),
            status != 200,
            "{query}: {answer:?}"
        );
    }
}
