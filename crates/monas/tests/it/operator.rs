//! Questions of an operator to the running program, and the proof in its card.

use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use a2a::signature::TrustedKeys;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::support::http::{Answer, Client, Version};
use crate::support::program::{Ended, Monas, command, run};

/// What a webhook answers next; it takes what it has no answer for.
type Answers = Arc<Mutex<VecDeque<StatusCode>>>;

/// A webhook on a real socket.
async fn webhook(answers: &[StatusCode]) -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, got) = mpsc::unbounded_channel();
    let answers: Answers = Arc::new(Mutex::new(answers.iter().copied().collect()));
    type Taking = (Answers, mpsc::UnboundedSender<Value>);
    let take = async |State((answers, taken)): State<Taking>, body: Bytes| {
        let answer = answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or(StatusCode::OK);
        if answer.is_success() {
            let _ = taken.send(serde_json::from_slice(&body).unwrap());
        }
        answer
    };
    let router = Router::new().route("/", axum::routing::post(take));
    let router = router.with_state((answers, sender));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, got)
}

async fn ask(monas: &Monas, method: &str, path: &str, body: &Value) -> Answer {
    let mut client = Client::connect(monas.authority().parse().unwrap(), Version::One).await;
    let request = client.request(method, monas.authority(), path);
    let request = request
        .header("content-type", "application/json")
        .header("a2a-version", "1.0");
    let body = Body::from(body.to_string());
    client.send(request.body(body).unwrap()).await
}

/// Sends a message; the events of its task go to this webhook.
async fn send(monas: &Monas, id: &str, url: &str) {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": "task hello" }] },
        "configuration": { "taskPushNotificationConfig": { "id": "mine", "url": url } },
    }});
    let answer = ask(monas, "POST", "/a2a/jsonrpc", &body).await;
    assert!(answer.text.contains("TASK_STATE_COMPLETED"), "{answer:?}");
}

async fn operate(monas: &Monas, arguments: &[&str]) -> Ended {
    let mut command = command(&std::env::temp_dir());
    command.arg("webhook").args(arguments);
    run(command.args(["--server", &monas.url])).await
}

#[tokio::test]
async fn webhooks_that_were_given_up_are_listed_and_go_on() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path());
    command.env("MONAS_PUSH_ALLOW_PRIVATE", "true");
    command.env("MONAS_PUSH_ATTEMPTS", "1");
    let monas = Monas::start(&mut command).await;
    let (url, mut got) = webhook(&[StatusCode::OK, StatusCode::IM_A_TEAPOT]).await;
    send(&monas, "first", &url).await;
    assert!(got.recv().await.unwrap().get("task").is_some());
    while !ask(&monas, "GET", "/operator/webhooks/dead", &Value::Null)
        .await
        .text
        .contains("418")
    {
        tokio::task::yield_now().await;
    }

    let Ended { stdout, .. } = operate(&monas, &["dead", "-o", "json"]).await;
    let listed: Value = serde_json::from_str(&stdout).unwrap();
    let id = listed["id"].as_str().unwrap();
    assert_eq!(
        (&listed["url"], &listed["delivered"]),
        (&json!(url), &json!(1))
    );
    assert!(id.ends_with("/mine"), "{id}");
    let Ended { stdout, .. } = operate(&monas, &["dead"]).await;
    assert!(
        stdout.starts_with(&format!("{id}  {url}  after 1, ")),
        "{stdout}"
    );

    let Ended { stdout, .. } = operate(&monas, &["replay", id]).await;
    assert_eq!(stdout, format!("{id} restarted\n"));
    loop {
        let event = got.recv().await.unwrap();
        if event["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED" {
            break;
        }
    }
    let Ended { status, stdout, .. } = operate(&monas, &["replay", "--all"]).await;
    assert_eq!(
        (status.code(), &*stdout),
        (Some(0), "no webhook was given up\n")
    );
    let Ended { status, stderr, .. } = operate(&monas, &["replay", id]).await;
    assert_eq!(status.code(), Some(1));
    assert!(stderr.contains("is not among those given up"), "{stderr}");
    let refused = ask(&monas, "POST", "/operator/webhooks/replay", &json!({})).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    monas.stop().await;
}

#[tokio::test]
async fn an_operator_is_told_when_the_server_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut command = command(&std::env::temp_dir());
    let Ended { status, stderr, .. } =
        run(command.args(["webhook", "dead", "--server", &nobody])).await;
    assert_eq!(status.code(), Some(3));
    assert!(
        stderr.starts_with(&format!("error: could not reach {nobody}")),
        "{stderr}"
    );
}

#[tokio::test]
async fn the_card_is_signed_with_the_key_that_is_configured() {
    for algorithm in ["es256", "eddsa"] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("key.pem");
        let program = || command(home.path());
        let made = run(program().args(["card", "key", "--alg", algorithm])).await;
        std::fs::write(&file, made.stdout).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let public = run(program().args(["card", "public-key"]).arg(&file)).await;
        let trusted = TrustedKeys::read(&public.stdout).unwrap();

        let monas = Monas::start(program().env("MONAS_AGENT_SIGNING_KEY", &file)).await;
        let card = ask(&monas, "GET", "/.well-known/agent-card.json", &Value::Null).await;
        let verified = trusted.verify_json(card.text.as_bytes()).unwrap();
        assert_eq!(verified.card.name, "Monas");
        let changed = card.text.replacen("Monas", "Other", 1);
        assert!(trusted.verify_json(changed.as_bytes()).is_err());
        monas.stop().await;

        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let refused = run(program().env("MONAS_AGENT_SIGNING_KEY", &file)).await;
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            refused.stderr.contains("all users may read it"),
            "{}",
            refused.stderr
        );
    }
}
