//! The test of a proposal: the last episodes under the law in force and under the proposed one, compared in pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use revise::{Direction, Evidence, Objective, Pair, ProposalId, Rule, Split, Stage, Verdict};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::Store;

use super::replay::{Reader, Recording, Replay, Worth};
use crate::error::Error;
use crate::journal;
use crate::law::Law;
use crate::step::AgentState;

/// What a test of a proposal came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    pub verdict: Verdict,
    pub figures: Figures,
}

/// The figures of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The episodes of this test.
    pub episodes: usize,
    /// Those with a known outcome under both laws: how many would have been better, worse and the same.
    pub better: usize,
    pub worse: usize,
    pub same: usize,
    /// Those in which the agent would have acted otherwise, so that the outcome is not known; and why, with how often.
    pub unknown: usize,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, usize>,
    /// The mean score of the known ones under the law in force and under the proposed one.
    pub before: f64,
    pub after: f64,
}

/// A proposal that waits for a test.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) proposal: u64,
    pub(super) held_out: bool,
    pub(super) law: Arc<Law>,
    pub(super) candidate: Arc<Law>,
    pub(super) seed: u64,
}

impl Subject {
    pub(super) fn of(state: &AgentState) -> Option<Self> {
        let revision = &state.context.revision;
        let open = revision.gate.open()?;
        let held_out = match open.stage {
            Stage::Trial => false,
            Stage::HeldOut => true,
            Stage::RateLimit | Stage::Approval => return None,
        };
        Some(Self {
            proposal: open.id.0,
            held_out,
            law: state.law.clone(),
            candidate: revision.proposed.as_ref()?.law.clone(),
            seed: 0,
        })
    }
}

/// How many events are read at once.
const PAGE: usize = 1024;

/// Reads the journal and tests the proposal on its last episodes.
pub(super) async fn run(store: &Store, id: &str, mut subject: Subject) -> Result<Test, Error> {
    let mut reader = Reader::new(subject.law.frozen.tested_episodes as usize);
    let mut after = 0;
    loop {
        let page = journal::records(store, id, after, PAGE).await?;
        let Some((last, _)) = page.last() else {
            break;
        };
        if after == 0 {
            subject.seed = seed(&page[0].1)?;
        }
        after = *last;
        // The steps take the processor for a while: other work of the thread goes on between two pages.
        tokio::task::yield_now().await;
        page.into_iter().for_each(|(_, record)| reader.take(record));
    }
    let tested = tokio::task::spawn_blocking(move || compare(&reader, &subject)).await;
    tested.map_err(|error| Error::Record(error.to_string()))
}

/// The seed that splits the episodes: the hash of the first journal record, which proposers do not see.
fn seed(born: &journal::Record) -> Result<u64, Error> {
    let born = serde_json::to_vec(born).map_err(|error| Error::Record(error.to_string()))?;
    let hash: [u8; 32] = Sha256::digest(&born).into();
    let (first, _) = hash.split_first_chunk().unwrap_or((&[0; 8], &[]));
    Ok(u64::from_le_bytes(*first))
}

/// Does every episode under both laws, in their order, and compares those of one part.
pub(super) fn compare(reader: &Reader, subject: &Subject) -> Test {
    let split = Split::draw(
        subject.seed,
        ProposalId(subject.proposal),
        reader.over.len(),
    );
    let part = match subject.held_out {
        true => &split.held_out,
        false => &split.trial,
    };
    let mut figures = Figures {
        episodes: part.len(),
        ..Figures::default()
    };
    let mut evidence = Evidence {
        asked_before: match subject.held_out {
            true => reader.asked_before(),
            false => 0,
        },
        ..Evidence::default()
    };
    let mut unused = Evidence {
        asked_before: evidence.asked_before,
        ..Evidence::default()
    };
    let mut before = Replay::under(subject.law.clone());
    let mut after = Replay::under(subject.candidate.clone());
    for (place, recording) in reader.over.iter().enumerate() {
        let scores = both(&mut before, &mut after, recording, &reader.recalled);
        if part.binary_search(&place).is_err() {
            continue;
        }
        match scores {
            Ok((before, after)) => {
                evidence.pairs.push(Pair {
                    baseline: vec![before.score],
                    candidate: vec![after.score],
                });
                unused.pairs.push(Pair {
                    baseline: vec![before.unused.into()],
                    candidate: vec![after.unused.into()],
                });
            }
            Err(why) => {
                evidence.diverged += 1;
                *figures.reasons.entry(why.to_owned()).or_default() += 1;
            }
        }
    }
    figures.count(&evidence);
    let objective = Objective {
        name: "score".to_owned(),
        better: Direction::Higher,
        tolerance: 0.0,
    };
    let rule = Rule {
        seed: subject.seed,
        confirms: subject.held_out,
        ..Rule::default()
    };
    let mut verdict = revise::verdict(&rule, &[objective], &evidence);
    // A law that does the same and keeps less of what is never used is the better one. Where an outcome is not known, what
    // it does not keep may have been of use there.
    let is_same = figures.better + figures.worse + figures.unknown == 0;
    if is_same && !reader.looked_up && matches!(verdict, Verdict::NotBetter { .. }) {
        let objective = Objective {
            name: UNUSED.to_owned(),
            better: Direction::Lower,
            tolerance: 0.0,
        };
        verdict = revise::verdict(&rule, &[objective], &unused);
    }
    Test { verdict, figures }
}

/// The objective that decides between laws under which every episode has the same score.
pub(super) const UNUSED: &str = "beliefs never used";

fn both(
    before: &mut Replay,
    after: &mut Replay,
    recording: &Recording,
    recalled: &BTreeSet<String>,
) -> Result<(Worth, Worth), &'static str> {
    let before = before.score(recording, recalled);
    let after = after.score(recording, recalled);
    Ok((before?, after?))
}

impl Figures {
    fn count(&mut self, evidence: &Evidence) {
        self.unknown = evidence.diverged;
        let (mut before, mut after) = (0.0, 0.0);
        for pair in &evidence.pairs {
            before += pair.baseline[0];
            after += pair.candidate[0];
            match pair.candidate[0].total_cmp(&pair.baseline[0]) {
                std::cmp::Ordering::Greater => self.better += 1,
                std::cmp::Ordering::Less => self.worse += 1,
                std::cmp::Ordering::Equal => self.same += 1,
            }
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "there are at most a thousand episodes"
        )]
        let known = evidence.pairs.len().max(1) as f64;
        self.before = before / known;
        self.after = after / known;
    }
}
