//! What is forgotten with a record, and what becomes certain again without it.

use sha2::{Digest, Sha256};

use crate::claim::{Claim, conflict};
use crate::layer::Lasting;
use crate::reason::Reason;
use crate::record::{Certainty, Kept, Record, RecordId, Standing, Tombstone};
use crate::space::{Change, Space};
use crate::text::date::Millis;
use crate::text::{terms, words};
use crate::viewer::Viewer;

/// Forgets a record and the records that were concluded from it alone. Records that were uncertain only because of
/// it become certain.
pub(crate) fn forget(space: &Space, record: &Record, why: &str, now: Millis) -> Vec<Change> {
    let mut gone: Vec<&Record> = vec![record];
    let mut changes = vec![Change::Remove(tombstone(record, why, now))];
    let mut place = 0;
    while let Some(cause) = gone.get(place).map(|record| record.id.clone()) {
        place += 1;
        for other in space.records() {
            let Some(kept) = other.kept() else { continue };
            let alone = kept.support.is_empty()
                && kept.layer != Lasting::Axiom
                && kept.from.contains(&cause)
                && kept
                    .from
                    .iter()
                    .all(|id| gone.iter().any(|it| it.id == *id) || space.get(id).is_none());
            if alone && !gone.iter().any(|it| it.id == other.id) {
                let why = format!("the records it was concluded from were forgotten: {why}");
                changes.push(Change::Remove(tombstone(other, &why, now)));
                gone.push(other);
            }
        }
    }
    let mut others = relieved(space, &gone);
    for record in space.records() {
        let is_gone = gone.iter().any(|it| it.id == record.id);
        let changed = others.iter_mut().find_map(|change| match change {
            Change::Replace(other) if other.id == record.id => Some(other),
            _ => None,
        });
        match (is_gone, changed) {
            (true, _) => {}
            (false, Some(record)) => {
                without_copies(record, &gone);
            }
            (false, None) => {
                let mut record = Record::clone(record);
                if without_copies(&mut record, &gone) {
                    others.push(Change::Replace(record));
                }
            }
        }
    }
    changes.extend(others);
    changes
}

/// What stands in the place of a text that was forgotten.
const FORGOTTEN: &str = "(forgotten)";

/// Takes copies of forgotten texts out of what is kept beside the text of another record: the last question it answered,
/// and the question in its reason. Whether there were any.
fn without_copies(record: &mut Record, gone: &[&Record]) -> bool {
    let mut changed = false;
    // The last question is for information alone: it goes when it has a word of a forgotten text in common.
    if !record.usage.question.is_empty() {
        let asked = terms(&record.usage.question);
        let shares = |it: &&Record| terms(&it.content.text).iter().any(|it| asked.contains(it));
        if gone.iter().any(shares) {
            record.usage.question.clear();
            changed = true;
        }
    }
    if let Standing::Kept(kept) = &mut record.standing {
        let words = |text: &str| words(text).collect::<Vec<_>>();
        let says = |text: &str| {
            let said = words(text);
            gone.iter().any(|it| {
                let wanted = words(&it.content.text);
                !wanted.is_empty() && said.windows(wanted.len()).any(|part| part == wanted)
            })
        };
        let reason = &kept.reason;
        let part = |text: &str| match says(text) {
            true => FORGOTTEN.to_owned(),
            false => text.to_owned(),
        };
        let (context, why) = (part(reason.context()), part(reason.why()));
        if context != reason.context() || why != reason.why() {
            let (source, sure) = (reason.source().to_owned(), reason.confidence());
            if let Ok(reason) = Reason::new(source, sure, context, why) {
                kept.reason = reason;
                changed = true;
            }
        }
    }
    changed
}

/// Makes records certain that were uncertain because of a forgotten one, if nothing else contradicts them.
fn relieved(space: &Space, gone: &[&Record]) -> Vec<Change> {
    let is_gone = |id: &RecordId| gone.iter().any(|it| it.id == *id);
    let mut certain: Vec<Claim> = Vec::new();
    let mut changes = Vec::new();
    for record in space.records().filter(|record| !is_gone(&record.id)) {
        let Some(kept) = record.kept() else { continue };
        let Certainty::Uncertain { against, .. } = &kept.certainty else {
            continue;
        };
        if !is_gone(against) {
            continue;
        }
        let claim = Claim::of(&record.content.text);
        let contradicted = space
            .against(&claim, &Viewer::All)
            .iter()
            .any(|(rival, _)| !is_gone(&rival.id) && rival.kept().is_some_and(Kept::certain))
            || certain
                .iter()
                .any(|other| conflict(&claim, other).is_some());
        if !contradicted {
            let mut record = Record::clone(record);
            record.standing = Standing::Kept(Kept {
                certainty: Certainty::Certain,
                ..kept.clone()
            });
            certain.push(claim);
            changes.push(Change::Replace(record));
        }
    }
    changes
}

fn tombstone(record: &Record, why: &str, now: Millis) -> Tombstone {
    let hash = Sha256::digest(&record.content.text);
    Tombstone {
        id: record.id.clone(),
        layer: record.layer(),
        at: now,
        why: why.to_owned(),
        hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
