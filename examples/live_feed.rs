//! A feed of messages that every client may follow and add to: the target, and its routes.
//!
//! `live_feed/main.rs` serves it together with the page in `live_feed/page`; `09_live_feed.rs` follows it
//! from Rust.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path as Named, State};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use capnweb::resume::{Item, Sink, Subscription, cursor_gone};
use capnweb::{
    Callback, Error, FromValue, IntoValue, Options, ReadableStream, Result, Server, target,
};
use futures_util::{StreamExt, TryStreamExt};
use store::{Batch, Entry, NewEvent, Store, StreamId};
use tokio::sync::Mutex;

/// The longest message, in bytes.
const LONGEST: usize = 500;

/// A message of the feed.
#[derive(Clone, Debug, PartialEq, Eq, FromValue, IntoValue)]
pub struct Message {
    /// The name of the author.
    pub author: String,
    /// The text of the message.
    pub text: String,
}

/// The feed. Clones, and feeds made from the same store, are the same feed.
#[derive(Clone, Debug)]
pub struct Feed(Arc<FeedState>);

#[derive(Debug)]
struct FeedState {
    store: Store,
    stream: StreamId,
    /// Locked while a message is added: each append names the event it follows.
    adding: Mutex<()>,
}

/// Methods that clients cannot call.
impl Feed {
    /// The feed in this store.
    pub fn new(store: Store) -> Self {
        Self(Arc::new(FeedState {
            store,
            stream: StreamId::new("feed"),
            adding: Mutex::new(()),
        }))
    }

    /// Adds a message and returns its cursor. The message is committed by then.
    pub async fn add(&self, message: &Message) -> Result<String> {
        let _turn = self.0.adding.lock().await;
        let last = self.last().await?;
        let payload = format!("{}\n{}", message.author, message.text);
        let batch = Batch::new().append(&self.0.stream, last, vec![NewEvent::new(payload)]);
        self.0.store.commit(batch).await.map_err(Error::internal)?;
        Ok((last + 1).to_string())
    }

    async fn last(&self) -> Result<u64> {
        let stream = self.0.stream.clone();
        let state = self.0.store.read(move |view| view.stream(&stream)).await;
        let state = state.map_err(Error::internal)?;
        Ok(state.map_or(0, |state| state.last))
    }
}

/// A feed of messages that anyone may follow and add to.
#[target]
impl Feed {
    /// How many messages there are.
    #[getter]
    pub async fn length(&self) -> Result<f64> {
        Ok(self.last().await? as f64)
    }

    /// Signs in a user under a name.
    ///
    /// # Errors
    ///
    /// - `bad_name`: a name is one line, and not empty
    pub fn sign_in(&self, name: String) -> Result<Author> {
        if name.trim().is_empty() || name.contains('\n') {
            return Err(
                Error::range_error("a name is one line, and not empty").with_code("bad_name")
            );
        }
        Ok(Author {
            feed: self.clone(),
            name,
        })
    }

    /// Calls the sink with the messages after the cursor, or with all messages, and with new ones as they arrive.
    ///
    /// # Errors
    ///
    /// - `cursor_gone`: the feed cannot go on from there
    pub async fn subscribe(
        &self,
        cursor: Option<String>,
        sink: Sink<Message>,
    ) -> Result<Subscription> {
        let after = match cursor {
            None => 0,
            Some(cursor) => match cursor.parse() {
                Ok(after) if after <= self.last().await? => after,
                _ => return Err(cursor_gone(&cursor)),
            },
        };
        let entries = self.0.store.follow(&self.0.stream, after);
        let items = entries.map(|entry| {
            let entry = entry.map_err(Error::internal)?;
            Ok(Item::new(entry.sequence().to_string(), message(&entry)))
        });
        Ok(Subscription::start(sink, items))
    }

    /// The messages that contain a word, as a stream.
    pub async fn search(&self, word: String) -> Result<ReadableStream<Message>> {
        let entries = self.0.store.follow(&self.0.stream, 0);
        let found = entries
            .take(self.last().await? as usize)
            .map_err(Error::internal)
            .map_ok(|entry| message(&entry))
            .try_filter(move |message| ready(message.text.contains(&word)));
        Ok(ReadableStream::new(found).cast())
    }

    /// Counts the letters of all messages, and reports progress after each: messages done, and messages in all.
    pub async fn count_letters(&self, progress: Callback<(u32, u32), ()>) -> Result<u32> {
        let all = self.last().await?;
        let mut entries = self.0.store.follow(&self.0.stream, 0).take(all as usize);
        let (mut letters, mut done) = (0, 0);
        while let Some(entry) = entries.next().await {
            letters += message(&*entry.map_err(Error::internal)?)
                .text
                .chars()
                .count() as u32;
            done += 1;
            progress.call((done, all as u32)).await?;
        }
        Ok(letters)
    }
}

/// A user who signed in.
#[derive(Debug)]
pub struct Author {
    feed: Feed,
    name: String,
}

/// A user who signed in and may write to the feed.
#[target]
impl Author {
    /// The name that was signed in.
    #[getter]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a message and returns its cursor when it is stored.
    ///
    /// # Errors
    ///
    /// - `too_long`: a message has at most 500 bytes
    pub async fn post(&self, text: String) -> Result<String> {
        if text.len() > LONGEST {
            let error = Error::range_error(format!("a message has at most {LONGEST} bytes"));
            return Err(error.with_code("too_long"));
        }
        let author = self.name.clone();
        self.feed.add(&Message { author, text }).await
    }
}

fn message(entry: &Entry) -> Message {
    let text = String::from_utf8_lossy(entry.payload());
    let (author, text) = text.split_once('\n').unwrap_or(("", &text));
    Message {
        author: author.to_owned(),
        text: text.to_owned(),
    }
}

/// The feed at `/rpc` and the page at `/`. The files of the page are read from `checkout`; its TypeScript must be compiled.
pub fn routes(feed: Feed, options: Options, checkout: &Path) -> Router {
    let server = Server::new(move |_headers| feed.clone()).options(options);
    Router::new()
        .route("/rpc", server.route())
        .route(
            "/",
            get(async |State(files): State<Files>| {
                files.file("examples/live_feed/page/index.html").await
            }),
        )
        .route(
            "/page.js",
            get(async |State(files): State<Files>| {
                files.file("examples/live_feed/page/dist/page.js").await
            }),
        )
        .route(
            "/capnweb.js",
            get(async |State(files): State<Files>| {
                files
                    .file("clients/typescript/node_modules/capnweb/dist/index.js")
                    .await
            }),
        )
        .route(
            "/client/{name}",
            get(
                async |State(files): State<Files>, Named(name): Named<String>| match name
                    .strip_suffix(".js")
                {
                    Some(module) if module.chars().all(|c| c.is_ascii_lowercase()) => {
                        files.file(&format!("clients/typescript/dist/{name}")).await
                    }
                    _ => StatusCode::NOT_FOUND.into_response(),
                },
            ),
        )
        .with_state(Files(checkout.into()))
}

/// The folder in which the files of the page are.
#[derive(Clone)]
struct Files(PathBuf);

impl Files {
    async fn file(&self, path: &str) -> Response {
        let kind = if path.ends_with(".html") {
            "text/html; charset=utf-8"
        } else {
            "text/javascript; charset=utf-8"
        };
        match tokio::fs::read(self.0.join(path)).await {
            Ok(content) => ([(CONTENT_TYPE, kind)], content).into_response(),
            Err(_) => (
                StatusCode::NOT_FOUND,
                format!("{path} not found: compile the TypeScript first"),
            )
                .into_response(),
        }
    }
}
