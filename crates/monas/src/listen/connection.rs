//! One connection, from the first byte to the last.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use access::Certified;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::counted::Counted;
use super::gate::Gate;
use super::limits::Limits;
use super::paced::Pace;
use super::sniff::{Protocol, sniff};
use super::tls::name_of;

/// How much an HTTP/2 client may send ahead of what is read, in one request and in all of them.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// How much of one response is kept for an HTTP/2 client that does not take it yet.
const SEND_BUFFER: usize = 128 << 10;

/// What all connections of a listener have in common.
pub(super) struct Common {
    pub(super) gate: Arc<Gate>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) limits: Limits,
    /// Owns the task of every connection and of every HTTP/2 request.
    pub(super) tasks: TaskTracker,
    /// Cancelled when the server stops: what is under way may finish.
    pub(super) stop: CancellationToken,
    /// Cancelled when that took too long.
    pub(super) cut: CancellationToken,
}

impl Common {
    /// Serves what arrives on a stream in a task of its own.
    pub(super) fn spawn(self: &Arc<Self>, stream: TcpStream, place: OwnedSemaphorePermit) {
        let this = self.clone();
        // Tokens of their own: those of the listener would be a lock that all connections share.
        let (stop, cut) = (self.stop.child_token(), self.cut.child_token());
        self.tasks.spawn(async move {
            let stream = Counted::new(stream, place, this.limits.write);
            cut.run_until_cancelled(this.serve(stream, &stop)).await;
        });
    }

    async fn serve(&self, stream: Counted<TcpStream>, stop: &CancellationToken) {
        let Some(tls) = &self.tls else {
            return self.speak(stream, None, stop).await;
        };
        if a2a::sabotage::broken("r1") {
            return;
        }
        let accepted = timeout(self.limits.handshake, tls.accept(stream));
        match stop.run_until_cancelled(accepted).await {
            Some(Ok(Ok(stream))) => {
                let shown = stream.get_ref().1.peer_certificates();
                let shown = shown.and_then(|chain| chain.first()).map(name_of);
                self.speak(stream, shown, stop).await;
            }
            Some(Ok(Err(error))) => tracing::debug!(%error, "a TLS handshake failed"),
            Some(Err(_)) => tracing::debug!("a TLS handshake took too long"),
            None => {}
        }
    }

    /// Speaks the version of HTTP that the client does, with whoever has shown this certificate.
    async fn speak<S>(&self, stream: S, shown: Option<Certified>, stop: &CancellationToken)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let sniffed = timeout(self.limits.head, sniff(stream));
        let (protocol, stream) = match stop.run_until_cancelled(sniffed).await {
            Some(Ok(Ok(sniffed))) => sniffed,
            Some(Err(_)) => return tracing::debug!("a client connected and did not say what for"),
            Some(Ok(Err(_))) | None => return,
        };
        let stream = TokioIo::new(stream);
        let gate = self.gate.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            if let Some(shown) = &shown {
                request.extensions_mut().insert(shown.clone());
            }
            gate.clone().answer(request)
        });
        // A connection that breaks is its client's affair.
        let ended = match protocol {
            Protocol::Http1 => {
                let connection = self
                    .http1()
                    .serve_connection(stream, service)
                    .with_upgrades();
                finish(pin!(connection), stop, |it| it.graceful_shutdown()).await
            }
            Protocol::Http2 => {
                let requests = Requests {
                    tasks: self.tasks.clone(),
                    cut: self.cut.child_token(),
                    write: self.limits.write,
                };
                // Whatever ends the connection ends its requests.
                let _guard = requests.cut.clone().drop_guard();
                let connection = self.http2(requests).serve_connection(stream, service);
                finish(pin!(connection), stop, |it| it.graceful_shutdown()).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }

    fn http1(&self) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_header_size(self.limits.head_bytes as usize);
        http
    }

    fn http2(&self, requests: Requests) -> http2::Builder<Requests> {
        // Streams opened and reset in a rush are bounded by what hyper does without being asked.
        let mut http = http2::Builder::new(requests);
        http.timer(TokioTimer::new())
            .max_concurrent_streams(self.limits.streams)
            .max_header_list_size(self.limits.head_bytes)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buf_size(SEND_BUFFER)
            .keep_alive_interval(self.limits.ping_interval())
            .keep_alive_timeout(self.limits.ping_answer());
        http
    }
}

/// Runs a connection to its end. When the server stops it is told so, once, and runs on: requests under
/// way are answered, and no new ones are taken.
async fn finish<C: Future>(
    mut connection: Pin<&mut C>,
    stop: &CancellationToken,
    tell: impl FnOnce(Pin<&mut C>),
) -> C::Output {
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        () = stop.cancelled() => {}
    }
    tell(connection.as_mut());
    connection.await
}

/// Runs the requests of one HTTP/2 connection, each in a task of its own.
#[derive(Clone)]
struct Requests {
    tasks: TaskTracker,
    cut: CancellationToken,
    /// How long a client may take nothing of a response.
    write: Duration,
}

impl<F> Executor<F> for Requests
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, request: F) {
        let (cut, write) = (self.cut.clone(), self.write);
        self.tasks.spawn(async move {
            let paced = Pace::new().watch(write, request);
            if cut.run_until_cancelled(paced).await == Some(false) {
                tracing::debug!("a client did not take a response");
            }
        });
    }
}
