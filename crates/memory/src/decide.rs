//! What becomes of a write: a space, a write and the rules in, changes out. Pure.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

use crate::claim::{Claim, conflict};
use crate::error::Error;
use crate::layer::Lasting;
use crate::reason::Reason;
use crate::record::{Certainty, Content, Kept, Record, RecordId, Standing, Tombstone, Usage};
use crate::rules::{self, Move, Rules};
use crate::space::{Change, Space};
use crate::text::date::Millis;

/// What was done with something that was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is a record of its own.
    Kept(RecordId),
    /// It is a record of its own, but in doubt: something surer contradicts it.
    Doubted(RecordId),
    /// It was known; another source has confirmed it.
    Corroborated(RecordId),
    /// It was known, and from the same source.
    Known(RecordId),
    /// It is what was recalled before, said again by the agent.
    Echo(RecordId),
}

impl Outcome {
    /// The record it is about.
    pub fn id(&self) -> &RecordId {
        match self {
            Self::Kept(id)
            | Self::Doubted(id)
            | Self::Corroborated(id)
            | Self::Known(id)
            | Self::Echo(id) => id,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Kept(_) => "kept",
            Self::Doubted(_) => "doubted",
            Self::Corroborated(_) => "corroborated",
            Self::Known(_) => "known",
            Self::Echo(_) => "echo",
        }
    }
}

/// Something that is to be kept in the long term.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// What it says.
    pub content: Content,
    /// Where it is to be kept.
    pub layer: Lasting,
    /// Why.
    pub reason: Reason,
    /// What it was concluded from.
    pub from: Vec<RecordId>,
}

impl Keep {
    /// A belief.
    pub fn belief(text: impl Into<String>, reason: Reason) -> Self {
        Self {
            content: Content::text(text),
            layer: Lasting::Belief,
            reason,
            from: Vec::new(),
        }
    }
}

/// Whose sources are the agent's own words.
const OWN: &str = "agent";

/// An observation. What the agent says after it recalled the same is logged as an echo.
pub(crate) fn observe(
    space: &Space,
    content: Content,
    rules: &Rules,
    now: Millis,
    id: RecordId,
) -> Result<Record, Error> {
    content.check()?;
    let own = is_own(&content);
    let echo = own.then(|| recalled(space, &content.text, rules)).flatten();
    Ok(Record {
        id,
        content,
        recorded: now,
        standing: Standing::Observed,
        usage: Usage::default(),
        echo: echo.map(|record| record.id.clone()),
    })
}

/// Whether something is what the agent itself says.
pub(crate) fn is_own(content: &Content) -> bool {
    let source = content.source.as_deref().unwrap_or_default();
    source.split(':').next() == Some(OWN)
}

/// A record that says the same and was recalled.
fn recalled(space: &Space, text: &str, rules: &Rules) -> Option<Arc<Record>> {
    let alike = space.alike(text, rules.duplicate).into_iter();
    alike
        .map(|(record, _)| record)
        .find(|record| record.usage.times > 0)
}

/// Something that is to be kept.
pub(crate) fn keep(
    space: &Space,
    keep: Keep,
    rules: &Rules,
    now: Millis,
    id: RecordId,
) -> Result<(Vec<Change>, Outcome), Error> {
    keep.content.check()?;
    rules.admit(&keep.reason).map_err(Error::Rules)?;
    let alike = space.alike(&keep.content.text, rules.duplicate);
    if let Some((known, _)) = alike.iter().find(|(record, _)| record.kept().is_some()) {
        return Ok(known_already(space, known, &keep, rules, now));
    }
    let mut keep = keep;
    let used = alike.iter().map(|(record, _)| record);
    for record in used.filter(|record| record.usage.times > 0 || record.echo.is_some()) {
        let concluded = keep.from.contains(&record.id);
        if keep.reason.origin() == OWN && !concluded {
            return Ok((Vec::new(), Outcome::Echo(record.id.clone())));
        }
        if !concluded && record.echo.is_none() {
            keep.from.push(record.id.clone());
        }
    }
    let claim = Claim::of(&keep.content.text);
    let kept = Kept {
        layer: keep.layer,
        reason: keep.reason,
        certainty: Certainty::Certain,
        support: Vec::new(),
        from: keep.from,
    };
    let mut record = Record {
        id: id.clone(),
        content: keep.content,
        recorded: now,
        standing: Standing::Observed,
        usage: Usage::default(),
        echo: None,
    };
    let (kept, mut changes) = settle(space, &record, kept, &claim, rules, now);
    let certain = kept.certain();
    record.standing = Standing::Kept(kept);
    changes.push(Change::Insert(record));
    let outcome = if certain {
        Outcome::Kept(id)
    } else {
        Outcome::Doubted(id)
    };
    Ok((changes, outcome))
}

