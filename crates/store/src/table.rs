//! Tables beside the journal: declarations and rows.

use bytes::Bytes;

use crate::Error;

/// The declaration of a table. Every row has a key, the declared columns, and a body of bytes that only the
/// table's owner can read. Rows are selected and ordered by key and columns.
///
/// ```
/// use store::{Column, Table};
///
/// static VISITS: Table = Table {
///     name: "visits",
///     columns: &[Column::text("place"), Column::integer("time")],
///     indexes: &[&["place", "time"]],
/// };
/// ```
///
/// A later version may add columns (existing rows then have 0 or the empty text there) and change indexes. It
/// may not change the kind of a column or remove one.
#[derive(Debug)]
pub struct Table {
    /// Lower-case letters, digits and `_`.
    pub name: &'static str,
    /// In the order of `Row::columns`.
    pub columns: &'static [Column],
    /// Each a list of column names. The key is added as the last column of every index.
    pub indexes: &'static [&'static [&'static str]],
}

/// A column of a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Lower-case letters, digits and `_`; neither `key` nor `body`.
    pub name: &'static str,
    pub kind: Kind,
    pub rule: Rule,
}

/// A constraint on every value of a column. A row that breaks it is refused before anything is written, and
/// SQLite checks it too. A column added to an existing table has no rule, since existing rows have no value
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Any,
    /// A text that is neither empty nor all white space.
    Filled,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A number from the first to the second, both included.
    Within(i64, i64),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers. Rows can be ordered by them.
    Integer,
    /// Text, compared byte by byte.
    Text,
}

impl Rule {
    /// Whether a value keeps the rule.
    fn allows(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _) => true,
            (Self::Filled, Value::Text(text)) => !text.trim().is_empty(),
            (Self::OneOf(texts), Value::Text(text)) => texts.contains(&text.as_str()),
            (Self::Within(least, most), Value::Integer(number)) => (least..=most).contains(number),
            (Self::Filled | Self::OneOf(_), Value::Integer(_))
            | (Self::Within(..), Value::Text(_)) => false,
        }
    }
}

impl Column {
    /// A column of whole numbers.
    pub const fn integer(name: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Integer,
            rule: Rule::Any,
        }
    }

    /// A column of text.
    pub const fn text(name: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Text,
            rule: Rule::Any,
        }
    }

    /// The same column with a rule.
    #[must_use]
    pub const fn with(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }
}

/// A row of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Unique within the table.
    pub key: String,
    /// In the declared order.
    pub columns: Vec<Value>,
    /// Bytes that the store does not interpret.
    pub body: Bytes,
}

/// The value of one column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Integer(i64),
    Text(String),
}

impl Value {
    fn kind(&self) -> Kind {
        match self {
            Self::Integer(_) => Kind::Integer,
            Self::Text(_) => Kind::Text,
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl Table {
    /// Whether the declaration makes sense.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let named = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name
                    .chars()
                    .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'))
        };
        if !named(self.name) {
            return Err(self.misused("table names are lower-case letters, digits and _"));
        }
        for (place, column) in self.columns.iter().enumerate() {
            let name = column.name;
            let again = self.columns.iter().take(place).any(|c| c.name == name);
            if !named(name) || matches!(name, "key" | "body") || again {
                return Err(self.misused(format!("invalid or repeated column name {name:?}")));
            }
        }
        for column in self.columns {
            let fits = match column.rule {
                Rule::Any => true,
                Rule::Filled | Rule::OneOf(_) => column.kind == Kind::Text,
                Rule::Within(least, most) => column.kind == Kind::Integer && least <= most,
            };
            if !fits {
                let (name, rule) = (column.name, column.rule);
                return Err(self.misused(format!("column {name:?} cannot have the rule {rule:?}")));
            }
        }
        for name in self.indexes.iter().copied().flatten() {
            self.column(name)?;
        }
        Ok(())
    }

    /// The position of a column in the declaration.
    pub(crate) fn column(&self, name: &str) -> Result<usize, Error> {
        let place = self.columns.iter().position(|column| column.name == name);
        place.ok_or_else(|| self.misused(format!("unknown column {name:?}")))
    }

    /// Checks that a value has the kind of the column at this position.
    pub(crate) fn fits(&self, place: usize, value: &Value) -> Result<(), Error> {
        let column = &self.columns[place];
        if value.kind() == column.kind {
            return Ok(());
        }
        let (name, kind) = (column.name, column.kind);
        Err(self.misused(format!("column {name:?} is of kind {kind:?}")))
    }

    /// Checks that a row has the declared columns, and that their values keep the rules.
    pub(crate) fn admits(&self, row: &Row) -> Result<(), Error> {
        let (given, declared) = (row.columns.len(), self.columns.len());
        if given != declared {
            return Err(self.misused(format!("a row has {given} of {declared} columns")));
        }
        let mut columns = row.columns.iter().enumerate();
        columns.try_for_each(|(place, value)| {
            self.fits(place, value)?;
            let Column { name, rule, .. } = self.columns[place];
            if rule.allows(value) {
                return Ok(());
            }
            Err(self.misused(format!("column {name:?} breaks the rule {rule:?}")))
        })
    }

    pub(crate) fn undeclared(&self) -> Error {
        self.misused("not among the tables given when the store was opened")
    }

    pub(crate) fn misused(&self, problem: impl Into<String>) -> Error {
        Error::declaration(self.name, problem)
    }
}
