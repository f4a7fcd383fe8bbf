//! The demo target, served for measurements: WebSocket and HTTP batch on one path.
//!
//!     cargo run --release -p capnweb --example bench_target -- --port 8790
//!
//! Prints one JSON line with its address and process id when it is ready.

use axum::Router;
use axum::serve::ListenerExt;
use capnweb::Server;
use tokio::net::TcpListener;

#[path = "support/arguments.rs"]
mod arguments;
#[path = "support/demo.rs"]
mod demo;

use demo::Demo;

/// The allocator of `monas`: measurements of this program are to hold for sessions of that one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(("127.0.0.1", arguments::port()?)).await?;
    let address = listener.local_addr()?;
    arguments::announce(&format!(
        r#"{{"url":"ws://{address}/rpc","pid":{}}}"#,
        std::process::id()
    ));
    let app = Router::new().route("/rpc", Server::new(|_headers| Demo.into_stub()).route());
    axum::serve(
        listener.tap_io(|stream| drop(stream.set_nodelay(true))),
        app,
    )
    .await?;
    Ok(())
}
