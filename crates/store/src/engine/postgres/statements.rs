//! SQL for streams and declared tables. Values are bound; names come from declarations, never from callers.

use std::fmt::Write as _;

use bytes::Bytes;
use tokio_postgres::Row as SqlRow;

use super::errors::{Failure, engine};
use super::session::SqlValue;
use crate::Error;
use crate::query::{By, Resolved};
use crate::table::{Column, Kind, Row, Table, Value};

pub(super) const BEGIN: &str = "BEGIN";
pub(super) const COMMIT: &str = "COMMIT";
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// The fence and the marker of a group: it fails when this writer is fenced, and when the group was kept already.
pub(super) const GUARD: &str = "WITH g AS (UPDATE lane SET sequence = $3::int8
     WHERE node = $1 AND lane = $2 AND NOT fenced AND sequence = $3::int8 - 1 RETURNING 1) SELECT 1 / count(*) FROM g";

/// The marker, read after a connection was lost.
pub(super) const MARKER: &str = "SELECT sequence, fenced FROM lane WHERE node = $1 AND lane = $2";

/// New streams: name, first, last, finished.
pub(super) const OPEN_STREAMS: &str = "INSERT INTO stream (name, first, last, finished, empty)
     SELECT i.name, i.first, i.last, i.finished, i.first > i.last
     FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) AS i(name, first, last, finished)";

/// Streams that change: name, last and finished before; first (null if it stays), last and finished after. It fails
/// unless each was as it is said to have been.
pub(super) const MOVE_STREAMS: &str = "WITH i AS (
       SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
       AS i(name, last_before, finished_before, first, last, finished)),
     m AS (UPDATE stream s SET first = coalesce(i.first, s.first), last = i.last, finished = i.finished,
         empty = coalesce(i.first, s.first) > i.last
       FROM i WHERE s.name = i.name AND s.last = i.last_before AND s.finished IS NOT DISTINCT FROM i.finished_before RETURNING 1)
     SELECT 1 / (count(*) = cardinality($1))::int4 FROM m";

pub(super) const FORGET_CHUNKS: &str = "DELETE FROM chunk WHERE stream = ANY($1)";
pub(super) const FORGET_STREAMS: &str = "DELETE FROM stream WHERE name = ANY($1)";

/// Chunks that end before the first event that is kept: stream, first.
pub(super) const DROP_CHUNKS: &str =
    "DELETE FROM chunk c USING unnest($1::text[], $2::int8[]) AS i(stream, first)
     WHERE c.stream = i.stream AND c.last < i.first";

/// Chunks that are cut or have another payload: stream, last, first, events.
pub(super) const CHANGE_CHUNKS: &str = "UPDATE chunk c SET first = i.first, events = i.events
     FROM unnest($1::text[], $2::int8[], $3::int8[], $4::bytea[]) AS i(stream, last, first, events)
     WHERE c.stream = i.stream AND c.last = i.last";

/// New chunks: stream, last, first, events.
pub(super) const ADD_CHUNKS: &str = "INSERT INTO chunk (stream, last, first, events)
     SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[], $4::bytea[])";

/// The states of streams, which nothing else can change until the transaction ends.
pub(super) const LOCK_STREAMS: &str =
    "SELECT name, first, last, finished FROM stream WHERE name = ANY($1) ORDER BY name FOR UPDATE";

/// The chunks with these events, or the next ones after them: stream, event.
pub(super) const FIND_CHUNKS: &str = "SELECT c.stream, c.last, c.first, c.events
     FROM (SELECT DISTINCT i.stream, i.event FROM unnest($1::text[], $2::int8[]) AS i(stream, event)) AS i,
     LATERAL (SELECT * FROM chunk WHERE chunk.stream = i.stream AND chunk.last >= i.event ORDER BY last LIMIT 1) AS c";

/// The declared tables with their SQL statements.
#[derive(Debug)]
pub(super) struct Tables(Vec<Statements>);

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) table: &'static Table,
    /// Binds an array of keys, of each column, and of bodies. A key that is taken is an error.
    pub(super) insert: String,
    /// Binds the same. A row that is there is updated in place, unless it is the same.
    pub(super) put: String,
    /// Binds an array of keys.
    pub(super) delete: String,
    /// The keys of an array that are there. The rows cannot be removed until the transaction ends.
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
        let arrays = table.columns.iter().enumerate();
        let arrays =
            arrays.map(|(place, column)| format!("${}::{}[], ", place + 2, kind(column.kind)));
        let arrays: String = arrays.collect();
        let body = table.columns.len() + 2;
        let insert = format!(
            "INSERT INTO \"{name}\" AS t (key, {names}body) SELECT * FROM unnest($1::text[], {arrays}${body}::bytea[])"
        );
        let of = |row: &str| -> String {
            let columns = table
                .columns
                .iter()
                .map(|column| format!("{row}.\"{}\", ", column.name));
            columns.collect::<String>() + row + ".body"
        };
        let columns = table.columns.iter();
        let set: String = columns
            .map(|Column { name, .. }| format!("\"{name}\" = excluded.\"{name}\", "))
            .collect();
        let put = format!(
            "{insert} ON CONFLICT (key) DO UPDATE SET {set}body = excluded.body WHERE ({}) IS DISTINCT FROM ({})",
            of("t"),
            of("excluded")
        );
        Self {
            table,
            insert,
            put,
            delete: format!("DELETE FROM \"{name}\" WHERE key = ANY($1)"),
            has: format!("SELECT key FROM \"{name}\" WHERE key = ANY($1) ORDER BY key FOR UPDATE"),
            get: format!("SELECT key, {names}body FROM \"{name}\" WHERE key = $1"),
        }
    }
}

