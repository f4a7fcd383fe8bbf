//! What survives a crash: an append-only journal with cursors, and tables beside it.
//!
//! A task, an agent and a chat are streams of events. An append names the event that it follows and is
//! refused if that is not the last one (compare-and-set). A follower names a cursor and sees every event
//! after it once, the committed ones first and then new ones as they are committed. Rows of tables change
//! in the same batch as events, all or nothing. An acknowledged batch is committed.
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
//! Keys and stream names that begin with their time of creation are much cheaper in a file than random
//! ones, because new rows then land on the same pages.
//!
//! # Layout
//!
//! The interface:
//! - `store`: opening, committing, reading, closing
//! - `batch`, `entry`: a change, and a committed event
//! - `table`, `query`, `view`: tables, selecting rows, reading one snapshot
//! - `follow`: a stream's committed and future events as one sequence
//! - `retention`: which finished streams are due to be compacted or forgotten
//! - `backup`: one file with all data, made while the store is used
//! - `copy`: all of one store into another one of any engine
//! - `error`: refusals and failures
//!
//! The implementation, in the order a batch passes through it:
//! - `writer`: the queue of batches and the one thread that empties it; `manual_writer`: a queue that a test empties
//! - `group_commit`: a group of batches goes into the engine, to followers and into the statistics
//! - `engine`: the interface of an engine; `engine/rules`: the refusals that all engines share
//! - `engine/memory`, `engine/sqlite`, `engine/postgres`: the engines; `remote`: where the database of the last one is
//! - `tail`: the newest events of each followed stream; `page`: a bounded read of the log
//! - `lock`: the lock file that gives a folder to one store; `limits`: the bounds

mod backup;
mod batch;
mod copy;
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
#[cfg(feature = "postgres")]
mod remote;
mod tail;

pub use backup::{BackupFile, check_backup, restore};
pub use batch::{Batch, NewEvent};
pub use copy::{Copied, copy};
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
pub use lock::holder;
#[cfg(feature = "postgres")]
pub use remote::Remote;
