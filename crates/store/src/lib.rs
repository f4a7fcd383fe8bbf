//! What survives a crash: an append-only journal with cursors, and tables beside it.
//!
//! A task, an agent's life, a chat are streams of events. Whoever appends says after which event, and is
//! refused if that is not the last one; whoever follows gives a cursor, and sees every event after it
//! once, those that were and those that come. Rows of tables change in the same batch, all or nothing.
//! Acknowledged means committed.
//!
//! ```
//! use store::{Batch, Column, NewEvent, Order, Query, Row, Store, StreamId, Table};
//!
//! static TASKS: Table = Table {
//!     name: "tasks",
//!     columns: &[Column::text("owner"), Column::integer("updated")],
//!     indexes: &[&["owner", "updated"]],
//! };
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), store::Error> {
//! let store = Store::memory(&[&TASKS]);            // or Store::open(&Options::new("data"))
//! let task = StreamId::new("task-1");
//! let mut follow = store.follow(&task, 0);
//!
//! let row = Row { key: "task-1".into(), columns: vec!["ada".into(), 1.into()], body: "…".into() };
//! let opened = Batch::new().append(&task, 0, vec![NewEvent::new("opened")]).insert(&TASKS, row);
//! store.commit(opened).await?;
//!
//! let late = Batch::new().append(&task, 0, vec![NewEvent::new("opened again")]);
//! assert!(matches!(store.commit(late).await, Err(store::Error::Conflict { found: 1, .. })));
//!
//! let event = follow.next().await.expect("the stream is not forgotten")?;
//! assert_eq!((event.sequence(), &event.payload()[..]), (1, &b"opened"[..]));
//!
//! let newest = Query::of(&TASKS).equal("owner", "ada").order(Order::Descending("updated")).limit(20);
//! assert_eq!(store.read(move |view| view.rows(&newest)).await?.len(), 1);
//! # Ok(()) }
//! ```
//!
//! Keys and names that begin with the time they were made at cost a file far less than random ones: new
//! rows then lie beside each other.
//!
//! # Layout
//!
//! What you use:
//! - `store`: opening, committing, reading, closing
//! - `batch`, `entry`: what you change, and what was appended
//! - `table`, `query`, `view`: tables, which of their rows, and reading at one moment
//! - `follow`: past and present of a stream as one sequence
//! - `retention`: which finished streams have been kept long enough
//! - `error`: what is refused, and what can go wrong
//!
//! What is behind it, in the order a batch takes:
//! - `writer`: the queue and the one thread that empties it, a group at a time; `manual_writer`: one that a test empties
//! - `group_commit`: a group's way into the engine, out to followers, into the statistics
//! - `engine`: what an engine has to do; `engine/rules`: what every engine refuses
//! - `engine/memory`, `engine/sqlite`: the two there are
//! - `tail`: the newest events of streams that are followed; `page`: what is read of the others at once
//! - `lock`: one store for one folder; `limits`: what is bounded, and by how much

mod batch;
mod entry;
mod query;
mod table;

mod follow;
mod group_commit;
mod manual_writer;
mod retention;
mod store;
mod view;
mod writer;

mod engine;
mod error;
mod limits;
mod lock;
mod page;
mod tail;

pub use batch::{Batch, NewEvent};
pub use entry::{Entry, StreamId, StreamState};
pub use query::{Order, Query};
pub use table::{Column, Kind, Row, Rule, Table, Value};

pub use follow::Follow;
pub use group_commit::Stats;
pub use manual_writer::ManualWriter;
pub use retention::{Due, Retention, due};
pub use store::{Durability, Options, Store};
pub use view::View;
pub use writer::Commit;

pub use error::Error;
