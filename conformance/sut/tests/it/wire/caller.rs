//! One call in the words of each binding, so that a test is written once and runs over all.
//!
//! Requests and replies are the JSON of the protocol's messages, also over bindings that send something else. The tests
//! with official clients show that others read them in the same way.

use std::net::SocketAddr;

use a2a::types::rpc_error::Status;
use a2a::types::{self, WireMessage};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::events::Events;
use crate::support::http::{Answer, Client, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    Rest,
    Grpc,
}

pub(crate) const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::Rest, Binding::Grpc];

/// Why a call failed, as its binding tells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// The code of a JSON-RPC error, the status of an HTTP response, or that of a gRPC call.
    pub(crate) code: i64,
    pub(crate) message: String,
    /// Objects with an `@type`.
    pub(crate) details: Vec<Value>,
}

impl Failure {
    /// The reason of the one `ErrorInfo`; its domain must be that of the protocol.
    pub(crate) fn reason(&self) -> Option<&str> {
        let info = self.detail("google.rpc.ErrorInfo")?;
        assert_eq!(info["domain"], "a2a-protocol.org", "{self:?}");
        info["reason"].as_str()
    }

    /// The fields that a `BadRequest` names.
    pub(crate) fn fields(&self) -> Vec<&str> {
        let violations = self.detail("google.rpc.BadRequest");
        let violations = violations.and_then(|detail| detail["fieldViolations"].as_array());
        let violations = violations.into_iter().flatten();
        violations
            .filter_map(|violation| violation["field"].as_str())
            .collect()
    }

    fn detail(&self, kind: &str) -> Option<&Value> {
        let kind = format!("type.googleapis.com/{kind}");
        self.details.iter().find(|detail| detail["@type"] == kind)
    }
}

/// A connection on which calls are made, one after the other.
pub(crate) struct Caller {
    pub(crate) binding: Binding,
    client: Client,
    authority: String,
    /// What is sent with every call, besides what a test adds.
    headers: Vec<(&'static str, String)>,
}

impl Caller {
    pub(crate) async fn connect(address: SocketAddr, binding: Binding) -> Self {
        Self::try_connect(address, binding).await.unwrap()
    }

    /// None if the port is closed.
    pub(crate) async fn try_connect(address: SocketAddr, binding: Binding) -> Option<Self> {
        let version = match binding {
            Binding::Grpc => Version::Two,
            Binding::JsonRpc | Binding::Rest => Version::One,
        };
        Some(Self {
            binding,
            client: Client::try_connect(address, version).await?,
            authority: address.to_string(),
            headers: vec![
                ("a2a-version", "1.0".to_owned()),
                // As our own clients do; what others get is tested where it differs.
                ("a2a-extensions", a2a::service::REPEATABLE.to_owned()),
            ],
        })
    }

    /// Sends this header with every call from now on, in place of one of the same name.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.unset(name);
        self.headers.push((name, value.to_owned()));
    }

    pub(crate) fn unset(&mut self, name: &'static str) {
        self.headers.retain(|(known, _)| *known != name);
    }

    /// The answer to an operation that has one.
    pub(crate) async fn call(&mut self, operation: &str, request: Value) -> Result<Value, Failure> {
        self.try_call(operation, request).await.unwrap()
    }

    /// The answer to an operation that has one, unless the connection breaks before it is all there.
    pub(crate) async fn try_call(
        &mut self,
        operation: &str,
        request: Value,
    ) -> hyper::Result<Result<Value, Failure>> {
        let request = self.request(operation, request);
        let (head, body) = self.client.open(request).await?.into_parts();
        let body = body.collect().await?;
        let trailers = body.trailers().cloned().unwrap_or_default();
        Ok(self.read(operation, &head, &trailers, &body.to_bytes()))
    }

