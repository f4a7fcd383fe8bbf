//! Limits and records of calls: on every wire, in the form of each.
//!
//! - `limits`: one call too many; `budgets`: a call that uses too much
//! - `metrics`: what is counted, and the dashboard
//! - `audit`: the trail of calls, and the command that reads it
//! - `logs`: a line for each call
//! - `traces`: the trace of a call, from its caller to those whom we call

mod audit;
mod budgets;
mod limits;
mod logs;
mod metrics;
mod traces;

use access::{Callers, Hash, Unauthenticated};
use axum::body::Body;
use monas::config::access::{Access, Kind, Scheme};
use monas::config::{Config, Switch};
use serde_json::{Value, json};

use crate::support::http::{Answer, Version};
use crate::support::server::{Running, config};

/// Ada operates, Bob does not.
fn with_callers() -> Config {
    let mut config = config();
    let mut callers = Callers::default();
    let operator = ["operator".to_owned()];
    callers
        .add("ada", Hash::of("token-of-ada"), &operator)
        .unwrap();
    callers.add("bob", Hash::of("token-of-bob"), &[]).unwrap();
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

/// The same with limits: so many calls a second on the wires of agents.
fn limited(agents: u32) -> Config {
    let mut config = with_callers();
    config.rate_limit = Switch::On;
    config.limits.agent_rate = agents.try_into().unwrap();
    config
}

/// Sends a request in the name of a caller.
async fn send(
    server: &Running,
    caller: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Answer {
    let version = match headers.iter().any(|it| it.1 == "application/grpc") {
        true => Version::Two,
        false => Version::One,
    };
    let mut client = server.client(version).await;
    let mut request = client.request(method, "localhost", path);
    if !caller.is_empty() {
        request = request.header("authorization", format!("Bearer token-of-{caller}"));
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(body.into()).unwrap()).await
}

/// The name of a wire in the records; the method and the path of a request; its headers; its body.
type WireRequest = (
    &'static str,
    (&'static str, &'static str),
    Vec<(&'static str, &'static str)>,
    Vec<u8>,
);

/// A request for each wire over plain HTTP.
fn requests() -> Vec<WireRequest> {
    let json = ("content-type", "application/json");
    let rpc = |method: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} });
        body.to_string().into_bytes()
    };
    let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    vec![
        (
            "a2a/jsonrpc",
            ("POST", "/a2a/jsonrpc"),
            vec![json, ("a2a-version", "1.0")],
            rpc("ListTasks"),
        ),
        (
            "a2a/rest",
            ("GET", "/a2a/rest/tasks"),
            vec![("a2a-version", "1.0")],
            Vec::new(),
        ),
        (
            "a2a/grpc",
            ("POST", "/lf.a2a.v1.A2AService/ListTasks"),
            vec![("content-type", "application/grpc"), ("te", "trailers")],
            vec![0; 5],
        ),
        ("acp/rest", ("GET", "/acp/agents"), Vec::new(), Vec::new()),
        (
            "mcp/http",
            ("POST", "/mcp"),
            vec![
                json,
                ("accept", "application/json, text/event-stream"),
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/list"),
            ],
            mcp.to_string().into_bytes(),
        ),
        ("api", ("GET", "/api/agents"), Vec::new(), Vec::new()),
    ]
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text).unwrap_or_default()
}
