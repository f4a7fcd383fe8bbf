//! Object capabilities beside authentication: authority comes with an object, is as small as the object, and
//! ends with it.

use a2a::types::GetTaskRequest;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, Promise, Value, target};
use proof::{Wire, World};
use tokio::sync::mpsc;

use crate::schemes::{Guarded, is_refused};
use crate::support::in_time;

/// A session, and the agent that it begins with.
async fn open(world: &World) -> (Connection, Capability) {
    let url = format!("ws://{}/a2a/capnweb", world.address);
    let opened = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
    let session = opened.unwrap();
    let agent = session.remote::<Any>().into();
    (session, agent)
}

fn message(script: &str) -> Value {
    Value::object([
        ("messageId", Value::from(format!("message: {script}"))),
        ("role", "ROLE_USER".into()),
        ("parts", Value::array([Value::object([("text", script)])])),
    ])
}

/// A task that waits, as an object, and its id. The listener is told of it.
async fn begin(agent: &Capability, listener: Capability) -> (Promise, String) {
    let message = message("work, wait, done");
    let sent = vec![message, Value::Undefined, Value::Stub(listener)];
    let task = agent.call("sendMessageStreaming", sent);
    let shown = task.call("getTask", ()).await.unwrap();
    let id = shown.field("id").and_then(Value::as_str);
    (task, id.unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_credentials_is_refused() {
    let guarded = Guarded::start().await;
    let get = || GetTaskRequest {
        id: "any".to_owned(),
        ..GetTaskRequest::default()
    };
    for wire in Wire::all() {
        let answer = guarded.world.client(wire).get_task(get()).await;
        assert!(is_refused(&answer), "{wire}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_object_gives_its_task_and_nothing_else() {
    let world = World::start().await;
    let (_session, agent) = open(&world).await;
    let (task, id) = begin(&agent, Capability::nothing()).await;
    // What the agent can, its task cannot.
    agent.call("listTasks", ()).await.unwrap();
    for method in ["listTasks", "sendMessage", "authenticate", "getAgentCard"] {
        let refused = task.call(method, ()).await.unwrap_err();
        assert!(refused.message().contains(method), "{method}: {refused:?}");
    }
    // And it gives no access to another task, with any operation.
    let other = agent.call("sendMessage", (message("done"),)).await.unwrap();
    let other = other
        .field("task")
        .and_then(|task| task.field("id"))
        .cloned();
    let still = task.call("getTask", (other.unwrap(),)).await;
    if let Ok(still) = still {
        assert_eq!(still.field("id").and_then(Value::as_str), Some(&*id));
    }
}

/// A subscription that its holder releases is over, and the server lets go of the callback.
#[tokio::test(flavor = "multi_thread")]
async fn a_released_subscription_gives_nothing_more() {
    let world = World::start().await;
    let (_session, agent) = open(&world).await;
    let (task, id) = begin(&agent, Capability::nothing()).await;
    let (sender, mut heard) = mpsc::unbounded_channel();
    let listener = Value::Stub(Capability::new(Listener(sender)));
    // The first one takes the place of the argument, which has failed or not; a cursor makes it one of its own.
    let subscription = task.call("subscribe", (listener, "1")).await.unwrap();
    assert_eq!(in_time(heard.recv()).await, Some("told"));
    drop(subscription);
    assert_eq!(in_time(heard.recv()).await, Some("let go"));
    assert!(world.gates.open(&id));
    world.settle(&id).await;
    assert_eq!(in_time(heard.recv()).await, None);
}

/// Tells when it is let go.
struct Listener(mpsc::UnboundedSender<&'static str>);

#[target(pub(crate))]
impl Listener {
    pub fn on_status_update(&self, _event: Value) {
        let _ = self.0.send("told");
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.0.send("let go");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_let_go_is_called_no_more() {
    let world = World::start().await;
    let (_session, agent) = open(&world).await;
    let (sender, mut heard) = mpsc::unbounded_channel();
    let (task, id) = begin(&agent, Capability::new(Listener(sender))).await;
    for _ in 0..2 {
        assert_eq!(in_time(heard.recv()).await, Some("told"));
    }
    // The server gives the object back, and it cannot be reached afterwards.
    task.call("unsubscribe", ()).await.unwrap();
    assert_eq!(in_time(heard.recv()).await, Some("let go"));
    world.settle(&id).await;
    assert!(world.gates.open(&id));
    world.settle(&id).await;
    assert_eq!(in_time(heard.recv()).await, None);
}
