//! The skills that an agent has of itself: to remember, to recall and to forget, to remind, to tell about itself, and to ask
//! other agents.

use memory::{Content, Draft, Lasting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skill::{Context, Registry, SkillError, SkillInput, skill};

use crate::delegate::{DelegateReply, Delegation, Tasks};
use crate::error::KeepError;
use crate::event::MemoryOutcome;
use crate::handle::AgentHandle;
use crate::keeping::Offer;
use crate::law::Origin;
use crate::{limits, message, text};

mod about;
mod board;
mod forget;
mod recall;
mod remind;

/// The skills of this agent.
pub(crate) fn of(agent: &AgentHandle) -> Registry {
    let memory = agent.population.0.parts.memory.as_ref();
    if memory.is_none() {
        return Registry::new();
    }
    let remember = Remember {
        agent: agent.clone(),
    };
    let skills = Registry::new().with(remember);
    skills
        .and_then(|skills| skills.with(recall::RecallSkill::of(agent)))
        .and_then(|skills| skills.with(forget::Forget::of(agent)))
        .and_then(|skills| skills.merge(&remind::of(agent)))
        .and_then(|skills| skills.with(about::About::of(agent)))
        .and_then(|skills| skills.merge(&board::of(agent)))
        .expect("their ids are different")
}

/// Whether a text is a moment and nothing else, as `in 10 minutes` is.
pub(crate) fn is_moment(text: &str) -> bool {
    remind::is_moment(text)
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
    /// The question that it answers. A person who asks to remember something need not give it.
    #[serde(default)]
    context: Option<String>,
    /// Why it is worth remembering. A person who asks to remember something need not give it.
    #[serde(default)]
    why: Option<String>,
    /// Whether to ask the person first: for what they said without asking to have it remembered.
    #[serde(default)]
    ask: bool,
    /// Whether all callers of this agent may see it. Otherwise only its caller does, and those who may read all.
    #[serde(default)]
    public: bool,
}

fn sure() -> f64 {
    0.9
}

#[derive(Serialize, JsonSchema)]
struct Remembered {
    /// In a sentence.
    says: String,
    /// What became of it: kept, supposed, doubted, corroborated, known, echo, observed or declined.
    outcome: String,
    /// The record that holds it.
    record: String,
    /// What contradicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
}

struct Remember {
    agent: AgentHandle,
}

#[skill(
    tags = ["memory"],
    examples = ["remember that {text}", "remember {text}"],
    permission = "remember",
    own_state,
    idempotent,
    replayable
)]
impl Remember {
    /// Keeps something in the long term, with who said it and why. What is known already is confirmed. Unless a person
    /// asks for it in these words, say in `context` which question it answers and in `why` why it is worth remembering.
    async fn run(&self, input: RememberInput, ctx: Context) -> Result<Remembered, SkillError> {
        let text = input.text.trim();
        let text = text.strip_prefix("that ").unwrap_or(text).trim().to_owned();
        let mut word = self.word(&text, &ctx).await?;
        // An agent is not asked what a person would be: its words are logged as every message is.
        if input.ask && word.source.starts_with("agent:") {
            return Ok(Remembered {
                says: format!("I note it, and do not hold on to it: {text}"),
                outcome: MemoryOutcome::Observed.name().to_owned(),
                record: String::new(),
                against: None,
            });
        }
        if input.ask {
            if !agrees(&ctx, offered(&text)).await? {
                return Ok(Remembered {
                    says: "Then I do not keep it.".to_owned(),
                    outcome: "declined".to_owned(),
                    record: String::new(),
                    against: None,
                });
            }
            // The yes makes it a request to remember it.
            let asked = format!("remember that {text}");
            word.asked
                .get_or_insert_with(|| text::bounded(&asked, limits::LINE));
        }
        let asked = word.asked.as_deref();
        let given = |part: Option<String>| part.filter(|it| !it.trim().is_empty());
        let context = given(input.context).or_else(|| asked.map(str::to_owned));
        let why = given(input.why).or_else(|| asked.map(|_| word.why.clone()));
        let draft = Draft {
            source: Some(word.source.clone()),
            confidence: Some(input.confidence),
            context,
            why,
        };
        let reason = draft.complete().map_err(|lacking| {
            let message = format!(
                "not remembered, its reason is incomplete: {lacking}. Say which question it answers (context) and why it \
                 is worth remembering (why)"
            );
            SkillError::coded("reason", message)
        })?;
        let mut content = Content::text(text.clone());
        content.task = Some(ctx.task_id());
        content.source = Some(word.source);
        content.public = input.public;
        let offer = Offer {
            content,
            lasting: Some((Lasting::Belief, reason)),
            from: Vec::new(),
        };
        let stored = self
            .agent
            .store(&ctx.caller(), offer)
            .await
            .map_err(not_kept)?;
        let against = stored.contradicts.into_iter().map(|(_, text)| text).next();
        let mut says = match stored.outcome {
            MemoryOutcome::Kept => format!("I will remember: {text}"),
            MemoryOutcome::Supposed => {
                format!("I note it as a hypothesis, until another source confirms it: {text}")
            }
            MemoryOutcome::Observed => {
                format!(
                    "I note it, and do not hold on to it: my law keeps it as an observation: {text}"
                )
            }
            MemoryOutcome::Doubted => "I note it, in doubt.".to_owned(),
            MemoryOutcome::Corroborated => "I knew that, and am surer now.".to_owned(),
            _ => "I knew that already.".to_owned(),
        };
        match (&against, stored.outcome) {
            (Some(against), MemoryOutcome::Doubted) => {
                says = format!("I note it, in doubt, because I hold: {against}");
            }
            (Some(against), _) => {
                says.push_str(&format!(
                    "\nThis contradicts what I held, which is in doubt now: {against}"
                ));
            }
            (None, _) => {}
        }
        Ok(Remembered {
            says,
            outcome: stored.outcome.name().to_owned(),
            record: stored.record.to_string(),
            against,
        })
    }
}

