//! Letting answers gather while the peer has many others left to read.

use std::time::Duration;

use tokio::time::Instant;

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;

/// The number of answers that a peer has to have before it for further ones to gather.
const MANY: usize = 32;

/// The part of those answers that gathers: the peer has the rest to read meanwhile.
const PART: usize = 4;

/// The time after which answers are sent, however few.
const TIME: Duration = Duration::from_millis(1);

/// The number of answers up to which they have gathered in vain: the peer did not send more calls, and has waited.
const FEW: u64 = 4;

/// The pause after that; doubled each time, up to the longest.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How far the peer is with the answers to its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The number of answers ever given.
    pub(crate) answered: u64,
    /// The number of answers that the peer has not released: it has not read them yet, or keeps them.
    pub(crate) unreleased: usize,
}

/// Decides when answers wait for others to be sent with.
///
/// A client that writes every frame by itself, as the JavaScript one does, gets every answer in a packet of its own: the
/// server has read one call and answers it before the next one is there. Sending a packet costs several times what a
/// small call costs. While such a client has dozens of calls in flight, an answer that comes a little later comes at the
/// same time for it, because it has as many others to read first; so a quarter as many gather, and leave in one write.
///
/// Calls in flight are known by their releases: a client releases an answer when it has read it. One that makes one call
/// after the other has at most a few unreleased answers, and is never delayed. One that keeps its answers looks as if it
/// had not read them: there the time ends the wait, and answers that have waited in vain are followed by a pause, which
/// doubles each time. Such a client loses a millisecond in twenty at first, and one in five thousand later.
#[derive(Debug, Default)]
pub(super) struct Gather {
    present: Option<Gathering>,
    pause: Duration,
    paused_until: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Gathering {
    /// Set when the first answer waits.
    until: Option<Instant>,
    /// The number of answers at its beginning.
    begun: u64,
    /// The number of answers at which it ends.
    end: u64,
}

impl Gather {
    /// The time at which waiting answers are sent, if there are any.
    pub(super) fn until(&self) -> Option<Instant> {
        self.present.and_then(|gathering| gathering.until)
    }

    /// Whether the answers so far are to wait for others.
    pub(super) fn waits(&mut self, answered: impl FnOnce() -> u64, now: Instant) -> bool {
        let Some(gathering) = &mut self.present else {
            return false;
        };
        let answered = answered();
        if answered == gathering.begun || answered >= gathering.end {
            return false;
        }
        now < *gathering.until.get_or_insert(now + TIME)
    }

    /// All answers so far are sent; decides about the next ones.
    pub(super) fn sent(&mut self, progress: Progress, now: Instant) {
        match &self.present {
            // It was another message.
            Some(gathering) if gathering.begun == progress.answered => return,
            Some(gathering) if progress.answered <= gathering.begun + FEW => {
                self.pause = (2 * self.pause).clamp(PAUSE, LONGEST_PAUSE);
                self.paused_until = Some(now + self.pause);
            }
            Some(_) => self.pause = Duration::ZERO,
            None => {}
        }
        let paused = self.paused_until.is_some_and(|until| now < until);
        let gathers = !paused && progress.unreleased >= MANY;
        self.present = gathers.then(|| Gathering {
            until: None,
            begun: progress.answered,
            end: progress.answered + (progress.unreleased / PART) as u64,
        });
    }
}
