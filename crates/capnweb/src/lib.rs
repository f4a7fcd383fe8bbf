//! Cap'n Web in Rust.

// What the macros write names this crate from outside; so it can also be used inside.
extern crate self as capnweb;

#[doc(hidden)]
pub mod __macro;
pub mod limits;
pub mod expression;
pub mod message;
mod value;
mod error;
mod convert;
mod describe;
mod target;
mod stub;
mod promise;
mod stream;
mod map;
mod hook;
mod settle;
mod trampoline;
mod context;
mod session;
mod connection;
mod relay;
pub mod transport;
pub mod demo;

pub use capnweb_macros::{FromValue, IntoValue, target};
pub use connection::{Close, Connection, Options};
pub use context::Tasks;
pub use convert::{Argument, Callback, FromArguments, FromValue, IntoArguments, Output};
pub use describe::{Description, MemberDescription, Parameter, Type};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use map::record::Mapper;
pub use promise::{Awaited, Pipelined, Promise};
pub use relay::relay;
pub use session::Stats;
#[cfg(feature = "server")]
pub use transport::server::Server;
#[cfg(feature = "server")]
pub use transport::origin::OriginPolicy;
pub use transport::pair::pair;
pub use stream::{ReadableStream, WritableStream};
pub use stub::{Any, Capability, Client, Interface, Stub};
pub use target::{Arguments, Member, Reply, Target};
pub use value::{Blob, Body, Date, Object, Request, Response, Value};
