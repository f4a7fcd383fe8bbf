//! Tokens that other programs signed, and those that the program makes.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use a2a::client::Settings;
use access::{Role, TokenSecret};
use serde_json::Value;
use tokio::process::Command;

use super::{ask, handshake, made, over_every_binding};
use crate::support::program::{Monas, closed, command, run};
use crate::support::sut::program;

const SECRET: &str = "a secret of 32 bytes, for tests..";

/// A python that has PyJWT.
fn python() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/a2a");
    program("MONAS_PYTHON", folder.join(".venv/bin/python"))
}

/// Tokens that PyJWT makes, in the order of the script.
async fn of_pyjwt() -> Vec<String> {
    let script = format!(
        r#"
import jwt, time
secret, now = "{SECRET}", int(time.time())
least = {{"user_id": "ada", "iat": now, "exp": now + 24 * 60 * 60}}
def say(claims, key=secret, algorithm="HS256"):
    print(jwt.encode(claims, key, algorithm=algorithm))
say(least)
say({{**least, "iss": "elsewhere", "aud": "others", "sub": "bob", "role": "admin"}})
say({{"user_id": "ada", "iat": now}})
say({{**least, "exp": now - 60}})
say({{**least, "nbf": now + 60}})
say(least, algorithm="HS512")
say(least, key=None, algorithm="none")
say(least, key="another secret of 32 bytes, or more")
say({{"sub": "ada", "iat": now, "exp": now + 60}})
"#
    );
    let mut python = Command::new(python());
    let ended = run(python.args(["-c", &script])).await;
    let hint = "`cargo xtask test` installs PyJWT with the official SDK, or MONAS_PYTHON names a python that has it";
    assert!(ended.status.success(), "{ended:?}\n{hint}");
    ended.stdout.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn tokens_of_another_library_are_accepted_with_three_claims() {
    let home = tempfile::tempdir().unwrap();
    let mut served = closed(home.path());
    served.env("JWT_SECRET", SECRET);
    served.env("MONAS_LOG", "info,monas=debug");
    let mut monas = Monas::start(&mut served).await;
    let tokens = of_pyjwt().await;
    let (right, wrong) = tokens.split_at(2);
    for token in right {
        let settings = Settings::default().bearer(token).unwrap();
        for answer in over_every_binding(&monas, &settings).await {
            assert_eq!(answer.unwrap(), "ada by monas");
        }
        // A role of another program is none here.
        let header = format!("Bearer {token}");
        let status = |answer: crate::support::http::Answer| answer.status.as_u16();
        let known = [("authorization", &*header)];
        let operator = ask(&monas, "GET", "/api/audit", &known).await;
        assert_eq!(status(operator), 403);
        assert_eq!(
            handshake(&monas, &format!("/ws/a2a?token={token}")).await,
            101
        );
        let plain = format!("/api/agents?token={token}");
        assert_eq!(status(ask(&monas, "GET", &plain, &[]).await), 401);
    }
    for token in wrong {
        let header = format!("Bearer {token}");
        let answer = ask(&monas, "GET", "/api/agents", &[("authorization", &header)]).await;
        assert_eq!(answer.status, 401, "{token}");
        let said: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(said["error"], "invalid token");
        assert_eq!(
            handshake(&monas, &format!("/ws/a2a?token={token}")).await,
            401
        );
    }
    // What was in addresses is in no log.
    monas.signal("TERM").await;
    let log = monas.logged("stopped").await;
    assert!(log.contains("request refused"), "{log}");
    for token in &tokens {
        let signature = token.rsplit('.').next().unwrap();
        assert!(!log.contains(token), "{log}");
        assert!(signature.is_empty() || !log.contains(signature), "{log}");
    }
}

#[tokio::test]
async fn tokens_are_made_for_any_user_and_role_and_belong_to_one_data_folder() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Before a server has run.
    let viewer = made(
        &mut command(home.path()),
        &["--user", "vera", "--role", "viewer"],
    )
    .await;
    let secret = home.path().join(".local/share/monas/tokens.key");
    assert_private(&secret);
    let monas = Monas::start(&mut closed(home.path())).await;
    let there = Monas::start(&mut closed(other.path())).await;

    let user = made(&mut command(home.path()), &["--user", "ada"]).await;
    let owner = made(&mut command(home.path()), &[]).await;
    let hour = made(&mut command(home.path()), &["--user", "ada", "--for", "1h"]).await;
    let status = async |monas: &Monas, token: &str, path: &str| {
        let header = format!("Bearer {token}");
        let answer = ask(monas, "GET", path, &[("authorization", &header)]).await;
        answer.status.as_u16()
    };
    for (token, agents, audit) in [
        (&viewer, 200, 403),
        (&user, 200, 403),
        (&hour, 200, 403),
        (&owner, 200, 200),
    ] {
        assert_eq!(status(&monas, token, "/api/agents").await, agents);
        assert_eq!(status(&monas, token, "/api/audit").await, audit);
        assert_eq!(status(&there, token, "/api/agents").await, 401);
    }
    let claims = |token: &str| -> Value {
        use base64::Engine as _;
        let claims = token.split('.').nth(1).unwrap();
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        serde_json::from_slice(&engine.decode(claims).unwrap()).unwrap()
    };
    let (day, short) = (claims(&user), claims(&hour));
    let lifetime =
        |claims: &Value| claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap();
    assert_eq!((lifetime(&day), lifetime(&short)), (24 * 60 * 60, 60 * 60));
    assert_eq!(day.as_object().unwrap().len(), 3, "{day}");
    // The secret is one that signs tokens of others, too.
    let read = std::fs::read(&secret).unwrap();
    let signed = TokenSecret::new(read).unwrap();
    let time = std::time::Duration::from_secs(60);
    let token = signed.sign("eve", Some(Role::Operator), time, SystemTime::now());
    assert_eq!(status(&monas, &token.unwrap(), "/api/audit").await, 200);
    let long_ago = UNIX_EPOCH + time;
    let token = signed.sign("eve", None, time, long_ago).unwrap();
    assert_eq!(status(&monas, &token, "/api/agents").await, 401);

    for (words, expected) in [
        (["--role", "king"], "unknown name \"king\""),
        (["--for", "0s"], "expected a time"),
        (["--user", "a:b"], "use the name \"a:b\""),
    ] {
        let ended = run(command(home.path()).arg("token").args(words)).await;
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
    monas.stop().await;
    there.stop().await;
}

#[tokio::test]
async fn a_user_that_nothing_is_known_of_has_the_default_role() {
    let home = tempfile::tempdir().unwrap();
    let mut served = closed(home.path());
    served.env("MONAS_ACCESS_DEFAULT_ROLE", "operator");
    let monas = Monas::start(&mut served).await;
    let token = made(&mut command(home.path()), &["--user", "ada"]).await;
    let header = format!("Bearer {token}");
    let answer = ask(&monas, "GET", "/api/audit", &[("authorization", &header)]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    monas.stop().await;
}

/// Only its owner may read it.
fn assert_private(path: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    let mode = std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode, 0o600, "{}", path.display());
}
