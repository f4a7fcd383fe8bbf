//! The tables of memory in the store. A lasting record without a reason cannot be stored: the columns have rules.

use bytes::Bytes;
use store::{Batch, Column, Query, Row, Rule, Table, View};

use crate::code::CodeChange;
use crate::error::Error;
use crate::layer::Layer;
use crate::record::{Certainty, Record, RecordId, Standing};
use crate::space::{Change, Derived};

/// Observations. A row changes only in its usage and in whether it is in working memory.
static OBSERVED: Table = Table {
    name: "memory_observed",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("layer").with(Rule::OneOf(&["observation", "working"])),
        Column::integer("occurred"),
    ],
    indexes: &[&["space"]],
};

/// Lasting records, with their reason.
static KEPT: Table = Table {
    name: "memory_kept",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("layer").with(Rule::OneOf(&["belief", "procedure", "axiom"])),
        Column::text("source").with(Rule::Filled),
        // In millionths.
        Column::integer("confidence").with(Rule::Within(0, 1_000_000)),
        Column::text("context").with(Rule::Filled),
        Column::text("why").with(Rule::Filled),
        Column::text("certainty").with(Rule::OneOf(&["certain", "uncertain"])),
    ],
    indexes: &[&["space"]],
};

/// What remains of forgotten records.
static TOMBSTONES: Table = Table {
    name: "memory_tombstone",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("why").with(Rule::Filled),
    ],
    indexes: &[&["space"]],
};

/// Vectors of records, by embedder. They can be made again.
static VECTORS: Table = Table {
    name: "memory_vector",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("embedder").with(Rule::Filled),
    ],
    indexes: &[&["space", "embedder"]],
};

/// Entities and relations that models found in records. They can be found again.
static READINGS: Table = Table {
    name: "memory_reading",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("model").with(Rule::Filled),
    ],
    indexes: &[&["space"]],
};

/// Files of projects, by their paths. They can be taken in again.
static CODE: Table = Table {
    name: "memory_code",
    columns: &[Column::text("space").with(Rule::Filled)],
    indexes: &[&["space"]],
};

/// The tables that a store must be opened with.
pub static TABLES: &[&Table] = &[&OBSERVED, &KEPT, &TOMBSTONES, &VECTORS, &READINGS, &CODE];

const PAGE: usize = 4096;

/// Adds a change to a batch.
pub(crate) fn write(batch: Batch, space: &str, change: &Change) -> Result<Batch, Error> {
    Ok(match change {
        Change::Insert(record) => batch.insert(table(record), row(space, record)?),
        Change::Replace(record) => batch.put(table(record), row(space, record)?),
        Change::Remove(tombstone) => {
            let key = key(space, &tombstone.id);
            let row = Row {
                key: key.clone(),
                columns: vec![space.into(), (&*tombstone.why).into()],
                body: encode(tombstone)?,
            };
            batch
                .delete(&OBSERVED, &key)
                .delete(&KEPT, &key)
                .delete(&VECTORS, &key)
                .delete(&READINGS, &key)
                .put(&TOMBSTONES, row)
        }
        Change::Derive(id, derived) => {
            let (table, by, body) = match derived {
                Derived::Vector(by, vector) => {
                    let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
                    (&VECTORS, by, bytes.into())
                }
                Derived::Reading(by, extract) => (&READINGS, by, encode(extract)?),
            };
            let columns = vec![space.into(), by.as_str().into()];
            let key = key(space, id);
            batch.put(table, Row { key, columns, body })
        }
        Change::Code(CodeChange::Put(file)) => {
            let row = Row {
                key: format!("{space}/{}", file.path),
                columns: vec![space.into()],
                body: encode(file)?,
            };
            batch.put(&CODE, row)
        }
        Change::Code(CodeChange::Remove(path)) => batch.delete(&CODE, &format!("{space}/{path}")),
    })
}

