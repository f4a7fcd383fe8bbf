//! The interface of a storage engine. Grouping, answering and following are not an engine's business.

use std::path::Path;

use crate::Error;
use crate::backup::BackupFile;
use crate::batch::Batch;
use crate::view::View;

mod chunk;
pub(crate) mod memory;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
pub(crate) mod rules;
pub(crate) mod sqlite;
mod varint;

/// The writing half of a storage engine.
///
/// The writer owns it, so calls come one at a time from one thread and an engine may cache what it has written.
/// An engine decides nothing: whether a batch is allowed is decided by [`rules::check`], the same for all
/// engines, before the engine writes any of it. After the check only the storage itself can fail, so a batch
/// never stops half-way for a reason that a caller could cause.
///
/// The contract is tested as a list of scenarios that every engine runs (`tests/it/contract.rs`). A new engine
/// implements this trait and [`Views`] and is added to that list.
///
/// Why two traits: reading goes on during a commit, from other threads, so readers cannot share the writer's
/// `&mut self`. Why a trait object for each group and not for each event: a call costs nothing next to a
/// transaction, and generics would spread the engine's type through `Store` and all of its users.
pub(crate) trait Engine: Send {
    /// Applies batches in order, in one transaction, and answers each one. A batch that breaks a rule
    /// (see [`rules`]) is refused alone. `Err` means that nothing of the group was kept.
    ///
    /// When it returns, the transaction is committed with the durability that the engine was opened with.
    fn apply(&mut self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error>;

    /// Upkeep that no caller should wait for, called after all answers of a group are sent.
    fn tidy(&mut self) {}
}

/// The reading half of a storage engine, used from any thread while the writer works.
pub(crate) trait Views: Send + Sync {
    /// Calls `reader` with one snapshot, exactly once unless it returns an error.
    fn show(&self, reader: &mut dyn FnMut(&dyn View)) -> Result<(), Error>;

    /// Copies all data as of one moment into a new file, with these files beside them.
    fn back_up(&self, to: &Path, files: &[BackupFile]) -> Result<(), Error>;

    /// Whether `show` may block on the disk, so that it has to run on a blocking thread.
    fn may_block(&self) -> bool;

    /// Releases connections and data. Later calls of `show` fail with [`Error::Closed`].
    fn close(&self);
}
