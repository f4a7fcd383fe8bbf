//! The rows of one table, by key and by every declared index.

use std::cmp::Ordering;

use super::packed::{Field, Packed};
use super::sorted::{Place, Sorted};
use crate::query::{By, Resolved};
use crate::table::{Row, Table};

/// Rows by number; everything else refers to them by it.
#[derive(Debug)]
pub(super) struct Rows {
    table: &'static Table,
    rows: Vec<Packed>,
    free: Vec<u32>,
    by_key: Sorted,
    indexes: Vec<Index>,
}

#[derive(Debug)]
struct Index {
    columns: Vec<usize>,
    ids: Sorted,
}

impl Rows {
    /// An empty table. Its declaration has been checked.
    pub(super) fn new(table: &'static Table) -> Self {
        let place = |name: &&str| table.column(name).expect("the declaration was checked");
        let index = |columns: &&[&str]| Index {
            columns: columns.iter().map(place).collect(),
            ids: Sorted::default(),
        };
        Self {
            table,
            rows: Vec::new(),
            free: Vec::new(),
            by_key: Sorted::default(),
            indexes: table.indexes.iter().map(index).collect(),
        }
    }

    pub(super) fn table(&self) -> &'static Table {
        self.table
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    pub(super) fn get(&self, key: &str) -> Option<Row> {
        let id = self.find(key).ok()?;
        Some(self.row(id).unpack(self.table))
    }

    pub(super) fn put(&mut self, row: &Row) {
        let packed = Packed::new(row);
        let place = match self.find(&row.key) {
            Ok(id) => return self.replace(id, packed),
            Err(place) => place,
        };
        let id = self.free.pop().unwrap_or_else(|| {
            self.rows.push(Packed::default());
            u32::try_from(self.rows.len() - 1).expect("rows are counted in 32 bits")
        });
        self.rows[id as usize] = packed;
        self.by_key.insert(place, id);
        for index in &mut self.indexes {
            index.insert(self.table, &self.rows, id);
        }
    }

    pub(super) fn delete(&mut self, key: &str) {
        let Ok(id) = self.find(key) else {
            return;
        };
        for index in &mut self.indexes {
            index.remove(self.table, &self.rows, id);
        }
        let rows = &self.rows;
        self.by_key
            .remove(|other| rows[other as usize].key().cmp(key.as_bytes()));
        self.rows[id as usize] = Packed::default();
        self.free.push(id);
    }

    pub(super) fn select(&self, query: &Resolved<'_>) -> Vec<Row> {
        let unpack = |id| self.row(id).unpack(self.table);
        match self.way(query) {
            Way::Ordered(ids) => {
                let ids = ids.filter(|&id| self.fulfils(id, query));
                ids.take(query.limit).map(unpack).collect()
            }
            Way::Loose(ids) => {
                let follows = |id: &u32| self.fulfils(*id, query) && self.follows(*id, query);
                let mut ids: Vec<u32> = ids.filter(follows).collect();
                ids.sort_unstable_by(|&a, &b| self.in_order(a, b, query.order));
                ids.into_iter().take(query.limit).map(unpack).collect()
            }
        }
    }

    pub(super) fn count(&self, query: &Resolved<'_>) -> u64 {
        let all = Resolved {
            table: query.table,
            equal: query.equal.clone(),
            at_least: query.at_least.clone(),
            order: query.order,
            after: None,
            limit: usize::MAX,
        };
        let (Way::Ordered(ids) | Way::Loose(ids)) = self.way(&all);
        ids.filter(|&id| self.fulfils(id, query)).count() as u64
    }

    fn find(&self, key: &str) -> Result<u32, Place> {
        let compare = |id| self.row(id).key().cmp(key.as_bytes());
        self.by_key.find(compare)
    }

    fn row(&self, id: u32) -> &Packed {
        &self.rows[id as usize]
    }

    /// Indexes whose columns stay the same stay untouched.
    fn replace(&mut self, id: u32, packed: Packed) {
        let table = self.table;
        let moves =
            |index: &Index, old: &Packed| old.compare(&packed, table, &index.columns).is_ne();
        let moved: Vec<bool> = self
            .indexes
            .iter()
            .map(|index| moves(index, self.row(id)))
            .collect();
        let moved = || moved.iter().enumerate().filter(|(_, moved)| **moved);
        for (place, _) in moved() {
            self.indexes[place].remove(table, &self.rows, id);
        }
        self.rows[id as usize] = packed;
        for (place, _) in moved() {
            self.indexes[place].insert(table, &self.rows, id);
        }
    }

