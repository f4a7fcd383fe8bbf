//! Cap'n Web: a client follows a feed, its server restarts, and the client misses no message.
//!
//! You learn how to keep a connection across restarts: `Reconnect` connects again by itself, `derive` repeats what has to
//! be done in each session, such as signing in, and `resume` continues a subscription after the last message that
//! arrived. The server side is in `live_feed.rs`; a page in TypeScript that does the same is in `live_feed/page`.
//!
//!     cargo run -p examples --example 09_live_feed
//!
//! Prints:
//!
//!     1: Ada: the kettle is on
//!     -- the server stops, and Bob writes a message meanwhile --
//!     -- the server is back --
//!     2: Bob: is there tea?
//!     3: Ada: there is

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use capnweb::reconnect::{Reconnect, Reconnecting, Settings};
use capnweb::{Capability, Options, Tasks};
use examples::live_feed::{Feed, Message, routes};
use store::Store;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `Store::open` would store the feed in a folder.
    let feed = Feed::new(Store::memory(&[]));
    let server = Running::start(&feed, "127.0.0.1:0".parse()?).await?;
    let address = server.address;

    let url = format!("ws://{address}/rpc");
    let remote: Reconnecting<Feed> =
        Reconnect::websocket(url, Capability::nothing(), &Options::default())
            .settings(Settings {
                longest_wait: Duration::from_millis(200),
                ..Settings::default()
            })
            .start();
    // Signs in again in every new session.
    let ada = remote.derive(|feed| feed.sign_in("Ada"));
    let mut events = remote.resume(None, |feed, cursor, sink| feed.subscribe(cursor, sink));

    ada.call(|ada| ada.post("the kettle is on")).await?;
    println!("{}", line(events.next().await)?);

    println!("-- the server stops, and Bob writes a message meanwhile --");
    server.stop().await;
    let unseen = Message {
        author: "Bob".to_owned(),
        text: "is there tea?".to_owned(),
    };
    feed.add(&unseen).await?;

    println!("-- the server is back --");
    let server = Running::start(&feed, address).await?;
    println!("{}", line(events.next().await)?);
    ada.call(|ada| ada.post("there is")).await?;
    println!("{}", line(events.next().await)?);
    server.stop().await;
    Ok(())
}

fn line(
    event: Option<capnweb::Result<capnweb::resume::Item<Message>>>,
) -> Result<String, Box<dyn std::error::Error>> {
    let item = event.ok_or("the feed has ended")??;
    let Message { author, text } = item.event;
    Ok(format!("{}: {author}: {text}", item.cursor))
}

/// A server that can be stopped and started again.
struct Running {
    address: SocketAddr,
    tasks: Tasks,
    listening: JoinHandle<std::io::Result<()>>,
}

impl Running {
    async fn start(feed: &Feed, address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let tasks = Tasks::new();
        let options = Options::default().tasks(tasks.clone());
        let routes = routes(feed.clone(), options, Path::new("."));
        let listening = tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self {
            address,
            tasks,
            listening,
        })
    }

    async fn stop(self) {
        self.listening.abort();
        self.tasks.stop().await;
    }
}
