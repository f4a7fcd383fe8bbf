//! Tools of other servers: of the protocol's reference server and of our own, by both transports.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use a2a::client::{Client, Version};
use a2a::types::{
    Answer, CancelTaskRequest, Event, GetTaskRequest, ListTasksRequest, SendMessageConfiguration,
    SendMessageRequest, Task, TaskState,
};
use agent::Manifest;
use axum::body::Body;
use monas::Config;
use monas::config::Data;
use monas::testkit::Kit;
use serde_json::{Value, json};
use skill::extension;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::http;
use crate::support::program::{Monas, command};
use crate::support::sut::{Sut, program};

const EVERYTHING: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp")
}

fn node() -> String {
    let node = program("MONAS_NODE", "node");
    node.to_str().unwrap().to_owned()
}

/// An agent that has the tools of a manifest's servers.
struct Agent {
    kit: Kit,
    client: Client,
}

impl Agent {
    async fn with(servers: &str) -> Self {
        let manifest = Manifest::parse(&format!("name = 'Caller'\n{servers}")).unwrap();
        let config = Config::new(Data::Memory);
        let agent = monas::app().manifest(manifest).agent(&config).await;
        let kit = Kit::start(agent.unwrap()).await.unwrap();
        let client = kit.client("jsonrpc", Version::V1_0).await.unwrap();
        Self { kit, client }
    }

    async fn send(&self, request: impl Into<SendMessageRequest>) -> Task {
        match self
            .client
            .send_message(request.into())
            .await
            .unwrap()
            .payload
        {
            Answer::Task(task) => task,
            other => panic!("no task: {other:?}"),
        }
    }

    /// Calls a tool and waits until its task rests.
    async fn call(&self, tool: &str, input: Value) -> Task {
        self.send(extension::call(id(), tool, input)).await
    }

    /// Calls a tool and does not wait.
    async fn begin(&self, tool: &str, input: Value) -> Task {
        self.send(SendMessageRequest {
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            ..extension::call(id(), tool, input).into()
        })
        .await
    }

    async fn answer(&self, task: &Task, answer: Option<Value>) -> Task {
        self.send(extension::answer(id(), task, answer)).await
    }

    /// Waits until something else is known of a task.
    async fn changed(&self, task: &Task) -> Task {
        changed(&self.client, task).await
    }

    /// Begins a call of a tool that says how far it is, and waits until it does.
    async fn under_way(&self, tool: &str, input: Value) -> Task {
        let mut task = self.begin(tool, input).await;
        loop {
            let said = task
                .status
                .as_ref()
                .and_then(|status| status.message.as_ref());
            if said.and_then(extension::progress).is_some() {
                return task;
            }
            task = self.changed(&task).await;
        }
    }

    async fn gives(&self, tool: &str, input: Value) -> Value {
        output(&self.call(tool, input).await)
    }

    /// What the journal has of how far a task is.
    async fn progress(&self, task: &Task) -> Vec<f64> {
        let journal = self.kit.journal(&task.id).await.unwrap();
        let messages = journal
            .iter()
            .filter_map(|event| match &event.response().payload {
                Event::StatusUpdate(update) => update.status.as_ref()?.message.as_ref(),
                _ => None,
            });
        let progress = messages.filter_map(extension::progress);
        progress.map(|it| it.progress).collect()
    }
}

async fn changed(client: &Client, task: &Task) -> Task {
    let get = GetTaskRequest {
        id: task.id.clone(),
        current_generation: Some(task.generation),
        ..GetTaskRequest::default()
    };
    client.get_task(get).await.unwrap()
}

/// Waits until a task has ended.
async fn ended(client: &Client, mut task: Task) -> Task {
    while !state(&task).is_terminal() {
        task = changed(client, &task).await;
    }
    task
}

fn id() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

fn output(task: &Task) -> Value {
    assert_eq!(state(task), TaskState::Completed, "{task:?}");
    extension::output(task).unwrap()
}

/// The reference server behind HTTP, on this machine alone.
struct Everything {
    url: String,
    _process: Child,
}

impl Everything {
    async fn start() -> Self {
        let mut command = Command::new(node());
        command.arg("--require").arg(folder().join("loopback.cjs"));
        command.arg(folder().join(EVERYTHING)).arg("streamableHttp");
        command.env("PORT", "0").kill_on_drop(true);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().expect("it listens");
            if let Some(port) = line.strip_prefix("listening on ") {
                let url = format!("http://127.0.0.1:{port}/mcp");
                return Self {
                    url,
                    _process: process,
                };
            }
        }
    }
}

