//! The journal as people read it: events in words, followed from any of them on, the state at an event, and what a model was
//! shown. Everything is read: nothing is done again.

use model::{Message, Request as ModelRequest};
use serde::Serialize;
use serde_json::{Map, Value, json};
use skill::{QuestionAnswer, Registry};
use store::Follow;

use crate::approval::{Decision, Remember};
use crate::context::{Change, Outcome};
use crate::error::Error;
use crate::event::{Effect, EventKind, TurnId};
use crate::handle::AgentHandle;
use crate::journal::{self, Record};
use crate::prompt;
use crate::step::AgentState;
use crate::text::{bounded, in_words};
use crate::why::{self, Because};

/// How many records are read at once.
const PAGE: usize = 256;

/// The longest sentence about an event, in bytes.
const SENTENCE: usize = 300;

/// The longest text in the data of an event, where it is one of many.
const TEXT: usize = 2_000;

/// A follower of a journal: all records after an event, then those to come.
#[derive(Debug)]
pub struct JournalFollow(Follow);

impl JournalFollow {
    /// Waits for the next records, each with its number. None when the store is closed.
    pub async fn next(&mut self) -> Option<Result<Vec<(u64, Record)>, Error>> {
        let entries = match self.0.next_many(PAGE).await? {
            Ok(entries) => entries,
            Err(error) => return Some(Err(error.into())),
        };
        let records = entries.iter();
        let records = records.map(|it| Ok((it.sequence(), journal::read(it.payload())?)));
        Some(records.collect())
    }
}

/// A prompt that a model was shown, as data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownPrompt {
    pub system: String,
    /// Each with its `role` and `text`; those of the model with its `calls`.
    pub messages: Vec<Value>,
    /// The tools that it could call: name, description and input.
    pub tools: Vec<Value>,
}

impl ShownPrompt {
    fn of(request: &ModelRequest) -> Self {
        let tools = request
            .tools
            .iter()
            .map(|it| json!({ "name": it.name, "description": it.description, "input": it.input }));
        Self {
            system: request.system.clone().unwrap_or_default(),
            messages: request.messages.iter().map(message).collect(),
            tools: tools.collect(),
        }
    }
}

/// A message as a model is shown it.
fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "text": text }),
        Message::Quoted(quotation) => json!({ "role": "user", "text": quotation.shown() }),
        Message::Model(said) => {
            let calls = said.calls.iter();
            let calls = calls.map(|it| json!({ "name": it.name, "input": it.arguments }));
            json!({ "role": "model", "text": said.text, "calls": calls.collect::<Vec<_>>() })
        }
        Message::Result(result) => {
            json!({ "role": "result", "tool": result.name, "text": result.content })
        }
        // A kind that is new in the crate of models.
        _ => Value::Null,
    }
}

impl AgentHandle {
    /// Follows the journal: the records after this event, then those to come.
    pub async fn follow(&self, after: u64) -> Result<JournalFollow, Error> {
        self.flush().await?;
        let store = &self.population.0.parts.store;
        Ok(JournalFollow(
            store.follow(&journal::stream(&self.id), after),
        ))
    }

    /// The record of an event, if there is one.
    pub async fn record(&self, event: u64) -> Result<Option<Record>, Error> {
        let Some(before) = event.checked_sub(1) else {
            return Ok(None);
        };
        self.flush().await?;
        let mut found = self.records(before, 1).await?;
        let found = found.pop().filter(|(number, _)| *number == event);
        Ok(found.map(|(_, record)| record))
    }

    /// The state that its journal adds up to, up to an event and including it.
    pub async fn state_at(&self, event: u64) -> Result<AgentState, Error> {
        self.flush().await?;
        let store = &self.population.0.parts.store;
        journal::state_at(store, &self.id, event).await
    }

    /// What the model was shown for the thought of this event; none if the event is no thought. `skills` are those that it
    /// has.
    pub async fn prompt_at(
        &self,
        event: u64,
        skills: &Registry,
    ) -> Result<Option<ShownPrompt>, Error> {
        let Some(record) = self.record(event).await? else {
            return Ok(None);
        };
        let EventKind::Thought { effect, .. } = record.event.what else {
            return Ok(None);
        };
        let life = self.state_at(event - 1).await?;
        let pending = life.context().intents.get(&effect);
        let turn = pending.and_then(|it| it.intent.turn.clone());
        let brief = turn.and_then(|turn| prompt::brief(&life, &turn));
        Ok(brief.map(|brief| ShownPrompt::of(&prompt::request(&brief, skills))))
    }

