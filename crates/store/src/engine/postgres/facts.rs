//! The facts that the careful way of a group begins with: streams are locked and read, keys and chunks looked up.

use std::collections::{HashMap, HashSet};

use super::errors::Failure;
use super::fold::{Facts, Known, OldChunk};
use super::session::{Command, Session};
use super::statements::{self, BEGIN, ROLLBACK, Tables, cell, number};
use crate::batch::{Batch, Change};
use crate::entry::StreamId;

/// Begins a transaction and reads what the rules have to know for these batches.
pub(super) async fn read(
    session: &mut Session,
    tables: &Tables,
    guard: Command<'_>,
    group: &[Batch],
) -> Result<Facts, Failure> {
    let mut names: Vec<&str> = Vec::new();
    let mut inserted: HashMap<&'static str, (&str, Vec<&str>)> = HashMap::new();
    let (mut cut_streams, mut cut_events) = (Vec::new(), Vec::new());
    for change in group.iter().flat_map(Batch::changes) {
        match change {
            Change::Append { stream, .. }
            | Change::Finish { stream, .. }
            | Change::Forget { stream } => {
                names.push(stream.as_str());
            }
            Change::Truncate { stream, through } => {
                names.push(stream.as_str());
                cut_streams.push(stream.as_str());
                cut_events.push(number(through.saturating_add(1)));
            }
            Change::Replace {
                stream, sequence, ..
            } => {
                names.push(stream.as_str());
                cut_streams.push(stream.as_str());
                cut_events.push(number(*sequence));
            }
            Change::Insert { table, row } => {
                if let Ok(sql) = tables.get(table) {
                    inserted
                        .entry(table.name)
                        .or_insert((sql.has.as_str(), Vec::new()))
                        .1
                        .push(&row.key);
                }
            }
            Change::Put { .. } | Change::Delete { .. } => {}
        }
    }
    names.retain(|name| !name.contains('\0'));
    names.sort_unstable();
    names.dedup();
    let mut commands = vec![Command::plain(BEGIN), guard];
    commands.push(Command::new(
        statements::LOCK_STREAMS,
        vec![Box::new(names.clone())],
    ));
    if cut_streams.iter().all(|stream| !stream.contains('\0')) {
        commands.push(Command::new(
            statements::FIND_CHUNKS,
            vec![Box::new(cut_streams), Box::new(cut_events)],
        ));
    } else {
        commands.push(Command::plain("SELECT 1"));
    }
    let mut asked = Vec::new();
    for (table, (sql, mut keys)) in inserted {
        keys.retain(|key| !key.contains('\0'));
        asked.push(table);
        commands.push(Command::new(sql, vec![Box::new(keys)]));
    }
    let found = match session.pipeline(&commands).await {
        Ok(found) => found,
        Err(failure @ Failure::Lost(_)) => return Err(failure),
        Err(failure) => {
            session.run(&Command::plain(ROLLBACK)).await?;
            return Err(failure);
        }
    };
    let mut facts = Facts::default();
    facts
        .streams
        .extend(names.iter().map(|name| (StreamId::new(*name), None)));
    let mut found = found.into_iter().skip(2);
    for row in found.next().into_iter().flatten() {
        let known = Known {
            first: Some(cell::<i64>(&row, 1)?.cast_unsigned()),
            last: cell::<i64>(&row, 2)?.cast_unsigned(),
            finished: cell(&row, 3)?,
        };
        facts
            .streams
            .insert(StreamId::new(cell::<&str>(&row, 0)?), Some(known));
    }
    for row in found
        .next()
        .into_iter()
        .flatten()
        .filter(|row| row.len() == 4)
    {
        let chunk = OldChunk {
            last: cell::<i64>(&row, 1)?.cast_unsigned(),
            first: cell::<i64>(&row, 2)?.cast_unsigned(),
            events: cell::<Vec<u8>>(&row, 3)?.into(),
        };
        let chunks = facts
            .chunks
            .entry(StreamId::new(cell::<&str>(&row, 0)?))
            .or_default();
        // One chunk may be asked for by several changes.
        if chunks.iter().all(|known| known.last != chunk.last) {
            chunks.push(chunk);
        }
    }
    let mut rows = HashSet::new();
    for (table, found) in asked.into_iter().zip(found) {
        for row in found {
            rows.insert((table, cell(&row, 0)?));
        }
    }
    facts.rows = rows;
    Ok(facts)
}
