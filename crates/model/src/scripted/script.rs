//! The script of a model.

use std::time::Duration;

use serde_json::Value;

use crate::error::Error;
use crate::reply::{End, Usage};
use crate::request::Call;

/// The reply to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub(super) steps: Vec<Step>,
    end: Option<End>,
    is_cut: bool,
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Text(String),
    Reasoning(String),
    Call(Call),
    Usage(Usage),
    End(End),
    /// The reply fails here; steps behind it are not played.
    Fail(Failure),
}

/// How a turn fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    Auth,
    /// With the time to wait, if the provider says it.
    RateLimited(Option<Duration>),
    Refused,
    Server,
    /// A frame that is not of the protocol.
    Malformed,
    Cut,
    /// The body ends in good order, without the end marker.
    Stop,
    /// The connection stays open, and nothing arrives.
    Silence,
}

impl Turn {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new().say(text)
    }

    pub fn fails(failure: Failure) -> Self {
        Self::new().fail(failure)
    }

    pub fn calls(name: impl Into<String>, arguments: Value) -> Self {
        Self::new().call(name, arguments)
    }

    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    #[must_use]
    pub fn reason(self, text: impl Into<String>) -> Self {
        self.step(Step::Reasoning(text.into()))
    }

    /// Adds a call with the id `call-N`, where N counts the calls of the turn.
    #[must_use]
    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        let id = format!("call-{}", self.count());
        let name = name.into();
        self.step(Step::Call(Call {
            id,
            name,
            arguments,
        }))
    }

    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.step(Step::Usage(Usage::new(input, output)))
    }

    #[must_use]
    pub fn fail(self, failure: Failure) -> Self {
        self.step(Step::Fail(failure))
    }

    /// Sets the end, in place of the one that follows from the steps.
    #[must_use]
    pub fn ending(mut self, end: End) -> Self {
        self.end = Some(end);
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn count(&self) -> usize {
        let calls = self.steps.iter();
        calls.filter(|step| matches!(step, Step::Call(_))).count()
    }

    /// Removes the failure and the steps behind it, and the end.
    pub(super) fn cut_at_failure(&mut self) -> Option<Failure> {
        let mut steps = self.steps.iter().enumerate();
        let (at, failure) = steps.find_map(|(at, step)| Some((at, step.failure()?)))?;
        self.steps.truncate(at);
        self.is_cut = true;
        Some(failure)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn said_end(&self) -> Option<End> {
        (!self.is_cut).then(|| self.end())
    }

    pub(super) fn last_usage(&self) -> Usage {
        let mut usages = self.steps.iter().rev().filter_map(|step| match step {
            Step::Usage(usage) => Some(*usage),
            _ => None,
        });
        usages.next().unwrap_or_default()
    }

    pub(super) fn end(&self) -> End {
        let suggested = match self.count() {
            0 => End::Said,
            _ => End::Calls,
        };
        self.end.unwrap_or(suggested)
    }
}

impl Step {
    fn failure(&self) -> Option<Failure> {
        match self {
            Self::Fail(failure) => Some(*failure),
            _ => None,
        }
    }
}

impl Failure {
    /// The error that the caller sees.
    pub(super) fn error(self) -> Error {
        let why = "as the script says".to_owned();
        match self {
            Self::Auth => Error::Auth(why),
            Self::RateLimited(retry_after) => Error::RateLimited {
                retry_after,
                message: why,
            },
            Self::Refused => Error::Refused(why),
            Self::Server => Error::Server(why),
            Self::Malformed => Error::Malformed(why),
            Self::Cut | Self::Stop | Self::Silence => Error::Cut(why),
        }
    }
}
