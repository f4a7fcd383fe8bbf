//! The agent of `--demo`: a small one to try each kind of answer with.
//!
//! - `echo …` is answered with a message;
//! - `whoami` is answered with the name of the caller and the scheme that authenticated it;
//! - `task …` becomes a task with one artifact;
//! - `burst N` becomes a task that streams an artifact in N pieces, with a pause between them if one is given
//!   (`burst 20 100ms`). After a restart it continues where it was.

use std::sync::Arc;
use std::time::Duration;

use a2a::server::{AfterRestart, Agent, Chunk, Failure, Over, Turn};
use a2a::types::{Artifact, Part, Task, TaskState};
use access::Principal;
use agent::Manifest;
use futures_core::future::BoxFuture;

use crate::app::{self, App};
use crate::config;

pub mod skills;

#[cfg(test)]
#[path = "demo_tests.rs"]
mod tests;

/// The id of the artifact of a burst.
const BURST: &str = "burst";

/// The most pieces of one burst.
const MAX_PIECES: u32 = 100_000;

/// The answer to anything else.
const HELP: &str = "I am a small agent to try the protocol with.";

/// The texts it understands: the skill, and an example for the help.
const PHRASES: [(&str, &str); 3] = [
    ("echo", "`echo hello` for a message"),
    ("task", "`task hello` for a task"),
    ("burst", "`burst 20 100ms` for a stream"),
];

/// The demo agent: understands a few texts, and has the same as skills.
#[derive(Clone, Debug, Default)]
pub struct Demo {
    /// The skills of its manifest; none stands for all. Texts of other skills are not understood.
    skills: Option<Vec<String>>,
}

impl Demo {
    /// The agent with the skills of a manifest.
    pub fn of(manifest: &Manifest) -> Self {
        let skills = manifest.skills.clone();
        Self { skills }
    }

    fn request(&self, text: &str) -> Option<Request> {
        Request::parse(text).filter(|request| request.skill().is_none_or(|skill| self.has(skill)))
    }

    fn has(&self, skill: &str) -> bool {
        let skills = self.skills.as_ref();
        skills.is_none_or(|skills| skills.iter().any(|it| it == skill))
    }

    fn help(&self) -> String {
        let known = PHRASES.iter().filter(|(skill, _)| self.has(skill));
        let known: Vec<&str> = known.map(|(_, phrase)| *phrase).collect();
        match &known[..] {
            [] => HELP.to_owned(),
            [one] => format!("{HELP} Say {one}."),
            [some @ .., last] => format!("{HELP} Say {}, or {last}.", some.join(", ")),
        }
    }
}

impl Agent for Demo {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let request = self.request(&turn.text());
        let request = request.ok_or_else(|| self.help());
        Box::pin(async move {
            match request {
                Ok(request) => request.perform(&turn).await?,
                Err(help) => turn.reply(turn.say(help)).await?,
            }
            Ok(())
        })
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        match self.has(BURST) {
            true => after_restart(task),
            false => AfterRestart::Fail,
        }
    }
}

/// The app with the demo agent.
pub fn app() -> App {
    app::app()
        .skill(skills::echo)
        .skill(skills::task)
        .skill(skills::burst)
        .answerer_of(|manifest| Arc::new(Demo::of(manifest)))
}

/// What a text asks the demo agent for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Echo(String),
    WhoAmI,
    /// A task with the text as its artifact.
    Task(String),
    /// A task that streams an artifact in pieces.
    Burst {
        pieces: u32,
        pause: Duration,
    },
}

impl Request {
    /// Reads a text; none if it asks for nothing known.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        match words.next()? {
            "echo" => Some(Self::Echo(text.to_owned())),
            "whoami" => Some(Self::WhoAmI),
            "task" => Some(Self::Task(text.to_owned())),
            "burst" => {
                let pieces = words.next()?.parse().ok()?;
                let pause = match words.next() {
                    Some(pause) => config::time(pause)?,
                    None => Duration::ZERO,
                };
                (pieces <= MAX_PIECES).then_some(Self::Burst { pieces, pause })
            }
            _ => None,
        }
    }

    /// The id of the skill that does the same.
    fn skill(&self) -> Option<&'static str> {
        match self {
            Self::Echo(_) => Some("echo"),
            Self::Task(_) => Some("task"),
            Self::Burst { .. } => Some(BURST),
            Self::WhoAmI => None,
        }
    }

    pub async fn perform(self, turn: &Turn) -> Result<(), Over> {
        match self {
            Self::Echo(text) => turn.reply(turn.say(text)).await,
            Self::WhoAmI => turn.reply(turn.say(described(turn.caller()))).await,
            Self::Task(text) => {
                turn.working().await?;
                turn.artifact(artifact("task", Part::text(text))).await?;
                turn.complete().await
            }
            Self::Burst { pieces, pause } => burst(turn, pieces, pause).await,
        }
    }
}

/// The name of a caller, the scheme that authenticated it, and its scopes.
fn described(caller: &Principal) -> String {
    let mut text = caller.to_string();
    if !caller.scheme().is_empty() {
        text += &format!(" by {}", caller.scheme());
    }
    if !caller.scopes().is_empty() {
        text += &format!(" for {}", caller.scopes().join(", "));
    }
    text
}

async fn burst(turn: &Turn, pieces: u32, pause: Duration) -> Result<(), Over> {
    let is_working = |task: &Task| {
        let status = task.status.as_ref();
        status.is_some_and(|status| status.state == TaskState::Working)
    };
    // After a restart, the pieces that the process before made.
    let first = turn.task().filter(|task| is_working(task)).map(made);
    if first.is_none() {
        turn.working().await?;
    }
    for piece in first.unwrap_or(0)..pieces {
        if piece > 0 && !pause.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = turn.cancelled().cancelled() => return Ok(()),
            }
        }
        let chunk = match (piece, piece + 1 == pieces) {
            (0, true) => Chunk::Whole,
            (0, false) => Chunk::First,
            (_, false) => Chunk::More,
            (_, true) => Chunk::Last,
        };
        let text = format!("c{piece} ");
        turn.chunk(artifact(BURST, Part::text(text)), chunk).await?;
    }
    turn.complete().await
}

/// How many pieces of a burst a task has.
fn made(task: &Task) -> u32 {
    let bursts = task.artifacts.iter();
    let parts = bursts
        .filter(|artifact| artifact.artifact_id == BURST)
        .flat_map(|artifact| &artifact.parts);
    let words = parts
        .filter_map(Part::as_text)
        .map(|text| text.split_whitespace().count());
    u32::try_from(words.sum::<usize>()).unwrap_or(u32::MAX)
}

/// A burst continues after a restart; other tasks fail.
pub fn after_restart(task: &Task) -> AfterRestart {
    let asked = task.history.last();
    let text = asked
        .and_then(|message| message.parts.first())
        .and_then(Part::as_text);
    match text.and_then(Request::parse) {
        Some(Request::Burst { .. }) => AfterRestart::Resume,
        _ => AfterRestart::Fail,
    }
}

/// An artifact of one part.
pub fn artifact(id: &str, part: Part) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        parts: vec![part],
        ..Artifact::default()
    }
}
