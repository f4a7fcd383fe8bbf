//! Cap'n Web: the agent as an object, its operations as methods, its tasks as objects of their own.
//!
//! Methods take positional arguments, in the order that the table gives, or the whole request as one
//! object. Streams are streams, or calls of an object of the caller's.
//! `docs/a2a-over-capnweb.md` is the specification.
//!
//! - `server`: the route, and the object that a session begins with
//! - `client`: the same from the other end
//! - `lend`: an agent object with less, and the tokens that restore it
//! - `request`: from arguments to a request
//! - `task`: a task as an object, and its subscriptions
//! - `feed`: one callback and the events that it is told of
//! - `value`: JSON as Cap'n Web has it

#[cfg(feature = "client")]
pub(in crate::binding) mod client;
#[cfg(feature = "http")]
mod feed;
#[cfg(feature = "http")]
mod lend;
#[cfg(feature = "http")]
mod request;
#[cfg(feature = "http")]
pub mod server;
#[cfg(feature = "http")]
mod task;
pub mod value;

#[cfg(feature = "http")]
pub(in crate::binding) use request::credentials;

/// The path of the binding.
pub(super) const PATH: &str = "/a2a/capnweb";
