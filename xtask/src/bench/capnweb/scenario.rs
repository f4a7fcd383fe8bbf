//! The measurements, and the ratio to npm's figure that we aim at.

use crate::bench::frame::{self, Bench, OURS, Repeat};
use crate::bench::rounds::Counted;
use crate::bench::table::Target;

/// A row of this bench's table.
pub(super) type Scenario = frame::Scenario<Measure>;

/// The reference implementation, on node.
pub(super) const NPM: &str = "npm";

/// What kind of figure a scenario gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The server's processor time for each operation.
    Processor,
    /// The server's resident memory for each session.
    Memory,
    /// The time from a call to its answer, seen by the client.
    Latency,
}

impl Measure {
    /// The field of the measuring program's answer that holds the figure.
    const fn field(self) -> &'static str {
        match self {
            Measure::Processor => "server_cpu_us_per_op",
            Measure::Memory => "kb_per_session",
            Measure::Latency => "p50_us",
        }
    }
}

pub(super) const BENCH: Bench<Measure> = Bench {
    name: "capnweb",
    reference: NPM,
    counted: Counted::Best,
    scenarios: &SCENARIOS,
};

/// The words for `--only`.
pub(super) const NAMES: [&str; SCENARIOS.len()] = frame::names(&SCENARIOS);

const fn row(
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    measure: Measure,
    target: Target,
) -> Scenario {
    Scenario {
        name,
        title,
        field: measure.field(),
        unit,
        peers: &[NPM, OURS],
        target: Some(target),
        repeat: match measure {
            Measure::Memory => Repeat::FreshServer,
            Measure::Processor | Measure::Latency => Repeat::SameServer,
        },
        work: measure,
    }
}

const SCENARIOS: [Scenario; 10] = [
    row(
        "call",
        "call, window 64, one connection, raw frames",
        "us CPU a call",
        Measure::Processor,
        Target::OneIn(6.0),
    ),
    row(
        "frames",
        "call, window 64, one connection, each frame written by itself",
        "us CPU a call",
        Measure::Processor,
        Target::OneIn(3.0),
    ),
    row(
        "batch",
        "HTTP batch of 1000 calls",
        "us CPU a call",
        Measure::Processor,
        Target::OneIn(5.0),
    ),
    row(
        "callbacks",
        "callbacks server to client, 1000 at once",
        "us CPU a callback",
        Measure::Processor,
        Target::OneIn(6.0),
    ),
    row(
        "bytes",
        "1 MiB bytes echo",
        "us CPU an echo",
        Measure::Processor,
        Target::OneIn(5.0),
    ),
    row(
        "map",
        "list(1000).map(square)",
        "us CPU an element",
        Measure::Processor,
        Target::OneIn(12.0),
    ),
    row(
        "idle",
        "idle session with one call made",
        "KB resident each",
        Measure::Memory,
        Target::OneIn(2.0),
    ),
    row(
        "crowd",
        "idle session with one call made, among 10,000",
        "KB resident each",
        Measure::Memory,
        Target::OneIn(2.0),
    ),
    row(
        "active",
        "call, 1000 sessions, one a second each",
        "us CPU a call",
        Measure::Processor,
        Target::OneIn(2.0),
    ),
    row(
        "sequential",
        "sequential call, own client to own server",
        "us p50",
        Measure::Latency,
        Target::Times(0.8),
    ),
];
