//! The reply to one request over HTTP: JSON if it is a single message, an event stream if it is more.

use std::sync::Arc;

use ::http::header::ACCEPT;
use ::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::poll;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::events;
use super::exchange::OpenRequest;
use super::http::{Inner, json, refusal, respond};
use super::outlet::{Log, Outlet, OutletKind};
use super::request::Request;
use super::revision::{ClientInfo, Revision};
use super::rpc::RpcError;
use super::session::Session;

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;

/// Whether the `Accept` header gives event streams a higher weight than JSON.
pub(crate) fn prefers_streams(headers: &HeaderMap) -> bool {
    weight(headers, "text/event-stream") > weight(headers, "application/json")
}

/// The weight of a media type in `Accept`, from 0 to 1 (RFC 9110, 12.4.2); 1 where none is given.
fn weight(headers: &HeaderMap, wanted: &str) -> f64 {
    let accepted = headers.get_all(ACCEPT).iter();
    let accepted = accepted.filter_map(|it| it.to_str().ok());
    let mut accepted = accepted.flat_map(|it| it.split(','));
    let named = accepted.find_map(|it| {
        let (kind, parameters) = it.split_once(';').unwrap_or((it, ""));
        kind.trim()
            .eq_ignore_ascii_case(wanted)
            .then_some(parameters)
    });
    let mut parameters = named.unwrap_or_default().split(';');
    let weight = parameters.find_map(|it| it.trim().strip_prefix("q=")?.parse::<f64>().ok());
    weight.unwrap_or(1.0).clamp(0.0, 1.0)
}

/// A reply that is being made.
///
/// The call is polled where its HTTP request is. If it ends without having sent anything else, the reply is JSON. When it
/// sends a notification first, or in a session takes longer than [`Limits::hold`](crate::Limits::hold), the reply becomes a
/// stream and the call a task that writes to it. If the HTTP request is dropped before that, the call becomes a task
/// too, so that it ends as it should: cancelled where requests stand alone, undisturbed in a session.
pub(crate) struct Reply {
    inner: Arc<Inner>,
    session: Option<Arc<Session>>,
    client: ClientInfo,
    log: Arc<Log>,
    open: Option<OpenRequest>,
    /// The client would rather have a stream, also for a single message.
    pub(crate) streams: bool,
}

impl Reply {
    pub(crate) fn new(
        inner: Arc<Inner>,
        session: Option<Arc<Session>>,
        client: ClientInfo,
    ) -> Self {
        Self {
            inner,
            session,
            client,
            log: Arc::default(),
            open: None,
            streams: false,
        }
    }

    /// Where the messages of the request go.
    pub(crate) fn outlet(&self) -> Outlet {
        Outlet {
            kind: OutletKind::Log(self.log.clone()),
            asked: self.session.as_ref().map(|it| it.exchange.asked.clone()),
        }
    }

    /// Notes that the request is open in its session.
    pub(crate) fn begin(&mut self, request: &mut Request) -> Result<(), RpcError> {
        if let Some(session) = &self.session {
            let open = session.exchange.begin(&request.id)?;
            request.cancelled = open.cancelled.clone();
            self.open = Some(open);
        }
        Ok(())
    }

    /// Handles the request and replies.
    pub(crate) async fn answer(mut self, request: Request) -> Response {
        let cancelled = request.cancelled.clone();
        let call = respond(self.inner.responder.clone(), request);
        let open = self.open.take();
        let call = async move {
            let response = call.await;
            // A client that has read the response may use the id again at once, so the id is free before it is sent.
            drop(open);
            response
        };
        let mut call = Call {
            work: Some(Box::pin(call)),
            cancels: self.session.is_none().then(|| cancelled.clone()),
            home: self.inner.calls.clone(),
        };
        let response = match self.first(&mut call).await {
            First::Response(status, body) if self.log.is_empty() => {
                return self.single(status, body);
            }
            First::Response(_, body) => Some(body),
            First::Message => None,
            First::Stopping => {
                let why = "the server is stopping";
                return refusal(StatusCode::SERVICE_UNAVAILABLE, why);
            }
        };
        let number = self.session.as_ref().map(|it| it.keep(&self.log));
        match (response, call.work.take()) {
            (Some(body), _) => {
                self.log.push(body);
                self.log.close();
            }
            (None, Some(work)) => {
                let (log, stopping) = (self.log.clone(), self.inner.stopping.clone());
                let cancelled = cancelled.clone();
                self.inner.calls.spawn(async move {
                    let (_, body) = until_stopped(work, &stopping, &cancelled).await;
                    log.push(body);
                    log.close();
                });
            }
            (None, None) => self.log.close(),
        }
        let primes = self.primes();
        match number {
            Some(number) => events::in_session(self.log, number, primes),
            None => events::alone(
                self.log,
                cancelled.drop_guard(),
                self.inner.stopping.clone(),
            ),
        }
    }

    /// Waits for the response, the first notification, or the time after which the reply is streamed.
    async fn first(&self, call: &mut Call) -> First {
        // Most calls are answered at once, and need no timer.
        if let Some(work) = &mut call.work
            && let std::task::Poll::Ready((status, body)) = poll!(work.as_mut())
        {
            call.work = None;
            return First::Response(status, body);
        }
        let hold = self.inner.limits.hold;
        let in_session = self.session.is_some();
        tokio::select! {
            biased;
            (status, body) = call.end() => First::Response(status, body),
            () = self.log.begun() => First::Message,
            () = tokio::time::sleep(hold), if in_session => First::Message,
            () = self.inner.stopping.cancelled() => First::Stopping,
        }
    }

    fn single(self, status: StatusCode, body: Bytes) -> Response {
        if !self.streams || status != StatusCode::OK {
            return json(status, body);
        }
        let number = self.session.as_ref().map(|it| it.keep(&self.log));
        self.log.push(body);
        self.log.close();
        let primes = self.primes();
        match number {
            Some(number) => events::in_session(self.log, number, primes),
            None => events::whole(self.log),
        }
    }

    /// Whether the client knows events without data, from which it learns what to resume from.
    fn primes(&self) -> bool {
        self.client.revision >= Revision::V2025_11_25
    }
}

/// Drives a call to its end, which is soon once the server stops.
async fn until_stopped(
    mut work: Work,
    stopping: &CancellationToken,
    cancelled: &CancellationToken,
) -> (StatusCode, Bytes) {
    tokio::select! {
        ended = &mut work => ended,
        () = stopping.cancelled() => {
            cancelled.cancel();
            work.await
        }
    }
}

enum First {
    Response(StatusCode, Bytes),
    /// A notification, or in a session nothing for a while.
    Message,
    Stopping,
}

/// The response of a call that is under way, with its HTTP status.
type Work = BoxFuture<'static, (StatusCode, Bytes)>;

/// A call that is under way. Dropping it hands the call to its home.
struct Call {
    work: Option<Work>,
    /// Cancelled when the call is dropped: its client closed the connection.
    cancels: Option<CancellationToken>,
    home: TaskTracker,
}

impl Call {
    async fn end(&mut self) -> (StatusCode, Bytes) {
        match &mut self.work {
            Some(work) => {
                let ended = work.await;
                self.work = None;
                ended
            }
            None => std::future::pending().await,
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else {
            return;
        };
        if let Some(cancels) = &self.cancels {
            cancels.cancel();
        }
        // Without a runtime, at the end of the process, there is nothing that could drive it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.home.spawn_on(work, &runtime);
        }
    }
}
