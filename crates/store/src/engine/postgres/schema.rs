//! The schema of the database: its steps, and the declared tables.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use uuid::Uuid;

use super::address::Address;
use super::errors::Failure;
use super::session::{Command, Session};
use super::statements::{cell, kind, table_name};
use crate::Error;
use crate::table::{Column, Kind, Rule, Table};

/// The steps from an empty database to the present schema. A database's step is the number that it has taken; a released
/// step is never changed, new ones are added after it. Each can be taken again: the row of `monas` is written last.
///
/// `empty` of a stream is `first > last`, in a column of its own: an index on the expression would name `last`, and a
/// row whose indexed columns change cannot be updated in place, which each append would then pay for.
const STEPS: &[&str] = &[r#"
    CREATE TABLE IF NOT EXISTS monas (
        one bool PRIMARY KEY CHECK (one),
        cluster text NOT NULL,
        incarnation int8 NOT NULL,
        step int4 NOT NULL,
        format int4 NOT NULL,
        secret bytea NOT NULL);
    CREATE TABLE IF NOT EXISTS node (
        id text COLLATE "C" PRIMARY KEY,
        until timestamptz NOT NULL,
        state int2 NOT NULL,
        url text NOT NULL,
        release text NOT NULL,
        format int4 NOT NULL,
        since timestamptz NOT NULL
    ) WITH (fillfactor = 20);
    CREATE TABLE IF NOT EXISTS lane (
        node text COLLATE "C" NOT NULL,
        lane int4 NOT NULL,
        fenced bool NOT NULL,
        sequence int8 NOT NULL,
        PRIMARY KEY (node, lane)
    ) WITH (fillfactor = 10);
    CREATE TABLE IF NOT EXISTS stream (
        name text COLLATE "C" PRIMARY KEY,
        first int8 NOT NULL,
        last int8 NOT NULL,
        finished int8,
        empty bool NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
    CREATE INDEX IF NOT EXISTS stream_ended ON stream (empty, finished, name) WHERE finished IS NOT NULL;
    CREATE TABLE IF NOT EXISTS chunk (
        stream text COLLATE "C" NOT NULL,
        last int8 NOT NULL,
        first int8 NOT NULL,
        events bytea NOT NULL,
        PRIMARY KEY (stream, last));
"#];

/// The step that this program writes.
const STEP: i32 = STEPS.len() as i32;

/// The tables of streams and nodes.
const OURS: [&str; 5] = ["monas", "node", "lane", "stream", "chunk"];

/// Sets up an empty database; refuses one of another program, of another step, and one that a server has not finished.
pub(super) async fn prepare(
    session: &mut Session,
    address: &Address,
    tables: &[&'static Table],
) -> Result<(), Failure> {
    let found = columns(session).await?;
    match step(session, &found).await? {
        Some(STEP) => {}
        Some(step) if step > STEP => {
            let (found, known) = (step.unsigned_abs(), STEP.unsigned_abs());
            let path = PathBuf::from(address.shown());
            return Err(Error::Newer { path, found, known }.into());
        }
        Some(step) => {
            let (found, known) = (step.unsigned_abs(), STEP.unsigned_abs());
            let address = address.shown().to_owned();
            return Err(Error::Older {
                address,
                found,
                known,
            }
            .into());
        }
        None => set_up(session, address, &found).await?,
    }
    declare(session, &found, tables).await
}

/// Takes the steps that a database has not taken yet, and drops indexes that are no longer declared.
pub(super) async fn migrate(
    session: &mut Session,
    address: &Address,
    tables: &[&'static Table],
) -> Result<u32, Failure> {
    let found = columns(session).await?;
    let Some(taken) = step(session, &found).await? else {
        prepare(session, address, tables).await?;
        return Ok(STEP.unsigned_abs());
    };
    for (number, sql) in (1..)
        .zip(STEPS)
        .skip(usize::try_from(taken).unwrap_or_default())
    {
        let raise = format!(
            "UPDATE monas SET step = {number} WHERE step = {}",
            number - 1
        );
        session
            .batch(&format!("SET lock_timeout = '2s'; {sql}; {raise}"))
            .await?;
    }
    prepare(session, address, tables).await?;
    drop_indexes(session, tables).await?;
    Ok(STEP.unsigned_abs().saturating_sub(taken.unsigned_abs()))
}

/// The tables of the schema with the names and types of their columns.
type Columns = HashMap<String, HashMap<String, String>>;

async fn columns(session: &mut Session) -> Result<Columns, Failure> {
    let sql = "SELECT c.relname::text, a.attname::text, t.typname::text
         FROM pg_catalog.pg_class c
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
         WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema())
         AND c.relkind IN ('r', 'p')";
    let mut found = Columns::new();
    for row in session.run(&Command::plain(sql)).await? {
        let columns = found.entry(cell(&row, 0)?).or_default();
        columns.insert(cell(&row, 1)?, cell(&row, 2)?);
    }
    Ok(found)
}

/// The step that the database has taken; none if it is not set up.
async fn step(session: &mut Session, found: &Columns) -> Result<Option<i32>, Failure> {
    if !found.contains_key("monas") {
        return Ok(None);
    }
    let rows = session
        .run(&Command::plain("SELECT step FROM monas"))
        .await?;
    rows.first().map(|row| cell(row, 0)).transpose()
}

async fn set_up(session: &mut Session, address: &Address, found: &Columns) -> Result<(), Failure> {
    let is_foreign = |name: &&String| !OURS.contains(&name.as_str());
    if let Some(foreign) = found.keys().filter(is_foreign).min() {
        let problem = format!(
            "it has the table {foreign:?} of another program; name an empty database, or an empty schema with \
             ?options=-csearch_path%3DNAME"
        );
        return Err(Error::Corrupt {
            path: address.shown().into(),
            problem,
        }
        .into());
    }
    let (cluster, secret) = (Uuid::new_v4().simple(), [Uuid::new_v4(), Uuid::new_v4()]);
    let secret: String = secret
        .iter()
        .map(|half| half.simple().to_string())
        .collect();
    let sql = format!(
        "{} INSERT INTO monas (one, cluster, incarnation, step, format, secret)
         VALUES (true, '{cluster}', 1, {STEP}, 1, decode('{secret}', 'hex')) ON CONFLICT DO NOTHING",
        STEPS.concat()
    );
    let made = session.batch(&sql).await;
    // Two nodes that start on an empty database meet here; the later one finds what the earlier one has made.
    match made {
        Err(Failure::Refused | Failure::Again(_)) => session.batch(&sql).await,
        made => made,
    }
}

/// Creates missing tables, columns and indexes. What is not declared stays: another node may be of another release.
async fn declare(
    session: &mut Session,
    found: &Columns,
    tables: &[&'static Table],
) -> Result<(), Failure> {
    let mut sql = String::new();
    let indexes = indexes(session).await?;
    for table in tables {
        declare_table(table, found.get(&table_name(table)), &mut sql)?;
        let name = table_name(table);
        for index in table.indexes {
            let columns: String = index
                .iter()
                .map(|column| format!("\"{column}\", "))
                .collect();
            let index = index_name(table, index);
            if !indexes.contains_key(&index) {
                let _ = write!(
                    sql,
                    "CREATE INDEX IF NOT EXISTS \"{index}\" ON \"{name}\" ({columns}key);"
                );
            }
        }
    }
    match sql.is_empty() {
        true => Ok(()),
        false => session.batch(&sql).await,
    }
}

fn declare_table(
    table: &'static Table,
    found: Option<&HashMap<String, String>>,
    sql: &mut String,
) -> Result<(), Error> {
    let name = table_name(table);
    let Some(found) = found else {
        let columns = table
            .columns
            .iter()
            .map(|column| format!(", {}{}", definition(column), check(column)));
        let columns: String = columns.collect();
        let _ = write!(
            sql,
            "CREATE TABLE IF NOT EXISTS \"{name}\" (key text COLLATE \"C\" PRIMARY KEY{columns}, body bytea NOT NULL)
             WITH (fillfactor = 70);"
        );
        return Ok(());
    };
    for column in table.columns {
        match found.get(column.name) {
            Some(found) if found == kind(column.kind) => {}
            Some(found) => {
                let name = column.name;
                return Err(table.misused(format!("column {name:?} is {found} in the database")));
            }
            None => {
                let _ = write!(
                    sql,
                    "ALTER TABLE \"{name}\" ADD COLUMN IF NOT EXISTS {};",
                    definition(column)
                );
            }
        }
    }
    Ok(())
}

fn definition(column: &Column) -> String {
    let name = column.name;
    match column.kind {
        Kind::Integer => format!("\"{name}\" int8 NOT NULL DEFAULT 0"),
        Kind::Text => format!("\"{name}\" text COLLATE \"C\" NOT NULL DEFAULT ''"),
    }
}

/// A column's rule as an SQL constraint.
fn check(column: &Column) -> String {
    let name = column.name;
    match column.rule {
        Rule::Any => String::new(),
        Rule::Filled => format!(" CHECK (btrim(\"{name}\") <> '')"),
        Rule::OneOf(texts) => {
            let texts: Vec<_> = texts
                .iter()
                .map(|text| format!("'{}'", text.replace('\'', "''")))
                .collect();
            format!(" CHECK (\"{name}\" IN ({}))", texts.join(", "))
        }
        Rule::Within(least, most) => format!(" CHECK (\"{name}\" BETWEEN {least} AND {most})"),
    }
}

/// The indexes of declared tables that are there, each with its table.
async fn indexes(session: &mut Session) -> Result<HashMap<String, String>, Failure> {
    let sql = "SELECT indexname::text, tablename::text FROM pg_catalog.pg_indexes
         WHERE schemaname = current_schema() AND indexname LIKE 't\\_%.%'";
    let mut found = HashMap::new();
    for row in session.run(&Command::plain(sql)).await? {
        found.insert(cell(&row, 0)?, cell(&row, 1)?);
    }
    Ok(found)
}

/// Drops the indexes of declared tables that are not declared: they can be made again.
async fn drop_indexes(session: &mut Session, tables: &[&'static Table]) -> Result<(), Failure> {
    let names: HashSet<String> = tables.iter().map(|table| table_name(table)).collect();
    let all = tables
        .iter()
        .flat_map(|table| table.indexes.iter().map(|index| index_name(table, index)));
    let declared: HashSet<String> = all.collect();
    let mut sql = String::new();
    for (index, table) in indexes(session).await? {
        if names.contains(&table) && !declared.contains(&index) {
            let _ = write!(sql, "DROP INDEX IF EXISTS \"{index}\";");
        }
    }
    match sql.is_empty() {
        true => Ok(()),
        false => session.batch(&sql).await,
    }
}

/// The longest name that PostgreSQL keeps whole.
const NAME_BYTES: usize = 63;

/// The name of an index. One that is too long has the hash of its end instead of it.
fn index_name(table: &Table, columns: &[&str]) -> String {
    let whole = format!("{}.{}", table_name(table), columns.join("."));
    if whole.len() <= NAME_BYTES {
        return whole;
    }
    // FNV-1a: the hash has to be the same in all releases, which the standard library's is not.
    let hash = whole.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{}.{hash:016x}", &whole[..NAME_BYTES - 17])
}
