//! Signed requests between us and another implementation (`conformance/signatures`), in both directions.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use a2a::client::{Client, Settings};
use a2a::signature::{Algorithm, SigningKey};
use access::{SigningCaller, Unauthenticated};
use monas::config::access::{Access, Keys, Kind, Scheme};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use super::{asked, say};
use crate::support::server::{Running, config};

/// The names of the keys that the peer makes, which are those of their algorithms.
const KEYS: [&str; 5] = [
    "ed25519",
    "ecdsa-p256-sha256",
    "rsa-v1_5-sha256",
    "rsa-pss-sha512",
    "hmac-sha256",
];

const LIMIT: Duration = Duration::from_secs(60);

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/signatures");
    assert!(
        folder.join("node_modules").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci` in {}",
        folder.display()
    );
    folder
}

fn peer(arguments: &[&str]) -> Command {
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let mut command = Command::new(node);
    command.arg("peer.mjs").args(arguments);
    command.current_dir(folder()).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Runs the peer to its end, and gives what it printed.
async fn run(arguments: &[&str]) -> String {
    let running = timeout(LIMIT, peer(arguments).stderr(Stdio::piped()).output());
    let output = running.await.unwrap().unwrap();
    let wrong = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{wrong}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn requests_of_another_implementation_are_accepted_once() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_str().unwrap();
    run(&["keys", path]).await;
    let mut config = config();
    config.access = Access {
        schemes: vec![Scheme {
            name: "signed".to_owned(),
            description: String::new(),
            kind: Kind::Signature {
                keys: Keys::File(home.path().join("keys.json")),
                callers: vec![SigningCaller {
                    name: "ada".to_owned(),
                    keys: KEYS.map(str::to_owned).to_vec(),
                    ..SigningCaller::default()
                }],
            },
        }],
        unauthenticated: Unauthenticated::Refused,
        ..Access::default()
    };
    let server = Running::sut_with(&config).await;
    let url = format!("{}/a2a/jsonrpc?from=peer", server.url);
    let printed = run(&["call", path, &url]).await;
    let printed: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(printed.len(), KEYS.len());
    for (came, key) in printed.iter().zip(KEYS) {
        assert_eq!(came["key"], key);
        assert_eq!(came["first"]["status"], 200, "{came}");
        let text = came["first"]["text"].as_str().unwrap();
        assert!(text.contains("ada by signed"), "{came}");
        assert_eq!(came["again"]["status"], 401, "{came}");
        let text = came["again"]["text"].as_str().unwrap();
        assert!(text.contains("was sent before"), "{came}");
        assert_eq!(came["tampered"]["status"], 401, "{came}");
    }
    server.stop().await;
}

#[tokio::test]
async fn requests_that_we_sign_are_verified_by_another_implementation() {
    for algorithm in [Algorithm::EdDsa, Algorithm::Es256] {
        let key = SigningKey::generate(algorithm).unwrap();
        let key = SigningKey::from_pem(&key).unwrap();
        let mut peer = peer(&["serve", &key.public_jwk().to_string()])
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(peer.stdout.take().unwrap()).lines();
        let mut line = async || {
            let line = timeout(LIMIT, lines.next_line()).await.unwrap();
            line.unwrap().unwrap()
        };
        let port: u16 = line().await.parse().unwrap();
        let card = json!({
            "name": "peer", "description": "", "version": "1", "capabilities": {}, "skills": [],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "supportedInterfaces": [{
                "url": format!("http://127.0.0.1:{port}/rpc?x=%20y"), "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            }],
        });
        let mut settings = Settings::default().bearer("a-token").unwrap();
        settings.signer = Some(key.into_signer());
        let client = Client::of_card(card, settings).unwrap();
        client.send_message(say("hello")).await.unwrap();
        assert_eq!(asked(&client).await.unwrap(), "heard");
        for _ in 0..2 {
            let came: Value = serde_json::from_str(&line().await).unwrap();
            let expected = json!({ "method": "POST", "verified": true, "digest": true });
            assert_eq!(came, expected, "{algorithm:?}");
        }
    }
}
