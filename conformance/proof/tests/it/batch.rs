//! Cap'n Web in one POST: what a batch can do, and what it refuses.

use access::Unauthenticated;
use capnweb::transport::batch::BatchClient;
use capnweb::{Any, Arguments, Capability, Options, Promise, Value};
use monas::config::Data;
use monas::config::access::{Access, Kind, Scheme};
use proof::World;

use crate::schemes::callers;

/// Makes calls in one batch, and gives what came of the last one.
async fn in_one_batch(
    world: &World,
    call: impl FnOnce(&Capability) -> Promise,
) -> capnweb::Result<Value> {
    let url = format!("http://{}/a2a/capnweb", world.address);
    let client = BatchClient::new(&url, &Options::default()).unwrap();
    let batch = client.batch();
    let answer = call(&batch.remote::<Any>().into());
    batch.send().await.unwrap();
    answer.await
}

fn message(id: &str, parts: Vec<Value>) -> Value {
    Value::object([
        ("messageId", Value::from(id.to_owned())),
        ("role", "ROLE_USER".into()),
        ("contextId", "context-1".into()),
        ("parts", Value::array(parts)),
    ])
}

fn script(text: &str) -> Value {
    message(text, vec![Value::object([("text", text)])])
}

fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    let step = |value: &'a Value, name: &&str| match name.parse::<usize>() {
        Ok(place) => value.as_array().and_then(|items| items.get(place)),
        Err(_) => value.field(name),
    };
    let found = path.iter().try_fold(value, step);
    found.unwrap_or(&Value::Undefined)
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_sends_gets_lists_and_cancels() {
    let world = World::start().await;
    let at_once = Value::object([("returnImmediately", true)]);
    let sent = in_one_batch(&world, |agent| {
        agent.call("sendMessage", (script("work, wait, done"), at_once))
    });
    let sent = sent.await.unwrap();
    let id = text(&sent, &["task", "id"]);
    // r13: the ids of context and task go with everything.
    assert_eq!(text(&sent, &["task", "contextId"]), "context-1");
    let got = in_one_batch(&world, |agent| agent.call("getTask", (id,)));
    assert_eq!(text(&got.await.unwrap(), &["id"]), id);
    let listed = in_one_batch(&world, |agent| agent.call("listTasks", ("context-1",)));
    assert_eq!(text(&listed.await.unwrap(), &["tasks", "0", "id"]), id);
    let canceled = in_one_batch(&world, |agent| agent.call("cancelTask", (id,)));
    let canceled = canceled.await.unwrap();
    assert_eq!(text(&canceled, &["status", "state"]), "TASK_STATE_CANCELED");
    // A result is used before it is there.
    let found = in_one_batch(&world, |agent| {
        let sent = agent.call("sendMessage", (script("done"),));
        agent.call("getTask", (sent.property("task").property("id"),))
    });
    let found = found.await.unwrap();
    assert_eq!(text(&found, &["status", "state"]), "TASK_STATE_COMPLETED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_configures_webhooks() {
    let world = World::start().await;
    let at_once = Value::object([("returnImmediately", true)]);
    let sent = in_one_batch(&world, |agent| {
        agent.call("sendMessage", (script("work, wait, done"), at_once))
    });
    let sent = sent.await.unwrap();
    let id = text(&sent, &["task", "id"]);
    let hook = "http://127.0.0.1:9/";
    let made = in_one_batch(&world, |agent| {
        agent.call("createTaskPushNotificationConfig", (id, hook))
    });
    let made = made.await.unwrap();
    assert_eq!(text(&made, &["url"]), hook);
    let number = text(&made, &["id"]);
    let got = in_one_batch(&world, |agent| {
        agent.call("getTaskPushNotificationConfig", (id, number))
    });
    assert_eq!(text(&got.await.unwrap(), &["url"]), hook);
    let deleted = in_one_batch(&world, |agent| {
        agent.call("deleteTaskPushNotificationConfig", (id, number))
    });
    deleted.await.unwrap();
    let listed = in_one_batch(&world, |agent| {
        agent.call("listTaskPushNotificationConfigs", (id,))
    });
    let listed = listed.await.unwrap();
    assert!(at(&listed, &["configs", "0"]).is_nullish(), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_carries_data_files_errors_and_the_card() {
    let world = World::start().await;
    let parts = vec![
        Value::object([("text", "echo, done")]),
        Value::object([("data", Value::object([("answer", 42.0)]))]),
        Value::object([("raw", Value::from("AQID")), ("filename", "a.bin".into())]),
        Value::object([("url", "https://example.com/a.bin")]),
    ];
    let sent = in_one_batch(&world, |agent| {
        agent.call("sendMessage", (message("parts", parts),))
    });
    let sent = sent.await.unwrap();
    let said = ["task", "history", "0", "parts"];
    let said = at(&sent, &said);
    assert_eq!(at(said, &["1", "data", "answer"]).as_f64(), Some(42.0));
    assert_eq!(text(said, &["2", "raw"]), "AQID");
    assert_eq!(text(said, &["3", "url"]), "https://example.com/a.bin");
    let error = in_one_batch(&world, |agent| agent.call("getTask", ("nothing",)));
    let error = error.await.unwrap_err();
    assert_eq!(error.prop("code").and_then(Value::as_f64), Some(-32001.0));
    let reason = error.prop("reason").and_then(Value::as_str);
    assert_eq!(reason, Some("TASK_NOT_FOUND"));
    let card = in_one_batch(&world, |agent| agent.call("getAgentCard", ()));
    let card = card.await.unwrap();
    let ways = at(&card, &["supportedInterfaces"]).as_array().unwrap();
    let binding = "urn:monas:a2a:binding:capnweb:1";
    let listed = |way: &&Value| text(way, &["protocolBinding"]) == binding;
    assert!(ways.iter().any(|way| listed(&way)), "{card:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_let_in_by_what_it_hands_over() {
    let mut config = monas::Config::new(Data::Memory);
    config.access = Access {
        schemes: vec![Scheme {
            name: "bearer".to_owned(),
            description: String::new(),
            kind: Kind::Bearer(callers("ada", "token-of-ada")),
        }],
        unauthenticated: Unauthenticated::Refused,
        ..Access::open()
    };
    let world = World::with(config, None).await;
    let refused = in_one_batch(&world, |agent| agent.call("listTasks", ()));
    let refused = refused.await.unwrap_err();
    let reason = refused.prop("reason").and_then(Value::as_str);
    assert_eq!(reason, Some("UNAUTHENTICATED"));
    let said = in_one_batch(&world, |agent| {
        let known = agent.call("authenticate", ("token-of-ada",));
        known.call("sendMessage", (script("whoami"),))
    });
    let said = said.await.unwrap();
    assert_eq!(text(&said, &["message", "parts", "0", "text"]), "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_refuses_streams_and_callbacks() {
    let world = World::start().await;
    let streamed = in_one_batch(&world, |agent| {
        agent.call("sendStreamingMessage", (script("done"),))
    });
    let callback = Capability::from_fn(|_: Arguments| async {});
    let callback = Value::object([("onStatusUpdate", Value::Stub(callback))]);
    let called_back = in_one_batch(&world, |agent| {
        let arguments = vec![script("done"), Value::Undefined, callback];
        agent.call("sendMessageStreaming", arguments)
    });
    for refused in [streamed.await, called_back.await] {
        let refused = refused.unwrap_err();
        let reason = refused.prop("reason").and_then(Value::as_str);
        assert_eq!(reason, Some("UNSUPPORTED_OPERATION"), "{refused:?}");
    }
    let listed = in_one_batch(&world, |agent| agent.call("listTasks", ()));
    let listed = listed.await.unwrap();
    assert!(at(&listed, &["tasks", "0"]).is_nullish(), "{listed:?}");
}
