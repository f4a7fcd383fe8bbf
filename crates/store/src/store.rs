//! The handle to a store: opening, committing, reading, following, closing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::Error;
use crate::backup::BackupFile;
use crate::batch::{Batch, NewEvent};
use crate::engine::Views;
use crate::engine::memory::Memory;
#[cfg(feature = "postgres")]
use crate::engine::postgres::{Link, Opened, Postgres};
use crate::engine::sqlite::Sqlite;
use crate::entry::StreamId;
use crate::follow::Follow;
use crate::group_commit::{Counters, GroupCommit, Stats};
use crate::limits::{PROBE, READERS};
use crate::manual_writer::ManualWriter;
#[cfg(feature = "postgres")]
use crate::remote::Remote;
use crate::table::Table;
use crate::tail::Tails;
use crate::view::View;
use crate::writer::{Commit, Writer};

/// How and where to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder that holds the files; made if it is not there.
    pub folder: PathBuf,
    /// All tables that batches and queries may name.
    pub tables: Vec<&'static Table>,
    pub durability: Durability,
    /// The name written into the lock file; another process that finds the folder in use reports it.
    pub holder: String,
    /// The most bytes the data may take, roughly; more is refused with [`Error::Full`].
    pub max_bytes: Option<u64>,
    /// A wait before each transaction is committed, for measurements on a disk that is too fast.
    pub commit_delay: Option<Duration>,
}

impl Options {
    /// A folder, no tables yet, full durability, no limit.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            tables: Vec::new(),
            durability: Durability::default(),
            holder: "another process".to_owned(),
            max_bytes: None,
            commit_delay: None,
        }
    }

    #[must_use]
    pub fn tables(mut self, tables: &[&'static Table]) -> Self {
        self.tables = tables.to_vec();
        self
    }

    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// What an acknowledgement promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The change is on the disk: it survives a power failure.
    #[default]
    Full,
    /// The operating system has the change: it survives the end of this process, however it comes about.
    /// A power failure may take the last changes, and leaves those before them whole.
    Normal,
}

/// A journal of events and the tables beside it. Clones are handles to the same store.
///
/// Dropping the last handle commits all batches handed in so far and then closes the files. A [`Follow`]
/// holds a handle too.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    /// Whether the database can be reached, for a store that is in one.
    #[cfg(feature = "postgres")]
    link: Option<Arc<Link>>,
    writer: Writer,
    views: Arc<dyn Views>,
    /// Permits to read, for an engine with readers that block on the disk.
    readers: Arc<Semaphore>,
    tails: Arc<Tails>,
    counters: Arc<Counters>,
}

