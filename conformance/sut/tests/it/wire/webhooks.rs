//! Webhooks of the real program: each told in the version it was registered in.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::caller::{Binding, Caller, json_rpc, json_rpc_result};
use crate::support::sut::Sut;

/// A webhook on a real socket, which takes what it gets unless its path says otherwise.
struct Receiver {
    url: String,
    got: mpsc::UnboundedReceiver<(HeaderMap, Value)>,
    serving: JoinHandle<()>,
}

type Taken = mpsc::UnboundedSender<(HeaderMap, Value)>;

impl Receiver {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, got) = mpsc::unbounded_channel();
        let router = Router::new()
            .route("/take", axum::routing::post(take))
            .with_state(sender);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, got, serving }
    }

    fn hook(&self) -> String {
        format!("{}/take", self.url)
    }

    async fn next(&mut self) -> (HeaderMap, Value) {
        self.got.recv().await.unwrap()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn take(State(taken): State<Taken>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let body = serde_json::from_slice(&body).unwrap();
    let _ = taken.send((headers, body));
    StatusCode::NO_CONTENT
}

/// A call of JSON-RPC, in the version that its name belongs to.
async fn call(caller: &mut Caller, method: &str, params: Value) -> Value {
    let request = caller.builder("POST", "/a2a/jsonrpc");
    let request = request.header("content-type", "application/json");
    let body = Body::from(json_rpc(method, params).to_string());
    let answer = caller.raw(request.body(body).unwrap()).await;
    json_rpc_result(&serde_json::from_str(&answer.text).unwrap()).unwrap()
}

#[tokio::test]
async fn webhooks_of_both_versions_on_one_task_get_each_theirs() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let (mut new, mut old) = (Receiver::open().await, Receiver::open().await);
    let sent = call(
        &mut caller,
        "message/send",
        json!({
            "message": {
                "kind": "message", "role": "user", "messageId": "tck-cancel-webhooks",
                "parts": [{ "kind": "text", "text": "stay" }],
            },
            "configuration": {
                "blocking": false,
                "pushNotificationConfig": { "url": old.hook(), "token": "old token" },
            },
        }),
    )
    .await;
    let id = sent["id"].as_str().unwrap();
    call(
        &mut caller,
        "CreateTaskPushNotificationConfig",
        json!({ "taskId": id, "url": new.hook(), "token": "new token" }),
    )
    .await;
    call(&mut caller, "CancelTask", json!({ "id": id })).await;

    let mut states = Vec::new();
    while states.last().is_none_or(|state| state != "canceled") {
        let (headers, task) = old.next().await;
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["x-a2a-notification-token"], "old token");
        assert_eq!((&task["kind"], &task["id"]), (&json!("task"), &json!(id)));
        assert_eq!(task["history"][0]["kind"], "message");
        states.push(task["status"]["state"].as_str().unwrap().to_owned());
    }
    assert_eq!(states, ["submitted", "working", "canceled"]);

    loop {
        let (headers, event) = new.next().await;
        assert_eq!(headers["content-type"], "application/a2a+json");
        assert_eq!(headers["x-a2a-notification-token"], "new token");
        let update = &event["statusUpdate"];
        assert_eq!(update["taskId"], *id, "{event}");
        if update["status"]["state"] == "TASK_STATE_CANCELED" {
            break;
        }
    }
}
