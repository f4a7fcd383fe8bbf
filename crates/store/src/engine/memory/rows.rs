//! The rows of one table, by key and by every declared index.

use std::cmp::Reverse;

use super::index::Index;
use super::name_map::NameMap;
use super::packed_row::{Field, PackedRow};
use crate::query::{By, Resolved};
use crate::table::{Row, Table};

/// Rows by number. The map of keys and the indexes refer to them by it; the numbers of deleted rows are reused.
#[derive(Debug)]
pub(super) struct Rows {
    table: &'static Table,
    rows: Vec<PackedRow>,
    free: Vec<u32>,
    by_key: NameMap,
    indexes: Vec<Index>,
}

impl Rows {
    /// An empty table. The caller has checked its declaration.
    pub(super) fn new(table: &'static Table) -> Self {
        let indexes = table.indexes.iter();
        Self {
            table,
            rows: Vec::new(),
            free: Vec::new(),
            by_key: NameMap::default(),
            indexes: indexes.map(|columns| Index::new(table, columns)).collect(),
        }
    }

    pub(super) fn table(&self) -> &'static Table {
        self.table
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    pub(super) fn get(&self, key: &str) -> Option<Row> {
        Some(self.row(self.find(key)?).unpack(self.table))
    }

    pub(super) fn put(&mut self, row: &Row) {
        let packed = PackedRow::new(row);
        let (id, old) = match self.find(&row.key) {
            Some(id) => (
                id,
                Some(std::mem::replace(&mut self.rows[id as usize], packed)),
            ),
            None => (self.add(&row.key, packed), None),
        };
        for index in &mut self.indexes {
            index.change(id, old.as_ref(), Some(&self.rows[id as usize]));
        }
    }

    pub(super) fn delete(&mut self, key: &str) {
        let rows = &mut self.rows;
        let Some(id) = self
            .by_key
            .remove(key, |id| rows[id as usize].key() == key.as_bytes())
        else {
            return;
        };
        let old = std::mem::take(&mut rows[id as usize]);
        for index in &mut self.indexes {
            index.change(id, Some(&old), None);
        }
        self.free.push(id);
    }

    pub(super) fn select(&self, query: &Resolved<'_>) -> Vec<Row> {
        let wanted = |id: &u32| self.fulfils(*id, query) && self.follows(*id, query);
        let serving = self.serving(query);
        let ids: Vec<u32> = match serving.filter(|index| index.orders(query)) {
            Some(index) => self.in_order(index, query, wanted),
            None => {
                let mut ids: Vec<u32> = self.candidates(serving, query).filter(wanted).collect();
                self.sort(&mut ids, query.order);
                ids
            }
        };
        let ids = ids.into_iter().take(query.limit);
        ids.map(|id| self.row(id).unpack(self.table)).collect()
    }

    pub(super) fn count(&self, query: &Resolved<'_>) -> u64 {
        let all = Resolved {
            after: None,
            ..query.clone()
        };
        let candidates = self.candidates(self.serving(&all), &all);
        candidates.filter(|&id| self.fulfils(id, &all)).count() as u64
    }

    /// The first wanted rows in the order of an index. An index does not order by key, so rows with equal values
    /// are sorted here.
    fn in_order(
        &self,
        index: &Index,
        query: &Resolved<'_>,
        wanted: impl Fn(&u32) -> bool,
    ) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut run = (0, i64::MIN);
        for (number, id) in index.walk(query) {
            if number != run.1 {
                self.sort(&mut ids[run.0..], query.order);
                if ids.len() >= query.limit {
                    return ids;
                }
                run = (ids.len(), number);
            }
            if wanted(&id) {
                ids.push(id);
            }
        }
        self.sort(&mut ids[run.0..], query.order);
        ids
    }

    /// The rows that an index has for a query, or all rows without an index.
    fn candidates<'a>(
        &'a self,
        serving: Option<&'a Index>,
        query: &Resolved<'_>,
    ) -> Box<dyn Iterator<Item = u32> + 'a> {
        match serving {
            Some(index) => Box::new(index.walk(query).map(|(_, id)| id)),
            None => Box::new(self.by_key.iter()),
        }
    }

    /// The index with the rows of a query in one range, if possible in the query's order.
    fn serving(&self, query: &Resolved<'_>) -> Option<&Index> {
        let serving = self.indexes.iter().filter(|index| index.serves(query));
        serving.max_by_key(|index| (index.orders(query), index.fixes()))
    }

    fn find(&self, key: &str) -> Option<u32> {
        self.by_key
            .find(key, |id| self.row(id).key() == key.as_bytes())
    }

    fn add(&mut self, key: &str, row: PackedRow) -> u32 {
        let id = match self.free.pop() {
            Some(id) => {
                self.rows[id as usize] = row;
                id
            }
            None => {
                self.rows.push(row);
                u32::try_from(self.rows.len() - 1).expect("rows are counted in 32 bits")
            }
        };
        self.by_key.insert(key, id);
        id
    }

    fn row(&self, id: u32) -> &PackedRow {
        &self.rows[id as usize]
    }

    fn fulfils(&self, id: u32, query: &Resolved<'_>) -> bool {
        let field = |place| self.row(id).field(self.table, place);
        let equal = |(place, value): &(usize, &_)| field(*place) == Field::from(*value);
        let reaches = |(place, value): &(usize, i64)| field(*place) >= Field::Integer(*value);
        query.equal.iter().all(equal) && query.at_least.iter().all(reaches)
    }

    /// Whether a row comes after the query's position.
    fn follows(&self, id: u32, query: &Resolved<'_>) -> bool {
        let Some((value, key)) = query.after else {
            return true;
        };
        let ours = self.position(id, query.order);
        let ordering = ours.cmp(&(value.map(Field::Integer), key.as_bytes()));
        match query.order {
            By::Key | By::Ascending(_) => ordering.is_gt(),
            By::Descending(_) => ordering.is_lt(),
        }
    }

    fn sort(&self, ids: &mut [u32], order: By) {
        match order {
            By::Key | By::Ascending(_) => {
                ids.sort_unstable_by_key(|&id| self.position(id, order));
            }
            By::Descending(_) => {
                ids.sort_unstable_by_key(|&id| Reverse(self.position(id, order)));
            }
        }
    }

    fn position(&self, id: u32, order: By) -> (Option<Field<'_>>, &[u8]) {
        let row = self.row(id);
        let value = order.column().map(|place| row.field(self.table, place));
        (value, row.key())
    }
}
