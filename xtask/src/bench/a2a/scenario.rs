//! What is measured, on which store, and what we aim at.

use std::fmt;

/// One row of the table.
#[derive(Debug)]
pub(super) struct Scenario {
    /// The word for `--only`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) work: Work,
    /// How many connections work at once, each with one request in flight.
    pub(super) connections: usize,
    /// What our server keeps its tasks in. The peers know only memory.
    pub(super) store: Store,
    pub(super) figure: Figure,
    pub(super) against: Against,
    pub(super) target: Target,
}

/// What a client asks for, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// A message that is answered by a message.
    Echo,
    /// A message that becomes a task with one artifact; the answer is the finished task.
    Task,
    /// A message that becomes a task with an artifact of so many chunks; the answer is a stream.
    Chunks(u64),
}

/// How our server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    Memory,
    /// SQLite that may lose the last moments when the machine loses its power.
    Normal,
    /// SQLite that loses nothing.
    Full,
    /// As `Full`, on a disk that takes so many milliseconds for each commit.
    FullOnSlowDisk(u32),
}

/// Which figure of the load generator counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// The server's processor time for each request.
    ProcessorPerRequest,
    /// The server's processor time for each streamed event.
    ProcessorPerEvent,
    /// The median time from a request to the first event of its stream.
    FirstEvent,
    /// Requests answered for each commit.
    RequestsPerCommit,
    CommitsPerRequest,
    /// The server's resident memory after many tasks, which can all still be read.
    Memory,
}

/// Which peers are measured beside us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Against {
    All,
    /// The others would take hours.
    Rust,
    /// The peers have nothing of the kind.
    Nobody,
}

/// What our figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// One part in so many of official Rust's figure.
    OneIn(f64),
    /// So many times official Rust's figure.
    Times(f64),
    AtMost(f64),
    AtLeast(f64),
    /// No more than our own figure in another row, but for what a measurement may be off by.
    FlatFrom(&'static str),
}

/// How much a figure may exceed another and still count as the same.
pub(super) const FLAT: f64 = 1.15;

impl Scenario {
    pub(super) fn named(name: &str) -> Option<&'static Scenario> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }
}

impl Figure {
    /// The field of the load generator's answer that holds the figure.
    pub(super) fn field(self) -> &'static str {
        match self {
            Figure::ProcessorPerRequest => "server_cpu_us_per_request",
            Figure::ProcessorPerEvent => "server_cpu_us_per_event",
            Figure::FirstEvent => "first_event_p50_us",
            Figure::RequestsPerCommit => "requests_per_commit",
            Figure::CommitsPerRequest => "commits_per_request",
            Figure::Memory => "resident_mb",
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Figure::ProcessorPerRequest => "us CPU a request",
            Figure::ProcessorPerEvent => "us CPU an event",
            Figure::FirstEvent => "us p50",
            Figure::RequestsPerCommit => "tasks acknowledged a commit",
            Figure::CommitsPerRequest => "commits a task",
            Figure::Memory => "MB resident",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::OneIn(parts) => write!(f, "at most 1/{parts} of Rust"),
            Target::Times(factor) => write!(f, "at most {factor}x Rust"),
            Target::AtMost(most) => write!(f, "at most {most}"),
            Target::AtLeast(least) => write!(f, "at least {least}"),
            Target::FlatFrom(row) => write!(f, "as `{row}`, within {FLAT}x"),
        }
    }
}

pub(super) const SCENARIOS: [Scenario; 11] = [
    Scenario {
        name: "echo",
        title: "echo",
        work: Work::Echo,
        connections: 16,
        store: Store::Memory,
        figure: Figure::ProcessorPerRequest,
        against: Against::All,
        target: Target::OneIn(2.0),
    },
    Scenario {
        name: "task",
        title: "task, memory store",
        work: Work::Task,
        connections: 16,
        store: Store::Memory,
        figure: Figure::ProcessorPerRequest,
        against: Against::All,
        target: Target::OneIn(2.0),
    },
    Scenario {
        name: "task-sqlite",
        title: "task, SQLite, durability normal (Rust: memory)",
        work: Work::Task,
        connections: 16,
        store: Store::Normal,
        figure: Figure::ProcessorPerRequest,
        against: Against::Rust,
        target: Target::Times(1.0),
    },
    Scenario {
        name: "group-commit",
        title: "task, SQLite, durability full, 5 ms more a commit, 64 connections",
        work: Work::Task,
        connections: 64,
        store: Store::FullOnSlowDisk(5),
        figure: Figure::RequestsPerCommit,
        against: Against::Nobody,
        target: Target::AtLeast(16.0),
    },
    Scenario {
        name: "commits",
        title: "task, SQLite, durability full, 1 connection",
        work: Work::Task,
        connections: 1,
        store: Store::Full,
        figure: Figure::CommitsPerRequest,
        against: Against::Nobody,
        target: Target::AtMost(2.0),
    },
    Scenario {
        name: "sse",
        title: "stream, artifact of 10 chunks",
        work: Work::Chunks(10),
        connections: 16,
        store: Store::Memory,
        figure: Figure::ProcessorPerEvent,
        against: Against::All,
        target: Target::OneIn(3.0),
    },
    Scenario {
        name: "sse-100",
        title: "stream, artifact of 100 chunks",
        work: Work::Chunks(100),
        connections: 16,
        store: Store::Memory,
        figure: Figure::ProcessorPerEvent,
        against: Against::Rust,
        target: Target::FlatFrom("sse"),
    },
    Scenario {
        name: "sse-1000",
        title: "stream, artifact of 1000 chunks, none may fail",
        work: Work::Chunks(1000),
        connections: 16,
        store: Store::Memory,
        figure: Figure::ProcessorPerEvent,
        against: Against::Rust,
        target: Target::FlatFrom("sse"),
    },
    Scenario {
        name: "first-event",
        title: "first event of a stream, 1 connection",
        work: Work::Chunks(10),
        connections: 1,
        store: Store::Memory,
        figure: Figure::FirstEvent,
        against: Against::All,
        target: Target::Times(1.0),
    },
    Scenario {
        name: "memory",
        title: "after 100,000 tasks, all readable, memory store",
        work: Work::Task,
        connections: 16,
        store: Store::Memory,
        figure: Figure::Memory,
        against: Against::Rust,
        target: Target::OneIn(2.0),
    },
    Scenario {
        name: "memory-sqlite",
        title: "after 100,000 tasks, all readable, SQLite",
        work: Work::Task,
        connections: 16,
        store: Store::Normal,
        figure: Figure::Memory,
        against: Against::Nobody,
        target: Target::AtMost(64.0),
    },
];
