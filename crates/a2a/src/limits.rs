//! Every number that bounds what a peer or an agent can make the server hold, do or wait for.

#[cfg(feature = "server")]
use std::time::Duration;

/// The limits of one server. Each has a default that suits one machine.
#[cfg(feature = "server")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body, in bytes. Files travel inside it as base64.
    pub max_body: usize,
    /// How long a request body may take to arrive.
    pub body_time: Duration,
    /// How long a session of objects may last before its caller is authenticated, where callers have to be.
    pub authenticate_time: Duration,
    /// How long an agent may take to end once it was told that its task is cancelled; then the task
    /// ends without it.
    pub cancel_grace: Duration,
    /// How long a call that waits for a task may go on waiting once the server stops.
    pub stop_grace: Duration,
    /// How long a call may wait for a task to pass the generation it knows.
    pub long_poll: Duration,
    /// How many tasks may be worked on at once.
    pub max_running: usize,
    /// How many messages may wait for one running task.
    pub max_waiting_messages: usize,
    /// How many updates of an agent may wait to be committed before it has to wait itself.
    pub max_waiting_updates: usize,
    /// How long a send can be repeated and still gets the answer of the first time.
    pub replay_time: Duration,
    /// How many bytes of answers without a task are kept to be repeated.
    pub replay_bytes: usize,
    /// How many webhooks one task may have.
    pub max_push_configs: usize,
    /// How many webhooks are called at once.
    pub max_deliveries: usize,
    /// How many of them may be of tasks of one caller, so that its slow webhooks do not keep those of others waiting.
    pub max_deliveries_each: usize,
    /// How long one webhook may take to answer.
    pub push_time: Duration,
    /// How often an event is offered to a webhook before it is given up.
    pub push_attempts: u32,
    /// How long to wait before the second attempt; doubled for each further one, up to
    /// [`push_pause_max`](Self::push_pause_max).
    pub push_pause: Duration,
    /// The longest wait between two attempts.
    pub push_pause_max: Duration,
    /// The pause after which a silent stream sends a comment, so that proxies keep the connection.
    pub keep_alive: Duration,
    /// How long a callback of a caller may take to return before it counts as failed.
    pub callback_time: Duration,
    /// How long finished tasks are kept, how many of them, and when their events become one snapshot.
    pub retention: store::Retention,
}

#[cfg(feature = "server")]
impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 16 << 20,
            body_time: Duration::from_secs(30),
            authenticate_time: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(5),
            stop_grace: Duration::from_secs(4),
            long_poll: Duration::from_secs(30),
            max_running: 10_000,
            max_waiting_messages: 64,
            max_waiting_updates: 256,
            replay_time: Duration::from_secs(24 * 60 * 60),
            replay_bytes: 4 << 20,
            max_push_configs: 16,
            max_deliveries: 64,
            max_deliveries_each: 16,
            push_time: Duration::from_secs(15),
            push_attempts: 8,
            push_pause: Duration::from_secs(1),
            push_pause_max: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            callback_time: Duration::from_secs(60),
            retention: store::Retention {
                max_age: Duration::from_secs(30 * 24 * 60 * 60),
                max_count: 1_000_000,
                compact_after: Duration::from_secs(24 * 60 * 60),
            },
        }
    }
}

#[cfg(feature = "http")]
impl Limits {
    /// The limits of a session of objects before its caller has authenticated.
    pub fn guests(&self) -> capnweb::GuestLimits {
        let guests = capnweb::GuestLimits::default();
        capnweb::GuestLimits {
            max_message_bytes: guests.max_message_bytes.min(self.max_body),
            time: self.authenticate_time,
            ..guests
        }
    }
}

/// How many messages of the largest size a session of objects may keep the server holding,
#[cfg(feature = "http")]
pub(crate) const HELD_MESSAGES: usize = 8;

/// and how many bytes in any case.
#[cfg(feature = "http")]
pub(crate) const HELD_AT_LEAST: usize = 64 << 20;

/// The largest page of a list.
pub const MAX_PAGE: i32 = 100;

/// A page of tasks ends with the task that fills this many bytes; the next page goes on after it.
pub const MAX_PAGE_BYTES: usize = 4 << 20;

/// How many rows of tasks are read at once: a row may hold a whole task.
#[cfg(feature = "server")]
pub(crate) const ROWS_AT_ONCE: usize = 4;

/// How many bytes of events are read from the journal at once.
#[cfg(feature = "server")]
pub(crate) const EVENT_BYTES_AT_ONCE: usize = 1 << 20;

/// The page of a list when the caller names none.
pub const DEFAULT_PAGE: i32 = 50;

/// The longest id a peer may choose, in bytes.
pub const MAX_ID: usize = 256;

/// How many events are read from the journal and written to a stream at once.
pub const EVENTS_AT_ONCE: usize = 64;

/// How many calls may be under way on one socket.
pub const MAX_CALLS: usize = 256;

/// How many callbacks one session may have subscribed at once.
#[cfg(feature = "http")]
pub const MAX_SUBSCRIPTIONS: usize = 1_000;

/// How many frames wait to be written to a socket before those who make them wait.
pub(crate) const FRAMES_AT_ONCE: usize = 16;

/// The time in which the rest of a refused body is read, so that its sender gets to read the refusal.
#[cfg(feature = "http")]
pub(crate) const DISCARD_TIME: Duration = Duration::from_secs(5);

/// How long it may pause meanwhile. On a busy machine a client that writes steadily is held up for a few hundred
/// milliseconds.
#[cfg(feature = "http")]
pub(crate) const DISCARD_PAUSE: Duration = Duration::from_secs(1);
