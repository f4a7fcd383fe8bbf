//! Bytes and round trips of calls, counted between client and server.

use a2a::client::Client;
use a2a::types::{Answer, GetTaskRequest};
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, Value as Data};
use serde_json::{Value, json};

use crate::agent::{Agent, message};
use crate::calls::echo;
use crate::relay::Relay;
use crate::{Error, measuring};

const WARM_UP: usize = 20;
const CALLS: usize = 200;

/// Of so many tries the one that was disturbed least counts: HTTP/2 measures the way now and then.
const TRIES: usize = 5;

pub(crate) async fn measure(agent: &Agent) -> Result<Value, Error> {
    let relay = Relay::start(agent.server).await?;
    let client = agent.behind(relay.address)?.client()?;
    for _ in 0..WARM_UP {
        echo(&client).await?;
    }
    measuring();
    let before = relay.passed();
    for _ in 0..CALLS {
        echo(&client).await?;
    }
    let passed = relay.passed().since(before);
    // The calls of objects are made over a plain socket, and count the same over another.
    let round_trips = match (agent.binding.as_str(), agent.encrypted) {
        ("capnweb", true) => None,
        ("capnweb", false) => Some(pipelined(&relay).await?),
        _ => Some(one_by_one(&relay, &client).await?),
    };
    Ok(json!({
        "calls": CALLS,
        "bytes_per_call": passed.bytes as f64 / CALLS as f64,
        "connections": passed.connections,
        "round_trips": round_trips,
    }))
}

async fn one_by_one(relay: &Relay, client: &Client) -> Result<u64, Error> {
    let mut fewest = u64::MAX;
    for _ in 0..TRIES {
        let before = relay.passed();
        send_then_get(client).await?;
        fewest = fewest.min(relay.passed().since(before).turns);
    }
    Ok(fewest)
}

/// Sends a message, then reads the task by its id: two round trips without pipelining.
async fn send_then_get(client: &Client) -> Result<(), Error> {
    let Answer::Task(task) = client.send_message(message("task hello")).await?.payload else {
        return Err("a message where a task was expected".into());
    };
    let request = GetTaskRequest {
        id: task.id.clone(),
        ..GetTaskRequest::default()
    };
    let got = client.get_task(request).await?;
    match got.id == task.id && got.artifacts.len() == 1 {
        true => Ok(()),
        false => Err(format!("another task: {got:?}").into()),
    }
}

/// The same with objects: the task that a message leads to is asked before it is known here.
async fn pipelined(relay: &Relay) -> Result<u64, Error> {
    let url = format!("ws://{}/a2a/capnweb", relay.address);
    let options = Options::default();
    let session: Connection = websocket::connect(&url, Capability::nothing(), &options).await?;
    let agent = session.remote::<Any>();
    let mut fewest = u64::MAX;
    for _ in 0..TRIES {
        let request = message("task hello");
        let request = value(serde_json::to_value(request.message)?);
        let before = relay.passed();
        let task = agent.call("sendMessageStreaming", (request,));
        let got = task.call("getTask", ()).await?;
        fewest = fewest.min(relay.passed().since(before).turns);
        if !matches!(&got, Data::Object(task) if task.get("status").is_some()) {
            return Err(format!("no task: {got:?}").into());
        }
    }
    Ok(fewest)
}

/// JSON as a value.
fn value(json: Value) -> Data {
    match json {
        Value::Null => Data::Null,
        Value::Bool(bool) => bool.into(),
        Value::Number(number) => Data::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Data::String(text),
        Value::Array(items) => Data::Array(items.into_iter().map(value).collect()),
        Value::Object(members) => {
            let members = members.into_iter();
            Data::Object(
                members
                    .map(|(name, member)| (name, value(member)))
                    .collect(),
            )
        }
    }
}
