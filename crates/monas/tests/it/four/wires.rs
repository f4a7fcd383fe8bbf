//! The ways to an agent, behind one set of verbs.

use std::collections::BTreeMap;

use a2a::client::Client;
use a2a::types::wire::WireMessage as _;
use a2a::types::{GetTaskRequest, Task};
use serde::Deserialize;
use serde_json::Value;

use super::mcp::{Mcp, of_json};
use super::remote::Remote;

/// A protocol, and how its client is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    A2a,
    /// 2026-07-28: a call that is asked something is made again with the answer.
    Mcp2026,
    /// 2026-07-28: a call that takes long is a task.
    Mcp2026Tasks,
    /// 2025-11-25: the server asks while the call waits.
    Mcp2025,
    Acp,
}

impl Way {
    pub(super) const ALL: [Self; 5] = [
        Self::A2a,
        Self::Mcp2026,
        Self::Mcp2026Tasks,
        Self::Mcp2025,
        Self::Acp,
    ];

    /// Whether it has words for answering and cancelling what others began. A plain call of MCP can do so with what
    /// it began itself, and can only read the rest.
    pub(super) fn answers_others(self) -> bool {
        !matches!(self, Self::Mcp2026 | Self::Mcp2025)
    }

    /// How much of so many steps is heard: who polls a task hears what was said before it became one.
    pub(super) fn hears(self, steps: usize) -> usize {
        match self {
            Self::Mcp2026Tasks => 1,
            _ => steps,
        }
    }
}

/// How a task stands, as a wire shows it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(super) struct View {
    /// `working`, `asks`, `completed`, `failed` or `cancelled`.
    pub(super) state: String,
    /// What it asks, why it failed, or how far it is.
    pub(super) said: Option<String>,
    /// What the skill gave.
    pub(super) output: Option<Value>,
    /// What it made besides, by name.
    pub(super) files: BTreeMap<String, String>,
}

/// Why a call was refused.
pub(super) type Refused = String;

/// A caller over one protocol.
pub(super) enum Wire {
    Remote(Box<Remote>),
    Mcp(Mcp),
}

impl Wire {
    pub(super) async fn open(way: Way, url: &str) -> Self {
        match way {
            Way::A2a => Self::Remote(Box::new(Remote::a2a(url))),
            Way::Acp => Self::Remote(Box::new(Remote::acp(url))),
            way => Self::Mcp(Mcp::open(way, url).await),
        }
    }

    /// One for each way.
    pub(super) async fn all(url: &str) -> Wires {
        let mut wires = Vec::new();
        for way in Way::ALL {
            wires.push((way, Self::open(way, url).await));
        }
        Wires(wires)
    }

    /// Calls a skill, up to where the task rests or says `until`.
    pub(super) async fn begin(
        &mut self,
        skill: &'static str,
        input: Value,
        until: Option<&str>,
    ) -> Result<View, Refused> {
        match self {
            Self::Remote(remote) => remote.begin(skill, input, until).await,
            Self::Mcp(mcp) => mcp.begin(skill, input, until).await,
        }
    }

    /// Answers what a task asks, up to where it rests again.
    pub(super) async fn answer(&mut self, task: &str, answer: Value) -> Result<View, Refused> {
        match self {
            Self::Remote(remote) => remote.answer(task, answer).await,
            Self::Mcp(mcp) => mcp.answer(task, answer).await,
        }
    }

    pub(super) async fn cancel(&mut self, task: &str) -> Result<(), Refused> {
        match self {
            Self::Remote(remote) => remote.cancel(task).await,
            Self::Mcp(mcp) => mcp.cancel(task).await,
        }
    }

    /// How a task stands now.
    pub(super) async fn show(&mut self, task: &str) -> Result<View, Refused> {
        match self {
            Self::Remote(remote) => remote.show(task).await,
            Self::Mcp(mcp) => mcp.show(task).await,
        }
    }

    /// How a task stands once it rests.
    pub(super) async fn follow(&mut self, task: &str) -> Result<View, Refused> {
        match self {
            Self::Remote(remote) => remote.follow(task).await,
            Self::Mcp(mcp) => mcp.follow(task).await,
        }
    }

    /// What comes of what was begun here and settled elsewhere.
    pub(super) async fn end(&mut self, task: &str) -> Result<View, Refused> {
        match self {
            Self::Remote(remote) => remote.follow(task).await,
            Self::Mcp(mcp) => mcp.end(task).await,
        }
    }

    /// What was said about how far the work is, once that is so many times.
    pub(super) async fn heard(&mut self, times: usize) -> Vec<String> {
        match self {
            Self::Remote(remote) => remote.heard.clone(),
            Self::Mcp(mcp) => mcp.heard(times).await,
        }
    }
}

/// A caller by each way.
pub(super) struct Wires(Vec<(Way, Wire)>);

impl Wires {
    pub(super) fn at(&mut self, way: Way) -> &mut Wire {
        let mut wires = self.0.iter_mut();
        let found = wires.find(|(known, _)| *known == way);
        &mut found.unwrap().1
    }
}

/// The state of a task after its end, seen by a client of none of these protocols.
pub(super) async fn observed(observer: &Client, task: &str) -> View {
    let mut request = GetTaskRequest {
        id: task.to_owned(),
        ..GetTaskRequest::default()
    };
    loop {
        let task: Task = observer.get_task(request.clone()).await.unwrap();
        let state = task.status.as_ref().map(|status| status.state);
        if state.is_some_and(|state| state.is_terminal()) {
            return of_json(&serde_json::from_slice(&task.to_json()).unwrap());
        }
        request.current_generation = Some(task.generation);
    }
}
