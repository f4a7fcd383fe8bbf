//! Callbacks of Cap'n Web: each is a subscription of its own, which ends with its object.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use a2a::binding::{self, BindingUses, Wire};
use a2a::limits::Limits;
use capnweb::transport::batch::BatchClient;
use capnweb::transport::websocket;
use capnweb::{Any, Arguments, Capability, Connection, Error, Options, Value};
use tokio::sync::mpsc;

use crate::server::support::{Bench, Script, config, in_memory};

/// A server on a port of its own, and one session with it.
struct Served {
    bench: Bench,
    url: String,
    session: Connection,
}

impl Served {
    async fn start() -> Self {
        let bench = Bench::with(config(), in_memory(), Script::new()).await;
        let mut limits = Limits::default();
        limits.callback_time = Duration::from_millis(300);
        let wire = Wire::new(Arc::new(bench.server.clone()), limits);
        let routes = binding::routes(&wire, &BindingUses::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let url = format!("{address}/a2a/capnweb");
        let options = Options::default();
        let opened =
            websocket::connect(&format!("ws://{url}"), Capability::nothing(), &options).await;
        Self {
            bench,
            url: format!("http://{url}"),
            session: opened.unwrap(),
        }
    }

    fn agent(&self) -> Capability {
        self.session.remote::<Any>().into()
    }

    /// The object of a task that does what the text says, with this callback.
    async fn task(&self, text: &str, callback: Option<Value>) -> Capability {
        let callback = callback.unwrap_or(Value::Undefined);
        let arguments = vec![message(text), Value::Undefined, callback];
        let task = self.agent().call("sendMessageStreaming", arguments);
        stub(task.await.unwrap())
    }

    /// Lets the agent go on, past one `wait`.
    fn go_on(&self) {
        self.bench.script.gate.add_permits(1);
    }
}

fn stub(value: Value) -> Capability {
    let Value::Stub(stub) = value else {
        panic!("not an object: {value:?}");
    };
    stub
}

fn message(text: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    Value::object([
        ("messageId", Value::from(id)),
        ("role", "ROLE_USER".into()),
        ("parts", Value::array([Value::object([("text", text)])])),
    ])
}

/// What a callback was told, in order.
struct Told(mpsc::UnboundedReceiver<String>);

impl Told {
    async fn next(&mut self) -> String {
        self.0.recv().await.unwrap_or_else(|| "released".to_owned())
    }

