//! The skill `about`: what an agent says of itself, from its state and its journal.

use access::Permission;
use model::rules::Rules;
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

use crate::context::{Change, Outcome};
use crate::event::{Effect, EventKind};
use crate::handle::AgentHandle;
use crate::journal::Record;
use crate::text;

/// How many requests are told of.
const REQUESTS: usize = 10;

/// What to tell about.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Topic {
    /// Its name, and what it is.
    #[serde(rename = "self")]
    Identity,
    /// Whether it works, and what waits.
    Status,
    /// What it did for the caller.
    Doings,
    /// Why it did the last thing in this conversation.
    Why,
    /// The rules it decides by.
    Law,
    /// What it asks a person about.
    Approval,
    /// The agents of this server.
    Agents,
    /// Date and time.
    Time,
    /// The language model, and how to configure one.
    Model,
    /// Where it keeps what it is told.
    Data,
    /// What it reaches outside.
    Internet,
    /// How it is paused.
    Pause,
    /// How work is stopped.
    Stop,
    /// How a conversation is ended.
    Quit,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(super) struct AboutInput {
    /// What to tell about.
    topic: Topic,
}

/// The skill `about` of an agent.
pub(super) struct About {
    agent: AgentHandle,
}

impl About {
    pub(super) fn of(agent: &AgentHandle) -> Self {
        let agent = agent.clone();
        Self { agent }
    }
}

#[skill(
    name = "About this agent",
    tags = ["agent"],
    examples = ["who are you?", "why did you do that?", "what is your law?", "what time is it?"],
    permission = "none",
    read_only,
    idempotent,
    replayable
)]
impl About {
    /// Tells about this agent itself: who it is, its law, what it did for the caller and why, what it works on, which other
    /// agents there are, its model, its data, and what time it is.
    async fn run(&self, input: AboutInput, ctx: Context) -> Result<String, SkillError> {
        Ok(match input.topic {
            Topic::Identity => self.identity().await?,
            Topic::Status => self.status(&ctx).await?,
            Topic::Doings => self.doings(&ctx).await?,
            Topic::Why => self.why(&ctx).await?,
            Topic::Law => self.law(&ctx).await?,
            Topic::Approval => self.approval(&ctx),
            Topic::Agents => self.agents(&ctx),
            Topic::Time => super::remind::clock((self.agent.population.0.parts.clock)()),
            Topic::Model => self.model(),
            Topic::Data => DATA.to_owned(),
            Topic::Internet => INTERNET.to_owned(),
            Topic::Pause => PAUSE.to_owned(),
            Topic::Stop => STOP.to_owned(),
            Topic::Quit => QUIT.to_owned(),
        })
    }
}

const DATA: &str = "All that you tell me stays on the computer where this server runs: conversations, memory and journal are in \
    its data folder, your files are in the workspace. `monas config` shows both paths. Nothing is sent elsewhere, except \
    to a language model if one is configured (model.name).";

const INTERNET: &str = "No, I have no access to the internet. I reach the files of my workspace, and tools that an operator \
    connects to me (MCP servers in my manifest).";

const PAUSE: &str = "To pause me, an operator says `monas pause`, and `monas resume` to let me go on. I am not paused now: a \
    paused agent begins nothing, so it could not hear you.";

const STOP: &str = "Nothing of yours is running in this request. To stop a task that is under way, press Ctrl-C in the chat, or \
    say `monas task cancel` with its id; `monas pause` stops all of my work.";

const QUIT: &str = "To leave the chat, type /quit or press Ctrl-D; that ends the conversation on your side, and what you told me to \
    remember is kept. The server itself ends with Ctrl-C where it was started.";

/// How a model is configured, in a sentence.
const CONFIGURE: &str = "Set model.name in monas.toml (or MONAS_MODEL_NAME), such as \"ollama:gemma3\", \"openai:gpt-5-mini\" or \
    \"anthropic:claude-sonnet-4-5\"; model.key for an API key, and model.url for a server of your own. docs/models.md tells \
    more.";

impl About {
    /// The language model that thinks, if one is configured.
    fn language_model(&self) -> Option<String> {
        let model = self.agent.population.0.model(&self.agent.id);
        let name = model.name().to_owned();
        (name != model::Model::name(&Rules::default())).then_some(name)
    }

    fn model(&self) -> String {
        match self.language_model() {
            Some(name) => format!(
                "My language model is {name} (model.name). What it costs is limited by model.max_tokens and model.max_cost."
            ),
            None => {
                let offer = match self.agent.population.0.parts.offered_model.get() {
                    Some(found) => format!(" {found}"),
                    None => String::new(),
                };
                format!(
                    "No language model is configured, so I follow direct requests by rules, and do not understand the rest. \
                     Yes, you can connect one: Ollama on your own computer, OpenAI, Anthropic, Gemini, or a server that speaks \
                     like one of them. {CONFIGURE}{offer}"
                )
            }
        }
    }

    async fn identity(&self) -> Result<String, SkillError> {
        let identity = self
            .agent
            .look(|state, _| state.context().identity().clone())
            .await?;
        let version = env!("CARGO_PKG_VERSION");
        let mut says = format!(
            "I am {}, an agent: a program that runs on Monas {version}, a server for agents.",
            identity.name
        );
        let description = identity.description.trim();
        if !description.is_empty() {
            says.push(' ');
            says.push_str(description);
        }
        says.push_str(&match self.language_model() {
            Some(name) => format!(" I think with the language model {name}."),
            None => {
                " No language model is configured, so I follow direct requests by rules.".to_owned()
            }
        });
        says.push_str(" Say help for what I can do.");
        Ok(says)
    }

