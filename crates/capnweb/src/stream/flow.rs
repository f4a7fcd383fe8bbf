//! Flow control of a stream: a window of unacknowledged bytes.
//!
//! The window follows what the path can carry: measured delivery rate times the shortest round trip,
//! times a growth factor that is bold at the start and modest later, much as BBR does for TCP.
//! Pure: the time is an argument.

use std::time::Duration;

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;

const INITIAL_WINDOW: f64 = (256 << 10) as f64;
const SMALLEST_WINDOW: f64 = (64 << 10) as f64;
const LARGEST_WINDOW: f64 = (1 << 30) as f64;
const STARTUP_GROWTH: f64 = 2.0;
const STEADY_GROWTH: f64 = 1.25;
/// The most a full window shrinks by in a round trip.
const DECAY: f64 = 0.9;
/// Rounds without steady growth after which the start-up is over.
const STARTUP_ROUNDS: u32 = 3;

/// The sender's window of one stream.
#[derive(Debug)]
pub(crate) struct Window {
    size: f64,
    in_flight: usize,
    delivered: f64,
    /// When the newest acknowledgement came; `None` before the first.
    delivered_at: Option<Duration>,
    first_ack: Option<Ack>,
    shortest_round_trip: Duration,
    starting: bool,
    rounds_without_growth: u32,
    round: Round,
}

#[derive(Clone, Copy, Debug)]
struct Ack {
    at: Duration,
    delivered: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Duration,
    window_before: f64,
}

/// What was known when a write left; given back with its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    at: Duration,
    bytes: usize,
    delivered: f64,
    delivered_at: Option<Duration>,
    window: f64,
    filled_the_window: bool,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self {
            size: INITIAL_WINDOW,
            in_flight: 0,
            delivered: 0.0,
            delivered_at: None,
            first_ack: None,
            shortest_round_trip: Duration::MAX,
            starting: true,
            rounds_without_growth: 0,
            round: Round::default(),
        }
    }

    /// Whether the next write must wait. One write may overshoot.
    pub(crate) fn is_full(&self) -> bool {
        self.in_flight as f64 >= self.size
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    #[cfg(test)]
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    pub(crate) fn send(&mut self, bytes: usize, now: Duration) -> Sent {
        self.in_flight += bytes;
        Sent {
            at: now,
            bytes,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            window: self.size,
            filled_the_window: self.is_full(),
        }
    }

    /// The write failed: its bytes leave the window without a measurement.
    pub(crate) fn fail(&mut self, sent: Sent) {
        self.in_flight -= sent.bytes;
    }

    pub(crate) fn acknowledge(&mut self, sent: Sent, now: Duration) {
        self.in_flight -= sent.bytes;
        self.delivered += sent.bytes as f64;
        self.delivered_at = Some(now);
        self.shortest_round_trip = self.shortest_round_trip.min(now.saturating_sub(sent.at));
        let Some(first) = self.first_ack else {
            self.first_ack = Some(Ack {
                at: now,
                delivered: self.delivered,
            });
            return;
        };
        let since = match sent.delivered_at {
            Some(at) => Ack {
                at,
                delivered: sent.delivered,
            },
            None => first,
        };
        self.resize(sent, since, now);
        self.end_round(sent, now);
    }

    fn resize(&mut self, sent: Sent, since: Ack, now: Duration) {
        let growth = if self.starting {
            STARTUP_GROWTH
        } else {
            STEADY_GROWTH
        };
        let elapsed = now.saturating_sub(since.at).as_secs_f64();
        let carried = if elapsed > 0.0 {
            (self.delivered - since.delivered) / elapsed * self.shortest_round_trip.as_secs_f64()
        } else {
            // Faster than the clock can tell.
            f64::INFINITY
        };
        let wanted = (carried * growth).min(sent.window * growth);
        // A window that was not full says nothing about the path, so it is no reason to shrink.
        let floor = if sent.filled_the_window {
            sent.window * DECAY
        } else {
            self.size
        };
        self.size = wanted.max(floor).clamp(SMALLEST_WINDOW, LARGEST_WINDOW);
    }

    fn end_round(&mut self, sent: Sent, now: Duration) {
        if !self.starting || sent.at < self.round.began {
            return;
        }
        if self.size > self.round.window_before * STEADY_GROWTH {
            self.rounds_without_growth = 0;
        } else {
            self.rounds_without_growth += 1;
            self.starting = self.rounds_without_growth < STARTUP_ROUNDS;
        }
        self.round = Round {
            began: now,
            window_before: self.size,
        };
    }
}
