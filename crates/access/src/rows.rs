//! The common part of this crate's tables: reading all rows, times, and the last use of an entry.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use store::{Order, Query, Row, Store, Table};

/// How many rows are read at a time.
const PAGE: usize = 500;

/// All rows of a table, by key.
pub(crate) async fn all(store: &Store, table: &'static Table) -> Result<Vec<Row>, store::Error> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let last = rows.last().map(|row| row.key.clone());
        let mut query = Query::of(table).order(Order::ByKey).limit(PAGE);
        if let Some(last) = &last {
            query = query.after_key(last);
        }
        let page = store.read(move |view| view.rows(&query)).await?;
        let is_last = page.len() < PAGE;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

/// Seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A time that may be missing, as a column; [`until_of`] is the opposite.
pub(crate) fn until_column(until: Option<u64>) -> i64 {
    let until = until.and_then(|it| i64::try_from(it).ok());
    until.unwrap_or(i64::MAX)
}

/// The time in a column; `None` if the column cannot be one.
pub(crate) fn until_of(column: i64) -> Option<Option<u64>> {
    let until = (column < i64::MAX).then_some(column);
    until.map(u64::try_from).transpose().ok()
}

/// When something was used last, and when that was written down, in seconds since 1970; 0 for never.
#[derive(Debug, Default)]
pub(crate) struct LastUse {
    used: AtomicU64,
    written: AtomicU64,
}

impl LastUse {
    /// How often a use is written down, in seconds.
    const PRECISION: u64 = 60;

    /// As it was stored.
    pub(crate) fn at(time: u64) -> Self {
        Self {
            used: time.into(),
            written: time.into(),
        }
    }

    /// Notes a use; says whether it is time to write that down.
    pub(crate) fn note(&self, now: u64) -> bool {
        self.used.store(now, Ordering::Relaxed);
        let written = self.written.load(Ordering::Relaxed);
        let is_due = now.saturating_sub(written) >= Self::PRECISION;
        // Of several callers at the same moment one writes.
        let exchange = |it: &AtomicU64| {
            it.compare_exchange(written, now, Ordering::Relaxed, Ordering::Relaxed)
        };
        is_due && exchange(&self.written).is_ok()
    }

    /// To be stored.
    pub(crate) fn time(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// To be shown; `None` for never.
    pub(crate) fn shown(&self) -> Option<u64> {
        Some(self.time()).filter(|time| *time > 0)
    }
}
