//! The client against real servers and a real proxy on loopback.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod body;
mod guard;
mod proxy;
mod redirect;
mod support;
mod tls;
