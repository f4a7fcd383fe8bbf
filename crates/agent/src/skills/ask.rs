//! The skill `ask-agent`: a request to another agent of the same server, and its questions on the way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skill::{Context, SkillError, SkillInput, skill};

use crate::delegate::{DelegateReply, Delegation, Tasks};
use crate::handle::AgentHandle;
use crate::law::Origin;
use crate::{limits, message};

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(super) struct AskAgentInput {
    /// What the other agent is asked.
    request: String,
    /// Which agent; left out, the law of this agent chooses.
    #[serde(default)]
    agent: Option<String>,
}

/// What another agent said.
#[derive(Serialize, JsonSchema)]
pub(super) struct Answered {
    /// Its words.
    says: String,
    /// The agent, by its id.
    agent: String,
    /// How sure that agent is, from 0 to 1.
    confidence: f64,
    /// Whether it did what it was asked.
    accepted: bool,
}

pub(super) struct AskAgent {
    pub(super) agent: AgentHandle,
    pub(super) others: Vec<String>,
}

#[skill(
    name = "Ask an agent",
    tags = ["agents"],
    examples = ["ask {agent} to {request}"],
    permission = "none",
    own_state,
    open_world,
    replayable
)]
impl AskAgent {
    /// Writes a request to another agent, and gives its answer.
    async fn run(&self, input: AskAgentInput, ctx: Context) -> Result<Answered, SkillError> {
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
                    place: (ctx.task_id(), ctx.scope().to_owned()),
                    on_behalf: ctx.caller().person().name().to_owned(),
                    permissions: ctx.caller().permissions(),
                };
                let said = ctx
                    .waiting(self.tasks().ask(&self.agent.id, &agent, request))
                    .await;
                said.map_err(|error| SkillError::coded("agent", error.to_string()))
            };
            let (asks, of) = match ctx.once(&format!("asked-{round}"), asked).await? {
                // One that writes no letters does not say how sure it is.
                DelegateReply::Answer(text) => {
                    return Ok(Answered {
                        says: text,
                        agent,
                        confidence: message::UNSAID,
                        accepted: true,
                    });
                }
                DelegateReply::Letter {
                    text,
                    accepted,
                    confidence,
                } => {
                    return Ok(Answered {
                        says: text,
                        agent,
                        confidence,
                        accepted,
                    });
                }
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
                let why = format!(
                    "agent {agent} asks a question, and this call has no caller to answer it: {asks}"
                );
                return Err(SkillError::Refused(why));
            }
            // The question is passed on to the caller: this agent has no answer to it.
            let told = ctx.ask_while(form(), format!("{agent} asks: {asks}")).await;
            let Some(told) = told? else {
                begun.cancel().await;
                let why = format!("the question of agent {agent} was not answered in time");
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
        let heard = self.agent.look(move |state, _| {
            let turn = state.context().turns.get(task.as_str())?;
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
