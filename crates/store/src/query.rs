//! Queries: conditions on the rows of a table, an order, a position, a limit.

use crate::Error;
use crate::table::{Kind, Table, Value};

/// A selection of rows of a [`Table`]: rows with given column values, in an order, from a position on.
///
/// To page, ask for the rows after the last row of the previous page, by its key or by its ordering column
/// and key. A query is fast when an index is declared on its `equal` columns followed by its ordering
/// column.
#[derive(Clone, Debug)]
#[must_use]
pub struct Query {
    table: &'static Table,
    equal: Vec<(&'static str, Value)>,
    at_least: Vec<(&'static str, i64)>,
    order: Order,
    after: Option<Position>,
    limit: usize,
}

/// The order of the selected rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    ByKey,
    /// By this integer column, the smallest first; equal ones by key.
    Ascending(&'static str),
    /// The exact reverse of `Ascending`: the largest first, equal ones by descending key.
    Descending(&'static str),
}

#[derive(Clone, Debug)]
struct Position {
    /// The value of the ordering column; none for an order by key.
    value: Option<i64>,
    key: String,
}

impl Query {
    /// All rows of a table, by key.
    pub fn of(table: &'static Table) -> Self {
        Self {
            table,
            equal: Vec::new(),
            at_least: Vec::new(),
            order: Order::default(),
            after: None,
            limit: usize::MAX,
        }
    }

    /// Selects only rows with this value in this column.
    pub fn equal(mut self, column: &'static str, value: impl Into<Value>) -> Self {
        self.equal.push((column, value.into()));
        self
    }

    /// Selects only rows with this value or a larger one in this integer column.
    pub fn at_least(mut self, column: &'static str, value: i64) -> Self {
        self.at_least.push((column, value));
        self
    }

    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Selects only rows after this position in an order by column. The position need not be a row.
    pub fn after(mut self, value: i64, key: &str) -> Self {
        let (value, key) = (Some(value), key.to_owned());
        self.after = Some(Position { value, key });
        self
    }

    /// Selects only rows after this key in an order by key. The key need not exist.
    pub fn after_key(mut self, key: &str) -> Self {
        let (value, key) = (None, key.to_owned());
        self.after = Some(Position { value, key });
        self
    }

    /// Selects at most this number of rows.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// The query with column positions in place of names, checked against the table's declaration.
    pub(crate) fn resolve(&self) -> Result<Resolved<'_>, Error> {
        let table = self.table;
        let mut equal = Vec::with_capacity(self.equal.len());
        for (name, value) in &self.equal {
            let place = table.column(name)?;
            table.fits(place, value)?;
            equal.push((place, value));
        }
        let mut at_least = Vec::with_capacity(self.at_least.len());
        for &(name, value) in &self.at_least {
            at_least.push((number(table, name)?, value));
        }
        let order = match self.order {
            Order::ByKey => By::Key,
            Order::Ascending(name) => By::Ascending(number(table, name)?),
            Order::Descending(name) => By::Descending(number(table, name)?),
        };
        let after = self.after.as_ref().map(|after| {
            let fits = after.value.is_some() == (order != By::Key);
            fits.then_some((after.value, after.key.as_str()))
                .ok_or_else(|| table.misused("the query's position belongs to another order"))
        });
        Ok(Resolved {
            table,
            equal,
            at_least,
            order,
            after: after.transpose()?,
            limit: self.limit,
        })
    }
}

/// A [`Query`] with column positions in place of names.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<'a> {
    pub(crate) table: &'static Table,
    pub(crate) equal: Vec<(usize, &'a Value)>,
    pub(crate) at_least: Vec<(usize, i64)>,
    pub(crate) order: By,
    /// The value of the ordering column (none in an order by key), and the key.
    pub(crate) after: Option<(Option<i64>, &'a str)>,
    pub(crate) limit: usize,
}

/// An [`Order`] with the position of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Key,
    Ascending(usize),
    Descending(usize),
}

impl By {
    /// The ordering column; none in an order by key.
    pub(crate) fn column(self) -> Option<usize> {
        match self {
            Self::Key => None,
            Self::Ascending(place) | Self::Descending(place) => Some(place),
        }
    }
}

fn number(table: &'static Table, name: &str) -> Result<usize, Error> {
    let place = table.column(name)?;
    if table.columns[place].kind == Kind::Integer {
        return Ok(place);
    }
    Err(table.misused(format!("column {name:?} is not an integer column")))
}
