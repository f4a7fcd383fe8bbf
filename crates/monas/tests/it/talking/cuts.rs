//! The client of the chat over connections that are cut at random, while the server is killed once, and beside clients that
//! read nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;
use workspace::chat::MessageType;
use workspace::chat::client::{ChatClient, ChatEvent, ClientSettings, Error, Received, Times};

use super::{Window, serve};
use crate::support::cutting::{Cutting, Random, seed};
use crate::support::program::Monas;

/// How long a whole conversation may take.
const LONG: Duration = Duration::from_secs(120);

/// The times of a client, some hundred times shorter.
const SHORT: Times = Times {
    first_pause: Duration::from_millis(5),
    longest_pause: Duration::from_millis(50),
    heartbeat: Duration::from_millis(400),
    attempt: Duration::from_secs(5),
    limited: Duration::from_millis(50),
};

fn settings(authority: &str, session: &str) -> ClientSettings {
    let url = format!("ws://{authority}/ws/chat").parse().unwrap();
    let dialer = dial::Dialer::new(&dial::Settings::default()).unwrap();
    let mut settings = ClientSettings::new(url, session, dialer);
    settings.times = SHORT;
    settings
}

/// Says so many things at random moments, and listens until all are answered. Gives every message of the session.
async fn converse(settings: ClientSettings, count: usize, seed: u64) -> Vec<Received> {
    let mut client = ChatClient::start(settings);
    let mut random = Random::new(seed);
    let (mut said, mut answered) = (Vec::new(), 0);
    let (mut seen, mut taken) = (Vec::new(), Vec::new());
    while answered < count || taken.len() < count {
        let pause = Duration::from_millis(random.below(30));
        let event = match said.len() < count {
            true => match timeout(pause, client.next()).await {
                Ok(event) => event,
                Err(_) => {
                    let words = format!("remember that number {} is {seed}", said.len());
                    said.push(client.say(&words).unwrap());
                    continue;
                }
            },
            false => client.next().await,
        };
        match event.expect("it goes on") {
            ChatEvent::Message(message) => {
                answered += usize::from(message.event() == Some("task_completed"));
                seen.push(message);
            }
            ChatEvent::Taken { id } => taken.push(id),
            event @ (ChatEvent::Refused { .. } | ChatEvent::Ended(_)) => panic!("{event:?}"),
            ChatEvent::Restored { .. } | ChatEvent::Passing(_) | ChatEvent::Lost { .. } => {}
        }
    }
    // All messages have arrived in order, each once.
    assert_eq!(taken, said);
    let commands = seen.iter().filter(|it| it.kind == MessageType::UserCommand);
    let commands: Vec<_> = commands.map(|it| it.id.clone()).collect();
    assert_eq!(commands, said);
    seen
}

/// The same session as a client sees it that was not cut.
async fn whole(server: &Monas, session: &str) -> Vec<Value> {
    let mut window = Window::open(server).await;
    window.restore(session, None).await;
    window.until("session_restored").await;
    window.recorded()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_over_cut_connections_has_every_message_once_and_in_order() {
    let seed = seed();
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let address = server.authority().to_owned();
    let proxy = Cutting::start(&address, seed, (400, 6_000), 80).await;
    let through = proxy.address.to_string();
    let mut clients = JoinSet::new();
    for number in 0..3 {
        let settings = settings(&through, &format!("cut-{number}"));
        clients.spawn(async move {
            let conversing = converse(settings, 20, seed + number);
            let seen = timeout(LONG, conversing).await;
            (
                number,
                seen.unwrap_or_else(|_| panic!("seed {seed}: not in time")),
            )
        });
    }
    // In the middle of it all the server is killed, and comes back at the same address.
    while proxy.ended() < 20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.signal("KILL").await;
    server.ended().await;
    let server = Monas::start_at(&address, &mut serve(home.path())).await;
    while let Some(ended) = clients.join_next().await {
        let (number, seen) = ended.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(seen.is_sorted_by(|a, b| a.cursor < b.cursor), "seed {seed}");
        let ids: BTreeSet<_> = seen.iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), seen.len(), "seed {seed}");
        let whole = whole(&server, &format!("cut-{number}")).await;
        let whole: Vec<_> = whole.iter().map(|it| it["id"].as_str().unwrap()).collect();
        let seen: Vec<_> = seen.iter().map(|it| &*it.id).collect();
        assert_eq!(seen, whole, "seed {seed}");
    }
    assert!(proxy.ended() >= 40, "seed {seed}: {} cuts", proxy.ended());
    server.stop().await;
}

