//! A task server with an agent of skills, and short ways to call it.

use std::sync::Arc;

use a2a::error::Error;
use a2a::server::{Config, Server};
use a2a::service::{Call, Service as _};
use a2a::types::{
    Answer, CancelTaskRequest, GetTaskRequest, Message, Part, SendMessageConfiguration,
    SendMessageRequest, Task, TaskState,
};
use access::Principal;
use agent::{Agent, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, Manifest, Registry, Reply, SkillError, SkillInput, skill};
use store::Store;

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Greet {
    /// Who is greeted.
    pub(crate) who: String,
    #[schemars(range(min = 1, max = 3))]
    #[serde(default = "one")]
    pub(crate) times: u8,
}

fn one() -> u8 {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Greeting {
    pub(crate) text: String,
}

/// Greets somebody.
#[skill(tags = ["demo", "a < b"], examples = ["greet Ada"], read_only)]
pub(crate) async fn greet(input: Greet) -> Result<Greeting, SkillError> {
    let text = vec![format!("Hello, {}!", input.who); usize::from(input.times)].join(" ");
    Ok(Greeting { text })
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Order {
    pub(crate) what: String,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Approval {
    pub(crate) approved: bool,
}

/// Orders something, once it is approved. What it orders is counted by the test.
#[derive(Clone, Default)]
pub(crate) struct Shop {
    pub(crate) orders: Arc<std::sync::Mutex<Vec<String>>>,
}

impl skill::Skill for Shop {
    const SPEC: skill::Spec = {
        let mut traits = skill::Traits::new();
        traits.replayable = true;
        skill::Spec::new(
            skill::Id::new("order"),
            "Order",
            "Orders something, once it is approved.",
            skill::OneOrMore::new(&["shop"]),
            skill::OneOrMore::new(&["order a lamp"]),
        )
        .with(traits)
    };
    type Input = Order;
    type Output = String;

    async fn run(&self, input: Order, ctx: Context) -> Result<Reply<String>, SkillError> {
        ctx.progress(1.0, Some(2.0), "asking").await?;
        let number = ctx
            .once("reserve", async {
                let mut orders = self.orders.lock().unwrap();
                orders.push(format!("reserve {}", input.what));
                Ok(orders.len())
            })
            .await?;
        let answer: Approval = ctx.ask(format!("Order {}?", input.what)).await?;
        if !answer.approved {
            return Err(SkillError::Refused("not approved".to_owned()));
        }
        let sure: Approval = ctx.ask("Really?").await?;
        ctx.progress(2.0, Some(2.0), "ordering").await?;
        Ok(Reply::Done(format!(
            "{} as {number}: {}",
            input.what, sure.approved
        )))
    }
}

/// An agent with these skills behind a task server.
pub(crate) struct Bench {
    pub(crate) server: Server,
}

/// The tables of a store that has tasks and agents.
pub(crate) fn tables() -> Vec<&'static store::Table> {
    [a2a::server::TABLES, agent::TABLES].concat()
}

pub(crate) fn registry() -> Registry {
    let skills = Registry::new().with(greet).unwrap();
    skills.with(Shop::default()).unwrap()
}

impl Bench {
    pub(crate) async fn with(skills: Registry) -> Self {
        let mut options = Options::default();
        options.skills = skills;
        Self::of(Agent::create(Manifest::new("Test"), options).unwrap()).await
    }

    pub(crate) async fn of(agent: Agent) -> Self {
        Self::on(agent, Store::memory(&tables())).await
    }

    pub(crate) async fn on(agent: Agent, store: Store) -> Self {
        let config = Config::new(agent.card());
        let server = Server::start(config, Arc::new(agent), store).await;
        Self {
            server: server.unwrap(),
        }
    }

    pub(crate) async fn send(&self, message: Message) -> Result<Answer, Error> {
        self.request(message.into()).await
    }

    pub(crate) async fn request(&self, request: SendMessageRequest) -> Result<Answer, Error> {
        let call = Call::by(Principal::anonymous());
        let sent = self.server.send_message(call, request).await?;
        Ok(sent.payload)
    }

    pub(crate) async fn call(&self, skill: &str, input: Value) -> Result<Task, Error> {
        match self
            .send(skill::extension::call(id(), skill, input))
            .await?
        {
            Answer::Task(task) => Ok(task),
            other => panic!("no task: {other:?}"),
        }
    }

    /// Does not wait until the task rests.
    pub(crate) async fn begin(&self, skill: &str, input: Value) -> Task {
        self.send_at_once(skill::extension::call(id(), skill, input))
            .await
    }

    /// Sends a message and waits until it is recorded, not until the task rests.
    pub(crate) async fn send_at_once(&self, message: Message) -> Task {
        let request = SendMessageRequest {
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            ..message.into()
        };
        match self.request(request).await.unwrap() {
            Answer::Task(task) => task,
            other => panic!("no task: {other:?}"),
        }
    }

    /// Waits until a task is as wanted.
    pub(crate) async fn until(&self, task: &Task, wanted: impl Fn(&Task) -> bool) -> Task {
        let mut now = self.get(task).await;
        while !wanted(&now) {
            let request = GetTaskRequest {
                id: now.id,
                current_generation: Some(now.generation),
                ..GetTaskRequest::default()
            };
            let call = Call::by(Principal::anonymous());
            now = self.server.get_task(call, request).await.unwrap();
        }
        now
    }

    pub(crate) async fn answer(&self, task: &Task, answer: Option<Value>) -> Task {
        match self
            .send(skill::extension::answer(id(), task, answer))
            .await
        {
            Ok(Answer::Task(task)) => task,
            other => panic!("no task: {other:?}"),
        }
    }

    pub(crate) async fn say(&self, task: &Task, text: &str) -> Task {
        let message = Message {
            task_id: task.id.clone(),
            ..Message::user(id(), text)
        };
        match self.send(message).await {
            Ok(Answer::Task(task)) => task,
            other => panic!("no task: {other:?}"),
        }
    }

    pub(crate) async fn cancel(&self, task: &Task) -> Result<Task, Error> {
        let request = CancelTaskRequest {
            id: task.id.clone(),
            ..CancelTaskRequest::default()
        };
        let call = Call::by(Principal::anonymous());
        self.server.cancel_task(call, request).await
    }

    pub(crate) async fn get(&self, task: &Task) -> Task {
        let request = GetTaskRequest {
            id: task.id.clone(),
            ..GetTaskRequest::default()
        };
        let call = Call::by(Principal::anonymous());
        self.server.get_task(call, request).await.unwrap()
    }
}

pub(crate) fn id() -> String {
    uuid::Uuid::new_v4().to_string()
}

pub(crate) fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

/// What a task says now.
pub(crate) fn said(task: &Task) -> String {
    let message = task.status.as_ref().and_then(|it| it.message.as_ref());
    let parts = message
        .map(|message| &message.parts[..])
        .unwrap_or_default();
    let texts: Vec<_> = parts.iter().filter_map(Part::as_text).collect();
    texts.join(" | ")
}

pub(crate) fn approved() -> Option<Value> {
    Some(json!({ "approved": true }))
}
