//! Cap'n Web: an object on a server, called by a client over a WebSocket.
//!
//! You learn what a target is (an object with methods that can be called from outside), how a server offers one, and how a
//! client calls it through a typed stub. Arguments are checked by the server.
//!
//!     cargo run -p examples --example 06_hello_rpc
//!
//! Prints:
//!
//!     Hello, Ada!
//!     TypeError: argument 'name': expected a string, got a number

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use axum::Router;
use capnweb::transport::websocket;
use capnweb::{Capability, Options, Server, Stub, target};
use tokio::net::TcpListener;

/// The target. Its public methods can be called by clients, with names in camelCase.
struct Greeter;

#[target]
impl Greeter {
    /// A greeting.
    pub fn greet(&self, name: String) -> String {
        format!("Hello, {name}!")
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The server: one target for each session, at a path of an axum router.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}/rpc", listener.local_addr()?);
    let app = Router::new().route("/rpc", Server::new(|_headers| Greeter.into_stub()).route());
    tokio::spawn(axum::serve(listener, app).into_future());

    // The client: it offers no object of its own, and gets a typed stub of the server's object.
    let connection = websocket::connect(&url, Capability::nothing(), &Options::default()).await?;
    let greeter: Stub<Greeter> = connection.remote();
    println!("{}", greeter.greet("Ada").await?);

    // Methods can be called without types too; the server checks the arguments.
    if let Err(error) = greeter.call("greet", (42,)).await {
        println!("{error}");
    }
    Ok(())
}
