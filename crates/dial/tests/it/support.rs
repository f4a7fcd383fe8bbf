//! Servers that answer what a test says, a proxy, an authority of our own, and a resolver that knows a few names.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use dial::{Dialer, Resolve, Resolving, Settings};
use http::Request;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// Gives the whole response for the head of a request.
type Answer = dyn Fn(&str) -> String + Send + Sync;

/// A server that ends with the test. It remembers the heads of all requests.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn plain(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::start(None, Arc::new(answer)).await
    }

    pub(crate) async fn encrypted(
        acceptor: TlsAcceptor,
        answer: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        Self::start(Some(acceptor), Arc::new(answer)).await
    }

    async fn start(acceptor: Option<TlsAcceptor>, answer: Arc<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, seen, answer) = (acceptor.clone(), seen.clone(), answer.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => converse(stream, &seen, &*answer).await,
                        Some(acceptor) => {
                            // A client that does not trust us hangs up here.
                            if let Ok(stream) = acceptor.accept(stream).await {
                                converse(stream, &seen, &*answer).await;
                            }
                        }
                    }
                });
            }
        });
        Self {
            address,
            heads,
            serving,
        }
    }

    /// The heads of the requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    seen: &Mutex<Vec<String>>,
    answer: &Answer,
) {
    while let Some(head) = read_head(&mut stream).await {
        let response = answer(&head);
        seen.lock().unwrap().push(head);
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
        if response.to_ascii_lowercase().contains("connection: close") {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

/// The head of a request. Its body is read and dropped.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = header(&head, "content-length").map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(head)
}

/// A header of a request.
pub(crate) fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

pub(crate) fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A proxy that carries every tunnel to one address, for any host in the request, and answers plain requests itself.
/// The servers behind it thus need no name that resolves.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let seen = seen.clone();
                tokio::spawn(async move { carry(stream, target, &seen).await });
            }
        });
        Self {
            address,
            heads,
            serving,
        }
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn carry(mut stream: TcpStream, target: SocketAddr, seen: &Mutex<Vec<String>>) {
    let Some(head) = read_head(&mut stream).await else {
        return;
    };
    let is_tunnel = head.starts_with("CONNECT ");
    seen.lock().unwrap().push(head);
    if !is_tunnel {
        let answer = ok("from the proxy");
        let _ = stream.write_all(answer.as_bytes()).await;
        return;
    }
    let mut server = TcpStream::connect(target).await.unwrap();
    let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await;
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
}

/// An authority that no one trusts by default.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    /// A certificate for a name and its key, as PEM.
    pub(crate) fn certify(&self, name: &str) -> (String, String) {
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// The server's end of TLS, under a name.
    pub(crate) fn acceptor(&self, name: &str) -> TlsAcceptor {
        let (certificate, key) = self.certify(name);
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Arc::new(config).into()
    }
}

/// A resolver that knows these names and no others.
#[derive(Debug, Default)]
pub(crate) struct Names(pub(crate) HashMap<&'static str, SocketAddr>);

impl Resolve for Names {
    fn resolve(&self, host: &str) -> Resolving {
        let found = self.0.get(host).copied();
        let unknown = || io::Error::other(format!("{host}: unknown name"));
        Box::pin(std::future::ready(
            found.map(|it| vec![it]).ok_or_else(unknown),
        ))
    }
}

/// Settings in which these names exist.
pub(crate) fn names(known: &[(&'static str, SocketAddr)]) -> Settings {
    let mut settings = Settings::default();
    settings.resolver = Some(Arc::new(Names(known.iter().copied().collect())));
    settings
}

pub(crate) fn get(address: impl AsRef<str>) -> Request<Bytes> {
    Request::get(address.as_ref()).body(Bytes::new()).unwrap()
}

pub(crate) fn dialer(settings: &Settings) -> Dialer {
    Dialer::new(settings).unwrap()
}
