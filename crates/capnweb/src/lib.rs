//! Cap'n Web: remote objects over JSON, in Rust.
//!
//! You call methods of an object at the other end of a WebSocket, get further objects back, pass your
//! own as arguments, and use the result of a call in the next one before it has arrived. The other end
//! may be this crate, or the npm package `capnweb` in a browser or a server: both sides are equal.
//!
//! ```
//! use capnweb::{Capability, Options, Stub, pair, target};
//!
//! struct Greeter;
//!
//! #[target]
//! impl Greeter {
//!     /// Public methods can be called from outside.
//!     pub fn greet(&self, name: String) -> String { format!("Hello, {name}!") }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> capnweb::Result<()> {
//! let (client, _server) = pair(Capability::nothing(), Greeter.into_stub(), &Options::default());
//! let greeter: Stub<Greeter> = client.remote();
//! assert_eq!(greeter.greet("Ada").await?, "Hello, Ada!");
//! # Ok(()) }
//! ```
//!
//! An object that peers may call is a [`Target`], usually written with [`#[target]`](macro@target). A reference
//! to an object is a [`Stub`]: clone it to keep it, drop it to release it. A call returns a [`Promise`]: await
//! it, or use it in further calls at once. To serve a target, put [`Server::route`] on an axum router; to
//! connect to one, use [`transport::websocket::connect`] or a [`transport::batch::BatchClient`].
//!
//! # Layout
//!
//! The interface:
//! - `target`, `stub`, `promise`: objects that peers call, references to objects, results of calls
//! - `value`, `convert`, `error`, `stream`: the values of the protocol, and the Rust types they become
//! - [`mod@describe`]: the members of a target as data; TypeScript declarations and references made from it
//! - `map`: functions that are recorded here and run by the peer
//! - `connection`, [`transport`], `relay`: sessions, the transports of their frames, two sessions joined
//! - `reconnect`, [`resume`]: handles that survive their sessions, and subscriptions that go on
//! - [`limits`]: the bounds on what a peer may cause
//! - `tasks`: the owner of running handlers and sessions; draining and stopping
//! - [`observe`]: counters and traces of sessions and calls
//! - `layer`, `peer`: code around every call of a peer, and values attached to a peer
//!
//! The implementation:
//! - [`expression`], [`message`]: the grammar of the wire; [`transcript`] describes frames in words
//! - `session`: the two tables and the rules of the protocol, without any I/O
//! - `hook`: the target of a stub's calls, one variant for each situation; `settle` and `trampoline` help it
//! - `account`, `permit`: what a session has in use, counted against its limits
//! - [`weight`], [`beside`](beside()): the memory of a message estimated before it is parsed, and a place to parse a large one
//!
//! # Features
//!
//! - `client` (default): connecting, by WebSocket and HTTP batch
//! - `server` (default): serving on an axum router, by WebSocket and HTTP batch
//!
//! Without either the crate has sessions, stubs and targets, and no network transport.

// Code that `#[target]` generates names this crate from outside.
extern crate self as capnweb;

mod promise;
mod stub;
mod target;

mod convert;
pub mod describe;
mod error;
mod map;
mod stream;
mod value;

mod account;
#[cfg(any(feature = "client", feature = "server"))]
mod beside;
mod connection;
mod layer;
pub mod limits;
pub mod observe;
mod peer;
mod permit;
#[cfg(feature = "client")]
pub mod reconnect;
mod relay;
pub mod resume;
mod tasks;
pub mod transport;

pub mod expression;
mod hook;
pub mod message;
mod session;
mod settle;
mod trampoline;
pub mod transcript;
pub mod weight;

#[cfg(all(test, any(feature = "client", feature = "server")))]
#[path = "../examples/support/demo.rs"]
mod demo;
#[cfg(test)]
mod testing;

#[doc(hidden)]
pub mod __macro;

pub use capnweb_macros::{FromValue, IntoValue, target};

pub use promise::{Awaited, Pipelined, Promise};
pub use stub::{Any, Capability, Interface, Stub, TypedCapability};
pub use target::{Arguments, Member, Reply, Target};

pub use convert::{Argument, Callback, FromArguments, FromValue, IntoArguments, Output};
pub use describe::{Description, MemberDescription, Parameter, Type};
pub use error::{Error, ErrorKind, Result};
pub use map::record::Mapper;
pub use stream::{ReadableStream, WritableStream};
pub use value::{Blob, Body, Date, Object, Request, Response, Value};

#[cfg(any(feature = "client", feature = "server"))]
pub use beside::{beside, poll_beside};
pub use connection::{Close, Connection, Options};
pub use layer::{Call, CallKind, CallResult, Layer, Next};
pub use limits::{GuestLimits, Limits};
pub use peer::Peer;
pub use relay::relay;
pub use session::Stats;
pub use tasks::Tasks;
#[cfg(feature = "server")]
pub use transport::origin::OriginPolicy;
pub use transport::pair::pair;
#[cfg(feature = "server")]
pub use transport::server::Server;

/// Compiles the code in `docs/capnweb.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/capnweb.md")]
struct Document;

/// Compiles the code in the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
