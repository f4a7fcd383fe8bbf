//! Authentication, and that callers see only their own runs.

use a2a::server::TABLES;
use access::{Callers, Door, Hash, Scheme};
use axum::http::Method;
use serde_json::json;
use store::Store;

use crate::support::{Bench, texts};
use crate::wires::{Wire, failed};

/// A server with two known callers.
async fn bench() -> Bench {
    let mut callers = Callers::default();
    for (name, token) in [("ada", "ada's"), ("bob", "bob's")] {
        callers.add(name, Hash::of(token), &[]).unwrap();
    }
    let door = Door::new(vec![("tokens".to_owned(), Scheme::Bearer(callers))]);
    Bench::behind(door.unwrap(), Store::memory(TABLES)).await
}

#[tokio::test]
async fn a_stranger_is_told_how_to_be_known() {
    let mut bench = bench().await;
    for token in [None, Some("nobody's")] {
        bench.token = token;
        for path in ["/ping", "/agents", "/runs/x", "/nowhere"] {
            let heard = bench.get(path).await;
            assert_eq!(heard.refused(), (401, "server_error".to_owned()), "{path}");
            let challenge = heard.headers["www-authenticate"].to_str().unwrap();
            assert!(challenge.starts_with("Bearer"), "{challenge}");
        }
        let heard = bench.ask("echo", "hello", "stream").await;
        assert_eq!(heard.refused().0, 401);
    }
}

#[tokio::test]
async fn a_run_and_its_session_are_its_callers_own() {
    let mut bench = bench().await;
    bench.token = Some("ada's");
    let run = bench.ask("approve", "it", "sync").await.ok();
    let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
    let session = format!("/sessions/{}", run["session_id"].as_str().unwrap());
    bench.token = Some("bob's");
    assert_eq!(bench.get(&path).await.refused().0, 404);
    assert_eq!(bench.get(&format!("{path}/events")).await.refused().0, 404);
    assert_eq!(bench.get(&session).await.refused().0, 404);
    let input = format!("/resources/{}.input", run["run_id"].as_str().unwrap());
    assert_eq!(bench.get(&input).await.refused().0, 404);
    assert_eq!(bench.resume(&run, "no", "sync").await.refused().0, 404);
    let cancel = bench.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(cancel.refused().0, 404);
    bench.token = Some("ada's");
    let done = bench.resume(&run, "yes", "sync").await.ok();
    assert_eq!(texts(&done), ["it: yes"]);
    assert_eq!(bench.get(&input).await.ok()["role"], "user");
}

/// Regression: a session with invalid credentials was accepted, and then every call in it failed.
#[tokio::test]
async fn a_capnweb_session_with_wrong_credentials_is_refused() {
    let mut bench = bench().await;
    bench.token = Some("nobody's");
    for verb in [Method::GET, Method::POST] {
        let heard = bench.send(verb, "/acp/capnweb", "").await;
        assert_eq!(heard.refused(), (401, "server_error".to_owned()));
        let challenge = heard.headers["www-authenticate"].to_str().unwrap();
        assert!(challenge.starts_with("Bearer"), "{challenge}");
    }
}

#[tokio::test]
async fn a_capnweb_session_can_authenticate_later() {
    let bench = bench().await;
    let wire = Wire::capnweb(&bench).await;
    let agents = wire.agents();
    let refused = failed(&agents.call("ping", ()).await.unwrap_err());
    assert_eq!(
        (&refused["status"], &refused["code"]),
        (&json!(401), &json!("server_error"))
    );
    let known = agents.call("authenticate", ("ada's",));
    known.call("ping", ()).await.unwrap();
    let wrong = agents
        .call("authenticate", ("nobody's",))
        .await
        .unwrap_err();
    assert_eq!(failed(&wrong)["status"], 401);
}
