//! A gateway between two peers that cannot reach each other.
//!
//!     cargo run --release -p capnweb --example relay -- --port 8791
//!
//! Peers open WebSockets at `/relay/TOKEN/a` and `/relay/TOKEN/b`, in either order; each gets the
//! other's main object. `GET /relay/TOKEN/stats` tells the table sizes of both sessions.

use axum::serve::ListenerExt;
use tokio::net::TcpListener;

#[path = "support/arguments.rs"]
mod arguments;
#[path = "support/relay_server.rs"]
mod relay_server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(("127.0.0.1", arguments::port()?)).await?;
    let address = listener.local_addr()?;
    arguments::announce(&format!(
        r#"{{"url":"http://{address}","pid":{}}}"#,
        std::process::id()
    ));
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, relay_server::router()).await?;
    Ok(())
}
