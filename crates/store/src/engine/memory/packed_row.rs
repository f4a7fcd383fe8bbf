//! A row packed into one allocation.

use std::slice;

use bytes::Bytes;

use crate::engine::varint;
use crate::table::{Column, Kind, Row, Table, Value};

/// The length of the key, the key, the columns, the body. An integer takes eight bytes, a text is prefixed
/// with its length; the table's declaration says which is which.
#[derive(Debug, Default)]
pub(super) struct PackedRow(Box<[u8]>);

/// A column's value inside a packed row, or a value to compare with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Field<'a> {
    Integer(i64),
    Text(&'a [u8]),
}

impl<'a> From<&'a Value> for Field<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(*number),
            Value::Text(text) => Self::Text(text.as_bytes()),
        }
    }
}

impl PackedRow {
    pub(super) fn new(row: &Row) -> Self {
        let texts = row.columns.iter().map(|value| match value {
            Value::Integer(_) => 8,
            Value::Text(text) => varint::len(text.len()) + text.len(),
        });
        let size = varint::len(row.key.len()) + row.key.len() + texts.sum::<usize>();
        let mut bytes = Vec::with_capacity(size + row.body.len());
        varint::put(&mut bytes, row.key.len());
        bytes.extend_from_slice(row.key.as_bytes());
        for value in &row.columns {
            match value {
                Value::Integer(number) => bytes.extend_from_slice(&number.to_le_bytes()),
                Value::Text(text) => {
                    varint::put(&mut bytes, text.len());
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
        }
        bytes.extend_from_slice(&row.body);
        Self(bytes.into_boxed_slice())
    }

    pub(super) fn key(&self) -> &[u8] {
        varint::piece(&self.0).0
    }

    /// The value of the column at this position.
    pub(super) fn field(&self, table: &'static Table, place: usize) -> Field<'_> {
        let mut fields = self.fields(table);
        fields
            .nth(place)
            .expect("a row has all columns of its table")
    }

    pub(super) fn unpack(&self, table: &'static Table) -> Row {
        let mut fields = self.fields(table);
        let columns = fields.by_ref().map(|field| match field {
            Field::Integer(number) => Value::Integer(number),
            Field::Text(bytes) => Value::Text(text(bytes)),
        });
        Row {
            key: text(self.key()),
            columns: columns.collect(),
            body: Bytes::copy_from_slice(fields.rest),
        }
    }

    fn fields(&self, table: &'static Table) -> Fields<'_> {
        let (_, rest) = varint::piece(&self.0);
        let columns = table.columns.iter();
        Fields { columns, rest }
    }
}

struct Fields<'a> {
    columns: slice::Iter<'static, Column>,
    /// The bytes after the columns taken so far; in the end, the body.
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let field = match self.columns.next()?.kind {
            Kind::Integer => {
                let (number, rest) = self.rest.split_first_chunk().expect("integers are whole");
                self.rest = rest;
                Field::Integer(i64::from_le_bytes(*number))
            }
            Kind::Text => {
                let (text, rest) = varint::piece(self.rest);
                self.rest = rest;
                Field::Text(text)
            }
        };
        Some(field)
    }
}

fn text(bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).expect("it was text when it was packed");
    text.to_owned()
}