    /// Everything up to the moment when the server lets go of the callback.
    async fn rest(mut self) -> Vec<String> {
        let mut rest = Vec::new();
        while let Some(event) = self.0.recv().await {
            rest.push(event);
        }
        rest
    }
}

/// A callback made of functions, and what it is told.
fn listener() -> (Value, Told) {
    let (tell, told) = mpsc::unbounded_channel();
    let status = tell.clone();
    let status = Capability::from_fn(move |arguments: Arguments| {
        let event = arguments.rest().remove(0);
        let state = event.field("status").and_then(|it| it.field("state"));
        let state = state.and_then(Value::as_str).unwrap_or_default();
        let last = matches!(event.field("final"), Some(Value::Bool(true)));
        let end = if last { " final" } else { "" };
        let _ = status.send(format!("{}{end}", state.trim_start_matches("TASK_STATE_")));
        async {}
    });
    let artifact = Capability::from_fn(move |arguments: Arguments| {
        let event = arguments.rest().remove(0);
        let parts = event.field("artifact").and_then(|it| it.field("parts"));
        let part = parts.and_then(Value::as_array).and_then(|it| it.first());
        let text = part.and_then(|it| it.field("text")).and_then(Value::as_str);
        let _ = tell.send(text.unwrap_or_default().to_owned());
        async {}
    });
    let callback = Value::object([
        ("onStatusUpdate", Value::Stub(status)),
        ("onArtifactUpdate", Value::Stub(artifact)),
    ]);
    (callback, Told(told))
}

fn reason(error: &Error) -> &str {
    let reason = error.prop("reason").and_then(Value::as_str);
    reason.unwrap_or_default()
}

#[tokio::test]
async fn a_subscription_ends_when_it_is_dropped_and_others_go_on() {
    let served = Served::start().await;
    let task = served
        .task("working wait chunk:a wait chunk:b done", None)
        .await;
    let ((one, mut hears), (other, mut also)) = (listener(), listener());
    let one = stub(task.call("subscribe", (one,)).await.unwrap());
    let _other = stub(task.call("subscribe", (other,)).await.unwrap());
    assert_eq!(hears.next().await, "WORKING");
    assert_eq!(also.next().await, "WORKING");
    served.go_on();
    assert_eq!(hears.next().await, "a");
    assert_eq!(also.next().await, "a");
    drop(one);
    assert_eq!(hears.next().await, "released");
    served.go_on();
    assert_eq!(also.rest().await, ["b", "COMPLETED final"]);
}

#[tokio::test]
async fn a_subscription_can_be_asked_to_end() {
    let served = Served::start().await;
    let task = served.task("working wait done", None).await;
    let (callback, mut told) = listener();
    let subscription = stub(task.call("subscribe", (callback,)).await.unwrap());
    assert_eq!(told.next().await, "WORKING");
    subscription.call("unsubscribe", ()).await.unwrap();
    assert_eq!(told.next().await, "released");
    // A second time is no error.
    subscription.call("unsubscribe", ()).await.unwrap();
}

#[tokio::test]
async fn the_first_to_subscribe_takes_the_place_of_the_argument_and_the_second_does_not() {
    let served = Served::start().await;
    let (argument, mut first) = listener();
    let task = served
        .task("working wait chunk:a wait done", Some(argument))
        .await;
    assert_eq!(first.next().await, "SUBMITTED");
    assert_eq!(first.next().await, "WORKING");
    let ((second, mut heir), (third, mut newcomer)) = (listener(), listener());
    let _second = stub(task.call("subscribe", (second,)).await.unwrap());
    assert_eq!(first.next().await, "released");
    let _third = stub(task.call("subscribe", (third,)).await.unwrap());
    assert_eq!(newcomer.next().await, "WORKING");
    served.go_on();
    // The heir goes on where the first one was, without the present status.
    assert_eq!(heir.next().await, "a");
    assert_eq!(newcomer.next().await, "a");
    served.go_on();
    assert_eq!(heir.rest().await, ["COMPLETED final"]);
    assert_eq!(newcomer.rest().await, ["COMPLETED final"]);
}

#[tokio::test]
async fn a_callback_for_a_known_task_keeps_its_place() {
    let served = Served::start().await;
    let begun = served.bench.task_at_once("working wait done").await;
    let ((one, mut hears), (other, mut also)) = (listener(), listener());
    let arguments = (begun.id.as_str(), one);
    let task = served
        .agent()
        .call("subscribeToPushNotifications", arguments);
    let task = stub(task.await.unwrap());
    let _other = stub(task.call("subscribe", (other,)).await.unwrap());
    assert_eq!(hears.next().await, "WORKING");
    assert_eq!(also.next().await, "WORKING");
    served.go_on();
    assert_eq!(hears.rest().await, ["COMPLETED final"]);
    assert_eq!(also.rest().await, ["COMPLETED final"]);
}

#[tokio::test]
async fn who_takes_the_place_of_a_callback_that_failed_is_told_all_the_same() {
    let served = Served::start().await;
    let fails = Capability::from_fn(|_: Arguments| async { Err::<(), _>(Error::new("no")) });
    let fails = Value::object([("onStatusUpdate", Value::Stub(fails))]);
    let task = served.task("working wait done", Some(fails)).await;
    // The failing callback is let go of before the next call is answered, or soon after it.
    task.call("getTask", ()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (callback, mut told) = listener();
    let _subscription = stub(task.call("subscribe", (callback,)).await.unwrap());
    assert_eq!(told.next().await, "WORKING");
    served.go_on();
    assert_eq!(told.rest().await, ["COMPLETED final"]);
}

#[tokio::test]
async fn a_callback_that_never_returns_is_dropped_and_others_go_on() {
    let served = Served::start().await;
    let (hung, mut hangs) = mpsc::unbounded_channel::<()>();
    let never = Capability::from_fn(move |_: Arguments| {
        let held = hung.clone();
        async move {
            held.send(()).unwrap();
            pending::<()>().await;
        }
    });
    let never = Value::object([("onStatusUpdate", Value::Stub(never))]);
    let task = served.task("working wait done", None).await;
    let _never = stub(task.call("subscribe", (never,)).await.unwrap());
    let (callback, mut told) = listener();
    let _subscription = stub(task.call("subscribe", (callback,)).await.unwrap());
    assert_eq!(told.next().await, "WORKING");
    hangs.recv().await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    served.go_on();
    assert_eq!(told.rest().await, ["COMPLETED final"]);
    assert!(hangs.try_recv().is_err(), "it was called again");
}

#[tokio::test]
async fn unsubscribe_ends_the_only_callback_and_refuses_to_guess_among_several() {
    let served = Served::start().await;
    let (argument, mut told) = listener();
    let task = served.task("working wait done", Some(argument)).await;
    assert_eq!(told.next().await, "SUBMITTED");
    assert_eq!(told.next().await, "WORKING");
    let (unknown, _) = listener();
    task.call("unsubscribe", (unknown,)).await.unwrap();
    assert_eq!(told.next().await, "released");

    let task = served.task("working wait chunk:a wait done", None).await;
    let ((one, mut hears), (other, mut also)) = (listener(), listener());
    let _one = stub(task.call("subscribe", (one,)).await.unwrap());
    let _other = stub(task.call("subscribe", (other,)).await.unwrap());
    assert_eq!(hears.next().await, "WORKING");
    assert_eq!(also.next().await, "WORKING");
    let (unknown, _) = listener();
    let error = task.call("unsubscribe", (unknown,)).await.unwrap_err();
    assert_eq!(reason(&error), "INVALID_PARAMS", "{error:?}");
    assert!(error.message().contains("dispose"), "{error:?}");
    // The agent of the first task waits at the same gate.
    served.bench.script.gate.add_permits(3);
    assert_eq!(hears.rest().await, ["a", "COMPLETED final"]);
    assert_eq!(also.rest().await, ["a", "COMPLETED final"]);
}

#[tokio::test]
async fn a_question_is_final_only_for_the_stream_that_ends_with_it() {
    let served = Served::start().await;
    let (argument, told) = listener();
    let task = served.task("working ask:more", Some(argument)).await;
    let asked = ["SUBMITTED", "WORKING", "INPUT_REQUIRED final"];
    assert_eq!(told.rest().await, asked);
    // One that comes while the task waits hears what comes of the answer.
    let found = task.call("getTask", ()).await.unwrap();
    let id = found.field("id").and_then(Value::as_str).unwrap();
    let (callback, mut told) = listener();
    let again = served
        .agent()
        .call("subscribeToPushNotifications", (id, callback));
    let _again = again.await.unwrap();
    assert_eq!(told.next().await, "INPUT_REQUIRED");
    let Value::Object(mut answer) = message("done") else {
        panic!("an object");
    };
    answer.insert("taskId", id.to_owned());
    let sent = served.agent().call("sendMessage", (Value::Object(answer),));
    sent.await.unwrap();
    assert_eq!(told.rest().await.last().unwrap(), "COMPLETED final");
}

#[tokio::test]
async fn an_answer_without_a_task_has_nothing_but_itself() {
    let served = Served::start().await;
    let task = served.task("echo:hello", None).await;
    let answer = task.call("getTask", ()).await.unwrap();
    assert!(answer.field("parts").is_some(), "{answer:?}");
    let error = task.call("cancelTask", ()).await.unwrap_err();
    assert_eq!(reason(&error), "UNSUPPORTED_OPERATION", "{error:?}");
    let (tell, mut told) = mpsc::unbounded_channel();
    let hears = Capability::from_fn(move |arguments: Arguments| {
        let tell = tell.clone();
        async move { tell.send(arguments.rest().remove(0)).unwrap() }
    });
    let callback = Value::object([("onMessage", Value::Stub(hears))]);
    let _subscription = stub(task.call("subscribe", (callback,)).await.unwrap());
    let heard = told.recv().await.unwrap();
    assert_eq!(format!("{heard:?}"), format!("{answer:?}"));
}

#[tokio::test]
async fn a_batch_refuses_what_would_have_to_be_called_back() {
    let served = Served::start().await;
    let options = Options::default();
    let client = BatchClient::new(&served.url, &options).unwrap();
    let batch = client.batch();
    let agent: Capability = batch.remote::<Any>().into();
    let (callback, _) = listener();
    let called_back = vec![message("working done"), Value::Undefined, callback];
    let called_back = agent.call("sendMessageStreaming", called_back);
    let streamed = agent.call("sendStreamingMessage", (message("working done"),));
    let listed = agent.call("listTasks", ());
    // Without a callback a task object is of use within the batch.
    let sent = agent.call("sendMessageStreaming", (message("working done"),));
    let found = sent.call("getTask", ());
    let (callback, _) = listener();
    let subscribed = sent.call("subscribe", (callback,));
    batch.send().await.unwrap();
    for refused in [called_back.await, streamed.await, subscribed.await] {
        let error = refused.unwrap_err();
        assert_eq!(reason(&error), "UNSUPPORTED_OPERATION", "{error:?}");
        assert!(error.message().contains("WebSocket"), "{error:?}");
    }
    assert!(found.await.unwrap().field("id").is_some());
    // What was refused did nothing: at most the task of the last message is there.
    let listed = listed.await.unwrap();
    let total = listed.field("totalSize").and_then(Value::as_f64).unwrap();
    assert!(total <= 1.0, "{listed:?}");
}

#[tokio::test]
async fn to_authenticate_where_no_scheme_is_configured_is_refused() {
    let served = Served::start().await;
    let known = served.agent().call("authenticate", ("a token",));
    let error = known.await.unwrap_err();
    assert_eq!(reason(&error), "UNSUPPORTED_OPERATION", "{error:?}");
    assert!(error.message().contains("no scheme"), "{error:?}");
}

#[tokio::test]
async fn a_task_object_speaks_the_version_of_its_message() {
    let served = Served::start().await;
    let part = Value::object([("kind", "text"), ("text", "working done")]);
    let old = Value::object([
        ("messageId", Value::from("m-1".to_owned())),
        ("role", "user".into()),
        ("parts", Value::array([part])),
    ]);
    // The session has shown version 0.3 first.
    served.agent().call("sendMessage", (old,)).await.unwrap();
    let (argument, told) = listener();
    let task = served.task("working wait done", Some(argument)).await;
    let (callback, mut told_later) = listener();
    let _subscription = stub(task.call("subscribe", (callback, "1")).await.unwrap());
    assert_eq!(told_later.next().await, "WORKING");
    let found = task.call("getTask", ()).await.unwrap();
    assert!(found.field("kind").is_none(), "{found:?}");
    served.go_on();
    assert_eq!(told.rest().await.last().unwrap(), "COMPLETED final");
}
