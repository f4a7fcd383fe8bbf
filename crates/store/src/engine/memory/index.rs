//! An index: numbers of rows, together by some columns and in order by one.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use super::packed::{Field, Packed};
use crate::query::{By, Resolved};
use crate::table::{Kind, Table};

/// Rows by what all columns but the last hash to, then by the last one if it is a number. So an entry is
/// sixteen bytes without a pointer. It gives the rows of a query that fixes those columns, and some more
/// whose hash is the same: whoever asks looks at the rows anyway.
#[derive(Debug)]
pub(super) struct Index {
    table: &'static Table,
    /// The columns that have to be fixed.
    fixed: Vec<usize>,
    /// The column that orders.
    ordering: Option<usize>,
    entries: BTreeSet<Entry>,
    hasher: RandomState,
}

/// A hash, a number, a row.
type Entry = (u32, i64, u32);

impl Index {
    /// An index on columns whose names have been checked.
    pub(super) fn new(table: &'static Table, columns: &[&str]) -> Self {
        let place = |name: &&str| table.column(name).expect("the declaration was checked");
        let mut fixed: Vec<usize> = columns.iter().map(place).collect();
        let ordering = fixed.pop_if(|place| table.columns[*place].kind == Kind::Integer);
        Self {
            table,
            fixed,
            ordering,
            entries: BTreeSet::new(),
            hasher: RandomState::new(),
        }
    }

    /// A row was another one, or none; or is no more.
    pub(super) fn change(&mut self, id: u32, old: Option<&Packed>, new: Option<&Packed>) {
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

    /// Whether it has the rows of a query together.
    pub(super) fn serves(&self, query: &Resolved<'_>) -> bool {
        let fixed = |place: &usize| query.equal.iter().any(|(column, _)| column == place);
        self.fixed.iter().all(fixed) && (!self.fixed.is_empty() || self.orders(query))
    }

    /// Whether it has them in the query's order, up to the keys of equal ones.
    pub(super) fn orders(&self, query: &Resolved<'_>) -> bool {
        self.ordering == query.order.column()
    }

    /// How many columns it fixes.
    pub(super) fn fixes(&self) -> usize {
        self.fixed.len()
    }

    /// All rows of a query that it serves.
    pub(super) fn all(&self, query: &Resolved<'_>) -> impl Iterator<Item = u32> + use<'_> {
        let hash = self.hash(|place| value(query, place));
        let entries = self
            .entries
            .range((hash, i64::MIN, 0)..=(hash, i64::MAX, u32::MAX));
        entries.map(|(_, _, id)| *id)
    }

    /// The rows of a query that it orders, from the query's position on, each with its number.
    pub(super) fn walk<'a>(
        &'a self,
        query: &Resolved<'_>,
    ) -> Box<dyn Iterator<Item = (i64, u32)> + 'a> {
        let hash = self.hash(|place| value(query, place));
        let at_least = query.at_least.iter();
        let at_least = at_least.filter(|(place, _)| Some(*place) == self.ordering);
        let mut low = at_least.map(|(_, value)| *value).max().unwrap_or(i64::MIN);
        let mut high = i64::MAX;
        match (query.order, query.after.and_then(|(value, _)| value)) {
            (By::Descending(_), Some(value)) => high = value,
            (_, Some(value)) => low = low.max(value),
            (_, None) => {}
        }
        if low > high {
            return Box::new(std::iter::empty());
        }
        let entries = self.entries.range((hash, low, 0)..=(hash, high, u32::MAX));
        let entries = entries.map(|(_, number, id)| (*number, *id));
        match query.order {
            By::Descending(_) => Box::new(entries.rev()),
            By::Key | By::Ascending(_) => Box::new(entries),
        }
    }

    fn entry(&self, row: &Packed, id: u32) -> Entry {
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

/// What a query wants in a column that it fixes.
fn value<'a>(query: &Resolved<'a>, place: usize) -> Field<'a> {
    let mut equal = query.equal.iter().filter(|(column, _)| *column == place);
    let (_, value) = equal
        .next()
        .expect("the query fixes the columns of the index");
    Field::from(*value)
}
