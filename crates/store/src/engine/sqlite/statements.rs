//! SQL for declared tables. Values are bound parameters; names come from declarations, never from callers.

use std::fmt::Write as _;

use bytes::Bytes;
use rusqlite::Row as SqlRow;
use rusqlite::types::ToSqlOutput;

use crate::Error;
use crate::query::{By, Resolved};
use crate::table::{Column, Kind, Row, Table, Value};

/// The declared tables with their SQL statements.
#[derive(Debug)]
pub(super) struct Tables(Vec<Statements>);

#[derive(Debug)]
pub(super) struct Statements {
    table: &'static Table,
    /// Binds key, columns and body of a new row.
    pub(super) insert: String,
    /// Binds the same; an existing row is updated in place.
    pub(super) put: String,
    pub(super) delete: String,
    pub(super) has: String,
    /// Selects by key the columns that [`row`] reads.
    pub(super) get: String,
}

impl Tables {
    pub(super) fn new(tables: &[&'static Table]) -> Self {
        Self(tables.iter().copied().map(Statements::new).collect())
    }

    pub(super) fn get(&self, table: &'static Table) -> Result<&Statements, Error> {
        let mut tables = self.0.iter();
        let found = tables.find(|statements| statements.table.name == table.name);
        found.ok_or_else(|| table.undeclared())
    }
}

impl Statements {
    fn new(table: &'static Table) -> Self {
        let name = table_name(table);
        let names = names(table);
        let values = "?, ".repeat(table.columns.len());
        let insert = format!("INSERT INTO \"{name}\" (key, {names}body) VALUES (?, {values}?)");
        let columns = table.columns.iter();
        let columns: String = columns
            .map(|Column { name, .. }| format!("\"{name}\" = excluded.\"{name}\", "))
            .collect();
        Self {
            table,
            put: format!("{insert} ON CONFLICT (key) DO UPDATE SET {columns}body = excluded.body"),
            insert,
            delete: format!("DELETE FROM \"{name}\" WHERE key = ?"),
            has: format!("SELECT 1 FROM \"{name}\" WHERE key = ?"),
            get: format!("SELECT key, {names}body FROM \"{name}\" WHERE key = ?"),
        }
    }
}

/// The name of a declared table in the file, with a prefix so that it cannot collide with `stream` and `chunk`.
pub(super) fn table_name(table: &Table) -> String {
    format!("t_{}", table.name)
}

/// SQLite's name for a kind of column.
pub(super) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "INTEGER",
        Kind::Text => "TEXT",
    }
}

/// The column names, each followed by a comma.
fn names(table: &Table) -> String {
    table
        .columns
        .iter()
        .map(|column| format!("\"{}\", ", column.name))
        .collect()
}

/// Reads a row in the column order of the statements.
pub(super) fn row(table: &Table, found: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let columns = table.columns.iter().enumerate().map(|(place, column)| {
        Ok(match column.kind {
            Kind::Integer => Value::Integer(found.get(place + 1)?),
            Kind::Text => Value::Text(found.get(place + 1)?),
        })
    });
    let body = found.get_ref(table.columns.len() + 1)?.as_blob()?;
    Ok(Row {
        key: found.get(0)?,
        columns: columns.collect::<rusqlite::Result<_>>()?,
        body: Bytes::copy_from_slice(body),
    })
}

/// The SQL that selects the rows of a query, and its parameters.
pub(super) fn select<'a>(query: &'a Resolved<'a>) -> (String, Vec<ToSqlOutput<'a>>) {
    let table = query.table;
    let (mut sql, mut bound) = matching(&format!("key, {}body", names(table)), query);
    let column = |place: usize| table.columns[place].name;
    if let Some((value, key)) = &query.after {
        // Row values are compared from left to right, so SQLite can use an index for the position.
        let _ = match query.order {
            By::Key => write!(sql, " AND key > ?"),
            By::Ascending(place) => write!(sql, " AND (\"{}\", key) > (?, ?)", column(place)),
            By::Descending(place) => write!(sql, " AND (\"{}\", key) < (?, ?)", column(place)),
        };
        if let Some(value) = value {
            bound.push((*value).into());
        }
        bound.push((*key).into());
    }
    let _ = match query.order {
        By::Key => write!(sql, " ORDER BY key"),
        By::Ascending(place) => write!(sql, " ORDER BY \"{}\", key", column(place)),
        By::Descending(place) => write!(sql, " ORDER BY \"{}\" DESC, key DESC", column(place)),
    };
    if query.limit < usize::MAX {
        sql.push_str(" LIMIT ?");
        bound.push(i64::try_from(query.limit).unwrap_or(i64::MAX).into());
    }
    (sql, bound)
}

/// The SQL that counts the rows of a query, and its parameters.
pub(super) fn count<'a>(query: &'a Resolved<'a>) -> (String, Vec<ToSqlOutput<'a>>) {
    matching("count(*)", query)
}

fn matching<'a>(what: &str, query: &'a Resolved<'a>) -> (String, Vec<ToSqlOutput<'a>>) {
    let table = query.table;
    let mut sql = format!("SELECT {what} FROM \"{}\" WHERE true", table_name(table));
    let mut bound: Vec<ToSqlOutput<'_>> = Vec::new();
    for (place, value) in &query.equal {
        let _ = write!(sql, " AND \"{}\" = ?", table.columns[*place].name);
        bound.push(bind(value));
    }
    for (place, value) in &query.at_least {
        let _ = write!(sql, " AND \"{}\" >= ?", table.columns[*place].name);
        bound.push((*value).into());
    }
    (sql, bound)
}

/// A column's value as a parameter.
pub(super) fn bind(value: &Value) -> ToSqlOutput<'_> {
    match value {
        Value::Integer(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
    }
}
