//! Our client and the real program: every binding, both versions, and connections that break.

mod official;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Events, Settings, Version};
use a2a::event::Event;
use a2a::signature::{Algorithm, SigningKey, TrustedKeys};
use a2a::types::{
    Answer, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Event as Payload,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message, SendMessageConfiguration,
    SendMessageRequest, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
};
use futures_util::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::sut::Sut;

fn say(text: &str) -> SendMessageRequest {
    Message::user(uuid::Uuid::new_v4().to_string(), text).into()
}

fn ready(text: &str) -> SendMessageRequest {
    SendMessageRequest {
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..say(text)
    }
}

fn settings(binding: &str, version: Version) -> Settings {
    let mut settings = Settings::default();
    settings.bindings = vec![binding.to_owned()];
    settings.version = Some(version);
    settings
}

/// Every wire that there is: a binding and a version.
fn wires() -> Vec<(&'static str, Version)> {
    let new = BINDINGS.iter().map(|binding| (binding.key, Version::V1_0));
    let old = BINDINGS.iter().filter(|binding| binding.old.is_some());
    let wires: Vec<_> = new
        .chain(old.map(|binding| (binding.key, Version::V0_3)))
        .collect();
    assert!(wires.len() >= 9, "{wires:?}");
    wires
}

async fn connect(sut: &Sut, binding: &str, version: Version) -> Client {
    let url = format!("http://{}", sut.address);
    Client::discover(&url, settings(binding, version))
        .await
        .unwrap()
}

async fn task_of(client: &Client, request: SendMessageRequest) -> Task {
    match client.send_message(request).await.unwrap().payload {
        Answer::Task(task) => task,
        other => panic!("no task: {other:?}"),
    }
}

fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

async fn all(events: Events) -> Vec<Event> {
    let events: Vec<_> = events.collect().await;
    events.into_iter().map(Result::unwrap).collect()
}

fn pieces(events: &[Event]) -> usize {
    let is_piece = |event: &&Event| matches!(event.response().payload, Payload::ArtifactUpdate(_));
    events.iter().filter(is_piece).count()
}

