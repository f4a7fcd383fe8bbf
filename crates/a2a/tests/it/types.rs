//! The types against those of the official SDK: what they are called, and what they read and write.

mod ahead;
mod broken;
mod corpus;
mod described;
mod forms;
mod mutated;
pub(crate) mod official;
mod table;