    fn read(
        &self,
        operation: &str,
        head: &axum::http::response::Parts,
        trailers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Value, Failure> {
        match self.binding {
            Binding::JsonRpc => {
                assert_eq!(head.status, 200, "{body:?}");
                json_rpc_result(&json_of(body))
            }
            Binding::Rest if head.status.is_success() => Ok(json_of(body)),
            Binding::Rest => Err(rest_failure(&json_of(body))),
            Binding::Grpc => {
                assert_eq!(head.status, 200);
                grpc_status(&head.headers, trailers)?;
                Ok(grpc_reply(operation, body.slice(5..)))
            }
        }
    }

    /// A stream that has begun, or why it has not.
    pub(crate) async fn open(
        &mut self,
        operation: &str,
        request: Value,
    ) -> Result<Events, Failure> {
        self.try_open(operation, request).await.unwrap()
    }

    /// The same, unless the connection breaks before that is known.
    pub(crate) async fn try_open(
        &mut self,
        operation: &str,
        request: Value,
    ) -> hyper::Result<Result<Events, Failure>> {
        let request = self.request(operation, request);
        self.open_with(request).await
    }

    /// A stream at this address, asked for without a body.
    pub(crate) async fn open_at(&mut self, method: &str, path: &str) -> Result<Events, Failure> {
        let request = self.builder(method, path).body(Body::empty()).unwrap();
        self.open_with(request).await.unwrap()
    }

    async fn open_with(
        &mut self,
        request: Request<Body>,
    ) -> hyper::Result<Result<Events, Failure>> {
        let response = self.client.open(request).await?;
        let kind = response
            .headers()
            .get("content-type")
            .map(|kind| kind.as_bytes().to_vec());
        let streams = kind.as_deref() == Some(b"text/event-stream");
        if self.binding == Binding::Grpc {
            // A call that fails at once has its status in the headers, and nothing else.
            let ended = response.headers().contains_key("grpc-status");
            let status = if ended {
                grpc_status(response.headers(), &HeaderMap::new())
            } else {
                Ok(())
            };
            Ok(status.map(|()| Events::new(self.binding, response)))
        } else if streams {
            Ok(Ok(Events::new(self.binding, response)))
        } else {
            let body = response.into_body().collect().await?.to_bytes();
            Ok(Err(match self.binding {
                Binding::JsonRpc => {
                    json_rpc_result(&json_of(&body)).expect_err("neither a stream nor an error")
                }
                _ => rest_failure(&json_of(&body)),
            }))
        }
    }

    /// A stream of `operation` that goes on after this event.
    pub(crate) async fn resume(&mut self, task: &str, cursor: u64) -> Result<Events, Failure> {
        self.set("last-event-id", &cursor.to_string());
        let opened = self.open("SubscribeToTask", json!({"id": task})).await;
        self.unset("last-event-id");
        opened
    }

    /// Sends a request that a test has made up, on the same connection.
    pub(crate) async fn raw(&mut self, request: Request<Body>) -> Answer {
        self.client.send(request).await
    }

    /// The same, with the trailers and the bytes of the answer.
    pub(crate) async fn raw_with_trailers(
        &mut self,
        request: Request<Body>,
    ) -> (axum::http::response::Parts, HeaderMap, Bytes) {
        let (head, body) = self.client.open(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap();
        let trailers = body.trailers().cloned().unwrap_or_default();
        (head, trailers, body.to_bytes())
    }

    /// The beginning of a request with the usual headers.
    pub(crate) fn builder(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let mut builder = self.client.request(method, &self.authority, path);
        for (name, value) in &self.headers {
            builder = builder.header(*name, value);
        }
        builder
    }

    fn request(&self, operation: &str, request: Value) -> Request<Body> {
        match self.binding {
            Binding::JsonRpc => self
                .builder("POST", "/a2a/jsonrpc")
                .header("content-type", "application/json")
                .body(json_rpc(operation, request).to_string().into()),
            Binding::Rest => {
                let (method, path, body) = rest_route(operation, request);
                let builder = self.builder(method, &format!("/a2a/rest{path}"));
                match body {
                    Some(body) => builder
                        .header("content-type", "application/a2a+json")
                        .body(body.to_string().into()),
                    None => builder.body(Body::empty()),
                }
            }
            Binding::Grpc => self
                .builder("POST", &format!("/lf.a2a.v1.A2AService/{operation}"))
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .body(grpc_frame(&grpc_request(operation, request)).into()),
        }
        .unwrap()
    }
}

pub(crate) fn json_rpc(method: &str, params: impl Into<Value>) -> Value {
    let params: Value = params.into();
    json!({"jsonrpc": "2.0", "id": "a-1", "method": method, "params": params})
}

/// Checks the form of a JSON-RPC response; gives its result.
pub(crate) fn json_rpc_result(answer: &Value) -> Result<Value, Failure> {
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    assert_eq!(answer["id"], "a-1", "{answer}");
    match (answer.get("result"), answer.get("error")) {
        (Some(result), None) => Ok(result.clone()),
        (None, Some(error)) => Err(json_rpc_failure(error)),
        _ => panic!("not one of result and error: {answer}"),
    }
}

pub(crate) fn json_rpc_failure(error: &Value) -> Failure {
    Failure {
        code: error["code"].as_i64().unwrap(),
        message: error["message"].as_str().unwrap().to_owned(),
        details: match error.get("data") {
            None => Vec::new(),
            Some(data) => data
                .as_array()
                .expect("the data of an error is an array")
                .clone(),
        },
    }
}

/// Checks the form of a REST error; gives the error.
pub(crate) fn rest_failure(answer: &Value) -> Failure {
    let error = &answer["error"];
    assert!(
        error["status"].is_string(),
        "the name of the gRPC status is missing: {answer}"
    );
    Failure {
        code: error["code"].as_i64().unwrap(),
        message: error["message"].as_str().unwrap().to_owned(),
        details: error["details"].as_array().cloned().unwrap_or_default(),
    }
}

/// Fails unless the status, in the headers or in the trailers, is zero.
pub(crate) fn grpc_status(headers: &HeaderMap, trailers: &HeaderMap) -> Result<(), Failure> {
    let find = |name: &str| trailers.get(name).or_else(|| headers.get(name));
    let code = find("grpc-status")
        .expect("a gRPC answer has a status")
        .to_str()
        .unwrap();
    if code == "0" {
        return Ok(());
    }
    let message = find("grpc-message").map_or("", |message| message.to_str().unwrap());
    let details = find("grpc-status-details-bin").map(|details| {
        let text = details.to_str().unwrap().trim_end_matches('=');
        let status = Status::from_protobuf(STANDARD_NO_PAD.decode(text).unwrap().into()).unwrap();
        assert_eq!(status.code.to_string(), code, "the status in the details");
        serde_json::to_value(status.details).unwrap()
    });
    Err(Failure {
        code: code.parse().unwrap(),
        message: message.to_owned(),
        details: details
            .and_then(|details| details.as_array().cloned())
            .unwrap_or_default(),
    })
}

pub(crate) fn grpc_frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&[0][..], &length.to_be_bytes(), message].concat()
}