/// Something that is to be kept and is known already.
fn known_already(
    space: &Space,
    known: &Record,
    keep: &Keep,
    rules: &Rules,
    now: Millis,
) -> (Vec<Change>, Outcome) {
    let id = known.id.clone();
    let Some(kept) = known.kept() else {
        return (Vec::new(), Outcome::Known(id));
    };
    let source = keep.reason.source();
    if keep.reason.origin() == OWN && known.usage.times > 0 {
        return (Vec::new(), Outcome::Echo(id));
    }
    if kept.rests_on(source) {
        return (Vec::new(), Outcome::Known(id));
    }
    let mut confirmed = rules::corroborated(kept, source, now, rules);
    let mut changes = Vec::new();
    if !confirmed.certain() {
        // Said again by somebody else, it may prevail now.
        confirmed.certainty = Certainty::Certain;
        let claim = Claim::of(&known.content.text);
        (confirmed, changes) = settle(space, known, confirmed, &claim, rules, now);
    }
    let mut record = known.clone();
    record.standing = Standing::Kept(confirmed);
    changes.push(Change::Replace(record));
    (changes, Outcome::Corroborated(id))
}

/// Sets a claim against those that contradict it: either it prevails and they are in doubt from now on, or it is.
fn settle(
    space: &Space,
    record: &Record,
    kept: Kept,
    claim: &Claim,
    rules: &Rules,
    now: Millis,
) -> (Kept, Vec<Change>) {
    let sure = kept.reason.confidence();
    let mut changes = Vec::new();
    for (rival, conflict) in space.against(claim) {
        let Some(held) = rival
            .kept()
            .filter(|held| held.certain() && rival.id != record.id)
        else {
            continue;
        };
        let theirs = rules::confidence(&rival, held, rules, now);
        let because = conflict.name();
        if !rules::prevails((kept.layer, sure), (held.layer, theirs), rules) {
            let kept = rules::doubted(&kept, &rival.id, because, rules);
            return (kept, Vec::new());
        }
        let mut loser = Record::clone(&rival);
        loser.standing = Standing::Kept(rules::doubted(held, &record.id, because, rules));
        if loser.kept().is_some_and(Kept::certain) {
            // Two axioms: the newer one gives way.
            let mut kept = kept;
            kept.certainty = Certainty::Uncertain {
                against: rival.id.clone(),
                because: because.to_owned(),
            };
            return (kept, Vec::new());
        }
        changes.push(Change::Replace(loser));
    }
    (kept, changes)
}

/// Records of an export. Those whose id is known, or was forgotten, are left out; claims are set against each other.
pub(crate) fn import(
    space: &Space,
    records: Vec<Record>,
    now: Millis,
) -> Result<Vec<Change>, Error> {
    let mut changes: Vec<Change> = Vec::with_capacity(records.len());
    let mut taken: FxHashSet<RecordId> = FxHashSet::default();
    let mut claims: FxHashMap<String, Vec<(Claim, RecordId)>> = FxHashMap::default();
    for mut record in records {
        record.content.check()?;
        let id = record.id.clone();
        let known = space.get(&id).is_some() || space.tombstone(&id).is_some();
        if known || !taken.insert(id.clone()) {
            continue;
        }
        if let Standing::Kept(kept) = record.standing {
            let claim = Claim::of(&record.content.text);
            let shell = Record {
                standing: Standing::Observed,
                ..record
            };
            // An import does not overrule what is held here.
            let before = space.against(&claim).into_iter();
            let mut rival = before
                .filter(|(rival, _)| rival.kept().is_some_and(Kept::certain))
                .map(|(rival, conflict)| (rival.id.clone(), conflict))
                .next();
            let subject = claim.subject().unwrap_or_default().to_owned();
            let beside = claims.entry(subject).or_default();
            let conflicts =
                |(other, id): &(Claim, RecordId)| Some((id.clone(), conflict(&claim, other)?));
            rival = rival.or_else(|| beside.iter().find_map(conflicts));
            let kept = match rival {
                Some((rival, conflict)) if kept.certain() => Kept {
                    certainty: Certainty::Uncertain {
                        against: rival,
                        because: conflict.name().to_owned(),
                    },
                    ..kept
                },
                _ => kept,
            };
            if kept.certain() {
                beside.push((claim, id));
            }
            record = Record {
                standing: Standing::Kept(kept),
                ..shell
            };
        }
        if let Standing::Working { until } = record.standing
            && until <= now
        {
            record.standing = Standing::Observed;
        }
        changes.push(Change::Insert(record));
    }
    Ok(changes)
}

