//! One connection: the TLS handshake, the version of HTTP, its requests, its end.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use access::{Certified, calls};
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::counted::Counted;
use super::gate::Gate;
use super::limits::Limits;
use super::paced::Pace;
use super::places::ConnectionPermit;
use super::sniff::{Protocol, sniff};
use super::tls::{Tls, name_of};

/// How much an HTTP/2 client may send ahead of what is read, in one request and in all of them.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// How much of one response is buffered for an HTTP/2 client that does not read it yet.
const SEND_BUFFER: usize = 128 << 10;

/// What is known of the other end of a connection.
struct Peer {
    address: Option<SocketAddr>,
    certificate: Option<Certified>,
}

/// What all connections of a listener have in common.
pub(super) struct Common {
    pub(super) gate: Arc<Gate>,
    pub(super) tls: Option<Tls>,
    pub(super) limits: Limits,
    /// Owns the task of every connection and of every HTTP/2 request.
    pub(super) tasks: TaskTracker,
    /// Cancelled when the server stops; requests under way may finish.
    pub(super) stop: CancellationToken,
    /// Cancelled when the requests under way took too long to finish; drops them.
    pub(super) cut: CancellationToken,
}

impl Common {
    /// Serves a connection in a task of its own.
    pub(super) fn spawn(self: &Arc<Self>, stream: TcpStream, place: ConnectionPermit) {
        let this = self.clone();
        // A child token for each: one shared token would be a lock that all connections contend for.
        let (stop, cut) = (self.stop.child_token(), self.cut.child_token());
        self.tasks.spawn(async move {
            let kept = place.kept;
            let peer = Peer {
                address: stream.peer_addr().ok(),
                certificate: None,
            };
            let stream = Counted::new(stream, place, this.limits.write);
            let serving = this.serve(stream, kept, peer, &stop);
            cut.run_until_cancelled(serving).await;
        });
    }

    async fn serve(
        &self,
        stream: Counted<TcpStream>,
        kept: bool,
        mut peer: Peer,
        stop: &CancellationToken,
    ) {
        let Some(tls) = &self.tls else {
            return self.speak(stream, kept, peer, stop).await;
        };
        if a2a::sabotage::broken("r01_http") {
            return;
        }
        let tls = TlsAcceptor::from(tls.current());
        let accepted = timeout(self.limits.handshake, tls.accept(stream));
        match stop.run_until_cancelled(accepted).await {
            Some(Ok(Ok(stream))) => {
                let shown = stream.get_ref().1.peer_certificates();
                peer.certificate = shown.and_then(|chain| chain.first()).map(name_of);
                self.speak(stream, kept, peer, stop).await;
            }
            Some(Ok(Err(error))) => tracing::debug!(%error, "TLS handshake failed"),
            Some(Err(_)) => tracing::debug!("TLS handshake timed out"),
            None => {}
        }
    }

    /// Serves the version of HTTP that the client speaks. Requests carry the client's address and its verified certificate, if
    /// there is one.
    /// On a place that is `kept` for known callers, a request of another caller ends the connection.
    async fn speak<S>(&self, stream: S, kept: bool, peer: Peer, stop: &CancellationToken)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let head = match kept {
            true => self.limits.kept_head(),
            false => self.limits.head,
        };
        let stop = &stop.child_token();
        let sniffed = timeout(head, sniff(stream));
        let (protocol, stream) = match stop.run_until_cancelled(sniffed).await {
            Some(Ok(Ok(sniffed))) => sniffed,
            Some(Err(_)) => return tracing::debug!("client sent nothing after it connected"),
            Some(Ok(Err(_))) | None => return,
        };
        let stream = TokioIo::new(stream);
        let gate = self.gate.clone();
        let leave = kept.then(|| stop.clone());
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            let extensions = request.extensions_mut();
            if let Some(address) = peer.address {
                extensions.insert(ConnectInfo(address));
                extensions.insert(calls::Peer(address));
            }
            if let Some(certificate) = &peer.certificate {
                extensions.insert(certificate.clone());
            }
            gate.clone().answer(request, leave.clone())
        });
        let ended = match protocol {
            Protocol::Http1 => {
                let connection = self
                    .http1(head)
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
                // The requests end with their connection.
                let _guard = requests.cut.clone().drop_guard();
                let connection = self.http2(requests).serve_connection(stream, service);
                finish(pin!(connection), stop, |it| it.graceful_shutdown()).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "connection ended with an error");
        }
    }

    fn http1(&self, head: Duration) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_header_size(self.limits.head_bytes as usize);
        http
    }

    fn http2(&self, requests: Requests) -> http2::Builder<Requests> {
        // hyper itself limits streams that are opened and reset in a rush (CVE-2023-44487).
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

/// Runs a connection to its end. When the server stops, `tell` asks it once to shut down gracefully; it then answers the
/// requests under way and takes no new ones.
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
    /// How long a client may read nothing of a response.
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
                tracing::debug!("client did not read its response in time");
            }
        });
    }
}
