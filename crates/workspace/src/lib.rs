//! The human side of a server: what people and their programs ask of it, over REST.
//!
//! Layout:
//! - [`api`]: the routes below `/api`: [`api::memory`] for the memories of agents, [`api::agent`] for their status, law
//!   and explanations
//! - [`api::reply`]: the replies, which clients read back

pub mod api;