/// The changes that rebuild a space from the store, with the vectors of one embedder.
pub(crate) fn read(
    view: &dyn View,
    space: &str,
    embedder: Option<&str>,
) -> Result<Vec<Change>, store::Error> {
    let mut changes = Vec::new();
    for table in [&OBSERVED, &KEPT] {
        each(view, Query::of(table).equal("space", space), |row| {
            changes.extend(decode(&row).map(Change::Insert));
        })?;
    }
    each(view, Query::of(&TOMBSTONES).equal("space", space), |row| {
        changes.extend(decode(&row).map(Change::Remove));
    })?;
    let id = |row: &Row| RecordId::new(&row.key[space.len() + 1..]);
    each(view, Query::of(&READINGS).equal("space", space), |row| {
        let reading = decode(&row).map(|extract| Derived::Reading(String::new(), extract));
        changes.extend(reading.map(|reading| Change::Derive(id(&row), reading)));
    })?;
    each(view, Query::of(&CODE).equal("space", space), |row| {
        let file = decode(&row).map(|file| Change::Code(CodeChange::Put(file)));
        changes.extend(file);
    })?;
    if let Some(embedder) = embedder {
        let query = Query::of(&VECTORS)
            .equal("space", space)
            .equal("embedder", embedder);
        each(view, query, |row| {
            let numbers = row.body.chunks_exact(4);
            let numbers = numbers.map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]));
            let vector = Derived::Vector(embedder.to_owned(), numbers.collect());
            changes.push(Change::Derive(id(&row), vector));
        })?;
    }
    Ok(changes)
}

/// The names of all spaces that hold a record.
pub(crate) fn spaces(view: &dyn View) -> Result<Vec<String>, store::Error> {
    spaces_of(view, &[&OBSERVED, &KEPT])
}

/// The names of all spaces that hold a record or a file, or held a record.
pub(crate) fn mirrored_spaces(view: &dyn View) -> Result<Vec<String>, store::Error> {
    spaces_of(view, &[&OBSERVED, &KEPT, &TOMBSTONES, &CODE])
}

fn spaces_of(view: &dyn View, tables: &[&'static Table]) -> Result<Vec<String>, store::Error> {
    let mut names: Vec<String> = Vec::new();
    for table in tables {
        // Keys are `name/id`, and `0` is the character after `/`: the next space begins after `name0`.
        let mut after = String::new();
        loop {
            let rows = view.rows(&Query::of(table).after_key(&after).limit(1))?;
            let Some(row) = rows.first() else { break };
            let Some(store::Value::Text(name)) = row.columns.first() else {
                break;
            };
            after = format!("{name}0");
            names.push(name.clone());
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn each(view: &dyn View, query: Query, mut take: impl FnMut(Row)) -> Result<(), store::Error> {
    let mut query = query.limit(PAGE);
    loop {
        let rows = view.rows(&query)?;
        let full = rows.len() == PAGE;
        if let Some(last) = rows.last() {
            query = query.after_key(&last.key);
        }
        rows.into_iter().for_each(&mut take);
        if !full {
            return Ok(());
        }
    }
}

fn table(record: &Record) -> &'static Table {
    match record.standing {
        Standing::Kept(_) => &KEPT,
        Standing::Observed | Standing::Working { .. } => &OBSERVED,
    }
}

fn row(space: &str, record: &Record) -> Result<Row, Error> {
    let columns = match &record.standing {
        Standing::Kept(kept) => {
            let certainty = match kept.certainty {
                Certainty::Certain => "certain",
                Certainty::Hypothesis | Certainty::Uncertain { .. } => "uncertain",
            };
            let confidence = (kept.reason.confidence() * 1e6).round() as i64;
            vec![
                space.into(),
                Layer::from(kept.layer).name().into(),
                kept.reason.source().into(),
                confidence.into(),
                kept.reason.context().into(),
                kept.reason.why().into(),
                certainty.into(),
            ]
        }
        Standing::Observed | Standing::Working { .. } => {
            let layer = record.layer().name();
            vec![space.into(), layer.into(), record.occurred().into()]
        }
    };
    Ok(Row {
        key: key(space, &record.id),
        columns,
        body: encode(record)?,
    })
}

/// Names of spaces contain no slash, so no name is a prefix of another one's keys.
fn key(space: &str, id: &RecordId) -> String {
    format!("{space}/{id}")
}

fn encode(value: &impl serde::Serialize) -> Result<Bytes, Error> {
    let encoded = serde_json::to_vec(value).map_err(|problem| Error::Input {
        what: "the record".to_owned(),
        problem: problem.to_string(),
    })?;
    Ok(encoded.into())
}

/// Decodes a row. One that cannot be decoded is logged and skipped, so that the space still opens.
fn decode<T: serde::de::DeserializeOwned>(row: &Row) -> Option<T> {
    serde_json::from_slice(&row.body)
        .inspect_err(|problem| {
            tracing::error!(key = row.key, %problem, "skipping a row of memory that cannot be decoded");
        })
        .ok()
}
