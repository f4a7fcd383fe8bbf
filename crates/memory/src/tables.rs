//! How records lie in the store. What lasts cannot lie there without a reason: the table has a rule for each part.

use bytes::Bytes;
use store::{Batch, Column, Query, Row, Rule, Table, View};

use crate::error::Error;
use crate::layer::Layer;
use crate::record::{Certainty, Record, RecordId, Standing, Tombstone};
use crate::space::Change;

/// The log of observations. Rows are inserted and never put over others, but for how they are used.
static OBSERVED: Table = Table {
    name: "memory_observed",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("layer").with(Rule::OneOf(&["observation", "working"])),
        Column::integer("occurred"),
    ],
    indexes: &[&["space"]],
};

/// What lasts, with its reason.
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

/// What is left of what was forgotten.
static TOMBSTONES: Table = Table {
    name: "memory_tombstone",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("why").with(Rule::Filled),
    ],
    indexes: &[&["space"]],
};

/// Vectors of records, which can be made again.
static VECTORS: Table = Table {
    name: "memory_vector",
    columns: &[
        Column::text("space").with(Rule::Filled),
        Column::text("embedder").with(Rule::Filled),
    ],
    indexes: &[&["space", "embedder"]],
};

/// The tables that a store has to be opened with.
pub static TABLES: &[&Table] = &[&OBSERVED, &KEPT, &TOMBSTONES, &VECTORS];

/// How many rows are read at once.
const PAGE: usize = 4096;

/// A batch with one more change.
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
                .put(&TOMBSTONES, row)
        }
    })
}

/// A batch with the vector of a record.
pub(crate) fn write_vector(
    batch: Batch,
    space: &str,
    embedder: &str,
    id: &RecordId,
    vector: &[f32],
) -> Batch {
    let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
    let row = Row {
        key: key(space, id),
        columns: vec![space.into(), embedder.into()],
        body: bytes.into(),
    };
    batch.put(&VECTORS, row)
}

/// Everything that a space holds, and the vectors of one embedder.
pub(crate) struct Loaded {
    pub(crate) records: Vec<Record>,
    pub(crate) tombstones: Vec<Tombstone>,
    pub(crate) vectors: Vec<(RecordId, Vec<f32>)>,
}

/// Reads a space.
pub(crate) fn read(
    view: &dyn View,
    space: &str,
    embedder: Option<&str>,
) -> Result<Loaded, store::Error> {
    let mut loaded = Loaded {
        records: Vec::new(),
        tombstones: Vec::new(),
        vectors: Vec::new(),
    };
    for table in [&OBSERVED, &KEPT] {
        each(view, Query::of(table).equal("space", space), |row| {
            loaded.records.extend(decode::<Record>(&row));
        })?;
    }
    each(view, Query::of(&TOMBSTONES).equal("space", space), |row| {
        loaded.tombstones.extend(decode::<Tombstone>(&row));
    })?;
    if let Some(embedder) = embedder {
        let query = Query::of(&VECTORS)
            .equal("space", space)
            .equal("embedder", embedder);
        each(view, query, |row| {
            let id = row.key[space.len() + 1..].to_owned();
            let numbers = row.body.chunks_exact(4);
            let vector = numbers.map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]));
            loaded.vectors.push((RecordId::new(id), vector.collect()));
        })?;
    }
    Ok(loaded)
}

/// The names of all spaces that hold something.
pub(crate) fn spaces(view: &dyn View) -> Result<Vec<String>, store::Error> {
    let mut names: Vec<String> = Vec::new();
    for table in [&OBSERVED, &KEPT] {
        // Keys begin with the name, so the next space is behind all keys of this one.
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
                Certainty::Uncertain { .. } => "uncertain",
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

/// A slash ends the name of the space, so that no name is the beginning of another's key.
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

/// What a row holds. One that cannot be read is left out, and said.
fn decode<T: serde::de::DeserializeOwned>(row: &Row) -> Option<T> {
    serde_json::from_slice(&row.body)
        .inspect_err(|problem| {
            tracing::error!(key = row.key, %problem, "a record of memory cannot be read");
        })
        .ok()
}