    async fn status(&self, ctx: &Context) -> Result<String, SkillError> {
        let status = self.agent.status().await?;
        let (caller, person) = (ctx.caller().to_string(), ctx.caller().person().to_string());
        // The request that asks this is one of those under way.
        let working = status.working.saturating_sub(1);
        let mut says = match (status.paused, working) {
            (true, _) => "I am paused: I finish what is under way and begin nothing.".to_owned(),
            (false, 0) => "I am running and idle: there is no request but this one.".to_owned(),
            (false, 1) => "I am running, and working on one other request.".to_owned(),
            (false, count) => format!("I am running, and working on {count} other requests."),
        };
        if !status.queue.is_empty() {
            says.push_str(&format!(" {} wait for their turn.", status.queue.len()));
        }
        let own = status.approvals.iter();
        let own = own.filter(|it| it.by == caller && it.person() == person);
        let own: Vec<String> = own.map(|it| it.skill.clone()).collect();
        if !own.is_empty() {
            says.push_str(&format!(
                " I wait for your yes or no about: {}.",
                own.join(", ")
            ));
        }
        if self.language_model().is_none() {
            says.push_str(" No language model is configured.");
        }
        Ok(says)
    }

    async fn law(&self, ctx: &Context) -> Result<String, SkillError> {
        let law = self.agent.law().await?;
        let offered = |prefix: &str| ctx.skills().iter().any(|it| it.id.starts_with(prefix));
        let mut lines: Vec<String> = law.frozen.axioms.clone();
        let asks = self.asks(ctx);
        if !asks.is_empty() {
            lines.push(format!("I ask before I use {}.", asks.join(", ")));
        }
        lines.extend(law.active("", offered));
        let lines: Vec<String> = lines.iter().map(|it| format!("- {it}")).collect();
        Ok(format!(
            "My law, as far as it bears on what I may do:\n{}\nThe whole of it: monas law show.",
            lines.join("\n")
        ))
    }

    /// The skills that a person agrees to before they are used.
    fn asks(&self, ctx: &Context) -> Vec<String> {
        let marked = ctx.skills().iter().filter(|it| it.traits.approval);
        marked.map(|it| it.id.clone()).collect()
    }

    fn approval(&self, ctx: &Context) -> String {
        match &*self.asks(ctx) {
            [] => "Yes: I ask before I use a skill that changes something for others, if my law says so.".to_owned(),
            asks => format!(
                "Yes: I show what I would do, and ask, before I use {}. You answer yes or no. My law says what else I ask \
                 about: say \"what is your law?\".",
                asks.join(", ")
            ),
        }
    }

    /// The agents of this server. Callers that do not operate it are not told of others: they may not be for everyone.
    fn agents(&self, ctx: &Context) -> String {
        let (own, population) = (&self.agent.id, &self.agent.population);
        let others = population.ids();
        let others: Vec<&str> = others
            .iter()
            .map(String::as_str)
            .filter(|it| it != own)
            .collect();
        match (ctx.caller().may(Permission::Operate), &*others) {
            (true, []) => format!("I am {own}, the only agent of this server."),
            (true, others) => format!(
                "I am {own}. The other agents of this server are {}. Say \"ask NAME to ...\" to have me ask one.",
                others.join(", ")
            ),
            (false, _) => format!("I am {own}. An operator sees all agents with `monas agents`."),
        }
    }

    /// The requests of the caller, and what was called for them.
    async fn doings(&self, ctx: &Context) -> Result<String, SkillError> {
        let (caller, task) = (ctx.caller(), ctx.task_id());
        // Another agent asks for several people, each of whom is told of their own requests.
        let (caller, person) = (caller.to_string(), caller.person().to_string());
        let history = self.agent.history().await?;
        let mut lines = Vec::new();
        for (_, record) in history.iter().rev() {
            let EventKind::Heard(heard) = &record.event.what else {
                continue;
            };
            if heard.caller() != caller || heard.person() != person || heard.turn == task {
                continue;
            }
            if lines.len() == REQUESTS {
                break;
            }
            let asked = text::quoted(&heard.text, 100);
            lines.push(match &*calls(&history, &heard.turn) {
                [] => format!("- You said {asked}; I answered."),
                calls => format!("- You said {asked}; I used {}.", calls.join(", ")),
            });
        }
        if lines.is_empty() {
            return Ok("Nothing for you yet: this is your first request.".to_owned());
        }
        lines.reverse();
        Ok(lines.join("\n"))
    }

    /// Why it did the last thing in this conversation.
    async fn why(&self, ctx: &Context) -> Result<String, SkillError> {
        let (caller, conversation) = (ctx.caller().to_string(), ctx.context_id());
        let explained = self.agent.why_last(&caller, &conversation).await?;
        Ok(match explained.known {
            true => format!("Because of what you asked:\n{}", explained.text()),
            false => "I have done nothing in this conversation yet.".to_owned(),
        })
    }
}

/// The skills that were called for a request, with what became of those that failed.
fn calls(history: &[(u64, Record)], turn: &str) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    for change in history.iter().flat_map(|(_, record)| &record.changes) {
        match change {
            Change::Intended { pending } if pending.intent.turn.as_deref() == Some(turn) => {
                if let Effect::Call { skill, .. } = &pending.intent.effect {
                    calls.push(skill.clone());
                }
            }
            Change::Outcome {
                turn: of,
                outcome: Outcome::Failed(..),
                ..
            } if of == turn => {
                if let Some(last) = calls.last_mut() {
                    last.push_str(" (without success)");
                }
            }
            _ => {}
        }
    }
    calls
}
