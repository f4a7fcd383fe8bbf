//! Rows as arrays, one for each column: how a statement takes any number of them.

use super::fold::Known;
use super::session::{Command, SqlValue};
use super::statements::{self, number};
use crate::table::{Kind, Row, Table, Value};

/// Rows of the table `stream`, column by column.
#[derive(Debug, Default)]
pub(super) struct Streams<'a> {
    names: Vec<&'a str>,
    last_before: Vec<i64>,
    finished_before: Vec<Option<i64>>,
    first: Vec<Option<i64>>,
    last: Vec<i64>,
    finished: Vec<Option<i64>>,
}

impl<'a> Streams<'a> {
    pub(super) fn push(&mut self, name: &'a str, before: Option<Known>, now: Known) {
        self.names.push(name);
        self.last_before
            .push(before.map_or(0, |before| number(before.last)));
        self.finished_before
            .push(before.and_then(|before| before.finished));
        // A first event that stays is left to the database: another writer may have moved it meanwhile.
        let first = now
            .first
            .filter(|first| before.is_none_or(|before| before.first != Some(*first)));
        self.first.push(first.map(number));
        self.last.push(number(now.last));
        self.finished.push(now.finished);
    }

    pub(super) fn open(self, commands: &mut Vec<Command<'a>>) {
        if !self.names.is_empty() {
            let values: Vec<SqlValue<'_>> = vec![
                Box::new(self.names),
                Box::new(self.first),
                Box::new(self.last),
                Box::new(self.finished),
            ];
            commands.push(Command::new(statements::OPEN_STREAMS, values));
        }
    }

    pub(super) fn change(self, commands: &mut Vec<Command<'a>>) {
        if !self.names.is_empty() {
            let values: Vec<SqlValue<'_>> = vec![
                Box::new(self.names),
                Box::new(self.last_before),
                Box::new(self.finished_before),
                Box::new(self.first),
                Box::new(self.last),
                Box::new(self.finished),
            ];
            commands.push(Command::new(statements::MOVE_STREAMS, values));
        }
    }
}

/// Rows of the table `chunk`, column by column.
#[derive(Debug, Default)]
pub(super) struct Chunks<'a> {
    streams: Vec<&'a str>,
    last: Vec<i64>,
    first: Vec<i64>,
    events: Vec<&'a [u8]>,
}

impl<'a> Chunks<'a> {
    pub(super) fn push(&mut self, stream: &'a str, last: u64, first: u64, events: &'a [u8]) {
        self.streams.push(stream);
        self.last.push(number(last));
        self.first.push(number(first));
        self.events.push(events);
    }

    pub(super) fn command(self, sql: &'a str, commands: &mut Vec<Command<'a>>) {
        if !self.streams.is_empty() {
            let values: Vec<SqlValue<'_>> = vec![
                Box::new(self.streams),
                Box::new(self.last),
                Box::new(self.first),
                Box::new(self.events),
            ];
            commands.push(Command::new(sql, values));
        }
    }
}

/// Rows of a declared table, column by column.
pub(super) fn columns<'a>(table: &Table, rows: &[&'a Row]) -> Vec<SqlValue<'a>> {
    let keys: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    let mut values: Vec<SqlValue<'a>> = vec![Box::new(keys)];
    for place in 0..table.columns.len() {
        let column = rows.iter().filter_map(|row| row.columns.get(place));
        values.push(match table.columns[place].kind {
            Kind::Integer => Box::new(column.filter_map(integer).collect::<Vec<_>>()),
            Kind::Text => Box::new(column.filter_map(text).collect::<Vec<_>>()),
        });
    }
    let bodies: Vec<&[u8]> = rows.iter().map(|row| &*row.body).collect();
    values.push(Box::new(bodies));
    values
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Text(_) => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Integer(_) => None,
    }
}
