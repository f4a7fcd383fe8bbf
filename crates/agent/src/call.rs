//! Calls of skills, from the message that begins one to the end of its task: the one place where calls are run.
//!
//! - `fence`: what stands around every skill: input, law, time, panics, output
//! - `state`: a call that is under way, as its skill sees it
//! - `running`: a call is driven, parked while it waits for an answer, and taken up again

mod fence;
mod running;
mod state;

pub(crate) use fence::Fence;
pub use fence::Hook;
pub(crate) use running::{Parked, Running, fail, invalid};
pub(crate) use state::{CallState, Given};
