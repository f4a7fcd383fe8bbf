//! The messages that wait to be sent to the peer.

use std::collections::VecDeque;

/// The number of releases that may wait for another message to leave with.
#[cfg(any(feature = "client", feature = "server"))]
const MOST_RELEASES: usize = 64;

/// The messages of one session on their way to the transport, in the order in which the tables changed.
///
/// The order is the protocol: both peers number what they push by counting messages, so a message that leaves
/// earlier or later than its table entry was made gives every later id a different meaning. Therefore there is
/// one queue for each session, filled under the session's lock, and the transport takes all of it at once.
///
/// Messages are printed when they are queued, not when they are sent. A value may change or be dropped in
/// between, and the size is needed at once: `max_queued_bytes` ends a session with a peer that reads too
/// slowly, and stream writes count their bytes against the flow-control window.
///
/// Releases of answered calls are not urgent. No one waits for them, so a transport may hold them for a few
/// milliseconds, until the next call leaves in the same write; then a call costs the peer one read, not two.
/// More than `MOST_RELEASES` of them are urgent too, so that the peer's table stays small.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: VecDeque<String>,
    bytes: usize,
    /// Whether there are messages other than releases of answered calls.
    urgent: bool,
}

impl Outbox {
    pub(super) fn push_urgent(&mut self, text: String) {
        self.urgent = true;
        self.push(text);
    }

    /// Queues a message that may wait for another one.
    pub(super) fn push(&mut self, text: String) {
        self.bytes += text.len();
        self.messages.push_back(text);
    }

    pub(super) fn take(&mut self) -> VecDeque<String> {
        self.bytes = 0;
        self.urgent = false;
        std::mem::take(&mut self.messages)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(super) fn is_urgent(&self) -> bool {
        self.urgent || self.messages.len() > MOST_RELEASES
    }
}
