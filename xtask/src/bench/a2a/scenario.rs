//! The measurements, on which store, and their targets.

use crate::bench::frame::{self, Bench, OURS, Repeat};
use crate::bench::rounds::Counted;
use crate::bench::table::Target;

/// A row of this bench's table.
pub(super) type Scenario = frame::Scenario<Setup>;

/// What the load generator and our server have to know of a scenario.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) work: Work,
    /// How many connections work at once, each with one request in flight.
    pub(super) connections: usize,
    /// What our server keeps its tasks in. The peers know only memory.
    pub(super) store: Store,
    pub(super) figure: Figure,
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

/// The official servers: the Rust crates with `TCP_NODELAY` set, and the packages of npm and PyPI.
pub(super) const RUST: &str = "Rust";
pub(super) const JS: &str = "js";
pub(super) const PYTHON: &str = "python";

const ALL: &[&str] = &[RUST, JS, PYTHON, OURS];

/// Where the others would take hours.
const AGAINST_RUST: &[&str] = &[RUST, OURS];

/// Where the peers have nothing of the kind.
const ALONE: &[&str] = &[OURS];

/// How much a figure may exceed another and still count as the same.
const FLAT: f64 = 1.15;

impl Figure {
    /// The field of the load generator's answer that holds the figure.
    const fn field(self) -> &'static str {
        match self {
            Figure::ProcessorPerRequest => "server_cpu_us_per_request",
            Figure::ProcessorPerEvent => "server_cpu_us_per_event",
            Figure::FirstEvent => "first_event_p50_us",
            Figure::RequestsPerCommit => "requests_per_commit",
            Figure::CommitsPerRequest => "commits_per_request",
            Figure::Memory => "resident_mb",
        }
    }

    const fn unit(self) -> &'static str {
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

pub(super) const BENCH: Bench<Setup> = Bench {
    name: "a2a",
    reference: RUST,
    counted: Counted::Middle,
    scenarios: &SCENARIOS,
};

/// The words for `--only`.
pub(super) const NAMES: [&str; SCENARIOS.len()] = frame::names(&SCENARIOS);

const fn row(
    name: &'static str,
    title: &'static str,
    work: Setup,
    peers: &'static [&'static str],
    target: Target,
) -> Scenario {
    Scenario {
        name,
        title,
        field: work.figure.field(),
        unit: work.figure.unit(),
        peers,
        target: Some(target),
        repeat: match work.figure {
            Figure::Memory => Repeat::Never,
            _ => Repeat::SameServer,
        },
        work,
    }
}

const SCENARIOS: [Scenario; 11] = [
    row(
        "echo",
        "echo",
        Setup {
            work: Work::Echo,
            connections: 16,
            store: Store::Memory,
            figure: Figure::ProcessorPerRequest,
        },
        ALL,
        Target::OneIn(2.0),
    ),
    row(
        "task",
        "task, memory store",
        Setup {
            work: Work::Task,
            connections: 16,
            store: Store::Memory,
            figure: Figure::ProcessorPerRequest,
        },
        ALL,
        Target::OneIn(2.5),
    ),
    row(
        "task-sqlite",
        "task, SQLite, durability normal (Rust: memory)",
        Setup {
            work: Work::Task,
            connections: 16,
            store: Store::Normal,
            figure: Figure::ProcessorPerRequest,
        },
        AGAINST_RUST,
        Target::OneIn(1.3),
    ),
    row(
        "group-commit",
        "task, SQLite, durability full, 5 ms more a commit, 64 connections",
        Setup {
            work: Work::Task,
            connections: 64,
            store: Store::FullOnSlowDisk(5),
            figure: Figure::RequestsPerCommit,
        },
        ALONE,
        Target::AtLeast(16.0),
    ),
    row(
        "commits",
        "task, SQLite, durability full, 1 connection",
        Setup {
            work: Work::Task,
            connections: 1,
            store: Store::Full,
            figure: Figure::CommitsPerRequest,
        },
        ALONE,
        Target::AtMost(2.0),
    ),
    row(
        "sse",
        "stream, artifact of 10 chunks",
        Setup {
            work: Work::Chunks(10),
            connections: 16,
            store: Store::Memory,
            figure: Figure::ProcessorPerEvent,
        },
        ALL,
        Target::OneIn(3.0),
    ),
    row(
        "sse-100",
        "stream, artifact of 100 chunks",
        Setup {
            work: Work::Chunks(100),
            connections: 16,
            store: Store::Memory,
            figure: Figure::ProcessorPerEvent,
        },
        AGAINST_RUST,
        Target::TimesRow("sse", FLAT),
    ),
    row(
        "sse-1000",
        "stream, artifact of 1000 chunks, none may fail",
        Setup {
            work: Work::Chunks(1000),
            connections: 16,
            store: Store::Memory,
            figure: Figure::ProcessorPerEvent,
        },
        AGAINST_RUST,
        Target::TimesRow("sse", FLAT),
    ),
    row(
        "first-event",
        "first event of a stream, 1 connection",
        Setup {
            work: Work::Chunks(10),
            connections: 1,
            store: Store::Memory,
            figure: Figure::FirstEvent,
        },
        ALL,
        Target::Times(1.0),
    ),
    row(
        "memory",
        "after 100,000 tasks, all readable, memory store",
        Setup {
            work: Work::Task,
            connections: 16,
            store: Store::Memory,
            figure: Figure::Memory,
        },
        AGAINST_RUST,
        Target::OneIn(2.0),
    ),
    row(
        "memory-sqlite",
        "after 100,000 tasks, all readable, SQLite",
        Setup {
            work: Work::Task,
            connections: 16,
            store: Store::Normal,
            figure: Figure::Memory,
        },
        ALONE,
        Target::AtMost(64.0),
    ),
];
