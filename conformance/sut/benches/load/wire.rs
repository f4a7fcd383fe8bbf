//! Bytes and round trips of calls, counted between client and server.

use a2a::client::Client;
use a2a::types::{Answer, GetTaskRequest};
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, Value as Data};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::http::Uri;

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
    let trips = match agent.binding.as_str() {
        "capnweb" => {
            let session = session(agent, &relay).await?;
            Trips {
                send_then_get: pipelined(&relay, &session).await?,
                known: known(&relay, &session, Awaiting::TheLast).await?,
                known_awaited: known(&relay, &session, Awaiting::Each).await?,
            }
        }
        // Credentials go with each request, or with the handshake: to show them takes no call of its own.
        _ => {
            let known = agent.behind(relay.address)?.client_with(TOKEN)?;
            echo(&known).await?;
            let known = one_by_one(&relay, &known).await?;
            Trips {
                send_then_get: one_by_one(&relay, &client).await?,
                known,
                known_awaited: known,
            }
        }
    };
    Ok(json!({
        "calls": CALLS,
        "bytes_per_call": passed.bytes as f64 / CALLS as f64,
        "connections": passed.connections,
        "round_trips": trips.send_then_get,
        "round_trips_known": trips.known,
        "round_trips_known_awaited": trips.known_awaited,
    }))
}

/// A token that the servers of the measurement know; without one they take a caller for the anonymous one.
const TOKEN: &str = "token-of-bench";

/// Round trips to send a message and get its task.
struct Trips {
    send_then_get: u64,
    /// The same by a caller that authenticates first.
    known: u64,
    /// The same with each answer awaited before the next call.
    known_awaited: u64,
}

/// Which answers of a chain of calls are awaited.
#[derive(Clone, Copy)]
enum Awaiting {
    Each,
    TheLast,
}

/// A session of Cap'n Web through the relay, encrypted as the agent is.
async fn session(agent: &Agent, relay: &Relay) -> Result<Connection, Error> {
    let scheme = if agent.encrypted { "wss" } else { "ws" };
    let url: Uri = format!("{scheme}://{}/a2a/capnweb", relay.address).parse()?;
    let stream = agent.dialer()?.open(&url).await?;
    let (options, settings) = (Options::default(), websocket::Settings::default());
    let opened = websocket::over(stream, url, Capability::nothing(), &options, settings).await;
    Ok(opened?)
}

/// The round trips of `authenticate`, `sendMessage` and `getTask`, each called on what the one before gives.
async fn known(relay: &Relay, session: &Connection, awaiting: Awaiting) -> Result<u64, Error> {
    let agent = session.remote::<Any>();
    let mut fewest = u64::MAX;
    for _ in 0..TRIES {
        let request = value(serde_json::to_value(message("task hello").message)?);
        let before = relay.passed();
        let known = agent.call("authenticate", (TOKEN,));
        let got = match awaiting {
            Awaiting::TheLast => {
                let sent = known.call("sendMessage", (request,));
                let id = sent.property("task").property("id");
                known.call("getTask", (id,)).await?
            }
            Awaiting::Each => {
                let Data::Stub(known) = known.await? else {
                    return Err("authenticate gave no agent".into());
                };
                let sent = known.call("sendMessage", (request,)).await?;
                let id = sent.field("task").and_then(|task| task.field("id"));
                let id = id.cloned().ok_or("no task")?;
                known.call("getTask", (id,)).await?
            }
        };
        fewest = fewest.min(relay.passed().since(before).turns);
        if got.field("status").is_none() {
            return Err(format!("no task: {got:?}").into());
        }
    }
    Ok(fewest)
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
async fn pipelined(relay: &Relay, session: &Connection) -> Result<u64, Error> {
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
