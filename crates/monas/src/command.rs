//! The command line: what the user asks for, and what the server tells on the terminal.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use clap::Parser;

use crate::compose::{Config, Server};
use crate::listen::Error;

/// Serves a demo object over Cap'n Web, by WebSocket and by HTTP batch on one path.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "monas",
    version,
    about = "Serves a demo object over Cap'n Web, by WebSocket and by HTTP batch on one path."
)]
pub struct Command {
    /// Where to listen. Loopback only: there is no access control yet.
    #[arg(
        long,
        env = "MONAS_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS"
    )]
    pub listen: SocketAddr,

    /// Pages of these origins may connect too, besides those of this server itself.
    #[arg(
        long = "allow-origin",
        env = "MONAS_ALLOW_ORIGIN",
        value_delimiter = ',',
        value_name = "ORIGIN"
    )]
    pub allow_origins: Vec<String>,

    /// How many connections may be open at once.
    #[arg(
        long,
        env = "MONAS_MAX_CONNECTIONS",
        default_value = "10000",
        value_name = "N"
    )]
    pub max_connections: NonZeroUsize,
}

/// Runs the server until it is interrupted or told to terminate.
pub async fn run(command: Command) -> Result<(), Error> {
    let config = Config {
        listen: command.listen,
        allow_origins: command.allow_origins,
        max_connections: command.max_connections.get(),
    };
    let server = Server::bind(&config).await?;
    greet(server.address());
    server.run(interrupted()).await;
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "only the program itself talks to its user"
)]
fn greet(address: SocketAddr) {
    println!(
        "monas serves Cap'n Web on ws://{address}/rpc and http://{address}/rpc (Ctrl-C stops it)

Call it from node 22 or newer, after `npm install capnweb`, in a file hello.mjs:

  import {{ newWebSocketRpcSession }} from \"capnweb\";
  const api = newWebSocketRpcSession(\"ws://{address}/rpc\");
  console.log(await api.greet(\"Ada\"), await api.makeCounter(1).increment(4)); api[Symbol.dispose]();
"
    );
}

/// Ends at Ctrl-C, or when the process is told to terminate.
async fn interrupted() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            // Without the handler the default one ends the process.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
