//! A script as a real HTTP server on loopback, in the format of each provider, so that clients are tested over the
//! wire.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_core::Stream;
use futures_util::{StreamExt as _, future, stream};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::script::{Failure, Turn};
use super::{Scripted, Words};
use crate::embed::Embed as _;

/// The dimensions of the vectors that the server gives.
const DIMENSIONS: usize = 64;

/// A server that follows a script. It ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    script: Scripted,
    words: Words,
    key: Option<String>,
    seen: Mutex<Vec<Seen>>,
    hung_up: Arc<Notify>,
}

/// A request that the server got.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub path: String,
    pub body: Value,
    /// The trace context that came with it; empty where none did.
    pub traceparent: String,
}

impl Server {
    /// Serves a script on a free port, without asking for a key.
    pub async fn start(script: Scripted) -> io::Result<Self> {
        Self::start_with(script, None).await
    }

    /// Serves a script on a free port, and refuses requests without this key.
    pub async fn start_with(script: Scripted, key: Option<&str>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            words: Words::new(DIMENSIONS),
            key: key.map(str::to_owned),
            seen: Mutex::default(),
            hung_up: Arc::default(),
        });
        let routes = Router::new().fallback(answer).with_state(shared.clone());
        let serving = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self {
            address,
            shared,
            serving,
        })
    }

    /// Where it is: `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen().clone()
    }

    /// Waits until a client has closed a connection on which nothing arrived.
    pub async fn hung_up(&self) {
        self.shared.hung_up.notified().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Shared {
    fn seen(&self) -> std::sync::MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The format of a provider, as its server writes it.
struct Dialect {
    content_type: &'static str,
    /// The frames of a turn without a failure.
    frames: fn(&Turn) -> Vec<String>,
    /// An error frame.
    broken: fn() -> String,
    /// The body of a response with vectors.
    vectors: fn(Vec<Vec<f32>>) -> Value,
    /// A frame that is not of the protocol.
    garbage: &'static str,
}

/// The dialect of a path, and whether vectors are asked for.
fn dialect(path: &str) -> Option<(&'static Dialect, ScriptedRequest)> {
    match path {
        "/v1/chat/completions" => Some((&openai::DIALECT, ScriptedRequest::Reply)),
        "/v1/embeddings" => Some((&openai::DIALECT, ScriptedRequest::Vectors)),
        "/v1/messages" => Some((&anthropic::DIALECT, ScriptedRequest::Reply)),
        "/api/chat" => Some((&ollama::DIALECT, ScriptedRequest::Reply)),
        "/api/embed" => Some((&ollama::DIALECT, ScriptedRequest::Vectors)),
        path if path.starts_with("/v1beta/models/") => {
            let (_, verb) = path.rsplit_once(':')?;
            match verb {
                "streamGenerateContent" => Some((&gemini::DIALECT, ScriptedRequest::Reply)),
                "batchEmbedContents" => Some((&gemini::DIALECT, ScriptedRequest::Vectors)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum ScriptedRequest {
    Reply,
    Vectors,
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = body.clone();
    let trace = headers.get(dial::trace::HEADER);
    let trace = trace.and_then(|it| it.to_str().ok());
    shared.seen().push(Seen {
        path: path.clone(),
        body,
        traceparent: trace.unwrap_or_default().to_owned(),
    });
    let Some((dialect, what)) = dialect(&path) else {
        return failed(StatusCode::NOT_FOUND, "there is no such path");
    };
    if let Some(key) = &shared.key
        && !bears(&headers, key)
    {
        return failed(StatusCode::UNAUTHORIZED, "this is not the key");
    }
    match what {
        ScriptedRequest::Vectors => {
            let texts = texts(&asked);
            match shared.words.embed(texts).await {
                Ok(vectors) => axum_json(&(dialect.vectors)(vectors)),
                Err(error) => failed(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
            }
        }
        ScriptedRequest::Reply => match shared.script.next() {
            Some(turn) => say(dialect, turn, &shared.hung_up),
            None => failed(StatusCode::BAD_REQUEST, "the script has no further turn"),
        },
    }
}

/// The texts of a request for vectors, in the format of any provider.
fn texts(body: &Value) -> Vec<String> {
    let listed = body["input"].as_array().into_iter().flatten();
    let requested = body["requests"].as_array().into_iter().flatten();
    let requested = requested.map(|it| &it["content"]["parts"][0]["text"]);
    let texts = listed.chain(requested).filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Whether a request has the key, in the place of any provider.
fn bears(headers: &HeaderMap, key: &str) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
    is("authorization", &format!("Bearer {key}"))
        || is("x-api-key", key)
        || is("x-goog-api-key", key)
}

/// The streamed response of a turn.
fn say(dialect: &Dialect, mut turn: Turn, hung_up: &Arc<Notify>) -> Response {
    let failure = turn.cut_at_failure();
    if turn.is_empty()
        && let Some(failure) = failure
        && let Some(response) = refused(failure)
    {
        return response;
    }
    let frames = (dialect.frames)(&turn).into_iter();
    let frames: Vec<Bytes> = frames.map(Bytes::from).collect();
    let said = stream::iter(frames).map(Ok::<_, io::Error>);
    let rest: stream::BoxStream<'static, io::Result<Bytes>> = match failure {
        None | Some(Failure::Stop) => Box::pin(stream::empty()),
        Some(Failure::Silence) => Box::pin(Silence(hung_up.clone())),
        Some(Failure::Malformed) => Box::pin(stream::once(future::ok(Bytes::from_static(
            dialect.garbage.as_bytes(),
        )))),
        Some(Failure::Cut) => Box::pin(stream::once(async {
            // Frames before this one have been sent by the time the stream is polled again.
            tokio::task::yield_now().await;
            Err(io::Error::other("as the script says"))
        })),
        Some(_) => Box::pin(stream::once(future::ok(Bytes::from((dialect.broken)())))),
    };
    let headers = [(header::CONTENT_TYPE, dialect.content_type)];
    (headers, Body::from_stream(said.chain(rest))).into_response()
}

/// A stream that never yields, and notices when the client has gone.
struct Silence(Arc<Notify>);

impl Stream for Silence {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Pending
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// The response of a failure that is a status.
fn refused(failure: Failure) -> Option<Response> {
    let mut response = match failure {
        Failure::Auth => failed(StatusCode::UNAUTHORIZED, "as the script says"),
        Failure::Refused => failed(StatusCode::BAD_REQUEST, "as the script says"),
        Failure::Server => failed(StatusCode::INTERNAL_SERVER_ERROR, "as the script says"),
        Failure::RateLimited(_) => failed(StatusCode::TOO_MANY_REQUESTS, "as the script says"),
        Failure::Malformed | Failure::Cut | Failure::Stop | Failure::Silence => return None,
    };
    if let Failure::RateLimited(Some(pause)) = failure {
        let seconds = pause.as_secs().into();
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    Some(response)
}

fn failed(status: StatusCode, message: &str) -> Response {
    let body = serde_json::json!({"error": {"message": message}});
    (status, axum_json(&body)).into_response()
}

fn axum_json(body: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (headers, body.to_string()).into_response()
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
