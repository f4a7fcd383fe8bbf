//! The stored form of an event of an agent's journal, as far as facts are made of it: borrowed from the bytes of the store,
//! with values that are only read when they are needed.
//!
//! The form is that of the crate `agent` (`Record`), which keeps old journals readable; a test of `workspace` reads all frozen
//! journals with both.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A record: an event and its changes.
#[derive(Debug, Deserialize)]
pub(crate) struct Stored<'a> {
    #[serde(borrow)]
    pub(crate) event: StoredEvent<'a>,
    #[serde(borrow, default)]
    pub(crate) changes: Vec<StoredChange<'a>>,
}

/// An event; which members it has depends on its kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StoredEvent<'a> {
    pub(crate) at: i64,
    #[serde(borrow)]
    pub(crate) event: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) turn: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) conversation: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) caller: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) from: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) by: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) origin: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) skill: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) problem: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) refused: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) ordered_by: Option<Cow<'a, str>>,
    pub(crate) effect: Option<u64>,
    pub(crate) approval: Option<u64>,
    pub(crate) tokens: Option<u64>,
    #[serde(borrow)]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) outcome: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) outcomes: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) edit: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) decision: Option<&'a RawValue>,
}

/// A change; which members it has depends on its kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StoredChange<'a> {
    #[serde(borrow)]
    pub(crate) change: Cow<'a, str>,
    /// The id of a task, or the whole turn.
    #[serde(borrow)]
    pub(crate) turn: Option<&'a RawValue>,
    pub(crate) call: Option<usize>,
    #[serde(borrow)]
    pub(crate) pending: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) round: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) outcome: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) answer: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) approval: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) grant: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) step: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) standing: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) abilities: Option<&'a RawValue>,
}

/// An effect that is wanted.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredPending<'a> {
    #[serde(borrow)]
    pub(crate) wish: StoredIntent<'a>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct StoredIntent<'a> {
    pub(crate) id: u64,
    #[serde(borrow, default)]
    pub(crate) turn: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) effect: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) skill: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) candidates: Option<&'a RawValue>,
}

/// The calls of a thought.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredRound<'a> {
    #[serde(borrow, default)]
    pub(crate) calls: Vec<StoredCall<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct StoredCall<'a> {
    #[serde(borrow)]
    pub(crate) skill: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) input: &'a RawValue,
}

/// The answer to a request.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredAnswer<'a> {
    #[serde(borrow, default)]
    pub(crate) text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) end: Cow<'a, str>,
}

/// An approval that is asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredApproval<'a> {
    pub(crate) id: u64,
    #[serde(borrow)]
    pub(crate) turn: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) skill: Cow<'a, str>,
}

/// A grant that counts for further calls.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredGrant<'a> {
    #[serde(borrow)]
    pub(crate) skill: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) by: Cow<'a, str>,
}

/// A change of a law.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredEdit<'a> {
    #[serde(borrow, default)]
    pub(crate) target: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) justification: Cow<'a, str>,
}

/// A part of a record, if it has the form that is expected of it.
pub(crate) fn part<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}
