//! Our client and the official servers, over every interface that their cards list.

use std::path::Path;
use std::process::Stdio;

use a2a::client::{Client, Settings, Version};
use a2a::types::{
    Answer, CancelTaskRequest, Event as Payload, GetTaskRequest, ListTasksRequest,
    SubscribeToTaskRequest, TaskState,
};
use futures_util::StreamExt as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::{all, no_more_webhooks, pieces, ready, say, state, task_of, webhooks};
use crate::interop::{folder, program};

/// A server of an official SDK; killed when dropped.
struct Official {
    url: String,
    _process: Child,
}

impl Official {
    /// Starts it and waits until it says where it is.
    async fn start(mut command: Command) -> Self {
        let spawned = command.stdout(Stdio::piped()).kill_on_drop(true).spawn();
        let mut process = spawned.unwrap_or_else(|error| {
            panic!("{error}: {command:?}; `cargo xtask test` sets up what the servers need")
        });
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap();
        Self {
            url: url.expect("it says where it is"),
            _process: process,
        }
    }
}

/// What a server is known not to do, with any client.
#[derive(Clone, Copy, Default)]
struct Lacks {
    /// Version 0.3 has no list of tasks.
    list: bool,
    /// To subscribe gives what comes, and not the task first.
    snapshot: bool,
    /// Over these bindings webhooks cannot be listed and ended.
    webhooks: &'static [&'static str],
}

/// Calls every operation over every interface; tells how many there were.
async fn check(official: &Official, version: Version, lacks: Lacks) -> usize {
    let all_ways = Client::discover(&official.url, Settings::default());
    let card = all_ways.await.unwrap().card().clone();
    let listed = card.supported_interfaces.iter();
    let mut listed: Vec<_> = listed
        .filter(|it| Version::named(&it.protocol_version) == Some(version))
        .map(|it| it.protocol_binding.clone())
        .collect();
    listed.dedup();
    for binding in &listed {
        let mut settings = Settings::default();
        settings.bindings = vec![binding.clone()];
        settings.version = Some(version);
        let client = Client::discover(&official.url, settings).await.unwrap();
        calls(&client, &format!("{binding} {version}"), lacks).await;
    }
    listed.len()
}

async fn calls(client: &Client, wire: &str, lacks: Lacks) {
    let answer = client.send_message(say("echo hello")).await.unwrap();
    assert!(
        matches!(answer.payload, Answer::Message(_)),
        "{wire}: {answer:?}"
    );
    let done = task_of(client, say("task hello")).await;
    assert_eq!(state(&done), TaskState::Completed, "{wire}: {done:?}");
    let streaming = client.send_streaming_message(say("burst 5")).await;
    let events = all(streaming.unwrap()).await;
    assert_eq!(pieces(&events), 5, "{wire}: {events:?}");
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
    assert_eq!(found.artifacts, done.artifacts, "{wire}");
    let missing = client.get_task(get("nothing")).await.unwrap_err();
    assert!(missing.is("TASK_NOT_FOUND"), "{wire}: {missing:?}");
    if !lacks.list {
        let listed = client
            .list_tasks(ListTasksRequest::default())
            .await
            .unwrap();
        assert!(listed.tasks.iter().any(|task| task.id == done.id), "{wire}");
    }
    let held = task_of(client, ready("hold")).await;
    let subscribe = SubscribeToTaskRequest {
        id: held.id.clone(),
        ..SubscribeToTaskRequest::default()
    };
    let mut watching = client.subscribe_to_task(subscribe).await.unwrap();
    if !lacks.snapshot {
        let first = watching.next().await.unwrap().unwrap();
        assert!(
            matches!(first.response().payload, Payload::Task(_)),
            "{wire}: {first:?}"
        );
    }
    let cancel = CancelTaskRequest {
        id: held.id,
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
    let asking = task_of(client, say("ask me")).await;
    assert_eq!(state(&asking), TaskState::InputRequired, "{wire}");
    let mut more = say("more");
    more.message
        .as_mut()
        .unwrap()
        .task_id
        .clone_from(&asking.id);
    more.message
        .as_mut()
        .unwrap()
        .context_id
        .clone_from(&asking.context_id);
    let answered = task_of(client, more).await;
    assert_eq!(
        (&answered.id, state(&answered)),
        (&asking.id, TaskState::Completed),
        "{wire}"
    );
    webhooks(client, &asking.id, wire).await;
    if !lacks.webhooks.contains(&client.endpoint().binding.name) {
        no_more_webhooks(client, &asking.id, wire).await;
    }
}

fn python(variable: &str, venv: &str, script: &str) -> Command {
    let mut command = Command::new(program(variable, folder().join(venv).join("bin/python")));
    command.arg("-B").arg(folder().join(script));
    command
}

#[tokio::test]
async fn the_official_python_server_is_called_in_both_versions() {
    let server = Official::start(python("MONAS_PYTHON", ".venv", "python/server.py")).await;
    assert_eq!(check(&server, Version::V1_0, Lacks::default()).await, 3);
    let old = Lacks {
        list: true,
        webhooks: &["HTTP+JSON"],
        ..Lacks::default()
    };
    assert_eq!(check(&server, Version::V0_3, old).await, 3);
}

#[tokio::test]
async fn the_official_python_server_of_0_3_is_called() {
    let command = python("MONAS_V0_3_PYTHON", "v0_3/.venv", "v0_3/python/server.py");
    let server = Official::start(command).await;
    let lacks = Lacks {
        list: true,
        snapshot: true,
        webhooks: &["HTTP+JSON", "GRPC"],
    };
    assert_eq!(check(&server, Version::V0_3, lacks).await, 3);
}

#[tokio::test]
async fn the_official_javascript_server_is_called() {
    let mut command = Command::new(program("MONAS_NODE", "node"));
    command.arg(folder().join("js/server.mjs"));
    let server = Official::start(command).await;
    assert_eq!(check(&server, Version::V1_0, Lacks::default()).await, 3);
}

#[tokio::test]
async fn the_official_rust_server_is_called() {
    let target = Path::new(env!("CARGO_BIN_EXE_sut")).ancestors().nth(2);
    let built = target.unwrap().join("a2a-interop/debug/a2a-interop");
    let mut command = Command::new(program("MONAS_A2A_RUST", built));
    command.arg("serve");
    let server = Official::start(command).await;
    assert_eq!(check(&server, Version::V1_0, Lacks::default()).await, 3);
}
