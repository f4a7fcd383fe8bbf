//! Calls of skills behind a real task server: what callers see of them, and what they cannot break.

mod agents;
mod asking;
mod calling;
mod chaos;
mod fenced;
mod scoped;
mod support;
mod with_model;
