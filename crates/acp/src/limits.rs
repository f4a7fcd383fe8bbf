//! What bounds an answer that grows with what callers have done. What bounds requests is in
//! [`a2a::Limits`].

/// The largest page of agents, and how many there are without a limit of the caller's.
pub const MAX_AGENTS: usize = 1_000;

/// How many runs of a session its history tells of: the newest.
pub const MAX_SESSION_RUNS: usize = 1_000;

/// How many events of a run can be asked for at once. Who wants more follows the task over A2A.
pub const MAX_EVENTS: usize = 10_000;

/// How large they may be together, in bytes of JSON.
pub const MAX_EVENT_BYTES: usize = 64 << 20;

/// The longest id a peer may name, in bytes.
pub const MAX_ID: usize = a2a::limits::MAX_ID;
