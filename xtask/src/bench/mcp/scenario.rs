//! The measurements, and their targets.

use crate::bench::frame::{self, Bench, OURS, Repeat};
use crate::bench::rounds::Counted;
use crate::bench::table::Target;

/// A row of this bench's table.
pub(super) type Scenario = frame::Scenario<Setup>;

/// What the load generator and the servers have to know of a scenario.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) work: Work,
    /// How many connections work at once, each with one request in flight.
    pub(super) connections: usize,
}

/// A minimal server with one tool on the official Rust crate, with `TCP_NODELAY` set.
pub(super) const RMCP: &str = "rmcp";

/// `@modelcontextprotocol/server-everything`, which speaks the older revision.
pub(super) const EVERYTHING: &str = "server-everything";

const ALL: &[&str] = &[RMCP, EVERYTHING, OURS];
const NEWER_REVISION: &[&str] = &[RMCP, OURS];
const ALONE: &[&str] = &[OURS];

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
enum Figure {
    /// The server's processor time for each call.
    Processor,
    /// The median time from a call to its answer.
    Time,
}

impl Figure {
    /// The field of the load generator's answer that holds the figure.
    const fn field(self) -> &'static str {
        match self {
            Figure::Processor => "server_cpu_us_per_call",
            Figure::Time => "call_p50_us",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Figure::Processor => "us CPU a call",
            Figure::Time => "us p50",
        }
    }
}

pub(super) const BENCH: Bench<Setup> = Bench {
    name: "mcp",
    reference: RMCP,
    counted: Counted::Middle,
    scenarios: &SCENARIOS,
};

/// The words for `--only`.
pub(super) const NAMES: [&str; SCENARIOS.len()] = frame::names(&SCENARIOS);

const fn row(
    name: &'static str,
    title: &'static str,
    work: Setup,
    figure: Figure,
    peers: &'static [&'static str],
    target: Option<Target>,
) -> Scenario {
    Scenario {
        name,
        title,
        field: figure.field(),
        unit: figure.unit(),
        peers,
        target,
        repeat: Repeat::SameServer,
        work,
    }
}

const SCENARIOS: [Scenario; 6] = [
    row(
        "call",
        "tools/call, 2026-07-28, JSON reply",
        Setup {
            work: Work::Call,
            connections: 32,
        },
        Figure::Processor,
        NEWER_REVISION,
        Some(Target::Times(1.0)),
    ),
    row(
        "session",
        "tools/call, 2025-11-25, 32 sessions, SSE reply",
        Setup {
            work: Work::SessionCall,
            connections: 32,
        },
        Figure::Processor,
        ALL,
        Some(Target::Times(1.0)),
    ),
    row(
        "json",
        "tools/call, 2026-07-28, JSON reply, 1 connection",
        Setup {
            work: Work::Call,
            connections: 1,
        },
        Figure::Time,
        NEWER_REVISION,
        None,
    ),
    row(
        "sse",
        "tools/call, 2025-11-25, SSE reply, 1 connection",
        Setup {
            work: Work::SessionCall,
            connections: 1,
        },
        Figure::Time,
        ALL,
        Some(Target::TimesRow("json", 1.5)),
    ),
    row(
        "a2a",
        "the same skill as a task of A2A, JSON-RPC",
        Setup {
            work: Work::Task,
            connections: 32,
        },
        Figure::Processor,
        ALONE,
        None,
    ),
    row(
        "acp",
        "the same skill as a run of ACP, sync",
        Setup {
            work: Work::Run,
            connections: 32,
        },
        Figure::Processor,
        ALONE,
        Some(Target::TimesRow("a2a", 1.5)),
    ),
];
