//! Tokens of a real issuer (`conformance/oidc`, the npm package `oidc-provider`): discovery, keys that change, forgeries, and
//! the sign-in of the command line.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::client::{Client, Settings};
use axum::body::Body;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::{asked, is_401};
use crate::support::http;
use crate::support::program::{Ended, Monas, closed, command, run};

/// How long a step may take.
const TIME: Duration = Duration::from_secs(60);

/// The provider; killed when dropped.
struct Issuer {
    _process: Child,
    url: String,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Issuer {
    async fn start() -> Self {
        let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/oidc");
        let mut process = Command::new(node)
            .arg("issuer.js")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs; `cargo xtask test` sets up what it needs");
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut issuer = Self {
            _process: process,
            url: String::new(),
            input,
            output,
        };
        issuer.url = issuer.line().await;
        issuer
    }

    async fn line(&mut self) -> String {
        let line = timeout(TIME, self.output.next_line()).await;
        let line = line.expect("the issuer answers in time").unwrap();
        line.expect("the issuer runs; `npm ci` in conformance/oidc installs it")
    }

    /// Gives the provider a command; its head in `conformance/oidc/issuer.js` lists them.
    async fn tell(&mut self, command: &str) -> String {
        let line = format!("{command}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.line().await
    }

    /// A token as the provider would issue it, with these differences.
    async fn issue(&mut self, differences: Value) -> String {
        let now = now();
        let mut claims = json!({
            "iss": self.url, "aud": "monas", "sub": "eve", "scope": "a2a", "iat": now, "exp": now + 300,
        });
        for (name, value) in differences.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.tell(&format!("issue {claims}")).await
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

async fn serve(home: &Path, issuer: &Issuer) -> Monas {
    let path = home.join("monas.toml");
    let text = format!(
        "[access.sso]\ntype = 'openIdConnect'\nissuer = '{}'\naudience = 'monas'\nscopes = ['a2a']\n",
        issuer.url
    );
    std::fs::write(&path, text).unwrap();
    Monas::start(closed(home).arg("--config").arg(path)).await
}

/// Who the server takes the holder of a token for.
async fn caller(server: &str, token: &str) -> Result<String, a2a::client::Error> {
    let mut settings = Settings::default().bearer(token).unwrap();
    settings.attempts = 1;
    asked(&Client::discover(server, settings).await?).await
}

/// What the server answers to these headers at `/mcp`.
async fn at_mcp(server: &str, tokens: &[&str]) -> http::Answer {
    let address = server.strip_prefix("http://").unwrap().parse().unwrap();
    let mut client = http::Client::connect(address, http::Version::One).await;
    let mut request = client.request("POST", "localhost", "/mcp");
    for token in tokens {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    client.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn keys_are_found_and_followed_and_forged_tokens_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut issuer = Issuer::start().await;
    let monas = serve(home.path(), &issuer).await;
    let right = issuer.issue(json!({})).await;
    assert_eq!(
        caller(&monas.url, &right).await.unwrap(),
        "sso:eve by sso for a2a"
    );

    let hour = 3600;
    let forgeries = [
        (
            "alg none",
            json!({ "header": { "alg": "none" }, "key": "none" }),
        ),
        (
            "HS256 with the public key",
            json!({ "header": { "alg": "HS256" }, "key": "public" }),
        ),
        ("another audience", json!({ "aud": "others" })),
        (
            "another issuer",
            json!({ "iss": "https://evil.example.com" }),
        ),
        ("expired", json!({ "exp": now() - hour })),
        ("not valid yet", json!({ "nbf": now() + hour })),
        ("no scope", json!({ "scope": "other" })),
    ];
    for (what, differences) in forgeries {
        let token = issuer.issue(differences).await;
        let refused = at_mcp(&monas.url, &[&token]).await;
        let expected = if what == "no scope" { 403 } else { 401 };
        assert_eq!(refused.status, expected, "{what}: {refused:?}");
        assert!(caller(&monas.url, &token).await.is_err(), "{what}");
    }
    let two = at_mcp(&monas.url, &[&right, &right]).await;
    assert_eq!(two.status, 401, "two tokens: {two:?}");

    // RFC 9728: where tokens are got is said in the challenge, and in the document that it names.
    let challenge = at_mcp(&monas.url, &[]).await;
    let place = "/.well-known/oauth-protected-resource/mcp";
    let named = format!(r#"resource_metadata="{}{place}", scope="a2a""#, monas.url);
    let header = challenge.headers["www-authenticate"].to_str().unwrap();
    assert!(
        header.starts_with("Bearer ") && header.contains(&named),
        "{header}"
    );
    let address = monas.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut client = http::Client::connect(address, http::Version::One).await;
    let request = client
        .request("GET", "localhost", place)
        .body(Body::empty());
    let document = client.send(request.unwrap()).await;
    let document: Value = serde_json::from_str(&document.text).unwrap();
    assert_eq!(document["resource"], format!("{}/mcp", monas.url));
    assert_eq!(document["authorization_servers"], json!([issuer.url]));
    assert_eq!(document["scopes_supported"], json!(["a2a"]));

    a_new_key_costs_no_caller(&mut issuer, &monas.url, &right).await;
    unknown_keys_are_asked_for_once_a_minute(&mut issuer, &monas.url).await;
    monas.stop().await;
}

/// Callers go on while the issuer begins to sign with another key, and the first tokens of that key are good.
async fn a_new_key_costs_no_caller(issuer: &mut Issuer, server: &str, old: &str) {
    let stop = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..3)
        .map(|_| {
            let (server, old, stop) = (server.to_owned(), old.to_owned(), stop.clone());
            tokio::spawn(async move {
                let mut calls = 0;
                while !stop.load(Ordering::Relaxed) {
                    caller(&server, &old)
                        .await
                        .expect("the old key is still published");
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    issuer.tell("rotate").await;
    let new = issuer.issue(json!({ "sub": "new" })).await;
    let together = (0..20).map(|_| caller(server, &new));
    for seen in futures_util::future::join_all(together).await {
        assert_eq!(seen.unwrap(), "sso:new by sso for a2a");
    }
    stop.store(true, Ordering::Relaxed);
    for load in load {
        assert!(load.await.unwrap() > 0, "no call was made meanwhile");
    }
}

async fn unknown_keys_are_asked_for_once_a_minute(issuer: &mut Issuer, server: &str) {
    let before: u32 = issuer.tell("fetches").await.parse().unwrap();
    for number in 0..20 {
        let header = json!({ "header": { "kid": format!("unknown-{number}") } });
        let token = issuer.issue(header).await;
        let answer = caller(server, &token).await;
        assert!(is_401(&answer), "{answer:?}");
    }
    let after: u32 = issuer.tell("fetches").await.parse().unwrap();
    assert!(after - before <= 1, "{before} {after}");
}

/// The only file of tokens below a home.
fn token_file(home: &Path) -> PathBuf {
    let folder = home.join(".local/state/monas/tokens");
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

#[tokio::test]
async fn the_command_line_signs_in_as_a_program_and_as_a_person() {
    let home = tempfile::tempdir().unwrap();
    // Of other accounts: on its own data a command needs no sign-in.
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut issuer = Issuer::start().await;
    let monas = serve(one.path(), &issuer).await;
    let other = serve(two.path(), &issuer).await;
    let ask = async |words: &[&str], server: &str| -> Ended {
        let mut command = command(home.path());
        run(command.args(words).args(["--server", server])).await
    };
    let whoami = async |server: &str| ask(&["send", "whoami"], server).await;
    assert_eq!(whoami(&monas.url).await.status.code(), Some(4));

    let words = ["login", "--client-id", "robot", "--client-secret"];
    let ended = ask(&[&words[..], &["wrong"]].concat(), &monas.url).await;
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(ended.stderr.contains("invalid_client"), "{ended:?}");
    let ended = ask(&[&words[..], &["robot-secret"]].concat(), &monas.url).await;
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let ended = whoami(&monas.url).await;
    assert!(
        ended.stdout.contains("sso:robot by sso for a2a"),
        "{ended:?}"
    );
    // A token is shown to the server that it is for, and to no other.
    assert_eq!(whoami(&other.url).await.status.code(), Some(4));
    let ended = ask(&["status"], &monas.url).await;
    assert!(!ended.stderr.contains("unauthorized"), "{ended:?}");

    let mut login = command(home.path());
    login.args([
        "login",
        "--client-id",
        "cli",
        "--device",
        "--server",
        &monas.url,
    ]);
    let mut login = login
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(login.stderr.take().unwrap()).lines();
    let code = loop {
        let line = timeout(TIME, said.next_line()).await.unwrap().unwrap();
        let line = line.expect("it says which code to enter");
        if let Some((_, code)) = line.split_once(" and enter ") {
            break code.to_owned();
        }
    };
    assert_eq!(issuer.tell(&format!("approve {code}")).await, "approved");
    let status = timeout(TIME, login.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
    let file = token_file(home.path());
    let before = std::fs::read_to_string(&file).unwrap();
    let ended = whoami(&monas.url).await;
    assert!(ended.stdout.contains("sso:ada by sso for a2a"), "{ended:?}");
    // The tokens of this issuer are short-lived, so that the command had to renew it.
    assert_ne!(std::fs::read_to_string(&file).unwrap(), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    assert_eq!(ask(&["logout"], &monas.url).await.status.code(), Some(0));
    assert_eq!(whoami(&monas.url).await.status.code(), Some(4));
    monas.stop().await;
    other.stop().await;
}