/// The question whether to remember something.
fn offered(text: &str) -> String {
    const NAME: &str = "my name is ";
    let begins = text
        .get(..NAME.len())
        .is_some_and(|it| it.eq_ignore_ascii_case(NAME));
    let name = text.get(NAME.len()..).filter(|_| begins);
    let met = name.and_then(|it| it.split([' ', ',', '.']).next());
    let met = met
        .filter(|it| !it.is_empty())
        .map(|it| format!("Nice to meet you, {it}. "));
    format!(
        "{}Shall I remember that? “{text}” Answer yes or no.",
        met.unwrap_or_default()
    )
}

/// Asks the caller something that takes a yes or no.
async fn agrees(ctx: &Context, question: String) -> Result<bool, SkillError> {
    let form = json!({
        "type": "object",
        "properties": { "answer": { "type": "string", "description": "Yes or no." } },
        "required": ["answer"],
    });
    let said = match ctx.ask_while(form, question).await {
        Ok(said) => said,
        Err(SkillError::Declined) => None,
        Err(error) => return Err(error),
    };
    let said = said.as_ref().and_then(|it| it["answer"].as_str());
    Ok(said.is_some_and(crate::answer::agrees))
}

/// Whose word a text is.
struct Word {
    source: String,
    /// The words in which it was asked to remember it.
    asked: Option<String>,
    /// Why it is remembered, if it was asked for.
    why: String,
}

impl Remember {
    /// The word of a text: the caller's, if the caller calls the skill or said so word for word; otherwise the agent came to
    /// it by itself, and that is not their word.
    async fn word(&self, text: &str, ctx: &Context) -> Result<Word, SkillError> {
        let (task, said) = (ctx.task_id(), text.to_owned());
        let found = self.agent.look(move |life, _| {
            let turn = life.context().turns.get(&task)?;
            let heard = &turn.heard;
            let source = crate::step::source(heard.origin, &heard.from);
            let word_for_word = text::says(&heard.text, &said);
            // An agent of this server asks in a letter, for the person whose request it passes on.
            let letter = matches!(
                heard.letter.as_ref().map(|it| &it.body),
                Some(message::Body::Request { .. })
            );
            let for_person = letter && crate::turn::is_principal(heard.caller());
            let asks = word_for_word
                && (heard.origin == Origin::User || for_person)
                && text::asks_to_remember(&heard.text);
            Some(Word {
                why: match (for_person, heard.person() == heard.caller()) {
                    (false, _) => ASKED.to_owned(),
                    (true, true) => format!("{} asked for it", heard.caller()),
                    (true, false) => {
                        format!("{} asked for it, for {}", heard.caller(), heard.person())
                    }
                },
                source: if word_for_word {
                    source
                } else {
                    "own".to_owned()
                },
                asked: asks.then(|| text::bounded(&heard.text, limits::LINE)),
            })
        });
        // The caller calls the skill by its name.
        Ok(found.await?.unwrap_or_else(|| Word {
            source: AgentHandle::source_of(&ctx.caller()),
            why: ASKED.to_owned(),
            asked: Some(text::bounded(
                &format!("remember that {text}"),
                limits::LINE,
            )),
        }))
    }
}

/// Why something is remembered that a person asked for.
const ASKED: &str = "they asked for it";

/// Why something was not remembered, as the error of a skill.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn not_kept(error: KeepError) -> SkillError {
    let code = match &error {
        KeepError::Discarded => "law",
        KeepError::NotKnowledge => "not-knowledge",
        _ => "memory",
    };
    SkillError::coded(code, format!("could not {error}"))
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct AskAgentInput {
    /// What the other agent is asked.
    request: String,
    /// Which agent; left out, the law of this agent chooses.
    #[serde(default)]
    agent: Option<String>,
}

/// What another agent said.
#[derive(Serialize, JsonSchema)]
struct Answered {
    /// Its words.
    says: String,
    /// The agent, by its id.
    agent: String,
    /// How sure that agent is, from 0 to 1.
    confidence: f64,
    /// Whether it did what it was asked.
    accepted: bool,
}

struct AskAgent {
    agent: AgentHandle,
    others: Vec<String>,
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
