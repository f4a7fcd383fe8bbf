//! The skills that an agent has of itself: to remember, to recall, and to ask other agents.

use memory::{Content, Handle, Keep, Layer, Noted, Outcome, Reason, Recall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skill::{Context, Registry, SkillError, SkillInput, skill};

use crate::delegate::{DelegateReply, Delegation, Tasks};
use crate::handle::AgentHandle;
use crate::law::Origin;
use crate::{limits, text};

/// The skills of this agent.
pub(crate) fn of(agent: &AgentHandle) -> Registry {
    let memory = agent.population.0.parts.memory.as_ref();
    let space = memory.and_then(|memory| memory.space(&agent.id).ok());
    let Some(space) = space else {
        return Registry::new();
    };
    let skills = Registry::new().with(Remember {
        agent: agent.clone(),
        space,
    });
    skills
        .and_then(|skills| {
            skills.with(RecallSkill {
                agent: agent.clone(),
            })
        })
        .expect("their ids are two")
}

/// With the skill `ask-agent`, for an agent that may ask others of its server, by their ids.
pub fn ask_agent(agent: &AgentHandle, others: Vec<String>) -> Registry {
    let asking = AskAgent {
        agent: agent.clone(),
        others,
    };
    Registry::new().with(asking).expect("it is one")
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct RememberInput {
    /// What to remember, as a sentence that can be understood by itself.
    text: String,
    /// How sure it is, from 0 to 1.
    #[serde(default = "sure")]
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
    /// The question that it answers.
    #[serde(default)]
    context: Option<String>,
    /// Why it is worth remembering.
    #[serde(default)]
    why: Option<String>,
}

fn sure() -> f64 {
    0.9
}

#[derive(Serialize, JsonSchema)]
struct Remembered {
    /// In a sentence.
    says: String,
    /// What became of it: kept, doubted, corroborated, known or echo.
    outcome: String,
    /// The record that holds it.
    record: String,
    /// What contradicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
}

struct Remember {
    agent: AgentHandle,
    space: Handle,
}

#[skill(
    tags = ["memory"],
    examples = ["remember that {text}", "remember {text}"],
    own_state,
    idempotent,
    replayable
)]
impl Remember {
    /// Keeps something in the long term, with who said it and why. What is known already is confirmed.
    async fn run(&self, input: RememberInput, ctx: Context) -> Result<Remembered, SkillError> {
        let source = self.source(&input.text, &ctx).await?;
        let context = input
            .context
            .unwrap_or_else(|| "what was asked to be remembered".to_owned());
        let why = input.why.unwrap_or_else(|| "it was asked for".to_owned());
        let reason = Reason::new(source.clone(), input.confidence, context, why);
        let reason = reason.map_err(|lacking| SkillError::coded("reason", lacking.to_string()))?;
        let text = input.text.trim();
        let text = text.strip_prefix("that ").unwrap_or(text).to_owned();
        let mut content = Content::text(text.clone());
        content.task = Some(ctx.task_id());
        content.source = Some(source);
        let keep = Keep {
            content,
            ..Keep::belief("", reason)
        };
        let outcome = self
            .space
            .keep(keep)
            .await
            .map_err(|error| failed(&error))?;
        let against = match &outcome {
            Outcome::Doubted(id) => crate::turn::against(&self.space, id).await,
            _ => None,
        };
        let says = match (&outcome, &against) {
            (Outcome::Kept(_), _) => format!("I will remember: {text}"),
            (Outcome::Doubted(_), Some(against)) => {
                format!("I note it, in doubt, because I hold: {against}")
            }
            (Outcome::Doubted(_), None) => "I note it, in doubt.".to_owned(),
            (Outcome::Corroborated(_), _) => "I knew that, and am surer now.".to_owned(),
            _ => "I knew that already.".to_owned(),
        };
        Ok(Remembered {
            says,
            outcome: outcome.name().to_owned(),
            record: outcome.id().to_string(),
            against,
        })
    }
}

