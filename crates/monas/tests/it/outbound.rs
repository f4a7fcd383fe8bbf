//! Connections that the program makes: with a certificate authority of one's own, and through a proxy. Each part that
//! calls other machines (models, weights, webhooks, tool servers, the command line) takes both from the same settings.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use model::scripted::{Scripted, Server, Turn};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::support::http::{Client, Version};
use crate::support::program::{Ended, Monas, command, run};

/// A folder with an authority that only these tests know, and a certificate of it for 127.0.0.1 and `outside.test`, a
/// name that does not resolve.
struct Authority {
    folder: TempDir,
}

impl Authority {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let names = ["127.0.0.1".to_owned(), "outside.test".to_owned()];
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names).unwrap();
        let certificate = certificate.signed_by(&key, &issuer).unwrap().pem();
        for (name, text) in [
            ("ca.pem", authority),
            ("cert.pem", certificate),
            ("key.pem", key.serialize_pem()),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ca(&self) -> String {
        self.path("ca.pem").to_str().unwrap().to_owned()
    }

    /// Puts TLS in front of a plain server.
    async fn before(&self, server: SocketAddr) -> Listener {
        let certificate = CertificateDer::from_pem_file(self.path("cert.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(self.path("key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Listener::start(move |stream, _| {
            let acceptor = acceptor.clone();
            async move {
                // A client that does not trust the certificate hangs up here.
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let mut server = TcpStream::connect(server).await.unwrap();
                    let _ = copy_bidirectional(&mut stream, &mut server).await;
                }
            }
        })
        .await
    }
}

/// A socket on loopback that ends with the test.
struct Listener {
    address: SocketAddr,
    /// The first lines of the requests that a proxy got.
    asked: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Listener {
    async fn start<F>(
        serve: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, seen.clone()));
            }
        });
        Self {
            address,
            asked,
            serving,
        }
    }

    /// A proxy that carries each tunnel to one server, for any name that is asked for.
    async fn proxy_to(server: SocketAddr) -> Self {
        Self::start(move |mut stream, asked| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else {
                    return;
                };
                head.push(byte);
            }
            let head = String::from_utf8(head).unwrap();
            let line = head.lines().next().unwrap_or_default().to_owned();
            asked.lock().unwrap().push(line);
            let mut server = TcpStream::connect(server).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await;
            let _ = copy_bidirectional(&mut stream, &mut server).await;
        })
        .await
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Host and port of a URL.
fn address(url: &str) -> SocketAddr {
    url.split_once("://").unwrap().1.parse().unwrap()
}

/// What the program says to these arguments and variables: whether it went well, and its output.
async fn says(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = command(home);
    command.args(arguments).envs(variables.iter().copied());
    let Ended {
        status,
        stdout,
        stderr,
    } = run(&mut command).await;
    (status.success(), stdout + &stderr)
}

#[tokio::test]
async fn a_model_is_reached_with_its_authority_trusted_however_that_is_set() {
    let server = Server::start(Scripted::new(vec![Turn::text("OK"); 3])).await;
    let server = server.unwrap();
    let authority = Authority::new();
    let outside = authority.before(address(&server.url())).await;
    let url = format!("https://{}/v1", outside.address);
    let home = TempDir::new().unwrap();
    let model = [
        ("MONAS_MODEL_NAME", "openai:small"),
        ("MONAS_MODEL_URL", url.as_str()),
        ("MONAS_MODEL_ATTEMPTS", "1"),
    ];

    let (_, said) = says(home.path(), &["models"], &model).await;
    assert!(said.contains("certificate"), "{said}");
    let (well, said) = says(
        home.path(),
        &["models", "--ca-cert", &authority.ca()],
        &model,
    )
    .await;
    assert!(well && said.contains("answers ("), "{said}");
    let ca = authority.ca();
    let variables = [&model[..], &[("MONAS_CA_CERT", ca.as_str())]].concat();
    let (well, said) = says(home.path(), &["models"], &variables).await;
    assert!(well && said.contains("answers ("), "{said}");
    let file = home.path().join("other.toml");
    std::fs::write(&file, format!("ca_cert = {ca:?}\n")).unwrap();
    let arguments = ["models", "--config", file.to_str().unwrap()];
    let (well, said) = says(home.path(), &arguments, &model).await;
    assert!(well && said.contains("answers ("), "{said}");

    let wrong = ["models", "--ca-cert", "/nowhere/ca.pem"];
    let (well, said) = says(home.path(), &wrong, &model).await;
    assert!(!well && said.contains("/nowhere/ca.pem"), "{said}");
}

