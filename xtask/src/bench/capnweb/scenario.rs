//! What is measured, and the ratio to npm's figure that we aim at.

/// One row of the table.
#[derive(Debug)]
pub(super) struct Scenario {
    /// The word for `--only`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) measure: Measure,
    /// The most that our figure may be, as a part of npm's.
    pub(super) target: Target,
}

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
    pub(super) fn field(self) -> &'static str {
        match self {
            Measure::Processor => "server_cpu_us_per_op",
            Measure::Memory => "kb_per_session",
            Measure::Latency => "p50_us",
        }
    }
}

/// A ratio as people write it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// One part in so many.
    OneIn(f64),
    Times(f64),
}

impl Target {
    pub(super) fn most(self) -> f64 {
        match self {
            Target::OneIn(parts) => 1.0 / parts,
            Target::Times(factor) => factor,
        }
    }

    /// Writes a ratio the way this target is written.
    pub(super) fn show(self, ratio: f64) -> String {
        match self {
            Target::OneIn(_) if ratio > 0.0 && ratio < 1.0 => format!("1/{:.1}", 1.0 / ratio),
            Target::OneIn(_) | Target::Times(_) => format!("{ratio:.2}x"),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::OneIn(parts) => write!(f, "at most 1/{parts}"),
            Target::Times(factor) => write!(f, "at most {factor}x"),
        }
    }
}

pub(super) const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "call",
        title: "call, window 64, one connection, raw frames",
        unit: "us CPU a call",
        measure: Measure::Processor,
        target: Target::OneIn(6.0),
    },
    Scenario {
        name: "batch",
        title: "HTTP batch of 1000 calls",
        unit: "us CPU a call",
        measure: Measure::Processor,
        target: Target::OneIn(4.0),
    },
    Scenario {
        name: "callbacks",
        title: "callbacks server to client, 1000 at once",
        unit: "us CPU a callback",
        measure: Measure::Processor,
        target: Target::OneIn(6.0),
    },
    Scenario {
        name: "bytes",
        title: "1 MiB bytes echo",
        unit: "us CPU an echo",
        measure: Measure::Processor,
        target: Target::OneIn(5.0),
    },
    Scenario {
        name: "map",
        title: "list(1000).map(square)",
        unit: "us CPU an element",
        measure: Measure::Processor,
        target: Target::OneIn(12.0),
    },
    Scenario {
        name: "idle",
        title: "idle session with one call made",
        unit: "KB resident each",
        measure: Measure::Memory,
        target: Target::OneIn(2.0),
    },
    Scenario {
        name: "crowd",
        title: "idle session with one call made, among 10,000",
        unit: "KB resident each",
        measure: Measure::Memory,
        target: Target::OneIn(2.0),
    },
    Scenario {
        name: "active",
        title: "call, 1000 sessions, one a second each",
        unit: "us CPU a call",
        measure: Measure::Processor,
        target: Target::OneIn(2.0),
    },
    Scenario {
        name: "sequential",
        title: "sequential call, own client to own server",
        unit: "us p50",
        measure: Measure::Latency,
        target: Target::Times(0.8),
    },
];
