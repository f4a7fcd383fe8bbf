//! One request to the operator's addresses of a running server.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use dial::{Body, Dialer, Redirects};
use serde_json::Value;

use crate::command::client::{Options, failure};

/// How large an answer may be.
const SIZE: usize = 256 << 20;

/// The longest pause that a server may ask for, in seconds.
const LONGEST_PAUSE: u64 = 30;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No connection, or one that was lost.
    #[error("could not reach {server}: {problem}")]
    Unreachable { server: String, problem: String },
    /// No answer in time.
    #[error("{server} did not answer within {time:?}")]
    Late {
        server: String,
        time: std::time::Duration,
    },
    /// The server needs credentials, or this caller lacks a right.
    #[error("{server} refused the caller ({status}): {problem}")]
    Unauthorized {
        server: String,
        /// 401 or 403.
        status: u16,
        problem: String,
    },
    /// The server said no.
    #[error("{server} answered: {problem}")]
    Refused { server: String, problem: String },
    /// A flag names a file or a value that cannot be used.
    #[error("{0}")]
    Flag(String),
}

impl Failure {
    /// The exit code, as of all commands.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Unreachable { .. } => 3,
            Self::Unauthorized { .. } => 4,
            Self::Late { .. } => 5,
            Self::Flag(_) => 2,
            Self::Refused { .. } => 1,
        }
    }
}

/// A running server, and the flags that say how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunningServer {
    /// Its address, below which its paths are.
    pub(crate) address: String,
    pub(crate) options: Options,
}

impl RunningServer {
    /// The server that a command asks, which is said on standard error.
    pub(crate) fn find(options: &Options) -> Self {
        let target = options.target();
        options.announce(&target);
        Self {
            address: target.server().0,
            options: options.clone(),
        }
    }

    fn refused(&self, status: StatusCode, problem: String) -> Failure {
        let server = self.address.clone();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Failure::Unauthorized {
                server,
                status: status.as_u16(),
                problem,
            },
            _ => Failure::Refused { server, problem },
        }
    }

    fn unreachable(&self, problem: impl std::fmt::Display) -> Failure {
        Failure::Unreachable {
            server: self.address.clone(),
            problem: problem.to_string(),
        }
    }
}

/// Asks a server, and gives its answer.
pub(super) async fn ask(
    server: &RunningServer,
    method: Method,
    path: &str,
    body: &Value,
) -> Result<Value, Failure> {
    let text = exchange(server, method, path, body.to_string()).await?;
    let strange = || "not a reply of a Monas server".to_owned();
    serde_json::from_slice(&text).map_err(|_| server.refused(StatusCode::OK, strange()))
}

/// Sends a request to a server; gives the body of the reply.
pub(crate) async fn exchange(
    server: &RunningServer,
    method: Method,
    path: &str,
    body: String,
) -> Result<Bytes, Failure> {
    let time = server.options.timeout;
    let late = || Failure::Late {
        server: server.address.clone(),
        time,
    };
    let exchanging = async {
        let body = open(server, method, path, body).await?;
        body.read(SIZE).await.map_err(|it| server.unreachable(it))
    };
    let exchanged = tokio::time::timeout(time, exchanging).await;
    exchanged.map_err(|_| late())?
}

/// Sends a request to a server; gives the body of the reply, which is still to be read.
pub(crate) async fn open(
    server: &RunningServer,
    method: Method,
    path: &str,
    body: String,
) -> Result<Body, Failure> {
    let response = send(server, method, path, body).await?;
    let status = response.status();
    if status.is_success() {
        return Ok(response.into_body());
    }
    let text = response.into_body().read(SIZE).await;
    let text = text.map_err(|error| server.unreachable(error))?;
    let said: Value = serde_json::from_slice(&text).unwrap_or_default();
    let error = &said["error"];
    let problem = error.as_str().or_else(|| error["message"].as_str());
    let problem = match problem {
        Some(problem) => problem.to_owned(),
        None => format!("status {status}; is it a Monas server?"),
    };
    Err(server.refused(status, problem))
}

async fn send(
    server: &RunningServer,
    method: Method,
    path: &str,
    body: String,
) -> Result<Response<Body>, Failure> {
    let settings = server.options.request_settings(&server.address).await;
    let settings = settings.map_err(|failure| of_flags(server, failure))?;
    let mut address = format!("{}{path}", server.address);
    for (name, value) in &settings.query {
        let sign = if address.contains('?') { '&' } else { '?' };
        let pair = form_urlencoded::Serializer::new(String::new())
            .append_pair(name, value)
            .finish();
        address = format!("{address}{sign}{pair}");
    }
    let request = Request::builder()
        .method(method)
        .uri(address)
        .header(CONTENT_TYPE, "application/json")
        .body(Bytes::from(body));
    let mut request = request.map_err(|error| server.unreachable(error))?;
    let headers: &mut HeaderMap = request.headers_mut();
    headers.extend(settings.headers.clone());
    let dialer = Dialer::new(&settings.dial).map_err(|it| Failure::Flag(it.to_string()))?;
    let client = dialer.http();
    loop {
        let mut request = request.clone();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let body = request.body().clone();
        let signed = settings.sign(&method, &uri, request.headers_mut(), &body);
        signed.map_err(|it| Failure::Flag(it.to_string()))?;
        let sent = client.send(request, Redirects::None).await;
        let response = sent.map_err(|error| match error {
            dial::Error::Unreachable { problem, .. } => server.unreachable(problem),
            error => server.unreachable(error),
        })?;
        // A script that calls too often waits; the time limit of the command ends it.
        match pause(&response) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Ok(response),
        }
    }
}

/// How long to wait after a refusal because of the rate of calls.
fn pause(response: &Response<Body>) -> Option<Duration> {
    let limited = response.status() == StatusCode::TOO_MANY_REQUESTS;
    let after = response.headers().get(RETRY_AFTER).filter(|_| limited)?;
    let seconds = after.to_str().ok()?.parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds.clamp(1, LONGEST_PAUSE)))
}

/// The fault of the flags, or with the card that says where an API key goes.
fn of_flags(server: &RunningServer, failure: failure::Failure) -> Failure {
    use a2a::client::Error;
    match failure {
        failure::Failure::Call(Error::Unreachable { why, .. } | Error::Lost(why)) => {
            server.unreachable(why)
        }
        failure::Failure::Call(Error::Late(time)) => Failure::Late {
            server: server.address.clone(),
            time,
        },
        other => Failure::Flag(other.to_string()),
    }
}
