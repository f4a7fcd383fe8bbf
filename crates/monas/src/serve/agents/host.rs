//! Agents with a life of their own: one household for a server, with memory, a workspace and each other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use a2a::binding::{self, Address, Offers};
use a2a::client::{Client, Settings, Trust};
use a2a::service::{Call, Service as _};
use a2a::types::wire::WireMessage as _;
use a2a::types::{
    AgentCard, Answer, CancelTaskRequest, Message, SendMessageConfiguration, SendMessageRequest,
    Task, TaskState,
};
use access::{Insiders, Principal};
use agent::{Agent, Asked, Errand, Household, Law, Others, Parts, Profile, Said};
use futures_core::future::BoxFuture;
use memory::{Keep, Lasting, Memory, Reason};
use model::Model;
use serde_json::json;
use skill::Registry;
use store::Store;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::app::Plan;
use crate::error::Error;
use crate::serve::agents::Agents;
use crate::serve::agents::DEFAULT_AGENT;

/// How often agents learn that time has passed.
const TICK: Duration = Duration::from_secs(5);

/// The agents of a server that live.
pub(crate) struct AgentHost {
    household: Household,
    memory: Memory,
    /// What they can do with files.
    files: Registry,
    errands: Arc<Errands>,
    reach: Option<Reach>,
    ticking: JoinHandle<()>,
}

/// The address of the server and the credentials by which its agents call each other. They call the local address, not the
/// public URL, so their credentials do not leave the machine.
#[derive(Clone)]
pub(crate) struct Reach {
    pub(crate) address: Address,
    pub(crate) offers: Offers,
    pub(crate) insiders: Insiders,
}

impl AgentHost {
    /// A host without agents. Without `reach` its agents cannot call each other.
    pub(crate) fn begin(
        store: Store,
        memory: Memory,
        model: Option<Arc<dyn Model>>,
        files: Registry,
        reach: Option<Reach>,
    ) -> Self {
        let errands = Arc::new(Errands::default());
        let mut parts = Parts::new(store)
            .memory(memory.clone())
            .errand(errands.clone());
        if let Some(model) = model {
            parts = parts.model(model);
        }
        let household = Household::new(parts);
        let ticking = tokio::spawn(tick(household.clone()));
        Self {
            household,
            memory,
            files,
            errands,
            reach,
            ticking,
        }
    }

    /// Gives life to agents, the first one at the root.
    pub(crate) async fn raise(&self, plans: Vec<Plan>) -> Result<Agents, Error> {
        let ids: Vec<String> = plans.iter().map(id_of).collect();
        let mut agents: Option<Agents> = None;
        for plan in plans {
            let id = plan.id.clone();
            let agent = self.give_life(plan, &ids).await?;
            agents = Some(match (agents, id) {
                (Some(agents), Some(id)) => agents.with(&id, agent)?,
                _ => agent.into(),
            });
        }
        Ok(agents.expect("there is always one at the root"))
    }

    async fn give_life(&self, plan: Plan, all: &[String]) -> Result<Agent, Error> {
        let id = id_of(&plan);
        let mut profile = Profile::new(id.clone(), plan.manifest.name.clone());
        profile.description.clone_from(&plan.manifest.description);
        profile.objectives.clone_from(&plan.manifest.objectives);
        profile.views.clone_from(&plan.manifest.views);
        profile.law = law(&plan)?;
        let axioms = plan.manifest.axioms.iter().cloned();
        profile.law.frozen.axioms.extend(axioms);
        let axioms = profile.law.frozen.axioms.clone();
        let mut plan = plan.with_tools().await?;
        let skills = plan.options.skills.merge(&self.files)?;
        let capable = match &plan.manifest.skills {
            Some(ids) => {
                let known = ids.iter().map(String::as_str);
                skills.narrow(known.filter(|id| skills.get(id).is_some()))?
            }
            None => skills.clone(),
        };
        let own = ["remember", "recall", "ask-agent"];
        let gets = |id: &&str| match &plan.manifest.skills {
            Some(ids) => ids.iter().any(|it| it == id),
            None => true,
        };
        profile.gets = own
            .iter()
            .filter(|id| gets(id))
            .map(|id| (*id).to_owned())
            .collect();
        let resident = self.household.admit(profile, &capable).await?;
        plan.options.skills = skills.merge(&resident.skills())?;
        if let Some(reach) = &self.reach {
            let others = Neighbours {
                reach: reach.clone(),
                own: id.clone(),
                ids: all.iter().filter(|it| **it != id).cloned().collect(),
            };
            let asking = agent::ask_agent(&resident, Arc::new(others));
            plan.options.skills = plan.options.skills.merge(&asking)?;
        }
        plan.options.resident = Some(resident);
        self.hold(&id, &axioms).await?;
        plan.make()
    }

    /// Puts axioms where the agent can read them and cannot write.
    async fn hold(&self, id: &str, axioms: &[String]) -> Result<(), Error> {
        let space = self.memory.space(id)?.governed(&self.memory);
        for axiom in axioms {
            let why = "its manifest says so";
            let reason = Reason::new("manifest:axioms", 1.0, "what always holds", why)
                .expect("all of it is there");
            let keep = Keep {
                layer: Lasting::Axiom,
                ..Keep::belief(axiom, reason)
            };
            space.keep(keep).await?;
        }
        Ok(())
    }

    /// The household, for those who look at it.
    pub(crate) fn household(&self) -> &Household {
        &self.household
    }

