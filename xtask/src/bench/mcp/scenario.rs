//! What is measured, and what we aim at.

use std::fmt;

use super::peer::Peer;

/// One row of the table.
#[derive(Debug)]
pub(super) struct Scenario {
    /// The word for `--only`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) work: Work,
    /// How many connections work at once, each with one request in flight.
    pub(super) connections: usize,
    pub(super) figure: Figure,
    pub(super) peers: &'static [Peer],
    pub(super) target: Option<Target>,
}

/// What a client asks for, again and again: that `echo` says `hello`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// MCP 2026-07-28, answered with JSON.
    Call,
    /// MCP 2025-11-25 with a session for each connection, answered with a stream of one event.
    SessionCall,
    /// A2A over JSON-RPC: a message that names the skill, answered with the finished task.
    Task,
    /// ACP: a run that is waited for.
    Run,
}

/// Which figure of the load generator counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// The server's processor time for each call.
    Processor,
    /// The median time from a call to its answer.
    Time,
}

/// What our figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// So many times rmcp's figure.
    OfRmcp(f64),
    /// So many times our own figure in another row.
    Of(&'static str, f64),
}

impl Scenario {
    pub(super) fn named(name: &str) -> Option<&'static Scenario> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }
}

impl Figure {
    /// The field of the load generator's answer that holds the figure.
    pub(super) fn field(self) -> &'static str {
        match self {
            Figure::Processor => "server_cpu_us_per_call",
            Figure::Time => "call_p50_us",
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Figure::Processor => "us CPU a call",
            Figure::Time => "us p50",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::OfRmcp(factor) => write!(f, "at most {factor}x rmcp"),
            Target::Of(row, factor) => write!(f, "at most {factor}x `{row}`"),
        }
    }
}

pub(super) const SCENARIOS: [Scenario; 6] = [
    Scenario {
        name: "call",
        title: "tools/call, 2026-07-28, JSON reply",
        work: Work::Call,
        connections: 32,
        figure: Figure::Processor,
        peers: &[Peer::Rmcp, Peer::Ours],
        target: Some(Target::OfRmcp(1.3)),
    },
    Scenario {
        name: "session",
        title: "tools/call, 2025-11-25, 32 sessions, SSE reply",
        work: Work::SessionCall,
        connections: 32,
        figure: Figure::Processor,
        peers: &Peer::ALL,
        target: Some(Target::OfRmcp(1.3)),
    },
    Scenario {
        name: "json",
        title: "tools/call, 2026-07-28, JSON reply, 1 connection",
        work: Work::Call,
        connections: 1,
        figure: Figure::Time,
        peers: &[Peer::Rmcp, Peer::Ours],
        target: None,
    },
    Scenario {
        name: "sse",
        title: "tools/call, 2025-11-25, SSE reply, 1 connection",
        work: Work::SessionCall,
        connections: 1,
        figure: Figure::Time,
        peers: &Peer::ALL,
        target: Some(Target::Of("json", 1.5)),
    },
    Scenario {
        name: "a2a",
        title: "the same skill as a task of A2A, JSON-RPC",
        work: Work::Task,
        connections: 32,
        figure: Figure::Processor,
        peers: &[Peer::Ours],
        target: None,
    },
    Scenario {
        name: "acp",
        title: "the same skill as a run of ACP, sync",
        work: Work::Run,
        connections: 32,
        figure: Figure::Processor,
        peers: &[Peer::Ours],
        target: Some(Target::Of("a2a", 1.5)),
    },
];