#[tokio::test]
async fn a_model_is_reached_through_a_proxy_unless_no_proxy_names_it() {
    let server = Server::start(Scripted::new(vec![Turn::text("OK"); 2])).await;
    let server = server.unwrap();
    let authority = Authority::new();
    let outside = authority.before(address(&server.url())).await;
    let proxy = Listener::proxy_to(outside.address).await;
    let (home, ca) = (TempDir::new().unwrap(), authority.ca());
    let direct = format!("https://{}/v1", outside.address);
    let proxied = proxy.url();
    let with = |url| {
        [
            ("MONAS_MODEL_NAME", "openai:small"),
            ("MONAS_MODEL_URL", url),
            ("MONAS_MODEL_ATTEMPTS", "1"),
            ("MONAS_CA_CERT", ca.as_str()),
            ("HTTPS_PROXY", proxied.as_str()),
            ("NO_PROXY", "127.0.0.1"),
        ]
    };
    let (well, said) = says(home.path(), &["models"], &with("https://outside.test/v1")).await;
    assert!(well && said.contains("answers ("), "{said}");
    assert_eq!(proxy.asked(), ["CONNECT outside.test:443 HTTP/1.1"]);
    let (well, said) = says(home.path(), &["models"], &with(&direct)).await;
    assert!(well && said.contains("answers ("), "{said}");
    assert_eq!(proxy.asked().len(), 1, "NO_PROXY was not honoured");

    let mut wrong = with(&direct);
    wrong[4] = ("HTTPS_PROXY", "socks5://127.0.0.1:1");
    let (well, said) = says(home.path(), &["models"], &wrong).await;
    assert!(!well && said.contains("HTTPS_PROXY"), "{said}");
}

#[tokio::test]
async fn weights_are_fetched_through_a_proxy_with_an_own_authority() {
    let home = TempDir::new().unwrap();
    let nothing = Monas::start(
        command(home.path())
            .arg("--data")
            .arg(home.path().join("a")),
    )
    .await;
    let authority = Authority::new();
    let outside = authority.before(address(&nothing.url)).await;
    let proxy = Listener::proxy_to(outside.address).await;
    let data = home.path().join("data");
    let arguments = [
        "models",
        "pull",
        "all-minilm-l6-v2",
        "--from",
        "https://outside.test/weights/",
        "--ca-cert",
        &authority.ca(),
        "--data",
        data.to_str().unwrap(),
    ];
    let variables = [("HTTPS_PROXY", proxy.url())];
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let (well, said) = says(home.path(), &arguments, &variables).await;
    // The server behind has no weights: that it answered at all is what counts. It refuses the foreign host.
    assert!(!well && !said.contains("certificate"), "{said}");
    assert!(said.contains("40") || said.contains("42"), "{said}");
    assert_eq!(proxy.asked()[0], "CONNECT outside.test:443 HTTP/1.1");
}

