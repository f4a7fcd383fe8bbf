//! A model and an embedder for tests that follow a script.
//!
//! The same script can be played in this process and as an HTTP server on loopback, so that a test of
//! a model holds for providers, too.

mod script;
mod server;
mod words;

#[cfg(test)]
#[path = "scripted/words_tests.rs"]
mod words_tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, future, stream};

use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas};
use crate::request::Request;

pub use script::{Failure, Step, Turn};
pub use server::{Seen, Server};
pub use words::Words;

/// A model that follows a script, one turn for each request. Clones share the script.
///
/// ```
/// use model::scripted::{Scripted, Turn};
/// use model::{Model, Request};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let model = Scripted::new([Turn::text("four")]);
/// assert_eq!(model.ask(Request::new("2 + 2?")).await?.text, "four");
/// assert_eq!(model.requests(), [Request::new("2 + 2?")]);
/// # Ok::<(), model::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Turn>,
    asked: Vec<Request>,
}

impl Scripted {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let model = Self::default();
        model.with(|state| state.turns.extend(turns));
        model
    }

    pub fn push(&self, turn: Turn) {
        self.with(|state| state.turns.push_back(turn));
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.with(|state| state.asked.clone())
    }

    /// How many turns are left.
    pub fn left(&self) -> usize {
        self.with(|state| state.turns.len())
    }

    /// The turn for the next request.
    fn next(&self) -> Option<Turn> {
        self.with(|state| state.turns.pop_front())
    }

    fn with<T>(&self, does: impl FnOnce(&mut State) -> T) -> T {
        does(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn reply(&self, request: Request) -> Deltas {
        let model = self.clone();
        let played = future::lazy(move |_| {
            model.with(|state| state.asked.push(request));
            match model.next() {
                Some(turn) => play(turn),
                None => Box::pin(stream::iter([Err(out_of_turns())])),
            }
        });
        Box::pin(stream::once(played).flatten())
    }
}

/// The error of a request beyond the end of the script.
fn out_of_turns() -> Error {
    Error::Refused("the script has no further turn".to_owned())
}

/// A turn as a stream of deltas.
fn play(turn: Turn) -> Deltas {
    let end = turn.end();
    let mut failed = false;
    let steps = turn.steps.into_iter().chain([Step::End(end)]);
    let steps = steps.take_while(move |step| {
        let go_on = !failed;
        failed |= matches!(step, Step::Fail(_));
        go_on
    });
    Box::pin(stream::iter(steps).then(|step| async move {
        match step {
            Step::Text(text) => Ok(Delta::Text(text)),
            Step::Reasoning(text) => Ok(Delta::Reasoning(text)),
            Step::Call(call) => Ok(Delta::Call(call)),
            Step::Usage(usage) => Ok(Delta::Usage(usage)),
            Step::End(end) => Ok(Delta::End(end)),
            Step::Fail(Failure::Silence) => future::pending().await,
            Step::Fail(failure) => Err(failure.error()),
        }
    }))
}
