//! A server with an agent made for tests, and short ways to call it.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use a2a::error::Error;
use a2a::event::Event;
use a2a::server::{AfterRestart, Agent, Chunk, Config, Failure, Reach, TABLES, Turn};
use a2a::service::Call;
use a2a::types::*;
use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use store::{Options, Store};
use testkit::{Kit, fresh_id};
pub(crate) use testkit::{
    at_once, memory_store as in_memory, state, status_text as said, task_of as task,
};
use tokio::sync::Semaphore;

/// Does what the text of the message says.
pub(crate) struct Script {
    /// Each permit lets one `wait` go on.
    pub(crate) gate: Semaphore,
    pub(crate) after_restart: AfterRestart,
    /// The tasks that it was told have ended.
    pub(crate) ended: Mutex<Vec<String>>,
}

impl Script {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Semaphore::new(0),
            after_restart: AfterRestart::Fail,
            ended: Mutex::default(),
        })
    }

    async fn perform(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        for word in text.split_whitespace() {
            match word.split_once(':').unwrap_or((word, "")) {
                ("label", _) => {}
                ("echo", said) => turn.reply(turn.say(said)).await?,
                ("working", _) => turn.working().await?,
                ("say", said) => {
                    turn.status(TaskState::Working, Some(turn.say(said)))
                        .await?
                }
                ("chunk", said) => turn.chunk(artifact(said), Chunk::More).await?,
                ("artifact", said) => turn.artifact(artifact(said)).await?,
                ("ask", said) => return Ok(turn.ask(said).await?),
                ("auth", _) => turn.status(TaskState::AuthRequired, None).await?,
                ("wait", _) => self.gate.acquire().await.unwrap().forget(),
                ("until-cancelled", _) => turn.cancelled().cancelled().await,
                ("for-ever", _) => std::future::pending().await,
                ("committed", _) => turn.committed().await?,
                ("done", _) => turn.complete().await?,
                ("fail", said) => return Err(Failure::new(said)),
                ("reject", said) => turn.reject(said).await?,
                ("panic", _) => panic!("asked to"),
                ("grow", _) => turn.artifact(artifact(&"x".repeat(2 << 20))).await?,
                ("nothing", _) => return Ok(()),
                ("note", said) => {
                    let (key, note) = said.split_once('=').unwrap();
                    turn.note(key, note.to_owned()).await?;
                    turn.committed().await?;
                }
                ("notes", _) => {
                    let notes = turn.notes().await.unwrap();
                    turn.artifact(artifact(&format!("{notes:?}"))).await?;
                }
                ("refuse", field) => {
                    let error = Error::invalid_field(field, "is not for me");
                    return Err(Failure::refusal(error));
                }
                (other, _) => return Err(Failure::new(format!("what is {other}?"))),
            }
        }
        Ok(())
    }
}

fn artifact(text: &str) -> Artifact {
    Artifact {
        artifact_id: "result".to_owned(),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    }
}

/// The agent of a server; the script stays with the test.
pub(crate) struct Scripted(pub(crate) Arc<Script>);

impl Agent for Scripted {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let script = self.0.clone();
        Box::pin(async move { script.perform(turn).await })
    }

    fn after_restart(&self, _: &Task) -> AfterRestart {
        self.0.after_restart
    }

    fn ended(&self, task: &TaskId) {
        self.0.ended.lock().unwrap().push(task.to_string());
    }

    fn label(&self, message: &Message) -> Option<String> {
        let text = message.parts.first()?.as_text()?;
        Some(text.strip_prefix("label:")?.split(' ').next()?.to_owned())
    }
}

/// A running server, and who calls it.
pub(crate) struct Bench {
    kit: Kit,
    pub(crate) script: Arc<Script>,
    pub(crate) store: Store,
}

pub(crate) fn config() -> Config {
    let mut config = Config::new(AgentCard {
        name: "test".to_owned(),
        default_input_modes: vec!["text/plain".to_owned()],
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            ..AgentCapabilities::default()
        }),
        ..AgentCard::default()
    });
    config.push_targets = Reach::Any;
    config
}

pub(crate) fn on_disk(folder: &std::path::Path) -> Store {
    let mut options = Options::new(folder);
    options.tables = TABLES.to_vec();
    Store::open(&options).unwrap()
}