fn grpc_request(operation: &str, request: Value) -> Bytes {
    fn encode<M: WireMessage>(json: Value) -> Bytes {
        serde_json::from_value::<M>(json).unwrap().to_protobuf()
    }
    match operation {
        "SendMessage" | "SendStreamingMessage" => encode::<types::SendMessageRequest>(request),
        "GetTask" => encode::<types::GetTaskRequest>(request),
        "ListTasks" => encode::<types::ListTasksRequest>(request),
        "CancelTask" => encode::<types::CancelTaskRequest>(request),
        "SubscribeToTask" => encode::<types::SubscribeToTaskRequest>(request),
        "CreateTaskPushNotificationConfig" => encode::<types::TaskPushNotificationConfig>(request),
        "GetTaskPushNotificationConfig" => {
            encode::<types::GetTaskPushNotificationConfigRequest>(request)
        }
        "ListTaskPushNotificationConfigs" => {
            encode::<types::ListTaskPushNotificationConfigsRequest>(request)
        }
        "DeleteTaskPushNotificationConfig" => {
            encode::<types::DeleteTaskPushNotificationConfigRequest>(request)
        }
        "GetExtendedAgentCard" => encode::<types::GetExtendedAgentCardRequest>(request),
        _ => panic!("there is no operation {operation}"),
    }
}

