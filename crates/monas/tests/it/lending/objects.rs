//! Cap'n Web: an agent object with less, lent to a third party, taken back, saved and restored.

use capnweb::pair;
use capnweb::transport::websocket;
use capnweb::{Any, Arguments, Capability, Connection, Member, Options, Reply, Target, Value};
use futures_util::StreamExt as _;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

use super::{ask, revoke, served, served_in, task};
use crate::support::server::Running;
use a2a::types::Task;
use serde_json::Value as Json;

/// A session that shows nothing when it is opened, and its agent.
async fn open(server: &Running) -> (Connection, Capability) {
    let url = format!("ws://{}/a2a/capnweb", server.address);
    let opened = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
    let session = opened.unwrap();
    let agent = session.remote::<Any>().into();
    (session, agent)
}

/// The object of ada.
async fn ada(agent: &Capability) -> Capability {
    stub(agent.call("authenticate", ("ada-s3cret",)).await.unwrap())
}

fn stub(value: Value) -> Capability {
    match value {
        Value::Stub(stub) => stub,
        other => panic!("{other:?} is no object"),
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, capnweb::Error>) -> f64 {
    let error = result.unwrap_err();
    let code = error.prop("code").and_then(Value::as_f64);
    code.unwrap_or_else(|| panic!("{error:?} has no code"))
}

const UNKNOWN: f64 = -31401.0;
const REFUSED: f64 = -31403.0;
const INVALID: f64 = -32602.0;
const UNSUPPORTED: f64 = -32004.0;

fn view_of(task: &Task) -> Value {
    Value::object([
        ("readOnly", Value::Bool(true)),
        ("task", (&*task.id).into()),
    ])
}

fn message(task: &str) -> Value {
    let id = format!("tck-cancel-{}", uuid::Uuid::new_v4());
    Value::object([
        ("messageId", Value::from(id)),
        ("taskId", task.into()),
        ("role", "ROLE_USER".into()),
        ("parts", Value::array([Value::object([("text", "go on")])])),
    ])
}

async fn id_of(agent: &Capability, task: &Task) -> Result<String, capnweb::Error> {
    let task = agent.call("getTask", (&*task.id,)).await?;
    Ok(task.field("id").and_then(Value::as_str).unwrap().to_owned())
}

#[tokio::test]
async fn an_attenuated_agent_does_less_and_never_more() {
    let server = served().await;
    let (shown, other) = (task(&server).await, task(&server).await);
    let (_session, agent) = open(&server).await;
    let ada = ada(&agent).await;
    let view = stub(ada.call("attenuate", (view_of(&shown),)).await.unwrap());
    // Each restriction is repeated with something wider.
    let wider = Value::object([("readOnly", Value::Bool(false))]);
    let nested = stub(view.call("attenuate", (wider,)).await.unwrap());
    let lent = stub(view.call("lend", ()).await.unwrap());
    for narrow in [&view, &nested, &lent] {
        assert_eq!(id_of(narrow, &shown).await.unwrap(), shown.id);
        assert_eq!(code(id_of(narrow, &other).await), REFUSED);
        for task in ["", &shown.id, &other.id] {
            let sent = narrow.call("sendMessage", (message(task),)).await;
            assert_eq!(code(sent), REFUSED);
            let sent = narrow.call("sendMessageStreaming", (message(task),)).await;
            assert_eq!(code(sent), REFUSED);
        }
        assert_eq!(
            code(narrow.call("cancelTask", (&*shown.id,)).await),
            REFUSED
        );
        let list = narrow.call("listTasks", ()).await.unwrap();
        let list = list.field("tasks").and_then(Value::as_array).unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!(
            list[0].field("id").and_then(Value::as_str),
            Some(&*shown.id)
        );
        // An object of a task is as narrow as the object that it comes from.
        let object = narrow
            .call("subscribeToPushNotifications", (&*shown.id,))
            .await;
        let object = stub(object.unwrap());
        assert!(object.call("getTask", ()).await.is_ok());
        assert_eq!(code(object.call("cancelTask", ()).await), REFUSED);
        let webhook = object.call("createTaskPushNotificationConfig", ("http://127.0.0.1:1/",));
        assert_eq!(code(webhook.await), REFUSED);
    }
    let elsewhere = Value::object([("task", Value::from(&*other.id))]);
    let nothing = stub(view.call("attenuate", (elsewhere,)).await.unwrap());
    for task in [&shown, &other] {
        assert_eq!(code(id_of(&nothing, task).await), REFUSED);
    }
    assert_eq!(
        id_of(&ada, &other).await.unwrap(),
        other.id,
        "ada has all of it still"
    );
    server.stop().await;
}

#[tokio::test]
async fn what_is_misspelt_or_not_possible_is_refused() {
    let server = served().await;
    let (_session, agent) = open(&server).await;
    assert_eq!(
        code(agent.call("attenuate", ()).await),
        UNKNOWN,
        "a stranger has nothing to lend"
    );
    assert_eq!(code(agent.call("save", ()).await), UNKNOWN);
    assert_eq!(
        code(agent.call("restore", ("monas-cap-forged",)).await),
        UNKNOWN
    );
    assert_eq!(code(agent.call("restore", ("ada-s3cret",)).await), INVALID);
    let ada = ada(&agent).await;
    for (name, value) in [
        ("readonly", Value::Bool(true)),
        ("readOnly", "yes".into()),
        ("methods", Value::array(["getTasks"])),
        ("methods", "getTask".into()),
        ("methods", Value::Array(Vec::new())),
        ("task", 1.0.into()),
        ("expires", "tomorrow".into()),
        ("expires", 1.0.into()),
        ("permissions", Value::array(["all"])),
    ] {
        let wanted = Value::object([(name, value.clone())]);
        assert_eq!(
            code(ada.call("attenuate", (wanted,)).await),
            INVALID,
            "{name}: {value:?}"
        );
    }
    assert_eq!(code(ada.call("attenuate", ("all",)).await), INVALID);
    server.stop().await;
}

/// What a third party has: an object that keeps what it is given.
#[derive(Default)]
struct Bob(Mutex<Option<Capability>>);

impl Target for Bob {
    fn member(&self, _: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, _: &str, arguments: Arguments) -> Reply {
        let given = arguments.rest().into_iter().next().map(stub);
        *self.0.lock().unwrap() = given;
        Reply::ready(())
    }
}

#[tokio::test]
async fn a_third_party_uses_what_it_was_lent_until_the_lender_lets_go() {
    let server = served().await;
    let shown = task(&server).await;
    let (_session, agent) = open(&server).await;
    let ada = ada(&agent).await;
    // Ada and bob have a session of their own.
    let bob = Arc::new(Bob::default());
    let (to_bob, _bobs) = pair(
        Capability::nothing(),
        Capability::from_target(bob.clone()),
        &Options::default(),
    );
    let to_bob: Capability = to_bob.remote::<Any>().into();
    for revoked in [false, true] {
        let grant = stub(ada.call("attenuate", (view_of(&shown),)).await.unwrap());
        let lent = stub(grant.call("lend", ()).await.unwrap());
        to_bob.call("take", (lent,)).await.unwrap();
        let bobs = bob.0.lock().unwrap().clone().unwrap();
        assert_eq!(id_of(&bobs, &shown).await.unwrap(), shown.id);
        // He can lend it on, and cannot make it last longer than ada wants.
        let on = stub(bobs.call("attenuate", ()).await.unwrap());
        assert_eq!(id_of(&on, &shown).await.unwrap(), shown.id);
        for his in [&bobs, &on] {
            assert_eq!(code(his.call("save", ()).await), UNSUPPORTED);
        }
        let stream = bobs.call("subscribeToTask", (&*shown.id,)).await.unwrap();
        let Value::Readable(mut stream) = stream else {
            panic!("{stream:?} is no stream")
        };
        assert!(stream.next().await.unwrap().is_ok());
        let waiting = bobs.call("getTask", (&*shown.id, Value::Null, 1_000.0));
        match revoked {
            true => drop(grant.call("revoke", ()).await.unwrap()),
            // To release the handle of the lender is enough.
            false => drop(grant),
        }
        let error = loop {
            if let Err(error) = stream.next().await.unwrap() {
                break error;
            }
        };
        assert_eq!(code::<()>(Err(error)), UNKNOWN);
        assert_eq!(code(waiting.await), UNKNOWN);
        for his in [&bobs, &on] {
            assert_eq!(code(id_of(his, &shown).await), UNKNOWN);
        }
        assert_eq!(id_of(&ada, &shown).await.unwrap(), shown.id);
    }
    server.stop().await;
}

/// A callback that tells of each call.
struct Told(mpsc::UnboundedSender<(String, Value)>);

impl Target for Told {
    fn member(&self, _: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let event = arguments.rest().into_iter().next().unwrap_or_default();
        let _ = self.0.send((method.to_owned(), event));
        Reply::ready(())
    }
}

#[tokio::test]
async fn a_capability_of_a_session_is_listed_and_revoked_by_its_id() {
    let server = served().await;
    let shown = task(&server).await;
    let (_session, agent) = open(&server).await;
    let ada = ada(&agent).await;
    let grant = stub(ada.call("attenuate", (view_of(&shown),)).await.unwrap());
    let object = grant
        .call("subscribeToPushNotifications", (&*shown.id,))
        .await;
    let object = stub(object.unwrap());
    let (tell, mut told) = mpsc::unbounded_channel();
    let callback = Capability::new(Told(tell));
    let _subscription = object.call("subscribe", (callback,)).await.unwrap();
    assert_eq!(told.recv().await.unwrap().0, "onStatusUpdate");
    let (_, listed) = ask(
        &server,
        "ada-s3cret",
        "GET",
        "/api/capabilities",
        Json::Null,
    )
    .await;
    let listed = &listed["capabilities"][0];
    assert_eq!(
        (&listed["kind"], &listed["task"]),
        (&"session".into(), &(&*shown.id).into())
    );
    revoke(&server, listed["id"].as_str().unwrap()).await;
    // The subscriber is told why it hears no more.
    let (method, why) = told.recv().await.unwrap();
    assert_eq!(method, "onError");
    let Value::Error(why) = why else {
        panic!("{why:?}")
    };
    assert_eq!(why.message(), "not authenticated: credentials were revoked");
    assert!(told.recv().await.is_none(), "the callback is released");
    assert_eq!(code(id_of(&grant, &shown).await), UNKNOWN);
    assert_eq!(code(object.call("getTask", ()).await), UNKNOWN);
    server.stop().await;
}

#[tokio::test]
async fn a_saved_object_is_restored_after_a_reconnect_and_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = served_in(folder.path()).await;
    let shown = task(&server).await;
    let (token, id) = {
        let (_session, agent) = open(&server).await;
        let ada = ada(&agent).await;
        // Nothing is awaited in between; the handle is gone when the token is used.
        let grant = ada.call("attenuate", (view_of(&shown),));
        let note = Value::object([("note", "for the auditor")]);
        let saved = grant.call("save", (note,)).await.unwrap();
        let text = |name| {
            saved
                .field(name)
                .and_then(Value::as_str)
                .unwrap()
                .to_owned()
        };
        assert!(text("expires").ends_with('Z'));
        (text("token"), text("id"))
    };
    let check = async |server: &Running| {
        let (_session, agent) = open(server).await;
        let by_token = Value::object([("type", "bearer"), ("token", &*token)]);
        for restored in [
            agent.call("restore", (&*token,)),
            agent.call("authenticate", (by_token,)),
        ] {
            let restored = stub(restored.await.unwrap());
            assert_eq!(id_of(&restored, &shown).await.unwrap(), shown.id);
            let sent = restored.call("sendMessage", (message(&shown.id),)).await;
            assert_eq!(code(sent), REFUSED);
        }
    };
    check(&server).await;
    server.stop().await;
    let server = served_in(folder.path()).await;
    check(&server).await;
    revoke(&server, &id).await;
    let (_session, agent) = open(&server).await;
    assert_eq!(code(agent.call("restore", (&*token,)).await), UNKNOWN);
    server.stop().await;
    // What was revoked does not come back with the next start.
    let server = served_in(folder.path()).await;
    let (_session, agent) = open(&server).await;
    assert_eq!(code(agent.call("restore", (&*token,)).await), UNKNOWN);
    server.stop().await;
}
