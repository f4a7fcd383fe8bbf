//! Webhooks, called for real.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use a2a::error::Error;
use a2a::server::{Config, Reach};
use a2a::service::{Call, Service as _};
use a2a::types::wire::WireMessage as _;
use a2a::types::*;
use a2a::webhook::{SCHEME, Secret};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::support::{Bench, Script, config, in_memory, message, on_disk};

/// A webhook on a real socket: what it answers next, and what it got.
struct Hook {
    url: String,
    answers: Arc<Mutex<VecDeque<StatusCode>>>,
    got: mpsc::UnboundedReceiver<(HeaderMap, Bytes)>,
}

#[derive(Clone)]
struct Shared(
    Arc<Mutex<VecDeque<StatusCode>>>,
    mpsc::UnboundedSender<(HeaderMap, Bytes)>,
);

impl Hook {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, got) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let router = Router::new()
            .route("/hook", axum::routing::post(take))
            .with_state(Shared(answers.clone(), sender));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, answers, got }
    }

    /// The next task, told in the words of 0.3: its state, and the texts of its artifacts.
    async fn next_old(&mut self) -> String {
        let (headers, body) = self.got.recv().await.unwrap();
        assert_eq!(headers["content-type"], "application/json");
        let task: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(task["kind"], "task");
        let parts = task["artifacts"].as_array().into_iter().flatten();
        let parts = parts.flat_map(|artifact| artifact["parts"].as_array().unwrap());
        let texts: Vec<_> = parts.map(|part| part["text"].as_str().unwrap()).collect();
        let state = task["status"]["state"].as_str().unwrap();
        format!("{state} {}", texts.join("+")).trim_end().to_owned()
    }

    /// The next event, told in the words of the protocol.
    async fn next(&mut self) -> String {
        let (headers, body) = self.got.recv().await.unwrap();
        assert_eq!(headers["content-type"], "application/a2a+json");
        match StreamResponse::from_json(&body).unwrap().payload {
            Event::Task(task) => format!("task {}", task.generation),
            Event::StatusUpdate(update) => {
                format!("{} {:?}", update.generation, update.status.unwrap().state)
            }
            Event::ArtifactUpdate(update) => format!("{} artifact", update.generation),
            other => format!("{other:?}"),
        }
    }
}

async fn take(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let answer = shared
        .0
        .lock()
        .unwrap()
        .pop_front()
        .unwrap_or(StatusCode::OK);
    if answer.is_success() {
        shared.1.send((headers, body)).unwrap();
    }
    answer
}

