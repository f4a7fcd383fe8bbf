//! The schema of the file, and the migration of older files to it.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::errors::ResultExt;
use super::statements::{kind, table_name};
use crate::Error;
use crate::table::{Column, Kind, Rule, Table};

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

/// The migration steps from an empty file to the present schema. A file's version is the number of steps it
/// has taken; a released step is never changed, new ones are added after it.
const STEPS: &[&str] = &[
    // A chunk holds the events of one append: `first` to `last` of a stream.
    "CREATE TABLE stream (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        finished INTEGER
    ) STRICT;
    CREATE INDEX stream_finished ON stream (first > last, finished) WHERE finished IS NOT NULL;
    CREATE TABLE chunk (
        stream INTEGER NOT NULL,
        last INTEGER NOT NULL,
        first INTEGER NOT NULL,
        events BLOB NOT NULL,
        PRIMARY KEY (stream, last)
    ) STRICT, WITHOUT ROWID;",
];

/// The schema version that this program writes.
pub(super) const VERSION: u32 = STEPS.len() as u32;

/// Takes the missing steps and declares the tables, in one transaction: a new file costs one commit, and a file whose
/// tables cannot be declared stays as it was.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    application: u32,
    tables: &[&'static Table],
) -> Result<(), Error> {
    let behavior = TransactionBehavior::Immediate;
    let transaction = connection
        .transaction_with_behavior(behavior)
        .store_error(path)?;
    take(&transaction, application, STEPS).store_error(path)?;
    declare(&transaction, path, tables)?;
    transaction.commit().store_error(path)
}

/// Takes the steps that the file has not taken.
fn take(transaction: &Transaction<'_>, application: u32, steps: &[&str]) -> rusqlite::Result<()> {
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let missing = steps.get(version as usize..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", application)?;
    transaction.pragma_update(None, "user_version", steps.len() as u32)
}

/// Creates missing tables, columns and indexes. Tables and columns that are not declared stay, since they hold
/// data; indexes that are not declared are dropped, since they can be created again.
fn declare(
    transaction: &Transaction<'_>,
    path: &Path,
    tables: &[&'static Table],
) -> Result<(), Error> {
    for table in tables {
        declare_columns(transaction, path, table)?;
        declare_indexes(transaction, table).store_error(path)?;
    }
    Ok(())
}

fn declare_columns(
    transaction: &Transaction<'_>,
    path: &Path,
    table: &'static Table,
) -> Result<(), Error> {
    let name = table_name(table);
    let found = columns(transaction, &name).store_error(path)?;
    let definition = |name: &str, column: Kind| {
        let default = match column {
            Kind::Integer => "0",
            Kind::Text => "''",
        };
        format!("\"{name}\" {} NOT NULL DEFAULT {default}", kind(column))
    };
    if found.is_empty() {
        let columns = table.columns.iter();
        let columns = columns.map(|column| {
            let definition = definition(column.name, column.kind);
            format!(", {definition}{}", check(column))
        });
        let columns: String = columns.collect();
        let create = format!(
            "CREATE TABLE \"{name}\" (key TEXT NOT NULL PRIMARY KEY{columns}, body BLOB NOT NULL)
             STRICT"
        );
        return transaction.execute_batch(&create).store_error(path);
    }
    for column in table.columns {
        match found.iter().find(|(name, _)| name == column.name) {
            Some((_, found)) if found == kind(column.kind) => {}
            Some((column, found)) => {
                return Err(table.misused(format!("column {column:?} is {found} in the file")));
            }
            None => {
                let definition = definition(column.name, column.kind);
                let add = format!("ALTER TABLE \"{name}\" ADD COLUMN {definition}");
                transaction.execute_batch(&add).store_error(path)?;
            }
        }
    }
    Ok(())
}

/// A column's rule as an SQL constraint.
fn check(column: &Column) -> String {
    let name = column.name;
    match column.rule {
        Rule::Any => String::new(),
        Rule::Filled => format!(" CHECK (trim(\"{name}\") <> '')"),
        Rule::OneOf(texts) => {
            let texts: Vec<_> = texts
                .iter()
                .map(|text| format!("'{}'", text.replace('\'', "''")))
                .collect();
            format!(" CHECK (\"{name}\" IN ({}))", texts.join(", "))
        }
        Rule::Within(least, most) => {
            format!(" CHECK (\"{name}\" BETWEEN {least} AND {most})")
        }
    }
}

/// The names and types of a table's columns; empty if there is no such table.
fn columns(transaction: &Transaction<'_>, table: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = transaction.prepare("SELECT name, type FROM pragma_table_info(?)")?;
    let columns = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    columns.collect()
}

fn declare_indexes(transaction: &Transaction<'_>, table: &'static Table) -> rusqlite::Result<()> {
    let name = table_name(table);
    let declared: HashSet<String> = table
        .indexes
        .iter()
        .map(|index| index_name(table, index))
        .collect();
    let mut statement = transaction.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
    )?;
    let found = statement.query_map([&name], |row| row.get(0))?;
    let found: HashSet<String> = found.collect::<Result<_, _>>()?;
    for gone in found.difference(&declared) {
        transaction.execute_batch(&format!("DROP INDEX \"{gone}\""))?;
    }
    for index in table.indexes {
        let columns: String = index
            .iter()
            .map(|column| format!("\"{column}\", "))
            .collect();
        let index = index_name(table, index);
        transaction.execute_batch(&format!(
            "CREATE INDEX IF NOT EXISTS \"{index}\" ON \"{name}\" ({columns}key)"
        ))?;
    }
    Ok(())
}

fn index_name(table: &Table, columns: &[&str]) -> String {
    format!("{}.{}", table_name(table), columns.join("."))
}