impl Store {
    /// A store that keeps everything in memory.
    ///
    /// # Panics
    ///
    /// When a table's declaration makes no sense.
    pub fn memory(tables: &[&'static Table]) -> Self {
        Self::in_memory(tables, Writer::inline)
    }

    /// An in-memory store for tests that explore orders of events: a batch waits until the test commits or
    /// loses it through the [`ManualWriter`], so a test can end the process at every point in between.
    ///
    /// # Panics
    ///
    /// When a table's declaration makes no sense.
    pub fn with_manual_writer(tables: &[&'static Table]) -> (Self, ManualWriter) {
        let mut made = None;
        let store = Self::in_memory(tables, |group_commit| {
            Writer::Manual(made.insert(ManualWriter::new(group_commit)).clone())
        });
        (store, made.expect("a store has a writer"))
    }

    fn in_memory(tables: &[&'static Table], writer: impl FnOnce(GroupCommit) -> Writer) -> Self {
        for table in tables {
            table.check().expect("tables are declared well");
        }
        let engine = Memory::new(tables);
        let views = Arc::new(engine.clone());
        let made = Self::with(views, READERS, |views, tails, counters| {
            let group_commit = GroupCommit::new(Box::new(engine), views, tails, counters);
            Ok(writer(group_commit))
        });
        made.expect("memory needs no file")
    }

    /// Opens the store in a folder, made if it is not there. This waits for the disk.
    pub fn open(options: &Options) -> Result<Self, Error> {
        options.tables.iter().try_for_each(|table| table.check())?;
        let (engine, views) = Sqlite::open(options)?;
        Self::with(Arc::new(views), READERS, |views, tails, counters| {
            Writer::threaded(GroupCommit::new(Box::new(engine), views, tails, counters))
        })
    }

    /// Opens the store in a PostgreSQL database; an empty one is set up. This waits for the server, and for the lease of a
    /// node that was killed to end, which takes six seconds at most.
    #[cfg(feature = "postgres")]
    pub fn connect(remote: &Remote) -> Result<Self, Error> {
        remote.tables.iter().try_for_each(|table| table.check())?;
        let Opened {
            engine,
            views,
            link,
        } = Postgres::open(remote)?;
        let readers = remote.readers.max(1);
        let mut inner = Self::parts(Arc::new(views), readers, |views, tails, counters| {
            Writer::threaded(GroupCommit::new(Box::new(engine), views, tails, counters))
        })?;
        inner.link = Some(link);
        Ok(Self(Arc::new(inner)))
    }

    /// Brings the schema of a PostgreSQL database to that of this program, and gives the number of steps that it took. No
    /// node of an older version may use the database meanwhile.
    #[cfg(feature = "postgres")]
    pub fn migrate(remote: &Remote) -> Result<u32, Error> {
        remote.tables.iter().try_for_each(|table| table.check())?;
        Postgres::migrate(remote)
    }

    fn with(
        views: Arc<dyn Views>,
        readers: usize,
        writer: impl FnOnce(Arc<dyn Views>, Arc<Tails>, Arc<Counters>) -> Result<Writer, Error>,
    ) -> Result<Self, Error> {
        Self::parts(views, readers, writer).map(|inner| Self(Arc::new(inner)))
    }

    fn parts(
        views: Arc<dyn Views>,
        readers: usize,
        writer: impl FnOnce(Arc<dyn Views>, Arc<Tails>, Arc<Counters>) -> Result<Writer, Error>,
    ) -> Result<Inner, Error> {
        let (tails, counters) = (Arc::<Tails>::default(), Arc::<Counters>::default());
        let writer = writer(
            Arc::clone(&views),
            Arc::clone(&tails),
            Arc::clone(&counters),
        )?;
        Ok(Inner {
            #[cfg(feature = "postgres")]
            link: None,
            writer,
            views,
            readers: Arc::new(Semaphore::new(readers)),
            tails,
            counters,
        })
    }

    /// Whether the last batch was refused because no space is left ([`Error::Full`]). Reading goes on.
    pub fn is_full(&self) -> bool {
        self.0.counters.is_full()
    }

    /// Queues a batch. Its place in the order of batches is fixed by this call, not by awaiting the result.
    /// The result is ready after the commit, with the durability that the store was opened with.
    ///
    /// A closure inside [`Store::read`] must not call this: the in-memory engine would deadlock.
    pub fn commit(&self, batch: Batch) -> Commit {
        self.0.writer.commit(batch)
    }

    /// Runs `reader` on one snapshot. Writing goes on meanwhile; a reader that stays long keeps one of the few
    /// reading connections, or the lock of the in-memory engine.
    pub async fn read<R: Send + 'static>(
        &self,
        reader: impl FnOnce(&dyn View) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let views = &self.0.views;
        if !views.may_block() {
            return show(&**views, reader);
        }
        let permit = Arc::clone(&self.0.readers).acquire_owned().await;
        let permit = permit.expect("the permits stay");
        let views = Arc::clone(views);
        let reading = spawn_blocking(move || {
            // Held until the read ends, also when its caller was cancelled: the connection is in use until then.
            let _permit = permit;
            show(&*views, reader)
        });
        match reading.await {
            Ok(read) => read,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Err(Error::Closed),
            },
        }
    }

    /// Copies all data as of one moment into a new file, with `files` beside them. Reading and writing go on meanwhile.
    /// [`restore`](crate::restore) makes a folder of it again.
    pub async fn back_up(&self, to: &Path, files: Vec<BackupFile>) -> Result<(), Error> {
        let permit = Arc::clone(&self.0.readers).acquire_owned().await;
        let permit = permit.expect("the permits stay");
        let (views, to) = (Arc::clone(&self.0.views), to.to_owned());
        let copying = spawn_blocking(move || {
            let _permit = permit;
            views.back_up(&to, &files)
        });
        // The copy does not panic; the runtime may be shutting down.
        copying.await.unwrap_or(Err(Error::Closed))
    }

    /// Whether the journal can be written. After a commit that failed, another one is tried: the disk may have space
    /// again.
    pub async fn check_writable(&self) -> Result<(), Error> {
        #[cfg(feature = "postgres")]
        if let Some(link) = &self.0.link {
            link.check()?;
        }
        if !self.0.counters.is_failing() {
            return Ok(());
        }
        let probe = StreamId::new("store-probe");
        let event = NewEvent::new(vec![0; PROBE]);
        let batch = Batch::new().append(&probe, 0, vec![event]).forget(&probe);
        self.commit(batch).await
    }

    /// Follows a stream from the event after `after` on: committed events first, then new ones.
    pub fn follow(&self, stream: &StreamId, after: u64) -> Follow {
        Follow::new(self.clone(), stream, after)
    }

    /// What was committed since the store was opened.
    pub fn stats(&self) -> Stats {
        self.0.counters.stats()
    }

    /// Commits the batches handed in so far, ends all followers and closes the files. Every later use fails
    /// with [`Error::Closed`].
    pub async fn close(&self) {
        #[cfg(feature = "postgres")]
        self.0.link.iter().for_each(|link| link.close());
        self.0.writer.close().await;
    }

    pub(crate) fn tails(&self) -> &Tails {
        &self.0.tails
    }
}

#[cfg(feature = "postgres")]
impl Drop for Inner {
    fn drop(&mut self) {
        self.link.iter().for_each(|link| link.close());
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

fn show<R>(
    views: &dyn Views,
    reader: impl FnOnce(&dyn View) -> Result<R, Error>,
) -> Result<R, Error> {
    let mut reader = Some(reader);
    let mut read = None;
    views.show(&mut |view| read = reader.take().map(|reader| reader(view)))?;
    read.expect("a view is shown unless there is an error")
}
