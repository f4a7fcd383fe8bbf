//! The rules by which records move between layers: data from the owner of a space, and pure functions that apply it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::layer::Lasting;
use crate::memory::SpaceName;
use crate::reason::Reason;
use crate::record::{Certainty, Kept, Record, RecordId, Standing, Support};
use crate::text::date::{DAY, Millis};

/// How records move between layers and fade. An agent's law contains a set of rules; the default applies without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// The least confidence of a lasting record.
    pub min_confidence: f64,
    /// The kinds of source (`user`, `tool`, `agent`) that lasting records may come from; an empty list is all.
    pub origins: Vec<String>,
    /// Two texts with at least this likeness (0 to 1) say the same.
    pub duplicate: f64,
    /// An observation enters working memory when it was recalled this many times.
    pub working_uses: u32,
    /// How long it stays there without being recalled again, in milliseconds.
    pub working_time: Millis,
    /// The most records in working memory; the least recently used ones leave it first.
    pub working_capacity: usize,
    /// A record in working memory becomes a belief when it was recalled this many times ...
    pub promote_uses: u32,
    /// ... and this many different sources have said it.
    pub promote_sources: u32,
    /// The part of the remaining doubt (1 - confidence) that each further source removes, from 0 to 1.
    pub corroboration: f64,
    /// Factor for the confidence of a belief that yields to a contradicting one.
    pub contradiction: f64,
    /// A new claim prevails over an older one with a confidence that is higher by at most this much.
    pub newer_prevails: f64,
    /// The time in which the confidence of an unused belief is halved, in milliseconds; 0 is never.
    pub half_life: Millis,
    /// A belief with less confidence than this is forgotten.
    pub forget_below: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            min_confidence: 0.1,
            origins: Vec::new(),
            duplicate: 0.8,
            working_uses: 2,
            working_time: DAY,
            working_capacity: 64,
            promote_uses: 3,
            promote_sources: 2,
            corroboration: 0.3,
            contradiction: 0.5,
            newer_prevails: 0.2,
            half_life: 180 * DAY,
            forget_below: 0.02,
        }
    }
}

/// The rules of all spaces: a default, and the rules that a space has of its own.
#[derive(Debug)]
pub(crate) struct SpaceRules {
    default: Rules,
    own: FxHashMap<SpaceName, Rules>,
}

impl SpaceRules {
    pub(crate) fn new(default: Rules) -> Self {
        let own = FxHashMap::default();
        Self { default, own }
    }

    pub(crate) fn set(&mut self, space: SpaceName, rules: Rules) {
        self.own.insert(space, rules);
    }

    pub(crate) fn of(&self, space: &SpaceName) -> &Rules {
        self.own.get(space).unwrap_or(&self.default)
    }
}

/// Why the rules do not admit a lasting record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotAdmitted {
    #[error("its confidence is {found}, and {least} is the least")]
    Confidence { found: f64, least: f64 },
    #[error("its source is {origin:?}, and only {allowed} may be kept")]
    Origin { origin: String, allowed: String },
}

impl Rules {
    /// Whether a lasting record may have this reason.
    pub fn admit(&self, reason: &Reason) -> Result<(), NotAdmitted> {
        let (found, least) = (reason.confidence(), self.min_confidence);
        if found < least {
            return Err(NotAdmitted::Confidence { found, least });
        }
        let origin = reason.origin();
        if !self.origins.is_empty() && !self.origins.iter().any(|it| it == origin) {
            return Err(NotAdmitted::Origin {
                origin: origin.to_owned(),
                allowed: self.origins.join(", "),
            });
        }
        Ok(())
    }
}