#[tokio::test]
async fn an_answer_goes_through_a_cut_and_what_the_server_refuses_is_said() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let address = server.authority().to_owned();
    let mut client = ChatClient::connect(settings(&address, "asks"))
        .await
        .unwrap();
    client.say("create notes.md with hello world").unwrap();
    let asked = until(&mut client, |it| match it {
        ChatEvent::Message(it) if it.kind == MessageType::ApprovalRequest => Some(it.id.clone()),
        _ => None,
    })
    .await;
    server.signal("KILL").await;
    server.ended().await;
    until(&mut client, |it| {
        matches!(it, ChatEvent::Lost { .. }).then_some(())
    })
    .await;
    // Said without a connection.
    let answer = client
        .answer(&asked, json!({ "decision": "approve" }))
        .unwrap();
    let wrong = client
        .answer(&asked, json!({ "decision": "perhaps" }))
        .unwrap();
    let server = Monas::start_at(&address, &mut serve(home.path())).await;
    until(&mut client, |it| match it {
        ChatEvent::Restored { waiting } if waiting.contains(&asked) => Some(()),
        _ => None,
    })
    .await;
    let (mut taken, mut refused, mut done) = (false, false, false);
    while !(taken && refused && done) {
        until(&mut client, |it| {
            match it {
                ChatEvent::Taken { id } => taken |= *id == answer,
                ChatEvent::Refused { id, code, .. } => refused |= *id == wrong && code == "invalid",
                ChatEvent::Message(it) => done |= it.event() == Some("task_completed"),
                _ => return None,
            }
            Some(())
        })
        .await;
    }
    assert!(home.path().join("files/notes.md").exists());
    server.stop().await;
}

/// The first value that a function finds in the next events.
async fn until<T>(client: &mut ChatClient, mut find: impl FnMut(&ChatEvent) -> Option<T>) -> T {
    let finding = async {
        loop {
            let event = client.next().await.expect("it goes on");
            if let Some(found) = find(&event) {
                return found;
            }
        }
    };
    timeout(LONG, finding).await.expect("an event in time")
}

#[tokio::test]
async fn a_client_that_is_refused_says_so_and_one_without_a_server_keeps_trying() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(serve(home.path()).env_remove("MONAS_OPEN")).await;
    let refused = ChatClient::connect(settings(server.authority(), "one")).await;
    let Err(Error::Refused { status: 401, .. }) = refused else {
        panic!("{refused:?}");
    };
    let mut client = ChatClient::start(settings(server.authority(), "one"));
    let ended = until(&mut client, |it| match it {
        ChatEvent::Ended(error) => Some(error.clone()),
        _ => None,
    })
    .await;
    assert!(
        matches!(ended, Error::Refused { status: 401, .. }),
        "{ended}"
    );
    assert_eq!(client.next().await, None);
    assert_eq!(client.say("hello"), Err(Error::Closed));
    let address = server.authority().to_owned();
    server.stop().await;
    let mut client = ChatClient::start(settings(&address, "one"));
    for _ in 0..3 {
        until(&mut client, |it| {
            matches!(it, ChatEvent::Lost { .. }).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_client_that_says_too_much_at_once_is_slowed_down_and_loses_nothing() {
    const COUNT: usize = 25;
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(serve(home.path()).env("MONAS_RATE_LIMIT", "on")).await;
    let mut client = ChatClient::start(settings(server.authority(), "many"));
    let say = |it| client.say(&format!("remember that number {it} is {it}"));
    let said: Vec<_> = (0..COUNT).map(|it| say(it).unwrap()).collect();
    let (mut taken, mut commands, mut answered) = (Vec::new(), Vec::new(), 0);
    while taken.len() < COUNT || answered < COUNT {
        until(&mut client, |it| {
            match it {
                ChatEvent::Taken { id } => taken.push(id.clone()),
                ChatEvent::Message(it) if it.kind == MessageType::UserCommand => {
                    commands.push(it.id.clone());
                }
                ChatEvent::Message(it) => {
                    answered += usize::from(it.event() == Some("task_completed"));
                }
                ChatEvent::Refused { .. } | ChatEvent::Ended(_) => panic!("{it:?}"),
                _ => {}
            }
            Some(())
        })
        .await;
    }
    assert_eq!((&taken, &commands), (&said, &said));
    server.stop().await;
}