    /// The best way to the rows of a query.
    fn way<'a>(&'a self, query: &'a Resolved<'_>) -> Way<'a> {
        let led = self.indexes.iter().map(|index| (index, index.lead(query)));
        let ordered = led
            .clone()
            .filter(|(index, lead)| index.orders(*lead, query.order));
        if let Some((index, lead)) = ordered.max_by_key(|(_, lead)| *lead) {
            return Way::Ordered(self.walk(index, lead, query));
        }
        match led.max_by_key(|(_, lead)| *lead) {
            Some((index, lead)) if lead > 0 => {
                let fixed = self.fixed(index, lead, query);
                let start = index.ids.before(|id| self.against(id, &fixed).is_lt());
                let ids = index.ids.from(start);
                Way::Loose(Box::new(
                    ids.take_while(move |&id| self.against(id, &fixed).is_eq()),
                ))
            }
            _ => match (query.order, query.after) {
                (By::Key, Some((_, key))) => {
                    let passed = |id: u32| self.row(id).key() <= key.as_bytes();
                    Way::Ordered(Box::new(self.by_key.from(self.by_key.before(passed))))
                }
                (By::Key, None) => {
                    Way::Ordered(Box::new(self.by_key.from(self.by_key.before(|_| false))))
                }
                _ => Way::Loose(Box::new(self.by_key.from(self.by_key.before(|_| false)))),
            },
        }
    }

    /// The part of an index that a query is about, in the query's order, from its position on.
    fn walk<'a>(
        &'a self,
        index: &'a Index,
        lead: usize,
        query: &'a Resolved<'_>,
    ) -> Box<dyn Iterator<Item = u32> + 'a> {
        let fixed = self.fixed(index, lead, query);
        let column = query.order.column();
        let least = query.at_least.iter();
        let least = least
            .filter(|(place, _)| Some(*place) == column)
            .map(|(_, value)| *value);
        let least = least.max().unwrap_or(i64::MIN);
        let value = move |id| column.map(|place| self.row(id).field(self.table, place));
        // Whether a row comes before the position, upwards.
        let below = move |id: u32, (at, key): (Option<i64>, &str)| {
            let ours = (value(id), self.row(id).key());
            ours.cmp(&(at.map(Field::Integer), key.as_bytes()))
        };
        if let By::Descending(_) = query.order {
            let end = index.ids.before(|id| match self.against(id, &fixed) {
                Ordering::Equal => query.after.is_none_or(|after| below(id, after).is_lt()),
                unequal => unequal.is_lt(),
            });
            let within = move |id: &u32| {
                self.against(*id, &fixed).is_eq() && value(*id) >= Some(Field::Integer(least))
            };
            return Box::new(index.ids.back_from(end).take_while(within));
        }
        let start = index.ids.before(|id| match self.against(id, &fixed) {
            Ordering::Equal => {
                let least = column.is_some() && value(id) < Some(Field::Integer(least));
                least || query.after.is_some_and(|after| below(id, after).is_le())
            }
            unequal => unequal.is_lt(),
        });
        let within = move |id: &u32| self.against(*id, &fixed).is_eq();
        Box::new(index.ids.from(start).take_while(within))
    }

    /// The values that the first columns of an index must have.
    fn fixed<'a>(
        &self,
        index: &Index,
        lead: usize,
        query: &Resolved<'a>,
    ) -> Vec<(usize, Field<'a>)> {
        let value = |place: usize| {
            let mut equal = query.equal.iter().filter(|(column, _)| *column == place);
            let (_, value) = equal.next().expect("the leading columns are fixed");
            (place, Field::from(*value))
        };
        index.columns[..lead]
            .iter()
            .map(|&place| value(place))
            .collect()
    }

    /// Compares the leading columns of a row.
    fn against(&self, id: u32, fixed: &[(usize, Field<'_>)]) -> Ordering {
        let row = self.row(id);
        let mut pairs = fixed
            .iter()
            .map(|(place, value)| row.field(self.table, *place).cmp(value));
        pairs
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn fulfils(&self, id: u32, query: &Resolved<'_>) -> bool {
        let row = self.row(id);
        let field = |place| row.field(self.table, place);
        let equal = |(place, value): &(usize, &_)| field(*place) == Field::from(*value);
        let reaches = |(place, value): &(usize, i64)| field(*place) >= Field::Integer(*value);
        query.equal.iter().all(equal) && query.at_least.iter().all(reaches)
    }

    /// Whether a row comes after the query's position.
    fn follows(&self, id: u32, query: &Resolved<'_>) -> bool {
        let Some((value, key)) = query.after else {
            return true;
        };
        let row = self.row(id);
        let column = query.order.column();
        let ours = (column.map(|place| row.field(self.table, place)), row.key());
        let ordering = ours.cmp(&(value.map(Field::Integer), key.as_bytes()));
        match query.order {
            By::Key | By::Ascending(_) => ordering.is_gt(),
            By::Descending(_) => ordering.is_lt(),
        }
    }

    fn in_order(&self, a: u32, b: u32, order: By) -> Ordering {
        let column = order.column();
        let ordering = self
            .row(a)
            .compare(self.row(b), self.table, column.as_slice());
        match order {
            By::Key | By::Ascending(_) => ordering,
            By::Descending(_) => ordering.reverse(),
        }
    }
}

/// How the rows of a query are reached.
enum Way<'a> {
    /// In order, from the position on.
    Ordered(Box<dyn Iterator<Item = u32> + 'a>),
    /// Neither.
    Loose(Box<dyn Iterator<Item = u32> + 'a>),
}

impl Index {
    fn insert(&mut self, table: &'static Table, rows: &[Packed], id: u32) {
        let row = &rows[id as usize];
        let columns = &self.columns;
        let compare = |other: u32| rows[other as usize].compare(row, table, columns);
        let place = self.ids.before(|other| compare(other).is_lt());
        self.ids.insert(place, id);
    }

    fn remove(&mut self, table: &'static Table, rows: &[Packed], id: u32) {
        let row = &rows[id as usize];
        let columns = &self.columns;
        self.ids
            .remove(|other| rows[other as usize].compare(row, table, columns));
    }

    /// How many of its first columns a query fixes.
    fn lead(&self, query: &Resolved<'_>) -> usize {
        let fixed = |place: &&usize| query.equal.iter().any(|(column, _)| column == *place);
        self.columns.iter().take_while(fixed).count()
    }

    /// Whether what follows its first columns is the wanted order.
    fn orders(&self, lead: usize, order: By) -> bool {
        match order.column() {
            Some(place) => self.columns.get(lead) == Some(&place) && self.columns.len() == lead + 1,
            None => lead > 0 && self.columns.len() == lead,
        }
    }
}