/// The present confidence of a lasting record: it halves with every half-life since the record was last recalled or
/// confirmed. Axioms keep theirs.
pub fn confidence(record: &Record, kept: &Kept, rules: &Rules, now: Millis) -> f64 {
    let stated = kept.reason.confidence();
    if kept.layer == Lasting::Axiom || rules.half_life <= 0 {
        return stated;
    }
    let said = kept.support.iter().map(|support| support.at);
    let last = said
        .chain(record.usage.last)
        .fold(record.recorded, Millis::max);
    let idle = now.saturating_sub(last).max(0) as f64;
    stated * 0.5_f64.powf(idle / rules.half_life as f64)
}

/// The record after a source has said the same. A source counts once.
pub fn corroborated(kept: &Kept, source: &str, now: Millis, rules: &Rules) -> Kept {
    let mut kept = kept.clone();
    if kept.rests_on(source) {
        return kept;
    }
    let before = kept.reason.confidence();
    let after = before + (1.0 - before) * rules.corroboration;
    kept.reason = kept.reason.with_confidence(after);
    kept.support.push(Support {
        source: source.to_owned(),
        at: now,
    });
    kept
}

/// The record after it yielded to a contradicting one. An axiom does not change.
pub fn doubted(kept: &Kept, against: &RecordId, because: &str, rules: &Rules) -> Kept {
    let mut kept = kept.clone();
    if kept.layer == Lasting::Axiom {
        return kept;
    }
    let sunk = kept.reason.confidence() * rules.contradiction;
    kept.reason = kept.reason.with_confidence(sunk);
    kept.certainty = Certainty::Uncertain {
        against: against.clone(),
        because: because.to_owned(),
    };
    kept
}

/// Whether a new claim prevails over one that it contradicts, given the layer and the confidence of each.
pub fn prevails(new: (Lasting, f64), old: (Lasting, f64), rules: &Rules) -> bool {
    match (new.0, old.0) {
        (Lasting::Axiom, _) => true,
        (_, Lasting::Axiom) => false,
        _ => new.1 + rules.newer_prevails >= old.1,
    }
}

/// A change of a record's layer that the rules ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    Stand(Standing),
    /// A belief is made of it, with this reason.
    Promote(Reason),
    /// It is forgotten, for this reason.
    Forget(String),
}

/// The move that the rules ask for now, if any. `sources` is the number of different sources that have said it.
pub fn step(record: &Record, sources: u32, rules: &Rules, now: Millis) -> Option<Move> {
    match &record.standing {
        Standing::Observed if record.usage.times >= rules.working_uses => {
            let last = record.usage.last?;
            let until = last.saturating_add(rules.working_time);
            (until > now).then_some(Move::Stand(Standing::Working { until }))
        }
        Standing::Observed => None,
        Standing::Working { .. }
            if record.usage.times >= rules.promote_uses && sources >= rules.promote_sources =>
        {
            promotion(record, sources, rules).map(Move::Promote)
        }
        Standing::Working { until } => {
            let last = record.usage.last.unwrap_or(Millis::MIN);
            let longer = last.saturating_add(rules.working_time);
            if longer <= now && *until <= now {
                return Some(Move::Stand(Standing::Observed));
            }
            (longer > *until).then_some(Move::Stand(Standing::Working { until: longer }))
        }
        Standing::Kept(kept) => {
            let left = confidence(record, kept, rules, now);
            (kept.layer != Lasting::Axiom && left < rules.forget_below)
                .then(|| Move::Forget(format!("unused until its confidence had sunk to {left:.3}")))
        }
    }
}

/// The reason of a promoted belief: how often the observation was recalled, for which question, and by how many sources
/// it was said.
fn promotion(record: &Record, sources: u32, rules: &Rules) -> Option<Reason> {
    let source = record.source().unwrap_or("observation");
    let doubt = (1.0 - rules.corroboration).powi(sources.min(64).cast_signed());
    let times = record.usage.times;
    let why = format!("recalled {times} times and said by {sources} sources");
    let question = Some(record.usage.question.trim()).filter(|question| !question.is_empty());
    let reason = Reason::new(source, 1.0 - doubt, question.unwrap_or("repeated use"), why).ok()?;
    rules.admit(&reason).is_ok().then_some(reason)
}
