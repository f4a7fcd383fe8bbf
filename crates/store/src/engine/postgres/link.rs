//! What the writer and the heartbeat know of the database, for those who ask whether it can be used.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::Error;

/// Whether the database can be reached, and whether this node may write. Shared by all parts of one store.
#[derive(Debug)]
pub(crate) struct Link {
    address: String,
    /// The faults that the writer and the heartbeat have now.
    away: Mutex<[Option<String>; 2]>,
    fenced: AtomicBool,
    closing: AtomicBool,
}

impl Link {
    pub(super) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            away: Mutex::default(),
            fenced: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        }
    }

    /// Fails while the database cannot be reached, and for ever once this node is fenced.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.fenced.load(Ordering::Relaxed) {
            return Err(Error::Fenced);
        }
        match self.away.lock().iter().flatten().next() {
            None => Ok(()),
            Some(problem) => Err(Error::Away {
                address: self.address.clone(),
                problem: problem.clone(),
            }),
        }
    }

    /// Ends waits for a database that is away: the store is being closed.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(super) fn writer_is_away(&self, problem: Option<&str>) {
        self.away.lock()[0] = problem.map(str::to_owned);
    }

    pub(super) fn heartbeat_is_away(&self, problem: Option<&str>) {
        self.away.lock()[1] = problem.map(str::to_owned);
    }

    pub(super) fn fence(&self) {
        self.fenced.store(true, Ordering::Relaxed);
    }
}
