//! Measurements: the reference implementations and ours, by turns in one run.
//!
//! - [`a2a`]: official A2A servers and ours;
//! - [`access`]: what limits and the audit trail add to a call;
//! - [`capnweb`]: npm capnweb and our crate;
//! - [`chat`]: a thousand sessions of the chat, and a plain WebSocket echo;
//! - [`floods`]: what a well-behaved caller notices while others send as much as they can;
//! - [`mcp`]: the official MCP servers and ours, and ours over ACP;
//! - [`memory`]: how well memory finds evidence;
//! - [`page`]: what the page costs its reader;
//! - [`transports`]: our A2A server over each of its wires;
//!
//! Those that compare servers have the same [`frame`]: scenarios, peers that take turns, [`options`], one [`table`].
//!
//! - [`server`]: one running server, [`address`] where it listens, [`http`] a connection to it; [`ours`]: our own;
//! - [`load`]: how load generators are started; [`rounds`]: what measurements gave;
//! - [`usage`]: processor time and memory of a server;
//! - [`flags`]: reading the words of a command line;
//! - [`document`]: where a table goes; [`plot`]: a picture of it.

pub(crate) mod a2a;
pub(crate) mod access;
mod address;
pub(crate) mod capnweb;
pub(crate) mod chat;
pub(crate) mod document;
pub(crate) mod flags;
pub(crate) mod floods;
mod frame;
mod http;
mod load;
pub(crate) mod mcp;
pub(crate) mod memory;
mod options;
mod ours;
pub(crate) mod page;
mod plot;
mod rounds;
pub(crate) mod server;
mod table;
pub(crate) mod transports;
pub(crate) mod usage;
