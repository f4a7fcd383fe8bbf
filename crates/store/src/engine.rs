//! What an engine has to do. Beside it stands what no engine needs to know: grouping, answering, following.

use crate::Error;
use crate::batch::Batch;
use crate::view::View;

pub(crate) mod memory;
pub(crate) mod rules;
pub(crate) mod sqlite;
mod varint;

/// Where changes are made. The writer owns it, so there is one change at a time.
pub(crate) trait Engine: Send {
    /// Applies batches in their order, in one transaction, and answers each: one that breaks a rule
    /// (see [`rules`]) is refused alone. An error as a whole says that nothing of the group was kept.
    ///
    /// When it returns the transaction is committed, as durably as the engine was asked to.
    fn apply(&mut self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error>;

    /// What it does for itself, after those who were waiting have their answers.
    fn tidy(&mut self) {}
}

/// Where the same engine is read, by anyone, while changes go on.
pub(crate) trait Views: Send + Sync {
    /// Shows one moment of it to `reader`, which is called once unless there is an error.
    fn show(&self, reader: &mut dyn FnMut(&dyn View)) -> Result<(), Error>;

    /// Whether showing may wait for the disk, and so has no place on a thread that serves others.
    fn may_block(&self) -> bool;

    /// Lets go of what it holds. Nothing is shown afterwards.
    fn close(&self);
}