fn hook(task: &str, url: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        task_id: task.to_owned(),
        url: url.to_owned(),
        token: "secret".to_owned(),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: "abc".to_owned(),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

#[tokio::test]
async fn events_arrive_in_order_and_with_credentials() {
    let bench = Bench::start().await;
    let mut webhook = Hook::open().await;
    let mut request = bench.request(message("working artifact:x done"));
    request
        .configuration
        .get_or_insert_default()
        .task_push_notification_config = Some(hook("", &webhook.url));
    bench.send(request).await.unwrap();
    let (headers, first) = webhook.got.recv().await.unwrap();
    assert_eq!(headers["authorization"], "Bearer abc");
    assert_eq!(headers["x-a2a-notification-token"], "secret");
    assert!(!headers.contains_key("webhook-signature"));
    let first = StreamResponse::from_json(&first).unwrap();
    assert!(matches!(first.payload, Event::Task(_)));
    assert_eq!(webhook.next().await, "2 Working");
    assert_eq!(webhook.next().await, "3 artifact");
    assert_eq!(webhook.next().await, "4 Completed");
}

#[tokio::test]
async fn what_is_refused_is_offered_again_before_the_next() {
    let mut config = config();
    config.limits.push_pause = Duration::from_millis(1);
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let mut webhook = Hook::open().await;
    let refusals = [
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::FOUND,
        StatusCode::NOT_FOUND,
    ];
    webhook.answers.lock().unwrap().extend(refusals);
    let begun = bench.task_at_once("working wait done").await;
    bench
        .server
        .create_push_config(bench.call(), hook(&begun.id, &webhook.url))
        .await
        .unwrap();
    bench.script.gate.add_permits(1);
    assert_eq!(webhook.next().await, "3 Completed");
    assert!(webhook.answers.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_restart_delivers_what_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut webhook = Hook::open().await;
    let mut before = config();
    before.limits.push_pause = Duration::from_secs(3600);
    webhook
        .answers
        .lock()
        .unwrap()
        .push_back(StatusCode::SERVICE_UNAVAILABLE);
    let bench = Bench::with(before, on_disk(folder.path()), Script::new()).await;
    let mut request = bench.request(message("working done"));
    request
        .configuration
        .get_or_insert_default()
        .task_push_notification_config = Some(hook("", &webhook.url));
    bench.send(request).await.unwrap();
    while !webhook.answers.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    bench.server.stop().await;
    drop(bench);
    let _after = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    assert_eq!(webhook.next().await, "task 1");
    assert_eq!(webhook.next().await, "2 Working");
    assert_eq!(webhook.next().await, "3 Completed");
}

#[tokio::test]
async fn webhooks_are_created_read_listed_and_deleted() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    let call = || bench.call();
    let one = bench
        .server
        .create_push_config(call(), hook(&asked.id, "http://127.0.0.1:1/one"))
        .await
        .unwrap();
    assert!(!one.id.is_empty());
    let mut named = hook(&asked.id, "http://127.0.0.1:1/two");
    named.id = "mine".to_owned();
    let two = bench
        .server
        .create_push_config(call(), named)
        .await
        .unwrap();
    let get = |id: &str| {
        let request = GetTaskPushNotificationConfigRequest {
            task_id: asked.id.clone(),
            id: id.to_owned(),
            ..Default::default()
        };
        bench.server.get_push_config(call(), request)
    };
    assert_eq!(get("mine").await.unwrap(), two);
    let list = |size, token: &str| {
        let request = ListTaskPushNotificationConfigsRequest {
            task_id: asked.id.clone(),
            page_size: size,
            page_token: token.to_owned(),
            ..Default::default()
        };
        bench.server.list_push_configs(call(), request)
    };
    let page = list(1, "").await.unwrap();
    let rest = list(1, &page.next_page_token).await.unwrap();
    assert_eq!(rest.next_page_token, "");
    let mut both: Vec<_> = page.configs.into_iter().chain(rest.configs).collect();
    both.sort_by_key(|config| config.id != one.id);
    assert_eq!(both, [one, two]);
    for _ in 0..2 {
        let request = DeleteTaskPushNotificationConfigRequest {
            task_id: asked.id.clone(),
            id: "mine".to_owned(),
            ..Default::default()
        };
        bench
            .server
            .delete_push_config(call(), request)
            .await
            .unwrap();
    }
    assert!(get("mine").await.is_err());
    assert_eq!(list(0, "").await.unwrap().configs.len(), 1);
}

#[tokio::test]
async fn private_targets_are_refused_and_never_called() {
    let mut config = config();
    config.push_targets = Reach::Public;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let asked = bench.task("ask:?").await;
    for url in [
        "http://127.0.0.1:1/",
        "http://localhost:1/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "nonsense",
    ] {
        let refused = bench
            .server
            .create_push_config(bench.call(), hook(&asked.id, url))
            .await;
        assert!(matches!(refused, Err(Error::InvalidParams { .. })), "{url}");
    }
}

#[tokio::test]
async fn a_task_has_so_many_webhooks_however_they_come() {
    let mut config = config();
    config.limits.max_push_configs = 1;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let asked = bench.task("ask:?").await;
    let url = "http://127.0.0.1:1/";
    let first = bench
        .server
        .create_push_config(bench.call(), hook(&asked.id, url))
        .await
        .unwrap();
    let second = bench
        .server
        .create_push_config(bench.call(), hook(&asked.id, url))
        .await;
    assert!(matches!(second, Err(Error::InvalidParams { .. })));
    let inline = |id: &str| {
        let mut request = bench.request(super::support::follow_up(&asked, "ask:?"));
        let config = TaskPushNotificationConfig {
            id: id.to_owned(),
            ..hook("", url)
        };
        request
            .configuration
            .get_or_insert_default()
            .task_push_notification_config = Some(config);
        bench.send(request)
    };
    assert!(matches!(
        inline("another").await,
        Err(Error::InvalidParams { .. })
    ));
    assert!(matches!(
        inline(&"x".repeat(1000)).await,
        Err(Error::InvalidParams { .. })
    ));
    assert!(inline(&first.id).await.is_ok());
}

#[tokio::test]
async fn each_webhook_is_told_in_the_words_it_was_registered_in() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let (mut new, mut old) = (Hook::open().await, Hook::open().await);
    let begun = bench
        .task_at_once("working wait chunk:a committed wait chunk:b done")
        .await;
    let spoken = Call {
        dialect: a2a::v0_3::WEBHOOK.name,
        ..bench.call()
    };
    for (call, webhook) in [(bench.call(), &new), (spoken, &old)] {
        let created = bench
            .server
            .create_push_config(call, hook(&begun.id, &webhook.url));
        created.await.unwrap();
    }
    bench.script.gate.add_permits(1);
    assert_eq!(new.next().await, "3 artifact");
    assert_eq!(old.next_old().await, "working a");
    // Which words these are outlives the process.
    bench.server.stop().await;
    drop(bench);
    let _after = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    // So does how far each is, unless the process ended between the delivery and its commit.
    let mut told = (new.next().await, old.next_old().await);
    if told.0 == "3 artifact" {
        told.0 = new.next().await;
    }
    if told.1 == "working a" {
        told.1 = old.next_old().await;
    }
    assert_eq!(told, ("4 Failed".to_owned(), "failed a".to_owned()));
}

