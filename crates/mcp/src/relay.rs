//! Passes the messages of a client on standard input on to a server over HTTP, and its answers back.
//!
//! A host that starts `monas mcp` beside a running server gets that server: its agent, its tasks, its data. The relay
//! understands no more of a message than where it belongs: which header it needs, and which answer is awaited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use dial::sse::Reader;
use dial::{Body, Dialer, HttpClient, Redirects};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::server::headers;
use crate::server::http::SESSION;
use crate::server::revision;
use crate::server::rpc::{self, Id, Message, RpcError, Unreadable};
use crate::server::stdio::{GRACE, Line, LineReader, WAITING, write_all};

/// The server that messages are passed on to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelayTarget {
    /// The address of its MCP endpoint.
    pub url: String,
    /// The value of the header `Authorization`, if it needs one.
    pub authorization: Option<HeaderValue>,
    /// Makes the connections.
    pub dialer: Dialer,
    /// The size of a message in either direction, in bytes.
    pub max_message: usize,
}

impl RelayTarget {
    pub fn new(url: impl Into<String>, dialer: Dialer, max_message: usize) -> Self {
        Self {
            url: url.into(),
            authorization: None,
            dialer,
            max_message,
        }
    }
}

/// Relays until the input ends or `stopping` is cancelled.
///
/// `initialize`, notifications and responses are passed on one after the other, since what follows depends on them.
/// Requests wait for their answers at the same time. When the input ends, open requests get a moment to end.
pub async fn relay(
    target: RelayTarget,
    (read, write): (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    stopping: CancellationToken,
) {
    let max = target.max_message;
    let (out, waiting) = mpsc::channel(WAITING);
    let mut writer = JoinSet::new();
    writer.spawn(write_all(write, waiting));
    let link = ServerLink {
        http: target.dialer.http(),
        target: Arc::new(target),
        session: Arc::default(),
        out: out.clone(),
    };
    let mut input = LineReader::new(read, max);
    let mut calls = Calls::default();
    loop {
        let line = tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            line = input.next() => line,
        };
        let reply = match line {
            Line::End => break,
            Line::Blank | Line::Unreadable(Unreadable { silent: true, .. }) => None,
            Line::TooLong => {
                let why = format!("message larger than {max} bytes");
                Some(rpc::error(None, &RpcError::invalid_request(why)))
            }
            Line::Unreadable(Unreadable { error, id, .. }) => Some(rpc::error(id.as_ref(), &error)),
            Line::Message(message, bytes) => {
                calls.pass(&link, *message, bytes.into()).await;
                None
            }
        };
        if let Some(reply) = reply {
            let _ = out.send(reply).await;
        }
    }
    tokio::select! {
        () = calls.end() => {}
        () = stopping.cancelled() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
    drop(calls);
    link.close().await;
    drop((link, out));
    while writer.join_next().await.is_some() {}
}

/// The requests that wait for an answer.
#[derive(Default)]
struct Calls {
    tasks: JoinSet<()>,
    /// What ends one that the client cancels: in revision 2026-07-28 a request is cancelled by closing its connection.
    open: HashMap<Id, AbortHandle>,
}

impl Calls {
    async fn pass(&mut self, link: &ServerLink, message: Message, bytes: Bytes) {
        while self.tasks.try_join_next().is_some() {}
        self.open.retain(|_, task| !task.is_finished());
        match &message {
            Message::Request { id, method, .. } if method != "initialize" => {
                let (id, link) = (id.clone(), link.clone());
                let task = self
                    .tasks
                    .spawn(async move { link.pass(&message, bytes).await });
                self.open.insert(id, task);
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.as_ref().and_then(|params| params.get("requestId"));
                let id = id.and_then(|id| serde_json::from_value::<Id>(id.clone()).ok());
                let open = id.and_then(|id| self.open.remove(&id));
                match link.session() {
                    Some(_) => link.pass(&message, bytes).await,
                    None => open.iter().for_each(AbortHandle::abort),
                }
            }
            _ => link.pass(&message, bytes).await,
        }
    }

    async fn end(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// The connection of the relay to its server.
#[derive(Clone)]
struct ServerLink {
    http: HttpClient,
    target: Arc<RelayTarget>,
    /// The session and the revision that `initialize` led to.
    session: Arc<Mutex<Option<Session>>>,
    out: mpsc::Sender<Bytes>,
}

#[derive(Clone)]
struct Session {
    id: HeaderValue,
    revision: Option<HeaderValue>,
}

impl ServerLink {
    /// Sends a message and writes what it is answered with. What fails is told under the id of the request.
    async fn pass(&self, message: &Message, bytes: Bytes) {
        let id = match message {
            Message::Request { id, .. } => Some(id),
            _ => None,
        };
        if let Err(problem) = self.exchange(message, bytes, id).await {
            let url = &self.target.url;
            let why = format!(
                "the running server at {url} did not answer: {problem}; if it has stopped, start this program again"
            );
            match id {
                Some(id) => {
                    self.write(rpc::error(Some(id), &RpcError::internal(why)))
                        .await
                }
                None => tracing::warn!("{why}"),
            }
        }
    }

    async fn exchange(
        &self,
        message: &Message,
        bytes: Bytes,
        id: Option<&Id>,
    ) -> Result<(), String> {
        let request = self
            .request(message)
            .body(bytes)
            .map_err(|error| error.to_string())?;
        let sent = self.http.send(request, Redirects::None).await;
        let response = sent.map_err(|error| dial::error_chain(&error))?;
        let kind = response.headers().get(CONTENT_TYPE);
        let streams = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
        if streams {
            return self.events(response.into_body()).await;
        }
        let status = response.status();
        let session = response.headers().get(SESSION).cloned();
        let body = self.body(response).await?;
        let Some(id) = id else {
            return match status.is_success() {
                true => Ok(()),
                false => Err(format!("HTTP {status}")),
            };
        };
        let mut answer: Value =
            serde_json::from_slice(&body).map_err(|_| format!("HTTP {status}"))?;
        if let Some(session) = session {
            self.open(session, &answer);
        }
        if !answer.is_object() {
            return Err(format!("HTTP {status}"));
        }
        // A refusal of a message that was not parsed has the id null.
        if answer["id"].is_null() {
            answer["id"] = serde_json::to_value(id).unwrap_or_default();
            self.write(answer.to_string().into()).await;
        } else {
            self.write(body).await;
        }
        Ok(())
    }

    fn request(&self, message: &Message) -> http::request::Builder {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.target.url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(authorization) = &self.target.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let (method, params) = match message {
            Message::Request { method, params, .. } | Message::Notification { method, params } => {
                (Some(method), params.as_ref())
            }
            Message::Response { .. } => (None, None),
        };
        let meta = params.and_then(|params| params.get("_meta")?.as_object());
        let named = meta.and_then(revision::named_in);
        if let (Some(named), Some(method)) = (named, method) {
            request = request
                .header(headers::VERSION, named)
                .header(headers::METHOD, headers::encoded(method));
            let name = params.and_then(|params| headers::name_in(method, params));
            return match name {
                Some(name) => request.header(headers::NAME, headers::encoded(name)),
                None => request,
            };
        }
        if let Some(Session { id, revision }) = self.session() {
            request = request.header(SESSION, id);
            if let Some(revision) = revision {
                request = request.header(headers::VERSION, revision);
            }
        }
        request
    }

    /// Writes the messages of a stream as they come.
    async fn events(&self, mut body: Body) -> Result<(), String> {
        let mut reader = Reader::new(self.target.max_message);
        while let Some(chunk) = body.chunk().await {
            let chunk = chunk.map_err(|error| dial::error_chain(&error))?;
            let events = reader.take(&chunk).map_err(|error| error.to_string())?;
            for event in events {
                if !event.data.trim().is_empty() {
                    self.write(event.data.into()).await;
                }
            }
        }
        Ok(())
    }

    async fn body(&self, response: Response<Body>) -> Result<Bytes, String> {
        if matches!(
            response.status(),
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT
        ) {
            return Ok(Bytes::new());
        }
        let read = response.into_body().read(self.target.max_message).await;
        read.map_err(|error| dial::error_chain(&error))
    }

    fn session(&self) -> Option<Session> {
        let session = self.session.lock();
        session.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn open(&self, id: HeaderValue, answer: &Value) {
        let revision = answer["result"]["protocolVersion"].as_str();
        let revision = revision.and_then(|it| HeaderValue::from_str(it).ok());
        let session = self.session.lock();
        *session.unwrap_or_else(PoisonError::into_inner) = Some(Session { id, revision });
    }

    /// Ends the session at the server.
    async fn close(&self) {
        let Some(Session { id, .. }) = self.session() else {
            return;
        };
        let mut request = Request::builder()
            .method(Method::DELETE)
            .uri(&self.target.url)
            .header(SESSION, id);
        if let Some(authorization) = &self.target.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let Ok(request) = request.body(Bytes::new()) else {
            return;
        };
        let ended = tokio::time::timeout(GRACE, self.http.send(request, Redirects::None));
        if !matches!(ended.await, Ok(Ok(_))) {
            tracing::debug!("ending the session at the running server failed");
        }
    }

    async fn write(&self, message: Bytes) {
        let _ = self.out.send(message).await;
    }
}
