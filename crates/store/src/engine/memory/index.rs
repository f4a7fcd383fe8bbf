//! An index: numbers of rows, together by some columns and in order by one.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::DefaultHashBuilder;

use super::packed_row::{Field, PackedRow};
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
    hasher: DefaultHashBuilder,
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
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// A row was another one, or none; or is no more.
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

    /// Whether it has the rows of a query together.
    pub(super) fn serves(&self, query: &Resolved<'_>) -> bool {
        let fixes = |place: &usize| value(query, *place).is_some();
        let narrows = self.orders(query) || self.ordering.as_ref().is_some_and(fixes);
        self.fixed.iter().all(fixes) && (!self.fixed.is_empty() || narrows)
    }

    /// Whether it has them in the query's order, up to the keys of equal ones.
    pub(super) fn orders(&self, query: &Resolved<'_>) -> bool {
        self.ordering == query.order.column()
    }

    /// How many columns it fixes.
    pub(super) fn fixes(&self) -> usize {
        self.fixed.len()
    }

    /// The rows of a query that it serves, each with its number. In the query's order and from its
    /// position on, if it orders them.
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

/// What a query wants in a column, if it fixes it.
fn value<'a>(query: &Resolved<'a>, place: usize) -> Option<Field<'a>> {
    let mut equal = query.equal.iter().filter(|(column, _)| *column == place);
    equal.next().map(|(_, value)| Field::from(*value))
}
