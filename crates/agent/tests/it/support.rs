//! An agent behind a task server, on a store that outlives both.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use a2a::server::{AfterRestart, Config, Failure, Turn};
use a2a::service::Call;
use a2a::types::{Message, Part, Role, Task, TaskId};
use access::Principal;
use agent::{Agent, Manifest, Options};
use agent::{AgentHandle, Law, Parts, Population, Profile};
use futures_core::future::BoxFuture;
use memory::Memory;
use model::Model;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{Context, Registry, Reply, Skill, SkillError, SkillInput, extension, skill};
use store::Store;
use testkit::{Clock, DataFolder, Kit};
pub(crate) use testkit::{fresh_id as fresh, state, status_text as status};

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Greet {
    /// Who is greeted.
    who: String,
}

/// Greets a person.
#[skill(tags = ["demo"], examples = ["greet {who}"], read_only)]
pub(crate) async fn greet(input: Greet) -> Result<String, SkillError> {
    Ok(format!("Hello, {}!", input.who))
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Note {
    /// Where.
    path: String,
    /// What.
    content: String,
}

/// Writes notes, each once a person has agreed. What it wrote is there for the test to see.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    pub(crate) written: Arc<Mutex<Vec<(String, String)>>>,
    /// What the preview shows besides: something that can change meanwhile.
    pub(crate) beside: Arc<Mutex<String>>,
}

impl Skill for Notes {
    const SPEC: skill::Spec = {
        let mut traits = skill::Traits::new();
        traits.approval = true;
        skill::Spec::new(
            skill::Id::new("write-note"),
            "Write note",
            "Writes a note.",
            skill::OneOrMore::new(&["notes"]),
            skill::OneOrMore::new(&["note {content} in {path}"]),
        )
        .with(traits)
    };
    type Input = Note;
    type Output = String;

    async fn run(&self, input: Note, _ctx: Context) -> Result<Reply<String>, SkillError> {
        let text = format!("wrote {}", input.path);
        self.written
            .lock()
            .unwrap()
            .push((input.path, input.content));
        Ok(Reply::Done(text))
    }

    async fn preview(&self, input: Note) -> Result<Option<String>, SkillError> {
        let beside = self.beside.lock().unwrap().clone();
        Ok(Some(format!(
            "+ {} in {}{beside}",
            input.content, input.path
        )))
    }
}

/// What outlives a process: the files, what was written, the time.
#[derive(Clone)]
pub(crate) struct World {
    folder: DataFolder,
    pub(crate) notes: Notes,
    pub(crate) echoes: Echoes,
    pub(crate) clock: Clock,
    /// The skills that the manifest lets be called without an approval.
    pub(crate) unasked: Vec<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: DataFolder::new(),
            notes: Notes::default(),
            echoes: Echoes::default(),
            clock: Clock::at(1_000_000),
            unasked: Vec::new(),
        }
    }

    /// The store, for one process at a time.
    pub(crate) fn store(&self) -> Store {
        self.folder
            .store_with(&[memory::TABLES, agent::TABLES].concat())
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(seconds);
    }

    pub(crate) fn parts(&self, store: Store) -> Parts {
        let mut parts = Parts::new(store);
        parts.clock = self.clock.source();
        parts
    }

    /// A process with one agent under the default law, which thinks by rules.
    pub(crate) async fn begin(&self) -> Bench {
        self.begin_with(Law::default(), None).await
    }

    pub(crate) async fn begin_with(&self, law: Law, model: Option<Arc<dyn Model>>) -> Bench {
        self.begin_all(law, model, |_| Registry::new()).await
    }

    /// The same, with more skills.
    pub(crate) async fn begin_all(
        &self,
        law: Law,
        model: Option<Arc<dyn Model>>,
        more: impl FnOnce(&AgentHandle) -> Registry,
    ) -> Bench {
        let store = self.store();
        let memory = Memory::open(store.clone(), memory::Options::default());
        let mut parts = self.parts(store.clone()).memory(memory.clone());
        if let Some(model) = model {
            parts = parts.model(model);
        }
        let population = Population::new(parts);
        let mut profile = Profile::new("scout", "Scout");
        profile.law = law;
        profile.objectives = vec!["keep the notes of the team".to_owned()];
        profile.views = vec!["library".to_owned()];
        let skills = Registry::new()
            .with(greet)
            .unwrap()
            .with(self.notes.clone())
            .unwrap();
        let handle = population.admit(profile, &skills).await.unwrap();
        let skills = skills.merge(&handle.skills()).unwrap();
        let skills = skills.merge(&more(&handle)).unwrap();
        let mut options = Options::default();
        options.skills = skills;
        options.handle = Some(handle.clone());
        let mut manifest = Manifest::new("Scout");
        manifest.unasked.clone_from(&self.unasked);
        let agent = Agent::create(manifest, options).unwrap();
        let config = Config::new(agent.card());
        let served = Arc::new(Served {
            scout: agent,
            echoes: self.echoes.clone(),
        });
        let kit = Kit::start(config, served, store.clone()).await.by("ada");
        population.serve(&kit.server, "scout");
        Bench {
            kit,
            store,
            population,
            handle,
            memory,
            _folder: self.folder.clone(),
        }
    }
}

