//! Decisions about writes: a space, a write and the rules go in, a list of changes comes out. Pure.
//!
//! The functions look at a [`Space`] and return [`Change`]s; they touch neither the store nor the clock. The writer commits
//! the changes and applies them. Time and new ids are arguments, so that a test can replay any history
//! (`decide_tests.rs` does it with random ones) and a crash cannot leave a decision half done.
//!
//! The checks of [`keep`], in this order; the first that fits ends it:
//!
//! 1. Do the rules admit the reason? If not, it is refused before anything is compared.
//! 2. Does a lasting record say the same already? A new source confirms it, also another agent (`agent:NAME`); the same
//!    source changes nothing. A second record of the same claim would count as a second piece of evidence.
//! 3. Do the agent's own words (`own`) repeat a known record? Then nothing is kept, and a recalled one makes it an echo.
//!    Without this step memory would feed on itself: recall, say again, keep, and be surer each time.
//! 4. Does it contradict a certain record? The surer one, or the newer one within a margin, prevails; the other becomes
//!    uncertain and names its rival. Neither is deleted, because the judgement may be wrong.
//! 5. Otherwise it is inserted.
//!
//! A speculation ("maybe", "might") is inserted as a hypothesis: it contradicts nothing, and becomes a belief when another
//! source says the same, or its own source says it plainly. Only records that the writer's caller sees are compared.
//!
//! If 4 came before 2, a confirmed belief would be set against itself. [`forget`] undoes what rested on the record:
//! conclusions from it alone go with it, and records that were uncertain because of it are certain again.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{Claim, conflict};
use crate::error::Error;
use crate::layer::Lasting;
use crate::reason::Reason;
use crate::record::{Certainty, Content, Kept, Record, RecordId, Standing, Usage};
use crate::rules::{self, Move, Rules};
use crate::space::{Change, Space};
use crate::text::date::Millis;
use crate::text::utterance::{Utterance, is_speculation};
use crate::viewer::Viewer;

mod forget;

pub(crate) use forget::forget;

/// What became of a [`Keep`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is a new record.
    Kept(RecordId),
    /// It is a new record and contradicts these, which are uncertain now.
    Prevailed(RecordId, Vec<RecordId>),
    /// It is a new record and a speculation, which is no belief until it is confirmed.
    Supposed(RecordId),
    /// It is a new record, but uncertain: a surer one contradicts it.
    Doubted(RecordId),
    /// It was known, and a further source has confirmed it.
    Corroborated(RecordId),
    /// It was known from the same source, or the agent itself says it again. Nothing changed.
    Known(RecordId),
    /// It repeats a recalled record in the agent's own words. Nothing changed.
    Echo(RecordId),
}

impl Outcome {
    pub fn id(&self) -> &RecordId {
        match self {
            Self::Kept(id)
            | Self::Prevailed(id, _)
            | Self::Supposed(id)
            | Self::Doubted(id)
            | Self::Corroborated(id)
            | Self::Known(id)
            | Self::Echo(id) => id,
        }
    }

    /// Its name on every wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Kept(_) | Self::Prevailed(..) => "kept",
            Self::Supposed(_) => "supposed",
            Self::Doubted(_) => "doubted",
            Self::Corroborated(_) => "corroborated",
            Self::Known(_) => "known",
            Self::Echo(_) => "echo",
        }
    }
}

/// A lasting record to be kept, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    pub content: Content,
    pub layer: Lasting,
    pub reason: Reason,
    /// The records it was concluded from.
    pub from: Vec<RecordId>,
}

impl Keep {
    pub fn belief(text: impl Into<String>, reason: Reason) -> Self {
        Self {
            content: Content::text(text),
            layer: Lasting::Belief,
            reason,
            from: Vec::new(),
        }
    }
}

/// Whether a source is the agent of this space itself. Its own words are `own`; `agent` without a name is what version
/// 0.1.0 called them. `agent:NAME` is another agent, unless the name is that of the space.
pub(crate) fn is_own(source: &str, space: &str) -> bool {
    match source.split_once(':') {
        None => matches!(source, "own" | "agent"),
        Some(("own", _)) => true,
        Some(("agent", name)) => name == space,
        Some(_) => false,
    }
}

