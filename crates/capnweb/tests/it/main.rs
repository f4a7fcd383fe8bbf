//! Sessions with the outside: the unmodified npm package on the other end, in both directions, and real
//! sockets that behave badly.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod golden;
mod interop_target;
mod layers;
mod npm_client;
mod npm_relay;
mod our_client;
mod reconnect;
#[path = "../../examples/support/relay_server.rs"]
mod relay_server;
mod support;
mod transport;
mod typescript;