#[tokio::test]
async fn every_operation_works_over_every_binding_in_both_versions() {
    let sut = Sut::in_memory().await;
    for (binding, version) in wires() {
        let wire = format!("{binding} {version}");
        let client = connect(&sut, binding, version).await;
        assert_eq!(client.endpoint().binding.key, binding);

        let answer = client.send_message(say("echo hello")).await.unwrap();
        assert!(
            matches!(answer.payload, Answer::Message(_)),
            "{wire}: {answer:?}"
        );
        let done = task_of(&client, say("task hello")).await;
        assert_eq!(state(&done), TaskState::Completed, "{wire}");
        assert_eq!(done.artifacts.len(), 1, "{wire}: {done:?}");

        let streaming = client.send_streaming_message(say("burst 10")).await;
        let events = all(streaming.unwrap()).await;
        assert_eq!(pieces(&events), 10, "{wire}: {events:?}");
        assert_eq!(
            events.last().unwrap().state(),
            Some(TaskState::Completed),
            "{wire}"
        );

        let get = |id: &str| GetTaskRequest {
            id: id.to_owned(),
            ..GetTaskRequest::default()
        };
        let found = client.get_task(get(&done.id)).await.unwrap();
        assert_eq!(
            (found.id, found.artifacts),
            (done.id.clone(), done.artifacts),
            "{wire}"
        );
        let missing = client.get_task(get("nothing")).await.unwrap_err();
        assert!(missing.is("TASK_NOT_FOUND"), "{wire}: {missing:?}");
        assert_eq!(missing.refusal().unwrap().code, -32001, "{wire}");

        // 0.3 has no list over gRPC.
        if (binding, version) != ("grpc", Version::V0_3) {
            let request = ListTasksRequest {
                context_id: done.context_id.clone(),
                ..ListTasksRequest::default()
            };
            let listed = client.list_tasks(request).await.unwrap();
            assert_eq!(listed.tasks.len(), 1, "{wire}: {listed:?}");
        }

        let held = task_of(&client, ready("tck-cancel")).await;
        let subscribe = SubscribeToTaskRequest {
            id: held.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        let mut watching = client.subscribe_to_task(subscribe).await.unwrap();
        let first = watching.next().await.unwrap().unwrap();
        assert!(
            matches!(first.response().payload, Payload::Task(_)),
            "{wire}: {first:?}"
        );
        let cancel = CancelTaskRequest {
            id: held.id.clone(),
            ..CancelTaskRequest::default()
        };
        let cancelled = client.cancel_task(cancel).await.unwrap();
        assert_eq!(state(&cancelled), TaskState::Canceled, "{wire}");
        let rest = all(watching).await;
        assert_eq!(
            rest.last().unwrap().state(),
            Some(TaskState::Canceled),
            "{wire}"
        );
        let late = CancelTaskRequest {
            id: done.id.clone(),
            ..CancelTaskRequest::default()
        };
        let late = client.cancel_task(late).await.unwrap_err();
        assert!(late.is("TASK_NOT_CANCELABLE"), "{wire}: {late:?}");

        let asking = task_of(&client, say("tck-input-required")).await;
        assert_eq!(state(&asking), TaskState::InputRequired, "{wire}");
        webhooks(&client, &asking.id, &wire).await;
        no_more_webhooks(&client, &asking.id, &wire).await;

        let card = client
            .get_extended_card(GetExtendedAgentCardRequest::default())
            .await
            .unwrap();
        assert_eq!(card.version, client.card().version, "{wire}");
    }
}

async fn webhooks(client: &Client, task: &str, wire: &str) {
    let config = TaskPushNotificationConfig {
        task_id: task.to_owned(),
        id: "mine".to_owned(),
        url: "http://127.0.0.1:9/hook".to_owned(),
        token: "secret".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let made = client.create_push_config(config.clone()).await.unwrap();
    assert_eq!((&made.id, &made.url), (&config.id, &config.url), "{wire}");
    assert_eq!(made.task_id, task, "{wire}");
    let get = GetTaskPushNotificationConfigRequest {
        task_id: task.to_owned(),
        id: "mine".to_owned(),
        ..GetTaskPushNotificationConfigRequest::default()
    };
    let found = client.get_push_config(get).await.unwrap();
    assert_eq!(found, made, "{wire}");
}

async fn no_more_webhooks(client: &Client, task: &str, wire: &str) {
    let list = ListTaskPushNotificationConfigsRequest {
        task_id: task.to_owned(),
        ..ListTaskPushNotificationConfigsRequest::default()
    };
    let listed = client.list_push_configs(list.clone()).await.unwrap();
    assert_eq!(listed.configs.len(), 1, "{wire}");
    let delete = DeleteTaskPushNotificationConfigRequest {
        task_id: task.to_owned(),
        id: "mine".to_owned(),
        ..DeleteTaskPushNotificationConfigRequest::default()
    };
    client.delete_push_config(delete).await.unwrap();
    assert!(
        client
            .list_push_configs(list)
            .await
            .unwrap()
            .configs
            .is_empty(),
        "{wire}"
    );
}

#[tokio::test]
async fn a_task_is_sent_watched_cancelled_and_listed_over_different_wires() {
    let sut = Sut::in_memory().await;
    let wires = wires();
    let mut clients = Vec::new();
    for (binding, version) in &wires {
        clients.push(connect(&sut, binding, *version).await);
    }
    let at = |number: usize| &clients[number % clients.len()];
    for first in 0..wires.len() {
        let sent = task_of(at(first), ready("tck-cancel")).await;
        let subscribe = SubscribeToTaskRequest {
            id: sent.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        let watching = at(first + 1).subscribe_to_task(subscribe).await.unwrap();
        let cancel = CancelTaskRequest {
            id: sent.id.clone(),
            ..CancelTaskRequest::default()
        };
        at(first + 2).cancel_task(cancel).await.unwrap();
        let seen = all(watching).await;
        assert_eq!(seen.last().unwrap().state(), Some(TaskState::Canceled));
        let get = GetTaskRequest {
            id: sent.id.clone(),
            ..GetTaskRequest::default()
        };
        let found = at(first + 3).get_task(get).await.unwrap();
        assert_eq!(state(&found), TaskState::Canceled);
        let list = ListTasksRequest {
            context_id: sent.context_id,
            ..ListTasksRequest::default()
        };
        let lister = (first + 4..).find(|number| {
            let endpoint = at(*number).endpoint();
            (endpoint.binding.key, endpoint.version) != ("grpc", Version::V0_3)
        });
        let listed = at(lister.unwrap()).list_tasks(list).await.unwrap();
        assert_eq!(listed.tasks[0].id, sent.id);
    }
}

/// Stands before a server and cuts every connection after so many bytes of the server's.
struct Cutter {
    address: SocketAddr,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    /// The first connection is cut `after` bytes, each further one lives a little longer.
    async fn before(server: SocketAddr, after: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Arc::new(AtomicUsize::new(0));
        let counted = cuts.clone();
        tokio::spawn(async move {
            let mut after = after;
            while let Ok((near, _)) = listener.accept().await {
                let counted = counted.clone();
                let far = TcpStream::connect(server).await.unwrap();
                tokio::spawn(async move {
                    if pass(near, far, after).await {
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                });
                after += 997;
            }
        });
        Self { address, cuts }
    }
}

/// Passes bytes on; tells whether it cut the connection.
async fn pass(mut near: TcpStream, mut far: TcpStream, mut left: usize) -> bool {
    let (mut up, mut down) = ([0; 4096], [0; 512]);
    loop {
        tokio::select! {
            read = near.read(&mut up) => match read {
                Ok(0) | Err(_) => return false,
                Ok(read) => if far.write_all(&up[..read]).await.is_err() { return false },
            },
            read = far.read(&mut down) => match read {
                Ok(0) | Err(_) => return false,
                Ok(read) if read >= left => return true,
                Ok(read) => {
                    left -= read;
                    if near.write_all(&down[..read]).await.is_err() { return false }
                }
            },
        }
    }
}

#[tokio::test]
async fn a_stream_goes_on_over_connections_that_break() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let cutter = Cutter::before(sut.address, 3000).await;
        let through = |card: &serde_json::Value| {
            let text = card.to_string();
            let text = text.replace(&sut.address.to_string(), &cutter.address.to_string());
            serde_json::from_str(&text).unwrap()
        };
        let direct = connect(&sut, "jsonrpc", Version::V1_0).await;
        let mut settings = settings(binding.key, Version::V1_0);
        settings.pause = std::time::Duration::from_millis(5);
        let client = Client::of_card(through(direct.raw_card()), settings).unwrap();
        let streaming = client.send_streaming_message(say("burst 60 2ms")).await;
        let events = all(streaming.unwrap()).await;
        let cursors: Vec<u64> = events.iter().filter_map(Event::cursor).collect();
        let expected: Vec<u64> = (cursors[0]..=*cursors.last().unwrap()).collect();
        assert_eq!(
            cursors, expected,
            "{}: nothing lost, nothing twice",
            binding.key
        );
        assert_eq!(pieces(&events), 60, "{}", binding.key);
        assert!(cutter.cuts.load(Ordering::Relaxed) > 0, "{}", binding.key);
    }
}

#[tokio::test]
async fn a_wire_without_an_answer_is_left_for_the_next() {
    let sut = Sut::in_memory().await;
    let nowhere = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let mut card = connect(&sut, "jsonrpc", Version::V1_0)
        .await
        .raw_card()
        .clone();
    for interface in card["supportedInterfaces"].as_array_mut().unwrap() {
        if interface["protocolBinding"] != "HTTP+JSON" {
            let url = interface["url"].as_str().unwrap();
            let url = url.replace(&sut.address.to_string(), &nowhere.to_string());
            interface["url"] = url.into();
        }
    }
    let client = Client::of_card(card, Settings::default()).unwrap();
    assert_eq!(client.endpoint().binding.key, "jsonrpc");
    task_of(&client, say("task hello")).await;
    assert_eq!(client.endpoint().binding.key, "rest");
}

#[tokio::test]
async fn what_cannot_be_called_is_said_clearly() {
    let sut = Sut::in_memory().await;
    let url = format!("http://{}", sut.address);
    let unknown = Client::discover(&url, settings("carrier-pigeon", Version::V1_0)).await;
    let error = unknown.unwrap_err().to_string();
    assert!(
        error.contains("carrier-pigeon") && error.contains("jsonrpc"),
        "{error}"
    );
    let nothing = Client::discover(&format!("{url}/nothing.json"), Settings::default()).await;
    let error = nothing.unwrap_err();
    assert!(
        matches!(&error, Error::Card(why) if why.contains("there is none")),
        "{error}"
    );
    let mut hasty = Settings::default();
    hasty.attempts = 1;
    let nobody = Client::discover("http://127.0.0.1:1", hasty)
        .await
        .unwrap_err();
    assert!(matches!(nobody, Error::Unreachable { .. }), "{nobody}");
    for wrong in ["ftp://example.com", "http://", "::"] {
        let error = Client::discover(wrong, Settings::default())
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Settings(_)), "{wrong}: {error}");
    }
}

#[tokio::test]
async fn only_a_card_of_a_trusted_key_is_used_when_keys_are_given() {
    let sut = Sut::in_memory().await;
    let card = connect(&sut, "jsonrpc", Version::V1_0).await.card().clone();
    let key = || SigningKey::from_pem(&SigningKey::generate(Algorithm::Es256).unwrap()).unwrap();
    let (trusted, other) = (key(), key());
    let mut settings = Settings::default();
    settings.trusted = Some(TrustedKeys::read(&trusted.public_jwk().to_string()).unwrap());
    let signed = |key: &SigningKey| {
        let mut card = card.clone();
        key.sign_card(&mut card).unwrap();
        serde_json::to_value(card).unwrap()
    };
    let client = Client::of_card(signed(&trusted), settings.clone()).unwrap();
    task_of(&client, say("task hello")).await;
    let mut forged = signed(&trusted);
    forged["supportedInterfaces"][0]["url"] = "http://127.0.0.1:1/a2a".into();
    for card in [forged, signed(&other), serde_json::to_value(&card).unwrap()] {
        let error = Client::of_card(card, settings.clone()).unwrap_err();
        assert!(
            matches!(&error, Error::Card(why) if why.contains("sign")),
            "{error}"
        );
    }
}
