//! The skill `remember`: keeps something in the long term, if the law and its caller agree.

use memory::{Content, Draft, Lasting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::{Context, SkillError, SkillInput, skill};

use super::agrees;
use crate::error::KeepError;
use crate::event::MemoryOutcome;
use crate::handle::AgentHandle;
use crate::keeping::MemoryInput;
use crate::law::Origin;
use crate::message::Body;
use crate::{limits, text};

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(super) struct RememberInput {
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
pub(super) struct Remembered {
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

pub(super) struct Remember {
    pub(super) agent: AgentHandle,
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
        let offer = MemoryInput {
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
        "{}Shall I remember that? “{text}” ",
        met.unwrap_or_default()
    )
}

/// The source of a text that is to be remembered.
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
        let found = self.agent.look(move |state, _| {
            let turn = state.context().turns.get(task.as_str())?;
            let heard = &turn.heard;
            let source = crate::step::source(heard.origin, &heard.from);
            let word_for_word = text::says(&heard.text, &said);
            // An agent of this server asks in a letter, for the person whose request it passes on.
            let letter = matches!(
                heard.letter.as_ref().map(|it| &it.body),
                Some(Body::Request { .. })
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
