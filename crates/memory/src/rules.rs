//! The rules by which records move between layers: data that is handed in, and pure functions that follow it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::layer::Lasting;
use crate::reason::Reason;
use crate::record::{Certainty, Kept, Record, RecordId, Standing, Support};
use crate::text::date::{DAY, Millis};

/// How memory moves what it holds. An agent's law owns a set of them; this is what holds without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// The least confidence with which something may be kept.
    pub min_confidence: f64,
    /// The kinds of source (`user`, `tool`, `agent`) from which something may be kept; all, if there are none.
    pub origins: Vec<String>,
    /// From which likeness on (0 to 1) two texts say the same.
    pub duplicate: f64,
    /// An observation enters working memory when it was recalled so often.
    pub working_uses: u32,
    /// How long it stays there without being used again, in milliseconds.
    pub working_time: Millis,
    /// The most records in working memory; the least recently used ones leave it first.
    pub working_capacity: usize,
    /// What is in working memory becomes a belief when it was recalled so often...
    pub promote_uses: u32,
    /// ...and so many different sources have said it.
    pub promote_sources: u32,
    /// How much of the doubt that is left an independent source takes away, from 0 to 1.
    pub corroboration: f64,
    /// What the confidence of a contradicted belief is multiplied by.
    pub contradiction: f64,
    /// A new claim prevails over an older one whose confidence is higher by no more than this.
    pub newer_prevails: f64,
    /// The time in which the confidence of an unused belief is halved, in milliseconds; 0 is never.
    pub half_life: Millis,
    /// A belief whose confidence has sunk below this is forgotten.
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

/// The rules of all spaces.
#[derive(Debug, Default)]
pub(crate) struct Laws {
    /// Those of a space that has none of its own.
    pub(crate) usual: Rules,
    pub(crate) own: FxHashMap<String, Rules>,
}

impl Laws {
    pub(crate) fn of(&self, space: &str) -> &Rules {
        self.own.get(space).unwrap_or(&self.usual)
    }
}

impl Rules {
    /// Whether a lasting record may have this reason; if not, why.
    pub fn admit(&self, reason: &Reason) -> Result<(), String> {
        if reason.confidence() < self.min_confidence {
            let (found, least) = (reason.confidence(), self.min_confidence);
            return Err(format!(
                "its confidence is {found}, and {least} is the least"
            ));
        }
        let origin = reason.origin();
        if !self.origins.is_empty() && !self.origins.iter().any(|it| it == origin) {
            let origins = self.origins.join(", ");
            return Err(format!(
                "its source is {origin:?}, and only {origins} may be kept"
            ));
        }
        Ok(())
    }
}

/// How sure a lasting record is by now: what is neither used nor said again fades. Axioms do not.
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

/// What becomes of a lasting record when a source says the same. A source counts once.
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

/// What becomes of a lasting record that is contradicted and does not prevail. An axiom stays what it is.
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

/// Whether a new claim prevails over one that it contradicts, given how sure each is.
pub fn prevails(new: (Lasting, f64), old: (Lasting, f64), rules: &Rules) -> bool {
    match (new.0, old.0) {
        (Lasting::Axiom, _) => true,
        (_, Lasting::Axiom) => false,
        _ => new.1 + rules.newer_prevails >= old.1,
    }
}

/// A step of a record from where it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// It stands otherwise from now on.
    Stand(Standing),
    /// A belief is to be made of it, for this reason.
    Promote(Reason),
    /// It is to be forgotten, because of this.
    Forget(String),
}

/// What the rules make of a record at this time, if anything. `sources` is how many different ones have said it.
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

/// The reason for which an observation becomes a belief: how often it was of use, for what, and who said so.
fn promotion(record: &Record, sources: u32, rules: &Rules) -> Option<Reason> {
    let source = record.source().unwrap_or("observation");
    let doubt = (1.0 - rules.corroboration).powi(sources.min(64).cast_signed());
    let times = record.usage.times;
    let why = format!("recalled {times} times and said by {sources} sources");
    let question = Some(record.usage.question.trim()).filter(|question| !question.is_empty());
    let reason = Reason::new(source, 1.0 - doubt, question.unwrap_or("repeated use"), why).ok()?;
    rules.admit(&reason).is_ok().then_some(reason)
}
