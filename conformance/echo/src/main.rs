//! A plain WebSocket echo on axum: the floor of `cargo xtask bench chat`, which no chat on axum can get below.
//!
//!     cargo run --release -p echo
//!
//! Prints one JSON line with its address and process id when it is ready.

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

/// The allocator of `monas`, so that both are measured with the same.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    announce(&format!(
        r#"{{"url":"http://{}/","pid":{}}}"#,
        listener.local_addr()?,
        std::process::id()
    ));
    let upgrade = |upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(echo) };
    let app = Router::new().route("/", get(upgrade));
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, app).await?;
    Ok(())
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Text(_)) && socket.send(message).await.is_err() {
            return;
        }
    }
}

#[expect(
    clippy::print_stdout,
    reason = "this line is what the program is asked for"
)]
fn announce(line: &str) {
    println!("{line}");
}