/// The agents of a server: scout at the root, and others below it.
struct Served {
    scout: Agent,
    echoes: Echoes,
}

impl a2a::server::Agent for Served {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        self.scout.answer(turn)
    }

    fn tenant(&self, name: &str) -> Option<Arc<dyn a2a::server::Agent>> {
        let (name, echoes) = (name.to_owned(), self.echoes.clone());
        (!name.is_empty()).then(|| Arc::new(Echo { name, echoes }) as Arc<dyn a2a::server::Agent>)
    }

    fn continues(
        &self,
        caller: &Principal,
        message: &Message,
    ) -> BoxFuture<'static, Option<TaskId>> {
        self.scout.continues(caller, message)
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        self.scout.after_restart(task)
    }

    fn ended(&self, task: &TaskId) {
        self.scout.ended(task);
    }

    fn label(&self, message: &Message) -> Option<String> {
        self.scout.label(message)
    }
}

/// Other agents, as far as a test goes: they say what they were asked.
#[derive(Clone, Default)]
pub(crate) struct Echoes {
    /// The agents that were asked, each with its question.
    pub(crate) asked: Arc<Mutex<Vec<(String, String)>>>,
    /// Tasks of theirs that have ended.
    pub(crate) ended: Arc<Mutex<Vec<String>>>,
}

struct Echo {
    name: String,
    echoes: Echoes,
}

impl a2a::server::Agent for Echo {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let (name, text) = (self.name.clone(), turn.text());
        let asked = (name.clone(), text.clone());
        self.echoes.asked.lock().unwrap().push(asked);
        Box::pin(async move {
            match (&*text, turn.task()) {
                ("write it down", None) => turn.ask("May I?").await?,
                (answer, Some(_)) => {
                    let said = format!("their task got {answer}");
                    turn.reply(turn.say(said)).await?;
                }
                (text, None) => {
                    let said = format!("{name} heard: {text}");
                    turn.reply(turn.say(said)).await?;
                }
            }
            Ok(())
        })
    }

    fn ended(&self, task: &TaskId) {
        self.echoes.ended.lock().unwrap().push(task.to_string());
    }
}

/// What one process has: a task server, its store, and the agent behind it.
pub(crate) struct Bench {
    kit: Kit,
    pub(crate) store: Store,
    pub(crate) population: Population,
    pub(crate) handle: AgentHandle,
    pub(crate) memory: Memory,
    /// The store opens files of its folder while it is used, so the folder must not be removed with the world.
    _folder: DataFolder,
}

impl Bench {
    /// Ends as a killed process ends: nothing is finished. The store keeps what was committed.
    pub(crate) async fn killed(self) {
        self.server.stop().await;
        self.population.close().await;
        self.memory.close().await;
    }

    pub(crate) async fn send(&self, message: Message) -> Task {
        self.send_for_task(message).await
    }

    pub(crate) async fn send_by(&self, caller: &str, message: Message) -> Task {
        self.by(caller).send_for_task(message).await
    }

    /// Says something in the one conversation of the test.
    pub(crate) async fn say(&self, text: &str) -> Task {
        self.send(said("talk", text)).await
    }

    pub(crate) async fn call(&self, skill: &str, input: Value) -> Task {
        self.kit.call(skill, input).await.unwrap()
    }

    pub(crate) async fn answer(&self, task: &Task, answer: Value) -> Task {
        self.kit.answer(task, Some(answer)).await
    }

    pub(crate) async fn task(&self, id: &str) -> Task {
        self.load(id).await
    }

    pub(crate) async fn cancel(&self, task: &Task) -> Task {
        self.kit.cancel(&task.id).await.unwrap()
    }
}

impl Deref for Bench {
    type Target = Kit;

    fn deref(&self) -> &Kit {
        &self.kit
    }
}

pub(crate) fn call() -> Call {
    Call::by(Principal::named("ada"))
}

pub(crate) fn said(context: &str, text: &str) -> Message {
    Message {
        message_id: fresh(),
        context_id: context.to_owned(),
        role: Role::User,
        parts: vec![Part::text(text)],
        ..Message::default()
    }
}

/// What a task gave, or else what it says.
pub(crate) fn output(task: &Task) -> String {
    match extension::output(task) {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => status(task),
    }
}

pub(crate) fn approve() -> Value {
    json!({ "decision": "approve" })
}

/// A plain agent of these skills behind a task server, in memory.
pub(crate) async fn plain(skills: Registry) -> (Kit, Store) {
    let mut options = Options::default();
    options.skills = skills;
    let agent = Agent::create(Manifest::new("Plain"), options).unwrap();
    let store = Store::memory(&[a2a::server::TABLES, agent::TABLES].concat());
    let config = Config::new(agent.card());
    let kit = Kit::start(config, Arc::new(agent), store.clone()).await;
    (kit, store)
}
