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
//! What you implement is a [`Target`], usually by [`#[target]`](macro@target). What you hold is a [`Stub`]:
//! clone it to keep it, drop it to release it. What a call gives is a [`Promise`]: await it, or use it in
//! further calls at once. To serve a target, put [`Server::route`] on an axum router; to reach one, use
//! [`transport::websocket::connect`] or a [`transport::batch::BatchClient`].
//!
//! # Layout
//!
//! What you use:
//! - `target`, `stub`, `promise`: what you implement, hold and await
//! - `value`, `convert`, `error`, `stream`: what travels, and the Rust types it becomes
//! - [`mod@describe`]: what a target is, as data; type declarations and references made of it
//! - `map`: functions that are recorded here and run there
//! - `connection`, [`transport`], `relay`: sessions, how their frames travel, and two of them joined
//! - `reconnect`, [`resume`]: handles that outlive their sessions, and subscriptions that go on
//! - [`limits`]: what a peer may ask of us
//! - [`observe`]: what sessions do, counted and traced
//! - `layer`, `peer`: what stands around every call of a peer, and what is known about it
//!
//! What is behind it:
//! - [`expression`], [`message`]: the grammar of the wire; [`transcript`] puts it in words
//! - `session`: the two tables and the rules of the protocol, without any I/O
//! - `hook`: where calls on a stub go, by situation; `settle` and `trampoline` help them
//!
//! # Features
//!
//! - `client` (default): connecting, by WebSocket and HTTP batch
//! - `server` (default): serving on an axum router, by WebSocket and HTTP batch
//!
//! Without either the crate has sessions, stubs and targets, and brings frames to no network.

// What `#[target]` writes names the crate from outside.
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

mod connection;
mod context;
mod layer;
pub mod limits;
pub mod observe;
mod peer;
#[cfg(feature = "client")]
pub mod reconnect;
mod relay;
pub mod resume;
pub mod transport;

pub mod expression;
mod hook;
pub mod message;
mod session;
mod settle;
mod trampoline;
pub mod transcript;

#[cfg(test)]
mod testing;

pub mod demo;

#[doc(hidden)]
pub mod __macro;

pub use capnweb_macros::{FromValue, IntoValue, target};

pub use promise::{Awaited, Pipelined, Promise};
pub use stub::{Any, Capability, Client, Interface, Stub};
pub use target::{Arguments, Member, Reply, Target};

pub use convert::{Argument, Callback, FromArguments, FromValue, IntoArguments, Output};
pub use describe::{Description, MemberDescription, Parameter, Type};
pub use error::{Error, ErrorKind, Result};
pub use map::record::Mapper;
pub use stream::{ReadableStream, WritableStream};
pub use value::{Blob, Body, Date, Object, Request, Response, Value};

pub use connection::{Close, Connection, Options};
pub use context::Tasks;
pub use layer::{Answer, Call, CallKind, Layer, Next};
pub use limits::Limits;
pub use peer::Peer;
pub use relay::relay;
pub use session::Stats;
#[cfg(feature = "server")]
pub use transport::origin::OriginPolicy;
pub use transport::pair::pair;
#[cfg(feature = "server")]
pub use transport::server::Server;

/// The code in the crate's document compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/capnweb.md")]
struct Document;
