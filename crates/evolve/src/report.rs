//! What a run has found, and what as many evaluations find at random.

use revise::Outcome;
use serde::{Deserialize, Serialize};

use crate::folder::Proposal;
use crate::search::{Search, Settings};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    pub seed: u64,
    pub evaluations: usize,
    /// Candidates that were invalid.
    pub invalid: usize,
    /// The score of the program at the beginning, in the mean of its evaluations.
    pub initial: Option<f64>,
    pub best: Option<f64>,
    /// The number of the best candidate; 0 is the program at the beginning.
    pub best_candidate: usize,
    /// Whether equal programs got different scores.
    pub noisy: bool,
    /// The best score of as many evaluations of candidates at random, and how many those were.
    pub at_random: Option<f64>,
    pub random_evaluations: usize,
    /// The seconds that all evaluations took together.
    pub seconds: f64,
    pub stopped: String,
    /// The best score after each evaluation at which it rose.
    pub curve: Vec<(usize, f64)>,
    pub proposal: Option<Proposal>,
    /// How the proposal ended. None while it waits for a person.
    pub outcome: Option<Outcome>,
}

impl Report {
    pub(crate) fn new(
        search: &Search,
        settings: &Settings,
        proposal: Option<(Proposal, Option<Outcome>)>,
    ) -> Self {
        let entries = search.entries();
        let samples = || entries.iter().flat_map(|it| &it.samples);
        let score = |n: usize| entries.get(n).and_then(|it| it.fitness().score());
        let (proposal, outcome) = proposal.map_or((None, None), |(proposal, outcome)| {
            (Some(proposal), outcome)
        });
        Self {
            seed: settings.seed,
            evaluations: search.evaluations(),
            invalid: entries
                .iter()
                .filter(|it| it.samples.iter().any(|it| it.score.is_none()))
                .count(),
            initial: score(0),
            best: score(search.best()),
            best_candidate: search.best(),
            noisy: search.is_noisy(),
            at_random: search.best_at_random(),
            random_evaluations: search.random_evaluations(),
            seconds: samples().map(|it| it.seconds).sum(),
            stopped: search.stopped().unwrap_or_default().to_owned(),
            curve: search.curve().to_vec(),
            proposal,
            outcome,
        }
    }
}
