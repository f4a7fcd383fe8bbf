//! One request to the operator's addresses of a running server.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::command::client::Secret;
use crate::command::tap::tls;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(30);
/// How large it may be.
const SIZE: usize = 256 << 20;

/// Why there is no answer. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Nobody answers there.
    #[error("reach {server}: {problem}")]
    Unreachable {
        /// The address.
        server: String,
        /// What went wrong.
        problem: String,
    },
    /// The server said no.
    #[error("ask {server}: {problem}")]
    Refused {
        /// The address.
        server: String,
        /// What it said.
        problem: String,
    },
}

/// Who is asked, and by whom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Server {
    pub(crate) address: Uri,
    /// The token that says who asks.
    pub(crate) bearer: Option<Secret>,
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
        .map_err(|_| refused(format!("it answered {status}, and is no Monas")))?;
    let error = &answer["error"];
    match error.as_str().or_else(|| error["message"].as_str()) {
        Some(error) => Err(refused(error.to_owned())),
        None => Ok(answer),
    }
}

/// Sends a request to a server, and gives what comes back, whatever it is.
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
        Err(_) => Err(unreachable(format!("nothing after {TIME:?}"))),
    }
}

type Problem = Box<dyn std::error::Error + Send + Sync>;

async fn transfer(
    server: &Server,
    method: Method,
    path: &str,
    body: String,
) -> Result<(axum::http::StatusCode, Bytes), Problem> {
    let Server { address, bearer } = server;
    let secure = address.scheme_str() == Some("https");
    let authority = address.authority().ok_or("the address names no host")?;
    let host = authority.host().trim_matches(['[', ']']);
    let port = address.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, authority.as_str())
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = bearer {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.reveal()));
    }
    let request = request.body(Body::from(body))?;
    let stream = TcpStream::connect((host, port)).await?;
    if secure {
        let name = ServerName::try_from(host.to_owned())?;
        send(tls().connect(name, stream).await?, request).await
    } else {
        send(stream, request).await
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Body>,
) -> Result<(axum::http::StatusCode, Bytes), Problem> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let asking = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), SIZE).collect().await?;
        Ok((status, body.to_bytes()))
    };
    tokio::pin!(asking);
    tokio::select! {
        asked = &mut asking => asked,
        _ = connection => asking.await,
    }
}
