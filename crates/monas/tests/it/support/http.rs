//! HTTP clients on real sockets: both versions, with and without TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

pub(crate) const BOTH: [Version; 2] = [Version::One, Version::Two];

/// One connection, on which requests can be sent.
pub(crate) struct Client {
    sender: Sender,
    /// How the connection itself ended.
    pub(crate) ended: JoinHandle<hyper::Result<()>>,
}

enum Sender {
    One(http1::SendRequest<Body>),
    Two(http2::SendRequest<Body>),
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr, version: Version) -> Self {
        Self::try_connect(address, version).await.unwrap()
    }

    /// None if the port is closed.
    pub(crate) async fn try_connect(address: SocketAddr, version: Version) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        Self::over(stream, version).await.ok()
    }

    /// Connects by TLS, and checks that the server agrees to the version.
    pub(crate) async fn connect_tls(
        address: SocketAddr,
        version: Version,
        mut config: rustls::ClientConfig,
    ) -> Self {
        let name: &[u8] = match version {
            Version::One => b"http/1.1",
            Version::Two => b"h2",
        };
        config.alpn_protocols = vec![name.to_vec()];
        let stream = TcpStream::connect(address).await.unwrap();
        let host = ServerName::try_from("localhost").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(host, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(name));
        Self::over(stream, version).await.unwrap()
    }

    pub(crate) async fn over(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        version: Version,
    ) -> hyper::Result<Self> {
        let stream = TokioIo::new(stream);
        match version {
            Version::One => {
                let (sender, connection) = http1::handshake(stream).await?;
                Ok(Self {
                    sender: Sender::One(sender),
                    ended: tokio::spawn(connection),
                })
            }
            Version::Two => {
                let executor = TokioExecutor::new();
                let (sender, connection) = http2::handshake(executor, stream).await?;
                Ok(Self {
                    sender: Sender::Two(sender),
                    ended: tokio::spawn(connection),
                })
            }
        }
    }

    /// Sends a request and gives the head of its answer.
    pub(crate) async fn open(
        &mut self,
        request: Request<Body>,
    ) -> hyper::Result<Response<hyper::body::Incoming>> {
        match &mut self.sender {
            Sender::One(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Two(sender) => sender.send_request(request).await,
        }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&mut self, request: Request<Body>) -> Answer {
        self.try_send(request).await.unwrap()
    }

    /// The same with a server that may be gone before it has answered.
    pub(crate) async fn try_send(&mut self, request: Request<Body>) -> hyper::Result<Answer> {
        let (head, body) = self.open(request).await?.into_parts();
        let body: Bytes = body.collect().await?.to_bytes();
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// A request with its authority where the version of HTTP has it.
    pub(crate) fn request(
        &self,
        method: &str,
        authority: &str,
        path: &str,
    ) -> axum::http::request::Builder {
        let request = Request::builder().method(method);
        match self.sender {
            Sender::One(_) => request.uri(path).header("host", authority),
            Sender::Two(_) => request.uri(format!("http://{authority}{path}")),
        }
    }
}

/// All that the server sends on a new connection until it closes it, after these bytes.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A connection cut off while it has something unread may end in a reset.
    let _ = stream.read_to_end(&mut answer).await;
    answer
}