/// The reference server as an entry of a manifest, started or called.
fn everything_program() -> String {
    let script = folder().join(EVERYTHING);
    format!(
        "[mcp.every]\ncommand = {:?}\nargs = [{script:?}, 'stdio']\n",
        node()
    )
}

async fn check_everything(servers: &str) {
    let agent = Agent::with(servers).await;
    assert_eq!(
        agent.gives("every-echo", json!({ "message": "hi" })).await,
        "Echo: hi"
    );
    let weather = json!({ "location": "Chicago" });
    let weather = agent.gives("every-get-structured-content", weather).await;
    assert_eq!(weather["humidity"], 82);

    let image = agent.call("every-get-tiny-image", json!({})).await;
    assert_eq!(state(&image), TaskState::Completed);
    let part = &image.artifacts[0].parts[0];
    assert_eq!(part.media_type, "image/png");

    let long = json!({ "duration": 0.1, "steps": 3 });
    let long = agent
        .call("every-trigger-long-running-operation", long)
        .await;
    assert_eq!(state(&long), TaskState::Completed);
    assert_eq!(agent.progress(&long).await, [1.0, 2.0, 3.0]);

    let asked = agent
        .call("every-trigger-elicitation-request", json!({}))
        .await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    let question = extension::question(&asked).unwrap();
    assert_eq!(
        question.message,
        "The tool server every asks:\n> Please provide inputs for the following fields:"
    );
    assert_eq!(question.from.as_deref(), Some("every"));
    assert_eq!(question.schema["properties"]["check"]["type"], "boolean");
    let answered = agent.answer(&asked, Some(json!({ "name": "Ada" }))).await;
    let said = output(&answered);
    let said = said.as_str().unwrap();
    assert!(said.contains("Name: Ada"), "{said}");
    assert!(said.contains("It was a dark and stormy night."), "{said}");

    let asked = agent
        .call("every-trigger-elicitation-request", json!({}))
        .await;
    let declined = output(&agent.answer(&asked, None).await);
    assert!(
        declined.as_str().unwrap().contains("declined"),
        "{declined}"
    );

    let wrong = agent
        .client
        .send_message(extension::call(id(), "every-get-sum", json!({ "a": "one" })).into());
    assert!(wrong.await.is_err(), "input is checked before it is sent");
    agent.kit.stop().await;
}

#[tokio::test]
async fn the_reference_server_is_used_as_a_program() {
    check_everything(&everything_program()).await;
}

#[tokio::test]
async fn the_reference_server_is_used_over_http() {
    let everything = Everything::start().await;
    check_everything(&format!("[mcp.every]\nurl = {:?}\n", everything.url)).await;
}

#[tokio::test]
async fn a_program_of_ours_is_used_as_a_program() {
    let data = tempfile::tempdir().unwrap();
    let monas = env!("CARGO_BIN_EXE_monas");
    let data = data.path().join("data");
    let servers =
        format!("[mcp.ours]\ncommand = {monas:?}\nargs = ['mcp', '--demo', '--data', {data:?}]\n");
    let agent = Agent::with(&servers).await;
    assert_eq!(
        agent.gives("ours-echo", json!({ "text": "hi" })).await,
        "hi"
    );
    let burst = agent.call("ours-burst", json!({ "pieces": 2 })).await;
    assert_eq!(state(&burst), TaskState::Completed, "{burst:?}");
    agent.kit.stop().await;
}

#[tokio::test]
async fn a_server_of_ours_is_used_over_http() {
    let sut = Sut::start().await;
    let agent = Agent::with(&format!("[mcp.ours]\nurl = 'http://{}/mcp'\n", sut.address)).await;
    assert_eq!(
        agent.gives("ours-echo", json!({ "text": "hi" })).await,
        "hi"
    );

    let asked = agent.call("ours-approve", json!({ "text": "it" })).await;
    assert_eq!(
        extension::question(&asked).unwrap().message,
        "The tool server ours asks:\n> Approve \"it\"?"
    );
    let answered = agent.answer(&asked, Some(json!({ "answer": "yes" }))).await;
    assert_eq!(output(&answered), "it: yes");
    let asked = agent.call("ours-approve", json!({ "text": "it" })).await;
    let declined = agent.answer(&asked, None).await;
    assert_eq!(state(&declined), TaskState::Failed, "{declined:?}");

    let failed = agent.call("ours-boom", json!({ "text": "it" })).await;
    assert_eq!(state(&failed), TaskState::Failed);
    assert_eq!(
        extension::failure_code(&failed).as_deref(),
        Some("tool-failed")
    );
    let said = failed.status.unwrap().message.unwrap();
    assert_eq!(said.parts[0].as_text(), Some("failed as asked: it"));
    agent.kit.stop().await;
}