#[tokio::test]
async fn a_webhook_with_a_secret_can_authenticate_the_server() {
    let bench = Bench::start().await;
    let mut webhook = Hook::open().await;
    let mut request = bench.request(message("working done"));
    let secret = "a secret that nobody guesses";
    let mut config = hook("", &webhook.url);
    config.authentication = Some(AuthenticationInfo {
        scheme: SCHEME.to_lowercase(),
        credentials: secret.to_owned(),
    });
    request
        .configuration
        .get_or_insert_default()
        .task_push_notification_config = Some(config);
    bench.send(request).await.unwrap();
    let secret = Secret::new(secret).unwrap();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (headers, body) = webhook.got.recv().await.unwrap();
        assert!(!headers.contains_key("authorization"));
        secret.verify(&headers, &body, SystemTime::now()).unwrap();
        ids.push(headers["webhook-id"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

/// 64 slow webhooks of one caller must not delay the webhooks of other callers.
#[tokio::test]
async fn slow_webhooks_of_one_caller_do_not_keep_those_of_another_waiting() {
    let mut config = config();
    config.limits.max_deliveries = 4;
    config.limits.max_deliveries_each = 2;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    // It takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slow = format!("http://{}/hook", silent.local_addr().unwrap());
    let with = |bench: &Bench, url: &str| {
        let mut request = bench.request(message("working done"));
        request
            .configuration
            .get_or_insert_default()
            .task_push_notification_config = Some(hook("", url));
        request
    };
    let bob = bench.by("bob", "");
    for _ in 0..8 {
        bob.send(with(&bob, &slow)).await.unwrap();
    }
    // Its share is under way, and nothing else of it.
    for _ in 0..2 {
        silent.accept().await.unwrap();
    }
    let mut webhook = Hook::open().await;
    let ada = bench.by("ada", "");
    ada.send(with(&ada, &webhook.url)).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(10), webhook.got.recv());
    assert!(told.await.unwrap().is_some());
}

#[tokio::test]
async fn a_secret_that_can_be_guessed_is_refused() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    let mut config = hook(&asked.id, "http://127.0.0.1:1/");
    config.authentication.as_mut().unwrap().scheme = SCHEME.to_owned();
    let refused = bench.server.create_push_config(bench.call(), config).await;
    assert!(matches!(refused, Err(Error::InvalidParams { .. })));
}

/// A server that gives a webhook up after two attempts, and one that it has given up after the task's first
/// event.
async fn given_up(mut config: Config, store: store::Store) -> (Bench, Hook) {
    config.limits.push_pause = Duration::from_millis(1);
    config.limits.push_attempts = 2;
    let bench = Bench::with(config, store, Script::new()).await;
    let mut webhook = Hook::open().await;
    let answers = [StatusCode::OK, StatusCode::GONE, StatusCode::BAD_GATEWAY];
    webhook.answers.lock().unwrap().extend(answers);
    let mut request = bench.request(message("working artifact:x done"));
    request
        .configuration
        .get_or_insert_default()
        .task_push_notification_config = Some(hook("", &format!("{}?key=secret", webhook.url)));
    bench.send(request).await.unwrap();
    assert_eq!(webhook.next().await, "task 1");
    while bench.server.dead_webhooks("", 10).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    (bench, webhook)
}

#[tokio::test]
async fn a_webhook_that_takes_nothing_is_given_up_and_goes_on_when_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let (bench, mut webhook) = given_up(config(), on_disk(folder.path())).await;
    let dead = bench.server.dead_webhooks("", 10).await.unwrap();
    let [dead] = &dead[..] else {
        panic!("{dead:?}")
    };
    assert_eq!((dead.delivered, &*dead.url), (1, &*webhook.url));
    assert!(dead.reason.contains("502"), "{}", dead.reason);
    assert!(
        bench
            .server
            .dead_webhooks(&dead.id, 10)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(!bench.server.replay_webhook("nobody").await.unwrap());
    // It stays given up over a restart, with all that it missed.
    bench.server.stop().await;
    drop(bench);
    let bench = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    assert!(bench.server.replay_webhook(&dead.id).await.unwrap());
    assert_eq!(webhook.next().await, "2 Working");
    assert_eq!(webhook.next().await, "3 artifact");
    assert_eq!(webhook.next().await, "4 Completed");
    assert!(bench.server.dead_webhooks("", 10).await.unwrap().is_empty());
    assert!(!bench.server.replay_webhook(&dead.id).await.unwrap());
}

#[tokio::test]
async fn a_webhook_that_goes_on_after_the_events_are_gone_is_told_the_end() {
    let mut config = config();
    config.limits.retention.compact_after = Duration::ZERO;
    let (bench, mut webhook) = given_up(config, in_memory()).await;
    let dead = bench.server.dead_webhooks("", 1).await.unwrap();
    let is_compacted = async || {
        bench.server.tidy().await.unwrap();
        let mut stream = bench.subscribe(&dead[0].task, Some(0)).await.unwrap();
        stream.first_task().await.generation == 4
    };
    while !is_compacted().await {
        tokio::task::yield_now().await;
    }
    assert!(bench.server.replay_webhook(&dead[0].id).await.unwrap());
    assert_eq!(webhook.next().await, "task 4");
}