#[tokio::test]
async fn the_command_line_reaches_an_agent_through_a_proxy_over_every_binding() {
    let authority = Authority::new();
    let home = TempDir::new().unwrap();
    let mut serve = command(home.path());
    serve.arg("--data").arg(home.path().join("data"));
    serve.arg("--tls-cert").arg(authority.path("cert.pem"));
    serve.arg("--tls-key").arg(authority.path("key.pem"));
    let server = Monas::start(&mut serve).await;
    let proxy = Listener::proxy_to(address(&server.url)).await;
    let (ca, proxied) = (authority.ca(), proxy.url());
    for binding in ["jsonrpc", "rest", "grpc", "capnweb", "websocket"] {
        let arguments = [
            "send",
            "task hello",
            "-a",
            &server.url,
            "--transport",
            binding,
        ];
        let trusting = [("MONAS_CA_CERT", ca.as_str())];
        let (well, said) = says(home.path(), &arguments, &trusting).await;
        assert!(well && said.contains("completed task"), "{binding}: {said}");
        assert_eq!(proxy.asked().len(), 0);

        let through = [trusting[0], ("HTTPS_PROXY", proxied.as_str())];
        let (well, said) = says(home.path(), &arguments, &through).await;
        assert!(well && said.contains("completed task"), "{binding}: {said}");
        let tunnels = std::mem::take(&mut *proxy.asked.lock().unwrap());
        assert!(!tunnels.is_empty(), "{binding} went past the proxy");

        let past = [through[0], through[1], ("NO_PROXY", "127.0.0.1")];
        let (well, said) = says(home.path(), &arguments, &past).await;
        assert!(well && said.contains("completed task"), "{binding}: {said}");
        assert_eq!(proxy.asked().len(), 0, "{binding} ignored NO_PROXY");
    }
    let operator = ["webhook", "dead", "--server", &server.url];
    let (_, said) = says(home.path(), &operator, &[]).await;
    assert!(said.contains("certificate"), "{said}");
    let trusting = [&operator[..], &["--ca-cert", &ca]].concat();
    let (well, said) = says(home.path(), &trusting, &[("HTTPS_PROXY", &proxied)]).await;
    assert!(well, "{said}");
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn webhooks_are_called_through_a_proxy_with_an_own_authority() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = listener.local_addr().unwrap();
    let (sender, mut got) = tokio::sync::mpsc::unbounded_channel();
    let take = async move |body: String| {
        let _ = sender.send(body);
    };
    let router = axum::Router::new().route("/hook", axum::routing::post(take));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let authority = Authority::new();
    let outside = authority.before(hook).await;
    let proxy = Listener::proxy_to(outside.address).await;
    let home = TempDir::new().unwrap();
    let mut serve = command(home.path());
    serve.arg("--data").arg(home.path().join("data"));
    serve.args(["--ca-cert", &authority.ca()]);
    serve.env("MONAS_PUSH_ALLOW_PRIVATE", "true");
    serve.env("HTTPS_PROXY", proxy.url());
    serve.env("NO_PROXY", "127.0.0.1");
    let monas = Monas::start(&mut serve).await;
    for (id, url) in [
        ("a", "https://outside.test/hook".to_owned()),
        ("b", format!("https://{}/hook", outside.address)),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
            "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": "task hello" }] },
            "configuration": { "taskPushNotificationConfig": { "id": "mine", "url": url } },
        }});
        let mut client = Client::connect(address(&monas.url), Version::One).await;
        let request = client.request("POST", monas.authority(), "/a2a/jsonrpc");
        let request = request
            .header("content-type", "application/json")
            .header("a2a-version", "1.0");
        let answer = client
            .send(request.body(Body::from(body.to_string())).unwrap())
            .await;
        assert!(answer.text.contains("TASK_STATE_COMPLETED"), "{answer:?}");
        let told = got.recv().await.unwrap();
        assert!(told.contains("task"), "{told}");
    }
    let asked = proxy.asked();
    assert!(
        asked.iter().all(|it| it.contains("outside.test:443")),
        "{asked:?}"
    );
    assert!(!asked.is_empty());
    monas.stop().await;
}

#[tokio::test]
async fn tool_servers_are_reached_through_a_proxy_with_an_own_authority() {
    let home = TempDir::new().unwrap();
    let mut serve = command(home.path());
    serve.arg("--data").arg(home.path().join("tools"));
    serve.args(["--public-url", "https://outside.test"]);
    // The program prints its public address, so the one to connect to is chosen here.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let behind = free.local_addr().unwrap();
    drop(free);
    let tools = Monas::start_at(&behind.to_string(), &mut serve).await;
    let authority = Authority::new();
    let outside = authority.before(behind).await;
    let proxy = Listener::proxy_to(outside.address).await;
    let manifest = home.path().join("agent.toml");
    let text = "name = 'Caller'\n[mcp.other]\nurl = 'https://outside.test/mcp'\n";
    std::fs::write(&manifest, text).unwrap();

    let mut serve = command(home.path());
    serve.arg("--data").arg(home.path().join("caller"));
    serve.arg("--agent").arg(&manifest);
    serve.args(["--ca-cert", &authority.ca()]);
    serve.env("HTTPS_PROXY", proxy.url());
    let mut caller = Monas::start(&mut serve).await;
    let log = caller.logged("connected to tool servers").await;
    assert!(!log.contains("no tools from"), "{log}");
    assert_eq!(proxy.asked()[0], "CONNECT outside.test:443 HTTP/1.1");
    caller.stop().await;
    tools.stop().await;
}