#[tokio::test]
async fn what_is_cancelled_here_is_cancelled_there() {
    let sut = Sut::start().await;
    let agent = Agent::with(&format!("[mcp.ours]\nurl = 'http://{}/mcp'\n", sut.address)).await;
    let task = agent.under_way("ours-slow", json!({ "text": "it" })).await;
    let url = format!("http://{}", sut.address);
    let there = Client::discover(&url, Default::default()).await.unwrap();
    let mut listed = there.list_tasks(ListTasksRequest::default()).await.unwrap();
    assert_eq!(listed.tasks.len(), 1);
    let cancel = CancelTaskRequest {
        id: task.id.clone(),
        ..CancelTaskRequest::default()
    };
    let cancelled = agent.client.cancel_task(cancel).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
    let far = ended(&there, listed.tasks.remove(0)).await;
    assert_eq!(state(&far), TaskState::Canceled);
    agent.kit.stop().await;
}

#[tokio::test]
async fn a_server_that_was_killed_is_used_again_once_it_is_back() {
    let first = Sut::start().await;
    let address = first.address;
    let agent = Agent::with(&format!("[mcp.ours]\nurl = 'http://{address}/mcp'\n")).await;
    let slow = agent.under_way("ours-slow", json!({ "text": "it" })).await;
    tokio::task::spawn_blocking(move || first.kill())
        .await
        .unwrap();
    let task = ended(&agent.client, slow).await;
    assert_eq!(state(&task), TaskState::Failed, "a call that is lost fails");
    let gone = agent.call("ours-echo", json!({ "text": "hi" })).await;
    assert_eq!(state(&gone), TaskState::Failed);
    let _second = Sut::start_at(address).await;
    // For a moment after a failure no new attempt is made.
    let back = loop {
        let task = agent.call("ours-echo", json!({ "text": "hi" })).await;
        match extension::failure_code(&task).as_deref() {
            Some("unreachable") => tokio::task::yield_now().await,
            _ => break task,
        }
    };
    assert_eq!(output(&back), "hi");
    agent.kit.stop().await;
}

#[tokio::test]
async fn the_program_offers_the_tools_of_others_on_every_wire() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("agent.toml");
    let manifest = format!(
        "name = 'Middle'\nskills = ['echo']\n[grants]\necho = ['every-echo']\n{}allow = ['echo']\n",
        everything_program()
    );
    std::fs::write(&file, manifest).unwrap();
    let sut = Sut::start().await;
    let others = home.path().join("mcp.json");
    let list = json!({ "mcpServers": { "far": {
        "url": format!("http://{}/mcp", sut.address), "allow": ["boom"],
    } } });
    std::fs::write(&others, list.to_string()).unwrap();
    let mut start = command(home.path());
    start
        .arg("--agent")
        .arg(&file)
        .arg("--mcp-config")
        .arg(&others);
    let monas = Monas::start(start.arg("--data").arg(home.path().join("data"))).await;

    let client = Client::discover(&monas.url, Default::default())
        .await
        .unwrap();
    let skills: Vec<_> = client
        .card()
        .skills
        .iter()
        .map(|skill| &*skill.id)
        .collect();
    assert_eq!(skills, ["echo", "every-echo", "far-boom"]);
    let call = extension::call(id(), "every-echo", json!({ "message": "hi" }));
    let Answer::Task(task) = client.send_message(call.into()).await.unwrap().payload else {
        panic!("no task");
    };
    assert_eq!(output(&task), "Echo: hi");

    let agent = Agent::with(&format!("[mcp.middle]\nurl = '{}/mcp'\n", monas.url)).await;
    let said = agent
        .gives("middle-every-echo", json!({ "message": "hi" }))
        .await;
    assert_eq!(said, "Echo: hi");

    let address = monas.authority().parse().unwrap();
    let mut acp = http::Client::connect(address, http::Version::One).await;
    let agents = acp.request("GET", monas.authority(), "/acp/agents");
    let agents = acp.send(agents.body(Body::empty()).unwrap()).await;
    assert!(agents.text.contains("every-echo"), "{agents:?}");
}
