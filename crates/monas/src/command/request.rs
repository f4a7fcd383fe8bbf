//! One request to the operator's addresses of a running server.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request, Uri};
use dial::Redirects;
use serde_json::Value;

use crate::command::client::Secret;
use crate::config::Outbound;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(30);
/// How large it may be.
const SIZE: usize = 256 << 20;

/// Why there is no answer. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No connection, or no response in time.
    #[error("reach {server}: {problem}")]
    Unreachable { server: String, problem: String },
    /// The server said no.
    #[error("ask {server}: {problem}")]
    Refused { server: String, problem: String },
}

/// A running server, and the credentials for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Server {
    pub(crate) address: Uri,
    /// The token that says who asks.
    pub(crate) bearer: Option<Secret>,
    pub(crate) outbound: Outbound,
}

/// Asks a server, and gives its answer.
pub(super) async fn ask(
    server: &Server,
    method: Method,
    path: &str,
    body: &Value,
) -> Result<Value, Failure> {
    let address = &server.address;
    let (status, answer) = exchange(server, method, path, body.to_string()).await?;
    let refused = |problem: String| Failure::Refused {
        server: address.to_string(),
        problem,
    };
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|_| refused(format!("it answered {status}; is it a Monas server?")))?;
    let error = &answer["error"];
    match error.as_str().or_else(|| error["message"].as_str()) {
        Some(error) => Err(refused(error.to_owned())),
        None => Ok(answer),
    }
}

/// Sends a request to a server; gives the status and the body, also of an error.
pub(crate) async fn exchange(
    server: &Server,
    method: Method,
    path: &str,
    body: String,
) -> Result<(axum::http::StatusCode, Bytes), Failure> {
    let unreachable = |problem: String| Failure::Unreachable {
        server: server.address.to_string(),
        problem,
    };
    match tokio::time::timeout(TIME, transfer(server, method, path, body)).await {
        Ok(asked) => asked.map_err(|error| unreachable(error.to_string())),
        Err(_) => Err(unreachable(format!("no reply within {TIME:?}"))),
    }
}

type Problem = Box<dyn std::error::Error + Send + Sync>;

async fn transfer(
    server: &Server,
    method: Method,
    path: &str,
    body: String,
) -> Result<(axum::http::StatusCode, Bytes), Problem> {
    let Server {
        address,
        bearer,
        outbound,
    } = server;
    let mut parts = address.clone().into_parts();
    parts.path_and_query = Some(path.parse()?);
    let mut request = Request::builder()
        .method(method)
        .uri(Uri::from_parts(parts)?)
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = bearer {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.reveal()));
    }
    let request = request.body(Bytes::from(body))?;
    let client = outbound.dialer()?.http();
    let response = client.send(request, Redirects::None).await?;
    let status = response.status();
    Ok((status, response.into_body().read(SIZE).await?))
}
