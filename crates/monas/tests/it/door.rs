//! `/workspace/capnweb`: the door of the page, over a real socket, with our client and with the npm package.
//!
//! - `model`: the model that answers
//! - `live`: what is followed: the chat, questions, the journal, tasks, files, the wire
//! - `signing_in`: credentials, and when a session ends
//! - `terminals`: a terminal that two callers look at

mod live;
mod model;
mod npm;
mod signing_in;
mod terminals;

use std::path::Path;
use std::time::Duration;

use a2a::binding::capnweb::value::{from_json, to_json};
use capnweb::transport::websocket;
use capnweb::{Any, Arguments, Capability, Connection, Error, Options, Value};
use serde_json::{Value as Json, json};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::support::http::{Client, Version};
use crate::support::program::{Monas, living};

/// How long anything may take.
const SOON: Duration = Duration::from_secs(60);

/// A session at the door.
struct Session {
    connection: Connection,
    root: Capability,
}

impl Session {
    async fn open(monas: &Monas) -> Self {
        let url = format!("ws://{}/workspace/capnweb", monas.authority());
        let opened = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
        let connection = opened.unwrap();
        let root = connection.remote::<Any>().into();
        Self { connection, root }
    }

    async fn authenticate(&self, shown: Json) -> Result<Workspace, Error> {
        let object = self.root.call("authenticate", (from_json(shown),)).await?;
        let Value::Stub(object) = object else {
            panic!("{object:?}");
        };
        Ok(Workspace(object))
    }
}

/// The workspace of a caller.
#[derive(Clone)]
struct Workspace(Capability);

impl Workspace {
    async fn call(&self, method: &str, fields: Json) -> Result<Json, Error> {
        let answer = self.0.call(method, (from_json(fields),)).await?;
        Ok(to_json(answer, "").unwrap())
    }

    /// Follows something: what is returned, and what the callback is told.
    async fn follow(&self, method: &str, what: Json) -> Result<(Capability, Told), Error> {
        let (told, batches) = mpsc::unbounded_channel();
        let callback = Capability::from_fn(move |arguments: Arguments| {
            let told = told.clone();
            async move {
                let batch = arguments.rest().into_iter().next().unwrap_or(Value::Null);
                // A test that has all it needs listens no longer.
                let _ = told.send(to_json(batch, "").unwrap());
                Ok::<_, Error>(Value::Undefined)
            }
        });
        let arguments = vec![from_json(what), Value::Stub(callback)];
        let object = self.0.call(method, arguments).await?;
        let Value::Stub(object) = object else {
            panic!("{object:?}");
        };
        Ok((object, Told(batches)))
    }
}

/// What a callback is told.
struct Told(mpsc::UnboundedReceiver<Json>);

impl Told {
    async fn next(&mut self) -> Json {
        let next = timeout(SOON, self.0.recv()).await;
        next.expect("something in time").expect("a live session")
    }

    /// The next item of a batch that fits; those before it are passed over.
    async fn until(&mut self, fits: impl Fn(&Json) -> bool) -> Json {
        let mut passed = Vec::new();
        loop {
            let batch = match timeout(SOON, self.0.recv()).await {
                Ok(Some(batch)) => batch,
                Ok(None) => panic!("it is over after {passed:#?}"),
                Err(_) => panic!("nothing fits in time: {passed:#?}"),
            };
            let one = std::slice::from_ref(&batch);
            let items = batch.as_array().map_or(one, Vec::as_slice);
            if let Some(found) = items.iter().find(|it| fits(it)) {
                return found.clone();
            }
            passed.push(batch);
        }
    }
}

/// A failure in a word, and its status.
fn code(error: &Error) -> (String, u16) {
    let code = error.prop("code").and_then(Value::as_str);
    let status = error.prop("status").and_then(Value::as_f64);
    let status = status.map_or(0, |it| it as u16);
    (code.unwrap_or_default().to_owned(), status)
}

/// A server with a folder of files.
fn serve(home: &Path) -> Command {
    let mut command = living(home);
    command.arg("--workspace").arg(home.join("files"));
    command
}

/// A request over REST: the status and the reply.
async fn rest(
    monas: &Monas,
    token: Option<&str>,
    verb: &str,
    path: &str,
    body: Json,
) -> (u16, Json) {
    let mut client = Client::connect(monas.authority().parse().unwrap(), Version::One).await;
    let mut request = client.request(verb, monas.authority(), path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let body = match body {
        Json::Null => axum::body::Body::empty(),
        body => axum::body::Body::from(body.to_string()),
    };
    let answer = client.send(request.body(body).unwrap()).await;
    let json = serde_json::from_str(&answer.text).unwrap_or(Json::Null);
    (answer.status.as_u16(), json)
}

/// A command as the chat takes it.
fn command(session: &str, words: &str) -> Json {
    json!({
        "id": uuid::Uuid::new_v4().to_string(), "type": "user_command", "source": "user",
        "payload": { "command": words }, "metadata": { "session_id": session },
    })
}

/// A message in a word.
fn kind(message: &Json) -> &str {
    let payload = &message["payload"];
    let words = [&payload["action_type"], &payload["event"], &message["type"]];
    words.into_iter().find_map(Json::as_str).unwrap_or_default()
}