fn grpc_reply(operation: &str, reply: Bytes) -> Value {
    fn decode<M: WireMessage>(bytes: Bytes) -> Value {
        serde_json::to_value(M::from_protobuf(bytes).unwrap()).unwrap()
    }
    match operation {
        "SendMessage" => decode::<types::SendMessageResponse>(reply),
        "GetTask" | "CancelTask" => decode::<types::Task>(reply),
        "ListTasks" => decode::<types::ListTasksResponse>(reply),
        "ListTaskPushNotificationConfigs" => {
            decode::<types::ListTaskPushNotificationConfigsResponse>(reply)
        }
        "DeleteTaskPushNotificationConfig" => decode::<types::Empty>(reply),
        "GetExtendedAgentCard" => decode::<types::AgentCard>(reply),
        _ => decode::<types::TaskPushNotificationConfig>(reply),
    }
}

/// The verb, path and body that stand for a call; what is not in the path of a GET is its query.
fn rest_route(operation: &str, mut request: Value) -> (&'static str, String, Option<Value>) {
    let mut take = |name: &str| {
        let value = request
            .as_object_mut()
            .and_then(|request| request.remove(name));
        value
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let tenant = match take("tenant") {
        none if none.is_empty() => none,
        tenant => format!("/{tenant}"),
    };
    let (method, path) = match operation {
        "SendMessage" => ("POST", "/message:send".to_owned()),
        "SendStreamingMessage" => ("POST", "/message:stream".to_owned()),
        "GetTask" => ("GET", format!("/tasks/{}", take("id"))),
        "ListTasks" => ("GET", "/tasks".to_owned()),
        "CancelTask" => ("POST", format!("/tasks/{}:cancel", take("id"))),
        "SubscribeToTask" => ("POST", format!("/tasks/{}:subscribe", take("id"))),
        "CreateTaskPushNotificationConfig" => (
            "POST",
            format!("/tasks/{}/pushNotificationConfigs", take("taskId")),
        ),
        "ListTaskPushNotificationConfigs" => (
            "GET",
            format!("/tasks/{}/pushNotificationConfigs", take("taskId")),
        ),
        "GetTaskPushNotificationConfig" | "DeleteTaskPushNotificationConfig" => {
            let (task, id) = (take("taskId"), take("id"));
            let method = if operation.starts_with("Get") {
                "GET"
            } else {
                "DELETE"
            };
            (
                method,
                format!("/tasks/{task}/pushNotificationConfigs/{id}"),
            )
        }
        "GetExtendedAgentCard" => ("GET", "/extendedAgentCard".to_owned()),
        _ => panic!("there is no operation {operation}"),
    };
    let mut path = format!("{tenant}{path}");
    if method == "POST" {
        return (method, path, Some(request));
    }
    let query: Vec<String> = request
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| match value {
            Value::String(text) => {
                format!("{name}={}", text.replace('+', "%2B").replace(' ', "%20"))
            }
            other => format!("{name}={other}"),
        })
        .collect();
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    (method, path, None)
}

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
}

/// The status and body of the answer to a POST of more than the server takes. The answer is read while
/// the request is written, for the server need not read all of it.
pub(crate) async fn post_too_much(address: SocketAddr, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut from, mut to) = stream.split();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\na2a-version: 1.0\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut answer = Vec::new();
    // Like a client that reads nothing before it has written everything.
    to.write_all(head.as_bytes()).await.unwrap();
    to.write_all(body.as_bytes()).await.unwrap();
    from.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).unwrap();
    (status.parse().unwrap(), json_of(body.as_bytes()))
}
