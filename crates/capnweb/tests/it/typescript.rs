//! Declarations for TypeScript: written from a target, compiled against, and run against that target.
//!
//! `UPDATE_EXPECT=1 cargo test -p capnweb --test it typescript` writes the files again.

use std::collections::BTreeMap;

use axum::Router;
use bytes::Bytes;
use capnweb::describe::Schema;
use capnweb::{
    Callback, Date, Error, FromValue, Interface, IntoValue, Options, ReadableStream, Result,
    Server, Stub, Tasks, Value, target,
};
use expect_test::expect_file;
use futures_util::StreamExt;

use crate::support::serving::Serving;
use crate::support::typescript;

/// A library with two books.
struct Library;

/// Lends books.
///
/// Each method is of another kind.
#[target(pub(crate))]
impl Library {
    /// Opens the door. A title stands before the name.
    pub fn open(&self, name: String, title: Option<String>) -> String {
        let title = title.map(|title| format!("{title} "));
        format!("welcome, {}{name}", title.unwrap_or_default())
    }

    /// How many books there are.
    #[getter]
    pub fn size(&self) -> u32 {
        TITLES.len() as u32
    }

    /// Finds a book.
    ///
    /// # Errors
    ///
    /// - `not_found`: there is none of that title
    pub fn find(&self, title: String) -> Result<Book> {
        Book::of(&title).ok_or_else(|| {
            Error::range_error(format!("there is no {title} here")).with_code("not_found")
        })
    }

    pub fn all(&self) -> Vec<Book> {
        TITLES.iter().filter_map(|title| Book::of(title)).collect()
    }

    /// A book, if it is there.
    pub fn maybe(&self, title: String) -> Option<Book> {
        Book::of(&title)
    }

    /// Whether it is one of ours.
    pub async fn same(&self, book: Stub<Book>) -> Result<bool> {
        Ok(TITLES.contains(&&*book.title().await?))
    }

    /// Registers a reader.
    ///
    /// # Errors
    ///
    /// - `banned`: nobody wants them here
    /// - `full`: there are too many readers,
    ///   or too few librarians
    pub fn register(&self, reader: Reader) -> Result<Reader> {
        if reader.kind == Kind::Banned {
            return Err(Error::new("go away").with_code("banned"));
        }
        let librarian = Reader {
            name: "Librarian".to_owned(),
            kind: Kind::Staff,
            number: None,
            friends: Vec::new(),
        };
        Ok(Reader {
            number: Some(1),
            friends: vec![librarian],
            ..reader
        })
    }

    pub fn stamp(&self, on: Date, page: Bytes) -> Bytes {
        let _ = on;
        [&page[..], &[0]].concat().into()
    }

    /// A fine, in cents, which add up.
    pub fn fine(&self, cents: u64) -> u64 {
        cents
    }

    pub fn shelves(&self) -> BTreeMap<String, u32> {
        [("novels".to_owned(), 2)].into()
    }

    /// Calls back with the title and number of each book.
    pub async fn each(&self, seen: Callback<(String, u32), ()>) -> Result<()> {
        for (title, number) in TITLES.iter().zip(0..) {
            seen.call(((*title).to_owned(), number)).await?;
        }
        Ok(())
    }

    /// The largest measure of a title.
    pub async fn longest(&self, measure: Callback<(String,), f64>) -> Result<f64> {
        let mut longest = 0.0;
        for title in TITLES {
            longest = measure.call((title.to_owned(),)).await?.max(longest);
        }
        Ok(longest)
    }

    /// Lets a visitor say something about a book.
    pub async fn visit(&self, visitor: Stub<dyn Visitor>) -> Result<String> {
        visitor.greet(Book(TITLES[0])).await
    }

    /// The words of a book, as they are read.
    pub fn read(&self, title: String) -> Result<ReadableStream<String>> {
        self.find(title)?;
        Ok(ReadableStream::from_items(["Emma", "Woodhouse"]).cast())
    }

    pub async fn count(&self, mut numbers: ReadableStream<f64>) -> Result<f64> {
        let mut sum = 0.0;
        while let Some(number) = numbers.next().await {
            sum += number?;
        }
        Ok(sum)
    }

    /// Whatever it is.
    pub fn keep(&self, thing: Value) -> Value {
        thing
    }
}

const TITLES: [&str; 2] = ["Emma", "Ulysses"];

struct Book(&'static str);

/// A book.
#[target(pub(crate))]
impl Book {
    fn of(title: &str) -> Option<Self> {
        TITLES.into_iter().find(|known| *known == title).map(Self)
    }

    #[getter]
    pub fn title(&self) -> &str {
        self.0
    }

    /// Where it stands.
    pub fn library(&self) -> Library {
        Library
    }
}

/// Someone who comes by, implemented by the client.
#[target]
trait Visitor {
    /// Says something about a book.
    async fn greet(&self, book: Stub<Book>) -> String;
}

/// Someone who reads.
#[derive(FromValue, IntoValue)]
struct Reader {
    name: String,
    /// What they may do.
    kind: Kind,
    /// Given when they are registered.
    number: Option<u32>,
    friends: Vec<Reader>,
}

/// What a reader may do.
#[derive(PartialEq, FromValue, IntoValue)]
enum Kind {
    /// Lends books.
    Member,
    Staff,
    /// Must stay outside.
    Banned,
}

#[test]
fn the_committed_declarations_and_reference_are_those_of_the_target() {
    let schema = Schema::of([<Library as Interface>::describe()]);
    let folder = typescript::folder().join("tests");
    expect_file![folder.join("library.d.ts")].assert_eq(&schema.typescript());
    expect_file![folder.join("library.md")].assert_eq(&schema.reference());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_typescript_client_compiles_against_the_declarations_and_finds_them_true() {
    typescript::compiled().await;
    let tasks = Tasks::new();
    let options = Options::default().tasks(tasks.clone());
    let server = Server::new(|_headers| Library.into_stub()).options(options);
    let serving = Serving::start(Router::new().route("/rpc", server.route())).await;
    let url = format!("ws://{}/rpc", serving.address);
    let said = typescript::run("tests/dist/members.js", &[&url]).await;
    assert_eq!(said, "the library is as declared\n");
    tasks.stop().await;
}
