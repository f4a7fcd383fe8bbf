//! Limits on replies that grow with the data of a caller. Limits on requests are in [`a2a::Limits`].

/// The largest page of agents, and its size if the caller gives no limit.
pub const MAX_AGENTS: usize = 1_000;

/// How many runs the history of a session covers; older ones are left out.
pub const MAX_SESSION_RUNS: usize = 1_000;

/// The size of these runs together, in bytes.
pub const MAX_SESSION_BYTES: usize = 16 << 20;

/// How many events of a run one reply may hold. Longer runs can be followed over A2A.
pub const MAX_EVENTS: usize = 10_000;

/// The size of these events together, in bytes of JSON.
pub const MAX_EVENT_BYTES: usize = 64 << 20;

/// The longest id in a request, in bytes.
pub const MAX_ID: usize = a2a::limits::MAX_ID;
