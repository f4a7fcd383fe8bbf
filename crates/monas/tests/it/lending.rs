//! Capabilities: what a caller lends does what it should over every wire, nothing else, and ends when it is told to.
//!
//! - `wires`: one token over every binding in both versions, over MCP, ACP and `/api`; stolen, forged, expired, revoked
//! - `objects`: Cap'n Web: attenuate, lend to a third party, take back, save and restore
//! - `program`: the real program with `monas capability`, and a restart
//! - `team`: the whole of it, over TLS, from the command line
//! - `keys`: users that are data, with their roles, keys and sign-in links, over every wire

mod keys;
mod objects;
mod program;
mod team;
mod wires;

use a2a::client::{Client, Settings, Version};
use a2a::types::{Answer, Message, SendMessageConfiguration, SendMessageRequest, Task};
use access::{Callers, Hash, Unauthenticated};
use axum::body::Body;
use monas::config::access::{Access, Kind, Scheme};
use monas::config::{Config, Data, Switch};
use serde_json::{Value as Json, json};

use crate::support::http;
use crate::support::server::{Running, config};

/// A server for ada and bob; the token of a caller is `NAME-s3cret`.
async fn served() -> Running {
    Running::sut_with(&lending(config())).await
}

/// The same with its data in a folder.
async fn served_in(folder: &std::path::Path) -> Running {
    let mut config = lending(Config::new(Data::Folder(folder.to_owned())));
    config.listen.set_port(0);
    config.rate_limit = Switch::Off;
    Running::sut_with(&config).await
}

fn lending(mut config: Config) -> Config {
    let mut callers = Callers::default();
    for name in ["ada", "bob"] {
        let hash = Hash::of(format!("{name}-s3cret"));
        callers.add(name, hash, &[]).unwrap();
    }
    config.access = Access {
        schemes: vec![Scheme {
            name: "tokens".to_owned(),
            description: String::new(),
            kind: Kind::Bearer(callers),
        }],
        unauthenticated: Unauthenticated::Refused,
        ..Access::open()
    };
    config
}

/// A request to the server with this token: its status and its body.
async fn ask(server: &Running, token: &str, method: &str, path: &str, body: Json) -> (u16, Json) {
    let mut client = server.client(http::Version::One).await;
    let mut request = client
        .request(method, "localhost", path)
        .header("content-type", "application/json")
        .header("a2a-version", "1.0");
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let body = match body {
        Json::Null => Body::empty(),
        body => Body::from(body.to_string()),
    };
    let answer = client.send(request.body(body).unwrap()).await;
    let json = serde_json::from_str(&answer.text).unwrap_or(Json::Null);
    (answer.status.as_u16(), json)
}

/// Has ada lend something; gives its token and its id.
async fn lend(server: &Running, wanted: Json) -> (String, String) {
    let (status, made) = ask(server, "ada-s3cret", "POST", "/api/capabilities", wanted).await;
    assert_eq!(status, 200, "{made}");
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

async fn revoke(server: &Running, id: &str) {
    let path = format!("/api/capabilities/{id}");
    let (status, revoked) = ask(server, "ada-s3cret", "DELETE", &path, Json::Null).await;
    assert_eq!((status, &revoked["id"]), (200, &json!(id)), "{revoked}");
}

/// A client of the server with this token, over one wire.
async fn client(server: &Running, token: &str, wire: (&str, Version)) -> Client {
    let mut settings = Settings::default().bearer(token).unwrap();
    settings.bindings = vec![wire.0.to_owned()];
    settings.version = Some(wire.1);
    settings.attempts = 1;
    Client::discover(&server.url, settings).await.unwrap()
}

/// A message after which the agent works until the task is cancelled.
fn endless() -> SendMessageRequest {
    let id = format!("tck-cancel-{}", uuid::Uuid::new_v4());
    let mut request: SendMessageRequest = Message::user(id, "work").into();
    request.configuration = Some(SendMessageConfiguration {
        return_immediately: true,
        ..SendMessageConfiguration::default()
    });
    request
}

/// A task of ada that does not end by itself.
async fn task(server: &Running) -> Task {
    let ada = client(server, "ada-s3cret", ("jsonrpc", Version::V1_0)).await;
    match ada.send_message(endless()).await.unwrap().payload {
        Answer::Task(task) => task,
        other => panic!("{other:?} is no task"),
    }
}
