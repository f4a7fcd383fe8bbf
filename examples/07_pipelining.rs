//! Cap'n Web: three calls, each on the result of the one before, in one round trip.
//!
//! You learn promise pipelining: a call can be made on a result that has not arrived. The program moves the frames between
//! client and server by hand, so it can count them.
//!
//!     cargo run -p examples --example 07_pipelining
//!
//! Prints:
//!
//!     the reader of the author of the book is Grace
//!     frames sent before the first answer: 4
//!     round trips: 1

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use capnweb::{Capability, Connection, Options, Stub, target};

struct Library;

#[target]
impl Library {
    /// A book by its title.
    pub fn book(&self, title: String) -> Book {
        Book { title }
    }
}

struct Book {
    title: String,
}

#[target]
impl Book {
    /// The author of the book.
    pub fn author(&self) -> Author {
        Author {
            wrote: self.title.clone(),
        }
    }
}

struct Author {
    wrote: String,
}

#[target]
impl Author {
    /// The name of a reader of this author.
    pub fn reader(&self) -> String {
        if self.wrote == "Notes" {
            "Grace".to_owned()
        } else {
            "unknown".to_owned()
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two sessions without a network, so that the frames can be counted.
    let server = Connection::new(Library.into_stub(), &Options::default());
    let client = Connection::new(Capability::nothing(), &Options::default());
    let library: Stub<Library> = client.remote();

    // No call is awaited before the last one is made: each is sent at once, on the promise of the result before it.
    let book = library.book("Notes");
    let author = book.pipeline().author();
    let reader = author.pipeline().reader().into_future();

    let mut sent = 0;
    let mut round_trips = 0;
    while !(client.stats().imports == 1 && sent > 0) {
        let requests = client.take_outgoing();
        if round_trips == 0 {
            sent = requests.len();
        }
        requests.iter().for_each(|frame| server.receive(frame));
        let answers = server.take_outgoing();
        if answers.is_empty() {
            break;
        }
        answers.iter().for_each(|frame| client.receive(frame));
        round_trips += 1;
    }

    println!("the reader of the author of the book is {}", reader.await?);
    println!("frames sent before the first answer: {sent}");
    println!("round trips: {round_trips}");
    Ok(())
}