    /// Why an event happened: what is known of the request or of the law that it is about.
    pub async fn why_event(&self, event: u64) -> Result<Vec<Because>, Error> {
        Ok(why::explain_event(&self.history().await?, event))
    }
}

impl AgentState {
    /// The law in force.
    pub fn own_law(&self) -> &crate::law::Law {
        &self.law
    }

    /// The version of its law.
    pub fn law_version(&self) -> u64 {
        self.context.law_version
    }

    /// The requests that wait for their turn, the next one first, with how much they matter; and how many it works on.
    pub fn queue(&self) -> (Vec<(String, u8)>, usize) {
        let queue = self.context.queue().into_iter();
        let queue = queue.map(|(id, priority)| (id.to_owned(), priority));
        (queue.collect(), self.context.busy())
    }

    /// Plans for the requests that it works on.
    pub fn plans(&self) -> Vec<crate::plan::Plan> {
        self.context.plans(&self.law)
    }
}

impl Record {
    /// The kind of its event, as it is written.
    pub fn kind(&self) -> String {
        let written = serde_json::to_value(&self.event.what).unwrap_or_default();
        written["event"].as_str().unwrap_or_default().to_owned()
    }

    /// The request that it is about, if it is about one.
    pub fn turn(&self) -> Option<&str> {
        let turn = match &self.event.what {
            EventKind::Heard(heard) => Some(&heard.turn),
            EventKind::Wanted { turn, .. }
            | EventKind::Called { turn, .. }
            | EventKind::Asked { turn, .. }
            | EventKind::Answered { turn, .. }
            | EventKind::Closed { turn }
            | EventKind::Cancelled { turn } => Some(turn),
            _ => None,
        };
        let turn = turn.or_else(|| self.changes.iter().find_map(turn_of));
        turn.map(TurnId::as_str)
    }

    /// Its event as data. `whole` false: long texts are cut.
    pub fn data(&self, whole: bool) -> Value {
        let mut data = serde_json::to_value(&self.event.what).unwrap_or_default();
        if let Value::Object(members) = &mut data {
            members.remove("event");
        }
        if !whole {
            cut(&mut data);
        }
        data
    }

    /// The event in a sentence.
    pub fn sentence(&self) -> String {
        bounded(&self.words(), SENTENCE)
    }

