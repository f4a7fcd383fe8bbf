//! The audit of a space: counts of its faults.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::claim::Claim;
use crate::layer::Layer;
use crate::record::{Certainty, Kept};
use crate::rules::Rules;
use crate::space::Space;
use crate::viewer::Viewer;

/// Counts of a space. A clean one has no duplicates, no recall loops, no unsettled contradictions and no missing reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Audit {
    pub records: usize,
    /// Records with a vector.
    pub embedded: usize,
    /// Records of each layer.
    pub layers: BTreeMap<&'static str, usize>,
    /// Lasting records that say the same as another one.
    pub duplicates: usize,
    /// Observations in which the agent repeated a recalled record.
    pub echoes: usize,
    /// Lasting records that were concluded from echoes alone.
    pub recall_loops: usize,
    /// Lasting records that were never recalled.
    pub never_read: usize,
    /// Pairs of records that contradict each other.
    pub contradictions: usize,
    /// Those of them in which both records are certain.
    pub unsettled: usize,
    pub uncertain: usize,
    /// Speculations that no other source has confirmed.
    pub hypotheses: usize,
    /// Lasting records with a part of their reason missing. The store refuses them, so this is 0.
    pub without_reason: usize,
    pub forgotten: usize,
}

impl Audit {
    pub fn clean(&self) -> bool {
        self.duplicates == 0
            && self.recall_loops == 0
            && self.unsettled == 0
            && self.without_reason == 0
    }
}

pub(crate) fn audit(space: &Space, viewer: &Viewer, rules: &Rules) -> Audit {
    let mut audit = Audit {
        embedded: space.vectors().count(),
        forgotten: space.tombstones().count(),
        ..Audit::default()
    };
    let mut doubled = FxHashSet::default();
    for layer in Layer::ALL {
        audit.layers.insert(layer.name(), 0);
    }
    for record in space.records().filter(|it| viewer.sees(it)) {
        audit.records += 1;
        *audit.layers.entry(record.layer().name()).or_default() += 1;
        audit.echoes += usize::from(record.echo.is_some());
        let Some(kept) = record.kept() else { continue };
        let reason = &kept.reason;
        let parts = [reason.source(), reason.context(), reason.why()];
        audit.without_reason += usize::from(parts.iter().any(|part| part.trim().is_empty()));
        audit.never_read += usize::from(record.usage.times == 0);
        audit.uncertain += usize::from(matches!(kept.certainty, Certainty::Uncertain { .. }));
        audit.hypotheses += usize::from(kept.certainty == Certainty::Hypothesis);
        let mut ground = kept.from.iter().map(|id| space.get(id));
        let loops = !kept.from.is_empty()
            && ground.all(|it| it.is_some_and(|record| record.echo.is_some()));
        audit.recall_loops += usize::from(loops);
        let alike = space
            .alike(&record.content.text, rules.duplicate, viewer)
            .into_iter();
        let again = alike
            .filter(|(other, _)| other.id != record.id && other.kept().is_some())
            .any(|(other, _)| !doubled.contains(&other.id));
        if again {
            audit.duplicates += 1;
            doubled.insert(record.id.clone());
        }
        if kept.certain() {
            let against = space.against(&Claim::of(&record.content.text), viewer);
            let open = against.iter().filter(|(rival, _)| {
                rival.id > record.id && rival.kept().is_some_and(Kept::certain)
            });
            audit.unsettled += open.count();
        }
        if let Certainty::Uncertain { against, .. } = &kept.certainty {
            audit.contradictions += usize::from(space.get(against).is_some());
        }
    }
    audit.contradictions += audit.unsettled;
    audit
}
