//! An index: row numbers grouped by some columns and ordered by one.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::DefaultHashBuilder;

use super::packed_row::{Field, PackedRow};
use crate::query::{By, Resolved};
use crate::table::{Kind, Table};

/// Row numbers sorted by a hash of all columns but the last, then by the last column if it is an integer. An
/// entry is sixteen bytes without a pointer. A query that fixes those columns gets its rows, and perhaps a few
/// more with the same hash; the caller checks each row against the query.
#[derive(Debug)]
pub(super) struct Index {
    table: &'static Table,
    /// The columns that a query has to fix.
    fixed: Vec<usize>,
    /// The column that orders.
    ordering: Option<usize>,
    entries: BTreeSet<Entry>,
    hasher: DefaultHashBuilder,
}

/// The hash of the fixed columns, the ordering value, the row's number.
type Entry = (u32, i64, u32);

impl Index {
    /// An index on columns. The caller has checked their names.
    pub(super) fn new(table: &'static Table, columns: &[&str]) -> Self {
        let place = |name: &&str| table.column(name).expect("the declaration was checked");
        let mut fixed: Vec<usize> = columns.iter().map(place).collect();
        let ordering = fixed.pop_if(|place| table.columns[*place].kind == Kind::Integer);
        Self {
            table,
            fixed,
            ordering,
            entries: BTreeSet::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Replaces a row's entry: `old` is none for a new row, `new` for a deleted one.
    pub(super) fn change(&mut self, id: u32, old: Option<&PackedRow>, new: Option<&PackedRow>) {
        let old = old.map(|row| self.entry(row, id));
        let new = new.map(|row| self.entry(row, id));
        if old == new {
            return;
        }
        if let Some(old) = old {
            self.entries.remove(&old);
        }
        self.entries.extend(new);
    }

    /// Whether the rows of a query are one range of this index.
    pub(super) fn serves(&self, query: &Resolved<'_>) -> bool {
        let fixes = |place: &usize| value(query, *place).is_some();
        let narrows = self.orders(query) || self.ordering.as_ref().is_some_and(fixes);
        self.fixed.iter().all(fixes) && (!self.fixed.is_empty() || narrows)
    }

    /// Whether that range is in the query's order, except for the keys of rows with equal values.
    pub(super) fn orders(&self, query: &Resolved<'_>) -> bool {
        self.ordering == query.order.column()
    }

    /// The number of columns that a query has to fix.
    pub(super) fn fixes(&self) -> usize {
        self.fixed.len()
    }

    /// The rows of a query that this index serves, as ordering value and row number. If the index has the query's
    /// order, the rows come in that order and from the query's position on.
    pub(super) fn walk<'a>(
        &'a self,
        query: &Resolved<'_>,
    ) -> Box<dyn Iterator<Item = (i64, u32)> + 'a> {
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        if let Some(place) = self.ordering {
            let at_least = query.at_least.iter().filter(|(column, _)| *column == place);
            low = at_least.map(|(_, value)| *value).max().unwrap_or(low);
            if let Some(Field::Integer(only)) = value(query, place) {
                (low, high) = (low.max(only), only);
            }
        }
        match (query.order, query.after.and_then(|(value, _)| value)) {
            (By::Descending(_), Some(value)) if self.orders(query) => high = high.min(value),
            (By::Ascending(_), Some(value)) if self.orders(query) => low = low.max(value),
            _ => {}
        }
        if low > high {
            return Box::new(std::iter::empty());
        }
        let hash = self.hash(|place| value(query, place).expect("the query fixes these columns"));
        let entries = self.entries.range((hash, low, 0)..=(hash, high, u32::MAX));
        let entries = entries.map(|(_, number, id)| (*number, *id));
        match query.order {
            By::Descending(_) => Box::new(entries.rev()),
            By::Key | By::Ascending(_) => Box::new(entries),
        }
    }

    fn entry(&self, row: &PackedRow, id: u32) -> Entry {
        let hash = self.hash(|place| row.field(self.table, place));
        let number = match self.ordering.map(|place| row.field(self.table, place)) {
            Some(Field::Integer(number)) => number,
            _ => 0,
        };
        (hash, number, id)
    }

    fn hash<'a>(&self, field: impl Fn(usize) -> Field<'a>) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        for place in &self.fixed {
            field(*place).hash(&mut hasher);
        }
        hasher.finish() as u32
    }
}

/// The value that a query fixes for a column, if any.
fn value<'a>(query: &Resolved<'a>, place: usize) -> Option<Field<'a>> {
    let mut equal = query.equal.iter().filter(|(column, _)| *column == place);
    equal.next().map(|(_, value)| Field::from(*value))
}