/// The record of an observation. If the agent's own words repeat a recalled record, it is marked as an echo.
pub(crate) fn observe(
    space: &Space,
    content: Content,
    viewer: &Viewer,
    rules: &Rules,
    now: Millis,
    id: RecordId,
) -> Result<Record, Error> {
    content.check()?;
    let own = space.is_own(content.source.as_deref().unwrap_or_default());
    let echo = own
        .then(|| recalled(space, &content.text, viewer, rules))
        .flatten();
    Ok(Record {
        id,
        content,
        recorded: now,
        standing: Standing::Observed,
        usage: Usage::default(),
        echo: echo.map(|record| record.id.clone()),
    })
}

/// A record that says the same and was recalled before.
fn recalled(space: &Space, text: &str, viewer: &Viewer, rules: &Rules) -> Option<Arc<Record>> {
    let alike = space.alike(text, rules.duplicate, viewer).into_iter();
    alike
        .map(|(record, _)| record)
        .find(|record| record.usage.times > 0)
}

/// Decides about a lasting record (see the module).
pub(crate) fn keep(
    space: &Space,
    keep: Keep,
    viewer: &Viewer,
    rules: &Rules,
    now: Millis,
    id: RecordId,
) -> Result<(Vec<Change>, Outcome), Error> {
    keep.content.check()?;
    rules.admit(&keep.reason)?;
    let alike = space.alike(&keep.content.text, rules.duplicate, viewer);
    if let Some((known, _)) = alike.iter().find(|(record, _)| record.kept().is_some()) {
        return Ok(known_already(space, known, &keep, viewer, rules, now));
    }
    let mut keep = keep;
    let used = alike.iter().map(|(record, _)| record);
    for record in used.filter(|record| record.usage.times > 0 || record.echo.is_some()) {
        let concluded = keep.from.contains(&record.id);
        if space.is_own(keep.reason.source()) && !concluded {
            return Ok((Vec::new(), Outcome::Echo(record.id.clone())));
        }
        if !concluded && record.echo.is_none() {
            keep.from.push(record.id.clone());
        }
    }
    let claim = Claim::of(&keep.content.text);
    let supposed = keep.layer == Lasting::Belief && is_speculation(&keep.content.text);
    let certainty = match supposed {
        true => Certainty::Hypothesis,
        false => Certainty::Certain,
    };
    let kept = Kept {
        layer: keep.layer,
        reason: keep.reason,
        certainty,
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
    // A speculation contradicts nothing.
    let (kept, mut changes) = match supposed {
        true => (kept, Vec::new()),
        false => settle(space, &record, kept, &claim, viewer, rules, now),
    };
    let outcome = match &kept.certainty {
        Certainty::Hypothesis => Outcome::Supposed(id),
        Certainty::Uncertain { .. } => Outcome::Doubted(id),
        Certainty::Certain if changes.is_empty() => Outcome::Kept(id),
        Certainty::Certain => Outcome::Prevailed(id, replaced(&changes)),
    };
    record.standing = Standing::Kept(kept);
    changes.push(Change::Insert(record));
    Ok((changes, outcome))
}

/// The records that changes replace.
fn replaced(changes: &[Change]) -> Vec<RecordId> {
    let replaced = changes.iter().filter_map(|change| match change {
        Change::Replace(record) => Some(record.id.clone()),
        _ => None,
    });
    replaced.collect()
}

/// Decides about a lasting record that `known` says already.
fn known_already(
    space: &Space,
    known: &Record,
    keep: &Keep,
    viewer: &Viewer,
    rules: &Rules,
    now: Millis,
) -> (Vec<Change>, Outcome) {
    let id = known.id.clone();
    let Some(kept) = known.kept() else {
        return (Vec::new(), Outcome::Known(id));
    };
    let source = keep.reason.source();
    let own = space.is_own(source);
    if own && known.usage.times > 0 {
        return (Vec::new(), Outcome::Echo(id));
    }
    // The agent may have it from the conversation: its own words are evidence of nothing.
    let supposed = kept.certainty == Certainty::Hypothesis;
    let plain = !is_speculation(&keep.content.text);
    // A source that has speculated may state it plainly later.
    let stated = supposed && plain && kept.reason.source() == source;
    if own || kept.rests_on(source) && !stated {
        return (Vec::new(), Outcome::Known(id));
    }
    let mut confirmed = match stated {
        true => Kept {
            reason: keep.reason.clone(),
            ..kept.clone()
        },
        false => rules::corroborated(kept, source, now, rules),
    };
    let mut changes = Vec::new();
    // A second speculation makes a hypothesis likelier, and no belief of it.
    if !confirmed.certain() && (!supposed || plain) {
        // With one more source it may prevail over its rival now.
        confirmed.certainty = Certainty::Certain;
        let claim = Claim::of(&known.content.text);
        (confirmed, changes) = settle(space, known, confirmed, &claim, viewer, rules, now);
    }
    let mut record = known.clone();
    record.standing = Standing::Kept(confirmed);
    changes.push(Change::Replace(record));
    (changes, Outcome::Corroborated(id))
}

/// Compares a claim with the certain records that contradict it: either all of them become uncertain, or it does.
fn settle(
    space: &Space,
    record: &Record,
    kept: Kept,
    claim: &Claim,
    viewer: &Viewer,
    rules: &Rules,
    now: Millis,
) -> (Kept, Vec<Change>) {
    let sure = kept.reason.confidence();
    let mut changes = Vec::new();
    for (rival, conflict) in space.against(claim, viewer) {
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
            // Two axioms: the newer one is uncertain.
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

/// Takes in records of an export. Records with an id that is known or was forgotten are skipped. A claim that
/// contradicts a record of the space, or an earlier one of the import, becomes uncertain.
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
            // An import does not overrule the records of the space.
            let before = space.against(&claim, &Viewer::All).into_iter();
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

/// Counts uses of a record, and moves it as the rules say.
pub(crate) fn used(
    space: &Space,
    id: &RecordId,
    times: u32,
    (question, viewer): (&str, &Viewer),
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
    moved(space, record, viewer, rules, now, fresh)
}

/// Moves a record as the rules say. The first change is always the record itself.
fn moved(
    space: &Space,
    mut record: Record,
    viewer: &Viewer,
    rules: &Rules,
    now: Millis,
    fresh: impl FnOnce() -> RecordId,
) -> Vec<Change> {
    // Questions, commands and greetings are not knowledge, and a speculation is none because it was of use.
    let knowledge = Utterance::of(&record.content.text) == Utterance::Statement;
    if record.standing == Standing::Observed && !Utterance::of(&record.content.text).tells() {
        return vec![Change::Replace(record)];
    }
    let eligible = record.usage.times >= rules.promote_uses && knowledge;
    let sources = if eligible && record.echo.is_none() {
        sources(space, &record, viewer, rules)
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
            // The count begins anew, so that the observation is not promoted again at the next use.
            record.standing = Standing::Observed;
            record.usage.times = 1;
            let mut changes = vec![Change::Replace(record)];
            if let Ok((more, _)) = keep(space, promoted, viewer, rules, now, fresh()) {
                changes.extend(more);
            }
            changes
        }
    }
}

/// The number of different sources that have said what a record says, the agent itself left out.
fn sources(space: &Space, record: &Record, viewer: &Viewer, rules: &Rules) -> u32 {
    let mut sources: Vec<String> = space
        .alike(&record.content.text, rules.duplicate, viewer)
        .into_iter()
        .filter(|(other, _)| other.echo.is_none())
        .filter_map(|(other, _)| other.source().map(str::to_owned))
        .filter(|source| !space.is_own(source))
        .collect();
    sources.sort_unstable();
    sources.dedup();
    sources.len() as u32
}

/// The changes that the passing of time asks for: expired working memory, faded beliefs, and the oldest records beyond
/// the capacity of working memory.
pub(crate) fn expire(space: &Space, rules: &Rules, now: Millis) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut working: Vec<&Arc<Record>> = Vec::new();
    for record in space.records() {
        let moves = rules::step(record, 0, rules, now).filter(|it| {
            // Questions, commands and greetings stay what they are: see `moved`.
            let rises = matches!(it, Move::Stand(Standing::Working { .. }));
            !rises
                || record.standing != Standing::Observed
                || Utterance::of(&record.content.text).tells()
        });
        match moves {
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
