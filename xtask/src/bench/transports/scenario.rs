//! The measurements, and the figures that follow.

use super::wire::Wire;
use crate::bench::options::Options;

/// How many connections work at once when the server is to be busy.
const CONNECTIONS: &str = "16";

/// How often those who follow are cut off.
const CUTS: &str = "2";

/// How many events all who follow get.
const EVENTS: &str = "8";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Latency,
    Throughput,
    Shared,
    Wire,
    FanOut,
    Cut,
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Median,
    Slowest,
    PerSecond,
    Processor,
    SharedPerSecond,
    SharedProcessor,
    Bytes,
    RoundTrips,
    RoundTripsKnown,
    RoundTripsAwaited,
    FanOutProcessor,
    FanOutSpread,
    Events,
    Lost,
    Doubled,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// From this field of what the load generator says.
    Field(&'static str),
    /// The server's processor time, in microseconds for each of so many.
    ProcessorPer(&'static str),
}

impl Scenario {
    pub(super) const ALL: [Scenario; 6] = [
        Scenario::Latency,
        Scenario::Throughput,
        Scenario::Shared,
        Scenario::Wire,
        Scenario::FanOut,
        Scenario::Cut,
    ];

    /// The words for `--only`.
    pub(super) const NAMES: [&str; 6] = {
        let mut names = [""; 6];
        let mut at = 0;
        while at < names.len() {
            names[at] = Scenario::ALL[at].name();
            at += 1;
        }
        names
    };

    pub(super) const fn name(self) -> &'static str {
        match self {
            Scenario::Latency => "latency",
            Scenario::Throughput => "throughput",
            Scenario::Shared => "shared",
            Scenario::Wire => "wire",
            Scenario::FanOut => "fan-out",
            Scenario::Cut => "cut",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Scenario::Latency => "a small message and its answer, one connection",
            Scenario::Throughput => "small messages and their answers, 16 connections",
            Scenario::Shared => {
                "small messages and their answers, one client with 16 calls at a time"
            }
            Scenario::Wire => "bytes of a call, and round trips to send a message and get its task",
            Scenario::FanOut => "an event to all who follow a task",
            Scenario::Cut => "all who follow a task are cut off in mid-stream, twice",
        }
    }

    /// Whether the machine's mood tells in its figures.
    pub(super) fn is_timed(self) -> bool {
        matches!(
            self,
            Scenario::Latency | Scenario::Throughput | Scenario::Shared
        )
    }

    pub(super) fn figures(self) -> &'static [Figure] {
        match self {
            Scenario::Latency => &[Figure::Median, Figure::Slowest],
            Scenario::Throughput => &[Figure::PerSecond, Figure::Processor],
            Scenario::Shared => &[Figure::SharedPerSecond, Figure::SharedProcessor],
            Scenario::Wire => &[
                Figure::Bytes,
                Figure::RoundTrips,
                Figure::RoundTripsKnown,
                Figure::RoundTripsAwaited,
            ],
            Scenario::FanOut => &[Figure::FanOutProcessor, Figure::FanOutSpread],
            Scenario::Cut => &[Figure::Events, Figure::Lost, Figure::Doubled],
        }
    }

    /// What the load generator is told.
    pub(super) fn words(self, wire: Wire, url: &str, options: &Options) -> Vec<String> {
        let (seconds, clients) = (options.seconds.to_string(), options.clients.to_string());
        let binding = wire.binding.key();
        let words: &[&str] = match self {
            Scenario::Latency => &["calls", url, binding, "1", &seconds],
            Scenario::Throughput => &["calls", url, binding, CONNECTIONS, &seconds],
            Scenario::Shared => &["shared", url, binding, CONNECTIONS, &seconds],
            Scenario::Wire => &["wire", url, binding],
            Scenario::FanOut => &["fan-out", url, binding, &clients, EVENTS],
            Scenario::Cut => &["cut", url, binding, &clients, CUTS],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

impl Figure {
    pub(super) const ALL: [Figure; 15] = [
        Figure::Median,
        Figure::Slowest,
        Figure::PerSecond,
        Figure::Processor,
        Figure::SharedPerSecond,
        Figure::SharedProcessor,
        Figure::Bytes,
        Figure::RoundTrips,
        Figure::RoundTripsKnown,
        Figure::RoundTripsAwaited,
        Figure::FanOutProcessor,
        Figure::FanOutSpread,
        Figure::Events,
        Figure::Lost,
        Figure::Doubled,
    ];

    /// Those that are shown as pictures, too.
    pub(super) const PLOTTED: [Figure; 5] = [
        Figure::Processor,
        Figure::SharedProcessor,
        Figure::Median,
        Figure::Bytes,
        Figure::FanOutProcessor,
    ];

    /// What its picture is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Figure::Median => "latency",
            Figure::Slowest => "slowest",
            Figure::PerSecond => "throughput",
            Figure::Processor => "processor",
            Figure::SharedPerSecond => "shared-throughput",
            Figure::SharedProcessor => "shared-processor",
            Figure::Bytes => "bytes",
            Figure::RoundTrips => "round-trips",
            Figure::RoundTripsKnown => "round-trips-known",
            Figure::RoundTripsAwaited => "round-trips-awaited",
            Figure::FanOutProcessor => "fan-out",
            Figure::FanOutSpread => "spread",
            Figure::Events => "events",
            Figure::Lost => "lost",
            Figure::Doubled => "doubled",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Figure::Median => "us p50",
            Figure::Slowest => "us p99",
            Figure::PerSecond => "calls a second, 16 connections",
            Figure::Processor => "us CPU a call, 16 connections",
            Figure::SharedPerSecond => "calls a second, one client",
            Figure::SharedProcessor => "us CPU a call, one client",
            Figure::Bytes => "bytes a call",
            Figure::RoundTrips => "round trips, send then get",
            Figure::RoundTripsKnown => "round trips, authenticate, send, get",
            Figure::RoundTripsAwaited => "the same, each answer awaited",
            Figure::FanOutProcessor => "us CPU an event and follower",
            Figure::FanOutSpread => "ms from first to last follower",
            Figure::Events => "events over two cuts",
            Figure::Lost => "lost",
            Figure::Doubled => "doubled",
        }
    }

    pub(super) fn source(self) -> Source {
        match self {
            Figure::Median => Source::Field("p50_us"),
            Figure::Slowest => Source::Field("p99_us"),
            Figure::PerSecond | Figure::SharedPerSecond => Source::Field("calls_per_s"),
            Figure::Processor | Figure::SharedProcessor => Source::ProcessorPer("calls"),
            Figure::Bytes => Source::Field("bytes_per_call"),
            Figure::RoundTrips => Source::Field("round_trips"),
            Figure::RoundTripsKnown => Source::Field("round_trips_known"),
            Figure::RoundTripsAwaited => Source::Field("round_trips_known_awaited"),
            Figure::FanOutProcessor => Source::ProcessorPer("deliveries"),
            Figure::FanOutSpread => Source::Field("spread_p50_ms"),
            Figure::Events => Source::Field("events"),
            Figure::Lost => Source::Field("lost"),
            Figure::Doubled => Source::Field("doubled"),
        }
    }
}
