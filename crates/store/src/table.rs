//! Tables beside the journal: how they are declared, and their rows.

use bytes::Bytes;

use crate::Error;

/// A table, declared by whoever owns it. Every row has a key, the declared columns, and a body of bytes
/// that only the owner understands; columns are what rows are found and ordered by.
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
/// A later version may declare more columns (old rows then have 0 or the empty text there) and other
/// indexes. A column stays what it was, and is never given up.
#[derive(Debug)]
pub struct Table {
    /// Lower-case letters, digits and `_`.
    pub name: &'static str,
    /// In the order in which rows give them.
    pub columns: &'static [Column],
    /// Names of columns. The key follows as the last one by itself.
    pub indexes: &'static [&'static [&'static str]],
}

/// A column of a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Lower-case letters, digits and `_`; neither `key` nor `body`.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What every value of it fulfils.
    pub rule: Rule,
}

/// What every value of a column fulfils. A row that does not is refused before anything is written, and by the file
/// itself. A column that is added to a table of old has no rule, since old rows have nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing.
    Any,
    /// It is a text that says something: not empty, not only blanks.
    Filled,
    /// It is one of these texts.
    OneOf(&'static [&'static str]),
    /// It is a number from the first to the second, both included.
    Within(i64, i64),
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers. Rows can be ordered by them.
    Integer,
    /// Text, compared byte by byte.
    Text,
}

impl Rule {
    /// Whether a value fulfils it.
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

    /// The same, with a rule.
    #[must_use]
    pub const fn with(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }
}

/// A row of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What the row is found by; one row has it.
    pub key: String,
    /// In the declared order.
    pub columns: Vec<Value>,
    /// What only the owner understands.
    pub body: Bytes,
}

/// What a column of a row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A text.
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
            return Err(self.misused("that is no name for a table"));
        }
        for (place, column) in self.columns.iter().enumerate() {
            let name = column.name;
            let again = self.columns.iter().take(place).any(|c| c.name == name);
            if !named(name) || matches!(name, "key" | "body") || again {
                return Err(self.misused(format!("{name:?} is no name for a column of it")));
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

    /// The place of a column.
    pub(crate) fn column(&self, name: &str) -> Result<usize, Error> {
        let place = self.columns.iter().position(|column| column.name == name);
        place.ok_or_else(|| self.misused(format!("it has no column {name:?}")))
    }

    /// Whether a value can stand in the column at this place.
    pub(crate) fn fits(&self, place: usize, value: &Value) -> Result<(), Error> {
        let column = &self.columns[place];
        if value.kind() == column.kind {
            return Ok(());
        }
        let (name, kind) = (column.name, column.kind);
        Err(self.misused(format!("column {name:?} is of kind {kind:?}")))
    }

    /// Whether a row has the declared columns, and they fulfil their rules.
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
        self.misused("it was not declared when the store was opened")
    }

    pub(crate) fn misused(&self, problem: impl Into<String>) -> Error {
        Error::declaration(self.name, problem)
    }
}
