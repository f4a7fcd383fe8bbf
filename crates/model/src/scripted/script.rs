//! What a scripted model is told to say.

use std::time::Duration;

use serde_json::Value;

use crate::error::Error;
use crate::reply::{End, Usage};
use crate::request::Call;

/// What is said to one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub(super) steps: Vec<Step>,
    end: Option<End>,
    is_cut: bool,
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A piece of text.
    Text(String),
    /// A piece of reasoning.
    Reasoning(String),
    /// A call.
    Call(Call),
    /// What it cost so far.
    Usage(Usage),
    /// Nothing more comes.
    End(End),
    /// It goes wrong here. What follows is not played.
    Fail(Failure),
}

/// How a turn goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The key is refused.
    Auth,
    /// Too much was asked, and perhaps when to ask again is said.
    RateLimited(Option<Duration>),
    /// The request is refused.
    Refused,
    /// The other end fails.
    Server,
    /// Something comes that is no answer.
    Malformed,
    /// The connection breaks.
    Cut,
    /// What is said just stops, as if it were whole.
    Stop,
    /// Nothing comes any more.
    Silence,
}

impl Turn {
    /// A turn in which nothing is said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A turn that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().say(text)
    }

    /// A turn that goes wrong from the beginning.
    pub fn fails(failure: Failure) -> Self {
        Self::new().fail(failure)
    }

    /// A turn that is a call.
    pub fn calls(name: impl Into<String>, arguments: Value) -> Self {
        Self::new().call(name, arguments)
    }

    /// Then a piece of text.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    /// Then a piece of reasoning.
    #[must_use]
    pub fn reason(self, text: impl Into<String>) -> Self {
        self.step(Step::Reasoning(text.into()))
    }

    /// Then a call. Its id is `call-` and the place it has among the calls of the turn.
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

    /// Then what it cost so far.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.step(Step::Usage(Usage::new(input, output)))
    }

    /// Then it goes wrong.
    #[must_use]
    pub fn fail(self, failure: Failure) -> Self {
        self.step(Step::Fail(failure))
    }

    /// It ends like this, instead of as what was said suggests.
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

    /// Takes away the failure and what follows it. Nothing says then that the turn is over.
    pub(super) fn cut_at_failure(&mut self) -> Option<Failure> {
        let mut steps = self.steps.iter().enumerate();
        let (at, failure) = steps.find_map(|(at, step)| Some((at, step.failure()?)))?;
        self.steps.truncate(at);
        self.is_cut = true;
        Some(failure)
    }

    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How it ends, if it does.
    pub(super) fn said_end(&self) -> Option<End> {
        (!self.is_cut).then(|| self.end())
    }

    /// What it costs in the end.
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
    /// What whoever asked is told.
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
