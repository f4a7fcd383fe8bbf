//! A turn: carries out the effects of an agent for one request, in the order of the agent's intents.
//!
//! The agent decides by its steps; here its intents are carried out with what the request brings along, and what comes
//! of them is told to the agent. perceive -> recall -> decide -> act -> remember, a file for each.

use std::collections::BTreeSet;
use std::sync::Arc;

use a2a::types::{Artifact, Message};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use skill::{Context, Outcome, Reply, SkillError, reply};
use tokio::sync::mpsc;

use crate::actor::{Job, Mail};
use crate::call::CallState;
use crate::event::{Effect, EffectId, End, EventKind, Intent, Recollection, TurnAnswer};
use crate::handle::AgentHandle;
use crate::law::Edit;
use crate::message::{self, Body, Letter};
use crate::mode::ChosenMode;
use crate::prompt::Brief;
use crate::text;

mod act;
mod decide;
mod perceive;
mod recall;
mod remember;

pub(crate) use act::words;
pub use perceive::{DEPTH, NOTE, OWN, PERSON, PRIORITY, principal};
pub(crate) use perceive::{PLACE, is_principal, person, speaker};
pub(crate) use recall::found;

/// How often in a row an agent is attached to that has nothing to say.
const PATIENCE: u8 = 3;

/// Answers a message. To begin again after a restart goes on where it was.
pub(crate) async fn run(
    agent: &AgentHandle,
    message: &Message,
    mode: Option<ChosenMode>,
    ctx: &Context,
    state: &CallState,
) -> Outcome {
    let heard = perceive::heard(agent, message, mode, ctx)?;
    let abilities = perceive::abilities(ctx.skills());
    let mut doing = FuturesUnordered::new();
    // What is being done: an agent that slept meanwhile wants it once more.
    let mut begun = BTreeSet::new();
    let mut silent = 0;
    let letter = heard.letter.clone();
    let mut recalled = Vec::new();
    while silent < PATIENCE {
        silent += 1;
        let (to, mut jobs) = mpsc::unbounded_channel();
        let (heard, abilities) = (heard.clone(), abilities.clone());
        let turn = heard.turn.clone();
        let attach = Mail::Attach {
            heard,
            abilities,
            to,
        };
        agent.population.0.send(&agent.id, attach).await?;
        loop {
            // Each message of the task brings another token: the one before an approval cancels nothing after it.
            let cancelled = ctx.cancelled();
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {
                    agent.perceive(EventKind::Cancelled { turn }).await?;
                    return Err(SkillError::Cancelled);
                }
                job = jobs.recv() => match job {
                    Some(Job::Do { intent, again, brief }) => {
                        silent = 0;
                        if begun.insert(intent.id) {
                            doing.push(perform(agent, ctx, state, intent, again, brief));
                        }
                    }
                    Some(Job::Say(answer)) => {
                        if let Some(letter) = &letter {
                            let answer = answered(agent, letter, &answer, &recalled);
                            ctx.artifact(answer).await?;
                        }
                        return said(answer);
                    }
                    // The actor has stopped.
                    None => break,
                },
                Some(what) = doing.next(), if !doing.is_empty() => {
                    let amends = matches!(what, EventKind::Proposed { .. });
                    if let EventKind::Recalled { found, .. } = &what {
                        recalled.clone_from(found);
                    }
                    agent.perceive(what).await?;
                    if amends {
                        agent.settle_print().await?;
                    }
                }
            }
        }
    }
    Err(SkillError::Interrupted("the agent has stopped".to_owned()))
}

/// Does one thing, and says what came of it.
async fn perform(
    agent: &AgentHandle,
    ctx: &Context,
    state: &CallState,
    intent: Intent,
    again: bool,
    brief: Option<Box<Brief>>,
) -> EventKind {
    let spaces = || agent.population.0.spaces(&agent.id, &ctx.caller());
    let effect = intent.id;
    match intent.effect {
        Effect::Recall { question, limit } => {
            recall::recall(&spaces(), effect, question, limit).await
        }
        Effect::Think => {
            let model = agent.population.0.model(&agent.id);
            // The share of the person is charged for whom the request is.
            let caller = ctx.caller().person().to_string();
            let model: Arc<dyn model::Model> = Arc::new(model::layer::Payer::new(model, caller));
            decide::think(&model, ctx, effect, brief).await
        }
        Effect::Call { skill, input } => act::call(ctx, state, effect, &skill, input, again).await,
        Effect::Clarify { question } => act::clarify(state, effect, question, again).await,
        Effect::Remember { candidates } => {
            let again = again || state.is_again();
            remember::remember(spaces().first(), effect, candidates, ctx, again).await
        }
        Effect::Amend {
            edit,
            by,
            ordered,
            evidence,
        } => amend(agent, effect, edit, by, ordered, evidence).await,
        Effect::Test { .. } => match agent.measure().await {
            Ok(()) => EventKind::Weighed { effect },
            Err(error) => EventKind::Failed {
                effect,
                code: "law".to_owned(),
                message: error.to_string(),
            },
        },
        Effect::Begin { .. } => EventKind::Begun { effect },
    }
}

/// Whether other agents stand against a change of the law; the agent's own step decides about the rest.
async fn amend(
    agent: &AgentHandle,
    effect: EffectId,
    edit: Edit,
    by: String,
    ordered: bool,
    evidence: Vec<u64>,
) -> EventKind {
    match agent.objection(&edit, &evidence, !ordered).await {
        Ok(refused) => EventKind::Proposed {
            edit,
            ordered_by: ordered.then(|| by.clone()),
            evidence,
            by,
            effect: Some(effect),
            refused: refused.map(|it| it.to_string()),
        },
        Err(error) => EventKind::Failed {
            effect,
            code: "law".to_owned(),
            message: error.to_string(),
        },
    }
}

/// The letter that answers one, as an artifact. The answer is as sure as what it repeats of memory.
fn answered(
    agent: &AgentHandle,
    letter: &Letter,
    answer: &TurnAnswer,
    recalled: &[Recollection],
) -> Artifact {
    let repeated = recalled
        .iter()
        .filter(|it| text::says(&answer.text, &it.text));
    let sure = repeated.filter_map(|it| it.confidence).reduce(f64::min);
    let to = letter.provenance.id.clone();
    let body = Body::Answer {
        accepted: answer.end == End::Answered,
        text: answer.text.clone(),
        confidence: Some(sure.unwrap_or(message::UNSAID)),
        to,
    };
    let id = uuid::Uuid::new_v4().to_string();
    let part = message::written(agent.id(), &id, body).part();
    Artifact {
        artifact_id: LETTER_ARTIFACT.to_owned(),
        name: LETTER_ARTIFACT.to_owned(),
        parts: vec![part],
        ..Artifact::default()
    }
}

/// The artifact that holds the answer to a letter.
const LETTER_ARTIFACT: &str = "letter";

/// What a task comes to.
fn said(answer: TurnAnswer) -> Outcome {
    match answer.end {
        End::Answered => Ok(Reply::Done(Value::String(answer.text))),
        End::Refused => Err(SkillError::Refused(answer.text)),
        End::Failed => Ok(reply::failure(answer.text).into()),
        End::NotApproved => Err(SkillError::NotApproved(answer.text)),
        End::Cancelled => Err(SkillError::Cancelled),
    }
}
