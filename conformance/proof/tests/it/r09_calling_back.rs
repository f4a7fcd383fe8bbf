//! r9: the server calls the client. Over Cap'n Web it calls an object of the client's; over a WebSocket it sends on
//! the connection on which the client goes on calling; over plain HTTP and gRPC it calls a webhook of the client's.

use a2a::client::Version;
use a2a::types::{GetTaskRequest, SendMessageConfiguration, TaskPushNotificationConfig, TaskState};
use capnweb::transport::websocket as socket;
use capnweb::{Any, Capability, Value, target};
use futures_util::StreamExt as _;
use proof::{Wire, World};
use tokio::sync::mpsc;

use crate::receiver::Receiver;
use crate::support::{script, state, task};

on_every_binding!(a_webhook_is_called: jsonrpc rest grpc);
on_every_binding!(events_come_between_calls: websocket);
on_every_binding!(an_object_is_called: capnweb);

/// The client names an address when it sends, and is called there while it holds no connection open.
async fn a_webhook_is_called(wire: Wire) {
    let world = World::start().await;
    let mut receiver = Receiver::open().await;
    let mut request = script("work, text made, done");
    request.configuration = Some(SendMessageConfiguration {
        return_immediately: true,
        task_push_notification_config: Some(TaskPushNotificationConfig {
            url: receiver.url.clone(),
            token: "call me back".to_owned(),
            ..TaskPushNotificationConfig::default()
        }),
        ..SendMessageConfiguration::default()
    });
    task(&world.client(wire), request).await;
    let mut states = receiver.states("call me back").await;
    states.dedup();
    assert_eq!(states, ["SUBMITTED", "WORKING", "COMPLETED"], "{wire}");
}

/// One connection carries events one way and calls the other, at the same time.
async fn events_come_between_calls(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let request = script("work, wait, text made, wait, done");
    let mut events = client.send_streaming_message(request).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    let id = match &first.response().payload {
        a2a::types::Event::Task(task) => task.id.clone(),
        other => panic!("{wire}: {other:?}"),
    };
    let mut seen = vec![first.state()];
    for _ in 0..2 {
        world.settle(&id).await;
        let request = GetTaskRequest {
            id: id.clone(),
            ..GetTaskRequest::default()
        };
        let shown = client.get_task(request).await.unwrap();
        assert_eq!(state(&shown), TaskState::Working, "{wire}");
        assert!(world.gates.open(&id), "{wire}");
        seen.push(events.next().await.unwrap().unwrap().state());
    }
    while let Some(event) = events.next().await {
        seen.push(event.unwrap().state());
    }
    let expected = [
        Some(TaskState::Submitted),
        Some(TaskState::Working),
        None,
        Some(TaskState::Completed),
    ];
    assert_eq!(seen, expected, "{wire}");
}

/// Passes on what it is told.
struct Listener(mpsc::UnboundedSender<String>);

#[target(pub(crate))]
impl Listener {
    pub fn on_status_update(&self, event: Value) {
        let state = event
            .field("status")
            .and_then(|status| status.field("state"));
        let state = state.and_then(Value::as_str).unwrap_or_default();
        let _ = self.0.send(state.to_owned());
    }

    pub fn on_artifact_update(&self, _event: Value) {
        let _ = self.0.send("an artifact".to_owned());
    }
}

/// The client hands an object over with its message, and the server calls its methods.
async fn an_object_is_called(wire: Wire) {
    let world = World::start().await;
    let url = format!("ws://{}/a2a/capnweb", world.address);
    let options = capnweb::Options::default();
    let connection = socket::connect(&url, Capability::nothing(), &options).await;
    let connection = connection.unwrap();
    let agent: Capability = connection.remote::<Any>().into();
    let (sender, mut told) = mpsc::unbounded_channel();
    let listener = Value::Stub(Capability::new(Listener(sender)));
    let (role, expected) = match wire.version {
        Version::V1_0 => (
            "ROLE_USER",
            [
                "TASK_STATE_SUBMITTED",
                "TASK_STATE_WORKING",
                "an artifact",
                "TASK_STATE_COMPLETED",
            ],
        ),
        Version::V0_3 => ("user", ["submitted", "working", "an artifact", "completed"]),
    };
    let text = ("text", "work, text made, done");
    let part = match wire.version {
        Version::V1_0 => Value::object([text]),
        Version::V0_3 => Value::object([("kind", "text"), text]),
    };
    let message = Value::object([
        ("messageId", Value::from("message")),
        ("role", role.into()),
        ("parts", Value::array([part])),
    ]);
    let arguments = vec![message, Value::Undefined, listener];
    let task = agent.call("sendMessageStreaming", arguments);
    let mut heard = Vec::new();
    while heard.len() < expected.len() {
        heard.push(told.recv().await.unwrap());
    }
    assert_eq!(heard, expected, "{wire}");
    drop(task);
}
