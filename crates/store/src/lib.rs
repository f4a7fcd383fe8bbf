//! What survives a crash: an append-only journal with cursors, and tables beside it.

mod batch;
mod entry;
mod query;
mod table;

mod follow;
mod press;
mod retention;
mod store;
mod view;
mod writer;

mod engine;
mod error;
mod limits;
mod lock;
mod tail;

pub use batch::{Batch, NewEvent};
pub use entry::{Entry, StreamId, StreamState};
pub use query::{Order, Query};
pub use table::{Column, Kind, Row, Table, Value};

pub use follow::Follow;
pub use press::Stats;
pub use retention::{Due, Retention, due};
pub use store::{Durability, Options, Store};
pub use view::View;
pub use writer::Commit;

pub use error::Error;