    fn words(&self) -> String {
        match &self.event.what {
            EventKind::Born { identity, .. } => format!("{} began", identity.name),
            EventKind::Enabled { abilities } => format!("it has {} skills", abilities.len()),
            EventKind::Heard(heard) => format!("{} asked: {}", heard.caller(), heard.text),
            EventKind::Recalled { found, .. } => match found.first() {
                Some(best) => {
                    format!("remembered {}, first: {}", records(found.len()), best.text)
                }
                None => "remembered nothing about it".to_owned(),
            },
            EventKind::Thought { text, calls, .. } => match calls.first() {
                Some(call) => {
                    let more = calls.len() - 1;
                    let more = (more > 0).then(|| format!(" and {more} more"));
                    format!("decided to call {}{}", call.skill, more.unwrap_or_default())
                }
                None => format!("decided to say: {text}"),
            },
            EventKind::Done { output, .. } => format!("a call gave: {}", in_words(output)),
            EventKind::Failed { message, .. } => format!("it could not be done: {message}"),
            EventKind::Wanted { skill, by, .. } => {
                let asks = |it: &Change| matches!(it, Change::Asked { .. } | Change::Shown { .. });
                match self.changes.iter().any(asks) {
                    true => format!("asked whether it may call {skill} for {by}"),
                    false => format!("is about to call {skill} for {by}"),
                }
            }
            EventKind::Called {
                skill, by, outcome, ..
            } => match outcome {
                Outcome::Gave(output) => format!("{by} called {skill}: {}", in_words(output)),
                Outcome::Failed(_, why) => format!("{by} called {skill}, which failed: {why}"),
            },
            EventKind::Asked { question, .. } => format!("asked: {}", question.message),
            EventKind::Answered { answer, by, .. } => match answer {
                QuestionAnswer::Given(answer) => {
                    let words = answer.get("answer").unwrap_or(answer);
                    format!("{by} answered: {}", in_words(words))
                }
                QuestionAnswer::Declined => format!("{by} declined to answer"),
            },
            EventKind::Closed { .. } => "a task ended, and its questions".to_owned(),
            EventKind::Decided { decision, by, .. } => format!("{by} {}", decided(decision)),
            EventKind::Revoked { grant, by } => format!("{by} ended the grant {grant}"),
            EventKind::Clarified { text, .. } => match text {
                Some(text) => format!("the caller answered: {text}"),
                None => "the caller declined to answer".to_owned(),
            },
            EventKind::Remembered { outcomes, .. } => {
                format!("put {} into memory", records(outcomes.len()))
            }
            EventKind::Storing { by, .. } => format!("{by} has it remember something"),
            EventKind::Stored { by, items } => {
                format!("{by} had it remember {}", records(items.len()))
            }
            EventKind::Forgot { by, record, why } => {
                format!("{by} had it forget the record {record}: {why}")
            }
            EventKind::Cancelled { .. } => "the caller cancelled the request".to_owned(),
            EventKind::Paused => "it was told to stop where it is".to_owned(),
            EventKind::Resumed => "it was told to go on".to_owned(),
            EventKind::Ticked => "time has passed".to_owned(),
            EventKind::Proposed { edit, by, .. } => {
                format!(
                    "{by} proposed to change {}: {}",
                    edit.target, edit.justification
                )
            }
            EventKind::Tested { proposal, test, .. } => {
                let figures = &test.figures;
                format!(
                    "tested proposal {proposal}: {} better, {} worse, {} the same",
                    figures.better, figures.worse, figures.same
                )
            }
            EventKind::Weighed { .. } => "a proposal can be answered".to_owned(),
            EventKind::Retested { proposal } => {
                format!("proposal {proposal} is to be tested again")
            }
            EventKind::Reflected => {
                "it looked through its journal for changes of its law".to_owned()
            }
            EventKind::Ruled {
                proposal,
                by,
                approve,
                reason,
            } => match approve {
                true => format!("{by} adopted proposal {proposal}"),
                false => format!("{by} rejected proposal {proposal}: {reason}"),
            },
            EventKind::RolledBack { to, by, why, .. } => {
                format!("{by} put version {to} of the law in force again: {why}")
            }
            EventKind::Accepted { by, why, .. } => {
                format!("{by} accepted what the manifest says: {why}")
            }
            EventKind::Described { identity } => format!("it is called {}", identity.name),
            EventKind::Begun { .. } => "something of its own has been begun".to_owned(),
            EventKind::Broken { problem } => format!("it cannot go on: {problem}"),
        }
    }
}

fn records(count: usize) -> String {
    match count {
        1 => "1 record".to_owned(),
        count => format!("{count} records"),
    }
}

fn decided(decision: &Decision) -> String {
    match decision {
        Decision::Approve(Remember::Once) => "approved it".to_owned(),
        Decision::Approve(Remember::Session) => {
            "approved it, for the whole conversation".to_owned()
        }
        Decision::Approve(Remember::Prefix { field, prefix }) => {
            format!("approved it, and where {field} begins with {prefix}")
        }
        Decision::Reject(why) => format!("rejected it: {why}"),
        Decision::Modify(_) => "approved it with another input".to_owned(),
    }
}

/// The request that a change is about.
fn turn_of(change: &Change) -> Option<&TurnId> {
    match change {
        Change::Opened { turn } => Some(&turn.heard.turn),
        Change::Stage { turn, .. }
        | Change::Found { turn, .. }
        | Change::Procedure { turn, .. }
        | Change::Round { turn, .. }
        | Change::Calling { turn, .. }
        | Change::Outcome { turn, .. }
        | Change::Questioned { turn, .. }
        | Change::Replied { turn, .. }
        | Change::Taken { turn, .. }
        | Change::Closed { turn }
        | Change::Aside { turn, .. }
        | Change::Concluded { turn, .. }
        | Change::Ended { turn, .. }
        | Change::Agreed { turn, .. }
        | Change::Passed { turn, .. } => Some(turn),
        Change::Asked { approval } => Some(&approval.turn),
        Change::Intended { pending } => match &pending.intent.effect {
            // What is remembered afterwards is about the request before, too.
            Effect::Begin { .. } => None,
            _ => pending.intent.turn.as_ref(),
        },
        _ => None,
    }
}

/// Cuts long texts.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > TEXT => *text = bounded(text, TEXT),
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(members) => cut_members(members),
        _ => {}
    }
}

fn cut_members(members: &mut Map<String, Value>) {
    members.values_mut().for_each(cut);
}