/// The name of a declared table in the database, with a prefix so that it cannot collide with the tables of streams.
pub(super) fn table_name(table: &Table) -> String {
    format!("t_{}", table.name)
}

/// PostgreSQL's name for a kind of column.
pub(super) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "int8",
        Kind::Text => "text",
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
pub(super) fn row(table: &Table, found: &SqlRow) -> Result<Row, Failure> {
    let mut columns = Vec::with_capacity(table.columns.len());
    for (place, column) in table.columns.iter().enumerate() {
        columns.push(match column.kind {
            Kind::Integer => Value::Integer(cell(found, place + 1)?),
            Kind::Text => Value::Text(cell(found, place + 1)?),
        });
    }
    let body: &[u8] = cell(found, table.columns.len() + 1)?;
    Ok(Row {
        key: cell(found, 0)?,
        columns,
        body: Bytes::copy_from_slice(body),
    })
}

/// One value of a row.
pub(super) fn cell<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a SqlRow,
    place: usize,
) -> Result<T, Failure> {
    row.try_get(place)
        .map_err(|error| Failure::Failed(engine(error)))
}

/// A number of the store as the database keeps it. Numbers of events are far below the largest one.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A statement's text and the values bound to it.
pub(super) type Bound<'a> = (String, Vec<SqlValue<'a>>);

/// The SQL that selects the rows of a query, and its values.
pub(super) fn select<'a>(query: &'a Resolved<'a>) -> Bound<'a> {
    let table = query.table;
    let (mut sql, mut bound) = matching(&format!("key, {}body", names(table)), query);
    let column = |place: usize| table.columns[place].name;
    if let Some((value, key)) = &query.after {
        // Row values are compared from left to right, so an index serves the position.
        if let Some(value) = value {
            bound.push(Box::new(*value));
        }
        bound.push(Box::new(*key));
        let last = bound.len();
        let before = last - 1;
        let _ = match query.order {
            By::Key => write!(sql, " AND key > ${last}"),
            By::Ascending(place) => write!(
                sql,
                " AND (\"{}\", key) > (${before}, ${last})",
                column(place)
            ),
            By::Descending(place) => write!(
                sql,
                " AND (\"{}\", key) < (${before}, ${last})",
                column(place)
            ),
        };
    }
    let _ = match query.order {
        By::Key => write!(sql, " ORDER BY key"),
        By::Ascending(place) => write!(sql, " ORDER BY \"{}\", key", column(place)),
        By::Descending(place) => write!(sql, " ORDER BY \"{}\" DESC, key DESC", column(place)),
    };
    if query.limit < usize::MAX {
        bound.push(Box::new(i64::try_from(query.limit).unwrap_or(i64::MAX)));
        let _ = write!(sql, " LIMIT ${}", bound.len());
    }
    (sql, bound)
}

/// The SQL that counts the rows of a query, and its values.
pub(super) fn count<'a>(query: &'a Resolved<'a>) -> Bound<'a> {
    matching("count(*)", query)
}

/// Whether a query names a text that no row can have.
pub(super) fn is_impossible(query: &Resolved<'_>) -> bool {
    query
        .equal
        .iter()
        .any(|(_, value)| matches!(value, Value::Text(text) if text.contains('\0')))
}

fn matching<'a>(wanted: &str, query: &'a Resolved<'a>) -> Bound<'a> {
    let table = query.table;
    let mut sql = format!("SELECT {wanted} FROM \"{}\" WHERE true", table_name(table));
    let mut bound: Vec<SqlValue<'a>> = Vec::new();
    for (place, value) in &query.equal {
        bound.push(match value {
            Value::Integer(number) => Box::new(*number),
            Value::Text(text) => Box::new(text.as_str()),
        });
        let _ = write!(
            sql,
            " AND \"{}\" = ${}",
            table.columns[*place].name,
            bound.len()
        );
    }
    for (place, value) in &query.at_least {
        bound.push(Box::new(*value));
        let _ = write!(
            sql,
            " AND \"{}\" >= ${}",
            table.columns[*place].name,
            bound.len()
        );
    }
    (sql, bound)
}
