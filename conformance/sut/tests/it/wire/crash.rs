//! The whole server, killed under load at random points: what was acknowledged is there afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::caller::{BINDINGS, Binding, Failure};
use super::events::{Event, Next, state};
use super::random::Random;
use crate::support::sut::{Store, Sut};

/// How often the server is killed; `MONAS_CRASH_ROUNDS` asks for more.
const ROUNDS: u64 = 5;
/// Clients of each binding.
const CLIENTS: usize = 3;

/// What a client was told before the server died.
#[derive(Debug)]
enum Told {
    /// An answer to SendMessage, with its request.
    Answer { request: Value, answer: Value },
    /// The events of a stream, whether it ended or broke.
    Events { events: Vec<Event>, over: bool },
}

/// Counts what was acknowledged, so that the end comes at a point in the work and not in time.
#[derive(Debug, Default)]
struct Progress {
    acknowledged: AtomicU64,
    changed: Notify,
}

impl Progress {
    fn add(&self) {
        self.acknowledged.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    async fn reach(&self, count: u64) {
        while self.acknowledged.load(Ordering::Relaxed) < count {
            self.changed.notified().await;
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9() {
    let rounds = std::env::var("MONAS_CRASH_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Folder(folder.path().join("data"));
    let mut random = Random::new();
    let mut told: Vec<Told> = Vec::new();
    let mut sut = Sut::start(&store).await;
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let progress = Arc::new(Progress::default());
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            for binding in BINDINGS {
                clients.spawn(work(sut.address, binding, number, progress.clone()));
            }
        }
        progress.reach(1 + random.below(400)).await;
        sut.kill().await;
        let new: Vec<Told> = clients.join_all().await.into_iter().flatten().collect();
        sut = Sut::start(&store).await;
        for fact in &new {
            check(&sut, fact).await;
        }
        check_nothing_works(&sut).await;
        told.extend(new);
        println!("round {round}: {} facts, {random:?}", told.len());
    }
    // What was true after its own crash is true after the others.
    for fact in &told {
        check(&sut, fact).await;
    }
}

/// Sends and streams until the connection breaks, and remembers what it was told.
async fn work(
    address: std::net::SocketAddr,
    binding: Binding,
    number: usize,
    progress: Arc<Progress>,
) -> Vec<Told> {
    let mut told = Vec::new();
    for turn in number.. {
        let Some(mut caller) = super::caller::Caller::try_connect(address, binding).await else {
            break;
        };
        let id = format!(
            "{}-{}",
            ["probe", "probe", "tck-cancel", "tck-multi-turn"][turn % 4],
            uuid::Uuid::new_v4()
        );
        let text = ["task of the crash test", "burst 30", "go", "go"][turn % 4];
        let mut request =
            json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}});
        if turn % 4 == 1 {
            let Ok(Ok(mut stream)) = caller.try_open("SendStreamingMessage", request).await else {
                break;
            };
            let mut events = Vec::new();
            let over = loop {
                match stream.next().await {
                    Next::Event(event) => events.push(event),
                    Next::End => break true,
                    Next::Lost => break false,
                    Next::Failed(failure) => panic!("{failure:?}"),
                }
            };
            told.push(Told::Events { events, over });
        } else {
            request["configuration"] = json!({"returnImmediately": turn % 4 == 2});
            let Ok(answer) = caller.try_call("SendMessage", request.clone()).await else {
                break;
            };
            let answer = answer.unwrap_or_else(|failure: Failure| panic!("{failure:?}"));
            told.push(Told::Answer { request, answer });
        }
        progress.add();
    }
    told
}

/// The server still stands by what it said.
async fn check(sut: &Sut, fact: &Told) {
    let mut caller = sut.caller(Binding::JsonRpc).await;
    match fact {
        Told::Answer { request, answer } => {
            let said = &answer["task"];
            let id = said["id"].as_str().unwrap();
            let state = said["status"]["state"].as_str().unwrap();
            let kept = ended(sut, id, state).await;
            if kept["status"]["state"] == state {
                assert_eq!(&kept, said);
                return;
            }
            // It was running, or about to; after the restart no run owns it.
            assert!(
                ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state),
                "{said}"
            );
            assert_eq!(kept["status"]["state"], "TASK_STATE_FAILED", "{kept}");
            let reason = kept["status"]["message"]["parts"][0]["text"].as_str();
            assert!(
                reason.is_some_and(|reason| !reason.is_empty()),
                "no reason: {kept}"
            );
            assert_eq!(
                kept["history"][0]["messageId"],
                request["message"]["messageId"]
            );
        }
        Told::Events { events, over } => {
            let Some(first) = events.first() else { return };
            let task = first.body["task"]["id"].as_str().unwrap();
            let all = caller.resume(task, 0).await;
            let all = all
                .unwrap_or_else(|failure| panic!("lost {task}: {failure:?}"))
                .rest()
                .await;
            assert!(
                all.len() >= events.len(),
                "{task} lost events: {events:?} {all:?}"
            );
            assert_eq!(all[..events.len()], events[..], "{task}");
            let last = state(&all.last().unwrap().body).unwrap();
            if *over {
                assert_eq!(
                    (all.len(), last),
                    (events.len(), "TASK_STATE_COMPLETED"),
                    "{task}"
                );
            } else {
                assert!(
                    ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED"].contains(&last),
                    "{task} is {last}"
                );
            }
        }
    }
}

/// A task as it is, once it is over or waits for its user, who was told that it does.
async fn ended(sut: &Sut, id: &str, told: &str) -> Value {
    let mut caller = sut.caller(Binding::JsonRpc).await;
    if told != "TASK_STATE_INPUT_REQUIRED" {
        let events = caller.resume(id, 0).await;
        let events = events.unwrap_or_else(|failure| panic!("lost {id}: {failure:?}"));
        assert!(!events.rest().await.is_empty(), "{id} has no events");
    }
    let kept = caller.call("GetTask", json!({"id": id})).await;
    kept.unwrap_or_else(|failure| panic!("lost {id}: {failure:?}"))
}

/// No task runs after a restart: a task in the state working ends as soon as it is read.
async fn check_nothing_works(sut: &Sut) {
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for state in ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"] {
        let filter = json!({"status": state, "pageSize": 100});
        let listed = caller.call("ListTasks", filter.clone()).await.unwrap();
        for task in listed["tasks"].as_array().unwrap() {
            ended(sut, task["id"].as_str().unwrap(), state).await;
        }
        let listed = caller.call("ListTasks", filter).await.unwrap();
        assert_eq!(listed["totalSize"], 0, "{state}: {listed}");
    }
}