/// A record that was of use, and what the rules make of that.
pub(crate) fn used(
    space: &Space,
    id: &RecordId,
    times: u32,
    question: &str,
    rules: &Rules,
    now: Millis,
    fresh: impl FnOnce() -> RecordId,
) -> Vec<Change> {
    let Some(record) = space.get(id) else {
        return Vec::new();
    };
    let mut record = Record::clone(record);
    record.usage.times = record.usage.times.saturating_add(times);
    record.usage.last = Some(now);
    record.usage.question = question.chars().take(256).collect();
    moved(space, record, rules, now, fresh)
}

/// What the rules make of a record as it is now; the record itself is written in any case.
fn moved(
    space: &Space,
    mut record: Record,
    rules: &Rules,
    now: Millis,
    fresh: impl FnOnce() -> RecordId,
) -> Vec<Change> {
    let eligible = record.usage.times >= rules.promote_uses;
    let sources = if eligible && record.echo.is_none() {
        sources(space, &record, rules)
    } else {
        0
    };
    match rules::step(&record, sources, rules, now) {
        None => vec![Change::Replace(record)],
        Some(Move::Stand(standing)) => {
            record.standing = standing;
            vec![Change::Replace(record)]
        }
        Some(Move::Forget(why)) => forget(space, &record, &why, now),
        Some(Move::Promote(reason)) => {
            let promoted = Keep {
                content: Content {
                    source: None,
                    ..record.content.clone()
                },
                layer: Lasting::Belief,
                reason,
                from: vec![record.id.clone()],
            };
            // It has done its part; to rise again it has to be of use again.
            record.standing = Standing::Observed;
            record.usage.times = 1;
            let mut changes = vec![Change::Replace(record)];
            if let Ok((more, _)) = keep(space, promoted, rules, now, fresh()) {
                changes.extend(more);
            }
            changes
        }
    }
}

/// How many different sources have said what a record says.
fn sources(space: &Space, record: &Record, rules: &Rules) -> u32 {
    let mut sources: Vec<String> = space
        .alike(&record.content.text, rules.duplicate)
        .into_iter()
        .filter(|(other, _)| other.echo.is_none())
        .filter_map(|(other, _)| other.source().map(str::to_owned))
        .collect();
    sources.sort_unstable();
    sources.dedup();
    sources.len() as u32
}

/// What time alone makes of the records of a space.
pub(crate) fn tend(space: &Space, rules: &Rules, now: Millis) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut working: Vec<&Arc<Record>> = Vec::new();
    for record in space.records() {
        match rules::step(record, 0, rules, now) {
            Some(Move::Stand(standing)) => {
                let mut moved = Record::clone(record);
                moved.standing = standing;
                changes.push(Change::Replace(moved));
            }
            Some(Move::Forget(why)) => changes.extend(forget(space, record, &why, now)),
            Some(Move::Promote(_)) | None => {
                if matches!(record.standing, Standing::Working { .. }) {
                    working.push(record);
                }
            }
        }
    }
    working.sort_by_key(|record| record.usage.last);
    let over = working.len().saturating_sub(rules.working_capacity);
    for record in working.into_iter().take(over) {
        let mut moved = Record::clone(record);
        moved.standing = Standing::Observed;
        changes.push(Change::Replace(moved));
    }
    changes
}

/// Forgets a record, with what was concluded from it alone. What was in doubt only because of it is no longer.
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
                let why = format!("what it was concluded from was forgotten: {why}");
                changes.push(Change::Remove(tombstone(other, &why, now)));
                gone.push(other);
            }
        }
    }
    changes.extend(relieved(space, &gone));
    changes
}

/// The records that were in doubt because of some that are gone, and that nothing else contradicts.
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
            .against(&claim)
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
