//! Which rows of a table, in which order, from where on.

use crate::Error;
use crate::table::{Kind, Table, Value};

/// Rows of a [`Table`]: those whose columns have given values, in an order, from a position on.
///
/// To page, ask for the rows after the last one of the page before: by its key, or by the column that
/// orders them and the key. It is quick when an index is declared on the columns that are `equal`
/// followed by the one that orders.
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

/// In which order rows are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By key.
    #[default]
    ByKey,
    /// By this column of whole numbers, the smallest first; among equals by key.
    Ascending(&'static str),
    /// The exact reverse: the largest first, and among equals the last key first.
    Descending(&'static str),
}

#[derive(Clone, Debug)]
struct Position {
    /// Of the column that orders; none for an order by key.
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

    /// Only those that have this value in this column.
    pub fn equal(mut self, column: &'static str, value: impl Into<Value>) -> Self {
        self.equal.push((column, value.into()));
        self
    }

    /// Only those that have this value or a larger one in this column of whole numbers.
    pub fn at_least(mut self, column: &'static str, value: i64) -> Self {
        self.at_least.push((column, value));
        self
    }

    /// In this order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Only those that come after this position in an order by column. No row need be there.
    pub fn after(mut self, value: i64, key: &str) -> Self {
        let (value, key) = (Some(value), key.to_owned());
        self.after = Some(Position { value, key });
        self
    }

    /// Only those that come after this key in an order by key. No row need be there.
    pub fn after_key(mut self, key: &str) -> Self {
        let (value, key) = (None, key.to_owned());
        self.after = Some(Position { value, key });
        self
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The table it is about.
    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// The query in the table's own terms: places for names, everything checked.
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
                .ok_or_else(|| table.misused("the position is one of another order"))
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

/// A [`Query`] with the places of columns for their names.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<'a> {
    pub(crate) table: &'static Table,
    pub(crate) equal: Vec<(usize, &'a Value)>,
    pub(crate) at_least: Vec<(usize, i64)>,
    pub(crate) order: By,
    /// The value of the column that orders, unless the key does; and the key.
    pub(crate) after: Option<(Option<i64>, &'a str)>,
    pub(crate) limit: usize,
}

/// An [`Order`] with the place of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Key,
    Ascending(usize),
    Descending(usize),
}

impl By {
    /// The column that orders, unless the key does.
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
    Err(table.misused(format!("column {name:?} is not of whole numbers")))
}