impl Remember {
    /// The source of a text: the caller, if the caller calls the skill or said so word for word; otherwise the agent came to it by
    /// itself, and that is not their word.
    async fn source(&self, text: &str, ctx: &Context) -> Result<String, SkillError> {
        let (task, text) = (ctx.task_id(), text.to_owned());
        let said = self.agent.look(move |life, _| {
            let turn = life.context().turns.get(&task)?;
            let heard = &turn.heard;
            let source = crate::step::source(heard.origin, &heard.from);
            Some(text::says(&heard.text, &text).then_some(source))
        });
        Ok(match said.await? {
            None => format!("user:{}", ctx.caller()),
            Some(Some(source)) => source,
            Some(None) => "own".to_owned(),
        })
    }
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct RecallInput {
    /// What to look for, in any words.
    question: String,
    /// At most so many.
    #[serde(default = "few")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn few() -> usize {
    5
}

struct RecallSkill {
    agent: AgentHandle,
}

#[skill(
    id = "recall",
    tags = ["memory"],
    examples = ["recall {question}", "what do you know about {question}"],
    read_only,
    idempotent,
    replayable
)]
impl RecallSkill {
    /// Looks for what is remembered, and says who it is from and how sure it is.
    async fn run(&self, input: RecallInput) -> Result<String, SkillError> {
        let mut recall = Recall::new(input.question);
        recall.limit = input.limit;
        recall.noted = Noted::Use;
        // What it holds comes first. What was only seen counts where it holds nothing.
        recall.layers = vec![Layer::Axiom, Layer::Belief, Layer::Procedure];
        let spaces = self.agent.population.0.spaces(&self.agent.id);
        let held = crate::turn::found(&spaces, &recall).await;
        let mut found = held.map_err(|error| failed(&error))?;
        if found.is_empty() {
            recall.layers.clear();
            let seen = crate::turn::found(&spaces, &recall).await;
            found = seen.map_err(|error| failed(&error))?;
        }
        if found.is_empty() {
            return Ok("I remember nothing about that.".to_owned());
        }
        let lines = found.iter().map(|found| {
            let sure = found
                .confidence
                .map_or_else(String::new, |it| format!(", {it:.2} sure"));
            let doubt = if found.doubted { ", in doubt" } else { "" };
            format!(
                "{} ({} from {}{sure}{doubt})",
                text::bounded(&found.text, 500),
                found.layer.name(),
                found.source
            )
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
}

fn failed(error: &memory::Error) -> SkillError {
    SkillError::coded("memory", error.to_string())
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct AskAgentInput {
    /// What the other agent is asked.
    request: String,
    /// Which agent; left out, the law of this agent chooses.
    #[serde(default)]
    agent: Option<String>,
}

struct AskAgent {
    agent: AgentHandle,
    others: Vec<String>,
}

#[skill(
    name = "Ask an agent",
    tags = ["agents"],
    examples = ["ask {agent} to {request}"],
    own_state,
    open_world,
    replayable
)]
impl AskAgent {
    /// Asks another agent, and gives what it says.
    async fn run(&self, input: AskAgentInput, ctx: Context) -> Result<String, SkillError> {
        let law = self.agent.law().await?;
        let named = input.agent.filter(|name| !name.trim().is_empty());
        let agent = named
            .or_else(|| crate::law::choose(&law, &input.request))
            .ok_or_else(|| {
                let names = self.others.join(", ");
                SkillError::coded("which-agent", format!("say which agent to ask: {names}"))
            })?;
        // An agent may be named as on its card: "Scout" is "scout".
        let label = skill::to_label(&agent);
        let mut others = self.others.iter();
        let Some(agent) = others.find(|it| **it == agent || **it == label).cloned() else {
            let why = match self.others.is_empty() {
                true => format!("there is no other agent {agent:?}: this one is alone"),
                false => {
                    let names = self.others.join(", ");
                    format!("there is no other agent {agent:?}; there are {names}")
                }
            };
            return Err(SkillError::coded("agent", why));
        };
        let (own, depth) = self.from(&ctx).await?;
        if depth > limits::DEPTH {
            let why = format!("more than {} agents have asked each other", limits::DEPTH);
            return Err(SkillError::coded("too-deep", why));
        }
        let (mut text, mut task) = (input.request, None);
        for round in 0..QUESTIONS {
            let id = format!("{}/{}/{round}", ctx.task_id(), ctx.scope());
            let asked = async {
                let request = Delegation {
                    id,
                    text,
                    task,
                    depth,
                    person: ctx.speaker(),
                };
                let said = ctx
                    .waiting(self.tasks().ask(&self.agent.id, &agent, request))
                    .await;
                said.map_err(|error| SkillError::coded("agent", error.to_string()))
            };
            let (asks, of) = match ctx.once(&format!("asked-{round}"), asked).await? {
                DelegateReply::Answer(text) => return Ok(text),
                DelegateReply::NotApproved(why) => return Err(SkillError::NotApproved(why)),
                DelegateReply::Refused(why) => return Err(SkillError::Refused(why)),
                DelegateReply::Failed(why) => return Err(SkillError::coded("agent", why)),
                DelegateReply::Question { text, task } => (text, task),
            };
            let begun = Begun {
                tasks: self.tasks(),
                by: &self.agent.id,
                agent: &agent,
                task: &of,
                ctx: &ctx,
            };
            if own {
                begun.cancel().await;
                let why = format!("nobody is there to answer what {agent} asks: {asks}");
                return Err(SkillError::Refused(why));
            }
            // The question is passed on to the caller: this agent has no answer to it.
            let told = ctx.ask_while(form(), format!("{agent} asks: {asks}")).await;
            let Some(told) = told? else {
                begun.cancel().await;
                let why = format!("nobody answered in time what {agent} asks");
                return Err(SkillError::Refused(why));
            };
            drop(begun);
            text = match told.get("answer").and_then(serde_json::Value::as_str) {
                Some(answer) => answer.to_owned(),
                // A form of the other agent's, filled in.
                None => told.to_string(),
            };
            task = Some(of);
        }
        let why = format!("{agent} has asked {QUESTIONS} times");
        Err(SkillError::coded("agent", why))
    }
}

impl AskAgent {
    fn tasks(&self) -> &Tasks {
        &self.agent.population.0.tasks
    }

    /// Whether the agent asks by itself, and how many agents have asked each other with this.
    async fn from(&self, ctx: &Context) -> Result<(bool, u8), SkillError> {
        let task = ctx.task_id();
        let heard = self.agent.look(move |life, _| {
            let turn = life.context().turns.get(&task)?;
            Some((turn.heard.origin == Origin::Own, turn.heard.depth))
        });
        let (own, depth) = heard.await?.unwrap_or_default();
        Ok((own, depth.saturating_add(1)))
    }
}

/// A task of another agent that waits for an answer. It is cancelled when the task that began it is over.
struct Begun<'a> {
    tasks: &'a Tasks,
    by: &'a str,
    agent: &'a str,
    task: &'a str,
    ctx: &'a Context,
}

impl Begun<'_> {
    async fn cancel(&self) {
        self.tasks.cancel(self.by, self.agent, self.task).await;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.ctx.is_over() {
            self.tasks.cancel_later(self.by, self.agent, self.task);
        }
    }
}

/// What may be said to another agent: a text, or what its own form wants.
fn form() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "answer": { "type": "string", "description": "What the other agent is told." } },
    })
}

/// How often another agent may ask back.
const QUESTIONS: usize = 8;