    /// From now on agents can begin tasks of their own.
    pub(crate) fn serve(&self, tasks: &a2a::Server) {
        // It is served once.
        drop(self.errands.0.set(tasks.clone()));
    }

    /// Stops the clock and all agents.
    pub(crate) async fn close(&self) {
        self.ticking.abort();
        self.household.close().await;
    }
}

impl std::fmt::Debug for AgentHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentHost")
            .field("household", &self.household)
            .finish_non_exhaustive()
    }
}

/// The law that an agent is born with.
fn law(plan: &Plan) -> Result<Law, Error> {
    let Some(file) = &plan.manifest.law else {
        return Ok(Law::default());
    };
    let folder = plan.place.parent().unwrap_or_else(|| Path::new(""));
    let path: PathBuf = folder.join(file);
    let unread = |problem: String| Error::Manifest {
        path: path.clone(),
        problem,
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unread(error.to_string()))?;
    Law::parse(&text).map_err(|error| unread(error.to_string()))
}

async fn tick(household: Household) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        household.tick().await;
    }
}

/// What agents do by the clock begins as a task of the server.
#[derive(Default)]
struct Errands(OnceLock<a2a::Server>);

impl Errand for Errands {
    fn begin(&self, agent: &str, request: String) -> BoxFuture<'static, Result<(), String>> {
        let Some(tasks) = self.0.get().cloned() else {
            return Box::pin(std::future::ready(Err("it is not served yet".to_owned())));
        };
        let tenant = if agent == DEFAULT_AGENT { "" } else { agent };
        let mut message = Message::user(uuid::Uuid::new_v4().to_string(), request);
        let own = json!({ agent::OWN: true });
        message.metadata = own.as_object().cloned().map(Into::into);
        let request = SendMessageRequest {
            tenant: tenant.to_owned(),
            message: Some(message),
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        let call = Call::by(Principal::named(&agent::principal(agent)));
        Box::pin(async move {
            let begun = tasks.send_message(call, request).await;
            begun.map(drop).map_err(|error| error.to_string())
        })
    }

    fn resume(&self, _agent: &str, task: String) -> BoxFuture<'static, Result<(), String>> {
        let tasks = self.0.get().cloned();
        Box::pin(async move {
            let tasks = tasks.ok_or("it is not served yet")?;
            tasks
                .resume(&task.into())
                .await
                .map_err(|error| error.to_string())
        })
    }
}

/// What an agent is known by.
fn id_of(plan: &Plan) -> String {
    plan.id.clone().unwrap_or_else(|| DEFAULT_AGENT.to_owned())
}

/// The other agents of the server, by their ids. They are called over A2A, like any agent.
struct Neighbours {
    reach: Reach,
    /// The id of the calling agent.
    own: String,
    ids: Vec<String>,
}

impl Others for Neighbours {
    fn names(&self) -> Vec<String> {
        self.ids.clone()
    }

    fn ask(&self, agent: &str, asked: Asked) -> BoxFuture<'static, Result<Said, String>> {
        let client = self.client(agent);
        Box::pin(async move {
            let mut message = Message::user(asked.id, asked.text);
            message.task_id = asked.task.unwrap_or_default();
            let depth = json!({ agent::DEPTH: asked.depth });
            message.metadata = depth.as_object().cloned().map(Into::into);
            let answer = client?.send_message(message.into()).await;
            Ok(match answer.map_err(|error| error.to_string())?.payload {
                Answer::Message(message) => Said::Answer(message.text()),
                Answer::Task(task) => said(task),
                _ => Said::Answer(String::new()),
            })
        })
    }

    fn cancel(&self, agent: &str, task: String) -> BoxFuture<'static, ()> {
        let client = self.client(agent);
        Box::pin(async move {
            let request = CancelTaskRequest {
                id: task,
                ..CancelTaskRequest::default()
            };
            if let Ok(client) = client {
                // One that has ended meanwhile cannot be cancelled, and need not be.
                drop(client.cancel_task(request).await);
            }
        })
    }
}

impl Neighbours {
    /// A client for one of them. Its address is known, so its card is not fetched.
    fn client(&self, agent: &str) -> Result<Client, String> {
        if !self.ids.iter().any(|id| id == agent) {
            return Err(format!("there is no other agent {agent:?}"));
        }
        let Reach {
            address,
            offers,
            insiders,
        } = &self.reach;
        let address = Address {
            tenant: (agent != DEFAULT_AGENT).then(|| agent.to_owned()),
            ..address.clone()
        };
        let mut card = AgentCard {
            name: agent.to_owned(),
            ..AgentCard::default()
        };
        binding::declare(&mut card, offers, &address);
        let failed = |error: a2a::client::Error| error.to_string();
        let settings = Settings::default().bearer(&insiders.token(&self.own));
        let mut settings = settings.map_err(failed)?;
        if address.encrypted {
            // This process itself answers there; its certificate is for its public name.
            settings.dial.trust = Trust::Unchecked;
        }
        let card = serde_json::from_slice(&card.to_json()).map_err(|error| error.to_string())?;
        Client::of_card(card, settings).map_err(failed)
    }
}

/// What a task comes to, or waits for.
fn said(task: Task) -> Said {
    match task.state() {
        TaskState::InputRequired => Said::Question {
            text: task.status_message().map(Message::text).unwrap_or_default(),
            task: task.id,
        },
        _ => Said::Answer(task.text()),
    }
}
