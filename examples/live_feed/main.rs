//! Serves the live feed and its page, and stores the messages in a folder.
//!
//!     cargo run -p examples --bin live_feed -- [--listen ADDRESS] [--data FOLDER]
//!     cargo run -p examples --bin live_feed -- types        # its declarations for TypeScript
//!     cargo run -p examples --bin live_feed -- reference    # its reference in Markdown

#![expect(clippy::print_stdout, reason = "a program talks to its user")]

use std::path::Path;

use capnweb::describe::Schema;
use capnweb::{Interface, Options};
use examples::live_feed::{Feed, routes};
use store::Store;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut words = words.iter().map(String::as_str);
    let (mut listen, mut data) = ("127.0.0.1:8080", "live-feed-data");
    while let Some(word) = words.next() {
        match word {
            "types" => {
                print!("{}", schema().typescript());
                return Ok(());
            }
            "reference" => {
                print!("{}", schema().reference());
                return Ok(());
            }
            "--listen" => listen = words.next().ok_or("--listen needs an address")?,
            "--data" => data = words.next().ok_or("--data needs a folder")?,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let feed = Feed::new(Store::open(&store::Options::new(data))?);
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let listener = TcpListener::bind(listen).await?;
    println!("listening on http://{}/", listener.local_addr()?);
    axum::serve(listener, routes(feed, Options::default(), &checkout)).await?;
    Ok(())
}

fn schema() -> Schema {
    Schema::of([<Feed as Interface>::describe()])
}