impl Bench {
    pub(crate) async fn start() -> Self {
        Self::with(config(), in_memory(), Script::new()).await
    }

    pub(crate) async fn with(config: Config, store: Store, script: Arc<Script>) -> Self {
        let agent = Arc::new(Scripted(script.clone()));
        let kit = Kit::start(config, agent, store.clone()).await;
        Self { kit, script, store }
    }

    /// The same server, called by someone else.
    pub(crate) fn by(&self, caller: &str, tenant: &str) -> Self {
        Self {
            kit: self.kit.by(caller).in_tenant(tenant),
            script: self.script.clone(),
            store: self.store.clone(),
        }
    }

    pub(crate) fn call(&self) -> Call {
        self.kit.context()
    }

    /// Sends a text and waits for the task to rest.
    pub(crate) async fn task(&self, text: &str) -> Task {
        self.send_for_task(self.request(message(text))).await
    }

    /// Sends a text and takes the task as soon as it exists.
    pub(crate) async fn task_at_once(&self, text: &str) -> Task {
        self.send_at_once(self.request(message(text))).await
    }

    pub(crate) async fn stream(&self, text: &str) -> Events {
        let stream = self.kit.stream(self.request(message(text))).await;
        Events(stream.unwrap())
    }

    pub(crate) async fn subscribe(&self, id: &str, cursor: Option<u64>) -> Result<Events, Error> {
        self.kit.subscribe(id, cursor).await.map(Events)
    }
}

impl Deref for Bench {
    type Target = Kit;

    fn deref(&self) -> &Kit {
        &self.kit
    }
}

pub(crate) fn message(text: &str) -> Message {
    Message::user(fresh_id(), text)
}

pub(crate) fn follow_up(task: &Task, text: &str) -> Message {
    Message {
        task_id: task.id.clone(),
        ..message(text)
    }
}

fn text(message: Option<&Message>) -> String {
    message
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(Part::as_text)
        .collect()
}

/// A stream, event by event.
pub(crate) struct Events(a2a::event::EventStream);

impl From<a2a::event::EventStream> for Events {
    fn from(stream: a2a::event::EventStream) -> Self {
        Self(stream)
    }
}

impl Events {
    /// Everything until the end, in short.
    pub(crate) async fn rest(mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(portion) = self.0.next().await {
            match portion {
                Ok(events) => all.extend(events.iter().map(|event| short(event))),
                Err(error) => all.push(format!("error {}", error.code().json_rpc)),
            }
        }
        all
    }

    /// Everything until the end.
    pub(crate) async fn rest_as_it_is(mut self) -> Vec<Arc<Event>> {
        let mut all = Vec::new();
        while let Some(portion) = self.0.next().await {
            all.extend(portion.unwrap());
        }
        all
    }

    /// The next portion, in short.
    pub(crate) async fn next(&mut self) -> Vec<String> {
        let portion = self.0.next().await.unwrap().unwrap();
        portion.iter().map(|event| short(event)).collect()
    }

    /// The task that the first event is.
    pub(crate) async fn first_task(&mut self) -> Task {
        let portion = self.0.next().await.unwrap().unwrap();
        match &portion[0].response().payload {
            a2a::types::Event::Task(task) => task.clone(),
            other => panic!("not a task: {other:?}"),
        }
    }
}

fn short(event: &Event) -> String {
    let cursor = event
        .cursor()
        .map_or(String::new(), |cursor| format!("{cursor} "));
    let what = match &event.response().payload {
        a2a::types::Event::Task(task) => format!("task {:?} {}", state(task), said(task)),
        a2a::types::Event::Message(message) => format!("message {}", text(Some(message))),
        a2a::types::Event::StatusUpdate(update) => {
            let status = update.status.as_ref().unwrap();
            format!("{:?} {}", status.state, text(status.message.as_ref()))
        }
        a2a::types::Event::ArtifactUpdate(update) => {
            let parts = update.artifact.iter().flat_map(|artifact| &artifact.parts);
            format!(
                "artifact {}",
                parts.filter_map(Part::as_text).collect::<String>()
            )
        }
        a2a::types::Event::Unset => "nothing".to_owned(),
    };
    format!("{cursor}{what}").trim().to_owned()
}
