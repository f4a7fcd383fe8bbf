//! The human side of a server: what people and their programs ask of it, over REST, in the chat and through the door of
//! the page.
//!
//! Layout:
//! - [`api`]: the routes below `/api`: [`api::memory`] for the memories of agents, [`api::agent`] for their status, law
//!   and explanations
//! - [`api::reply`]: the replies, which clients read back
//! - [`chat`]: `/ws/chat`, sessions told from the journals of agents
//! - [`door`]: `/workspace/capnweb`, the routes and the chat as objects of Cap'n Web
//! - [`packed`]: MessagePack, for clients that ask for it

pub mod api;
pub mod chat;
pub mod door;
pub mod packed;
