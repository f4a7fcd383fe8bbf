//! An object on a server, called by a client over a WebSocket.
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

/// The object. Its public methods can be called from outside, in camelCase.
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
    // The server: one object for each session, on a path of any axum router.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}/rpc", listener.local_addr()?);
    let app = Router::new().route("/rpc", Server::new(|_headers| Greeter.into_stub()).route());
    tokio::spawn(axum::serve(listener, app).into_future());

    // The client: it offers nothing itself, and holds a typed stub of the server's object.
    let connection = websocket::connect(&url, Capability::nothing(), &Options::default()).await?;
    let greeter: Stub<Greeter> = connection.remote();
    println!("{}", greeter.greet("Ada").await?);

    // Any method can be tried without types; the server checks what it is given.
    if let Err(error) = greeter.call("greet", (42,)).await {
        println!("{error}");
    }
    Ok(())
}
