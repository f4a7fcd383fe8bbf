//! The human side of a server: what people and their programs ask of it, over REST.
//!
//! Layout:
//! - [`api`]: the routes below `/api`, each part in its own file; [`api::memory`] is what agents remember,
//!   [`api::agent`] what they do, what they go by and why

pub mod api;
