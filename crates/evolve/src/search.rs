//! The search of a run: which candidate is evaluated next, from all that happened before.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::bandit::Bandit;
use crate::candidate::{Content, Edit, Unfit, check};
use crate::component::Component;
use crate::event::{Event, Purpose};
use crate::operator::vector::Vectors;
use crate::operator::{Operator, literal, vector};
use crate::random::Random;
use crate::sample::{Fitness, Sample};

mod propose;

use propose::Prepared;

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;

/// What a search may use and how it decides.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    pub seed: u64,
    /// How many evaluations the search has.
    pub budget: usize,
    /// How many more show what is found at random.
    pub random: usize,
    /// The search ends when this score is reached.
    pub target: Option<f64>,
    /// The search ends after this many evaluations without a better candidate.
    pub patience: Option<usize>,
}

impl Settings {
    pub fn new(seed: u64, budget: usize) -> Self {
        Self {
            seed,
            budget,
            random: 0,
            target: None,
            patience: None,
        }
    }
}

/// How often the version in force is evaluated at first, to see whether equal programs get equal scores.
const PROBES: usize = 3;

/// How many evaluations a candidate needs before it takes the place of a better known one, where scores have noise.
const SAMPLES: usize = 5;

/// The longest walk over candidates that are equally good.
const WALK: usize = 60;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Record this candidate, then evaluate it.
    Propose(Event),
    /// Evaluate this candidate, which is recorded, again or for the first time.
    Evaluate(usize),
    /// Nothing more, with the reason.
    Stop(String),
}

/// A candidate of a run.
#[derive(Clone, Debug)]
pub struct Entry {
    pub parent: Option<usize>,
    pub operator: Operator,
    pub purpose: Purpose,
    pub edit: Edit,
    pub hash: String,
    pub samples: Vec<Sample>,
    pub by: Option<String>,
    touched: Vec<usize>,
    cursor: usize,
    begun: usize,
}

impl Entry {
    pub fn fitness(&self) -> Fitness {
        Fitness::mean(&self.samples)
    }
}

/// How often an evaluation is begun that never ends, before its candidate is given up.
const ATTEMPTS: usize = 3;

/// The state of a run's search: the fold of its events. It does nothing itself.
///
/// `next` says what to do; the owner records the event, does it, and records what came of it; `apply` folds each recorded
/// event. Every draw comes from the seed and the number of the candidate, so that a search restored from its events goes on
/// as the one that was interrupted would have. What is parsed of candidates is kept beside the state and can be lost.
///
/// The best candidate is the parent of most proposals (greedy); one that is equal may take its place for a bounded walk; the
/// unfinished neighbourhoods of all ancestors stay open. Where scores have noise, a candidate must be better in the mean of
/// several evaluations, and each of these counts against the budget.
#[derive(Debug)]
pub struct Search {
    component: Arc<Component>,
    settings: Settings,
    entries: Vec<Entry>,
    by_hash: HashMap<String, usize>,
    /// The parent of most proposals.
    current: usize,
    best: usize,
    /// Steps over equal candidates since the last better one.
    walked: usize,
    /// Evaluations since the last better one.
    since: usize,
    evaluations: [usize; 2],
    is_noisy: bool,
    bandit: Bandit,
    vectors: Option<Vectors>,
    /// Where the neighbourhoods of candidates were left.
    cursors: BTreeMap<usize, usize>,
    choices: BTreeMap<usize, usize>,
    /// Slots at which a better option was found.
    settled: Vec<usize>,
    sizes: Vec<f64>,
    stopped: Option<String>,
    faults: usize,
    curve: Vec<(usize, f64)>,
    prepared: HashMap<usize, Arc<Prepared>>,
}

impl Search {
    /// A search from a component's version in force.
    pub fn new(component: Arc<Component>, settings: Settings) -> Self {
        let files = component.parse(&component.content());
        let vectors = Vectors::new(&component, settings.budget);
        Self {
            vectors,
            faults: files.iter().map(crate::syntax::Parsed::faults).sum(),
            component,
            settings,
            entries: Vec::new(),
            by_hash: HashMap::new(),
            current: 0,
            best: 0,
            walked: 0,
            since: 0,
            evaluations: [0, 0],
            is_noisy: false,
            bandit: Bandit::default(),
            cursors: BTreeMap::new(),
            choices: BTreeMap::new(),
            settled: Vec::new(),
            sizes: Vec::new(),
            stopped: None,
            curve: Vec::new(),
            prepared: HashMap::new(),
        }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn component(&self) -> &Arc<Component> {
        &self.component
    }

    /// The number of the best candidate.
    pub fn best(&self) -> usize {
        self.best
    }

    /// Evaluations of the search so far; those at random are counted apart.
    pub fn evaluations(&self) -> usize {
        self.evaluations[0]
    }

    pub fn random_evaluations(&self) -> usize {
        self.evaluations[1]
    }

    /// Whether equal programs got different scores.
    pub fn is_noisy(&self) -> bool {
        self.is_noisy
    }

    /// The best score after each evaluation at which it rose.
    pub fn curve(&self) -> &[(usize, f64)] {
        &self.curve
    }

    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// The best that candidates at random reached; None before any was valid.
    pub fn best_at_random(&self) -> Option<f64> {
        let random = self
            .entries
            .iter()
            .filter(|it| it.purpose == Purpose::Random);
        let fitness = random
            .map(Entry::fitness)
            .chain(self.entries.first().map(Entry::fitness));
        fitness
            .max_by(|a, b| a.compare(*b))
            .and_then(Fitness::score)
    }

    /// The content of a candidate, made from the edits on the way to it.
    pub fn content(&self, n: usize) -> Option<Content> {
        let mut way = Vec::new();
        let mut at = n;
        while let Some(parent) = self.entries.get(at)?.parent {
            way.push(&self.entries.get(at)?.edit);
            at = parent;
        }
        way.into_iter()
            .rev()
            .try_fold(self.component.content(), |content, edit| {
                content.edited(edit)
            })
    }

    /// Checks an edit that comes from outside, and returns the hash of its candidate.
    pub fn check(&self, parent: usize, edit: &Edit) -> Result<String, Unfit> {
        let content = self
            .content(parent)
            .and_then(|it| it.edited(edit))
            .ok_or(Unfit::Outside)?;
        check(&self.component, &content, self.faults)
    }

    /// What to do next.
    pub fn next(&mut self) -> Next {
        let Some(first) = self.entries.first() else {
            let content = self.component.content();
            return match check(&self.component, &content, self.faults) {
                Ok(hash) => Next::Propose(Event::Started {
                    component: self.component.id.clone(),
                    seed: self.settings.seed,
                    content,
                    hash,
                }),
                Err(unfit) => Next::Stop(unfit.to_string()),
            };
        };
        if first.samples.len() < PROBES.min(self.settings.budget) {
            return match first.samples.last().is_some_and(|it| it.score.is_none()) {
                true => Next::Stop("the initial program is invalid".to_owned()),
                false => Next::Evaluate(0),
            };
        }
        let waiting = self.entries.iter().rposition(|it| it.samples.is_empty());
        if let Some(n) = waiting {
            return Next::Evaluate(n);
        }
        match self.ended() {
            None => {
                if let Some(challenger) = self.challenger() {
                    return Next::Evaluate(challenger);
                }
                let event = self.propose();
                event.map_or_else(
                    || self.next_at_random("no further candidate is left"),
                    Next::Propose,
                )
            }
            Some(why) => self.next_at_random(&why),
        }
    }

    fn next_at_random(&mut self, why: &str) -> Next {
        // No more than the search itself used: the comparison is of equal budgets.
        let most = self.settings.random.min(self.evaluations[0]);
        if self.evaluations[1] < most
            && let Some(event) = self.propose_at_random()
        {
            return Next::Propose(event);
        }
        Next::Stop(why.to_owned())
    }

    fn ended(&self) -> Option<String> {
        if self.evaluations[0] >= self.settings.budget {
            return Some(format!(
                "the budget of {} evaluations is used",
                self.settings.budget
            ));
        }
        let best = self.entries.get(self.best)?.fitness();
        if let Some(target) = self.settings.target
            && best.score().is_some_and(|it| it >= target)
        {
            return Some(format!("the target {target} is reached"));
        }
        let patience = self.settings.patience.filter(|it| self.since >= *it)?;
        Some(format!("{patience} evaluations brought nothing better"))
    }

    /// The last candidate, if it has to be evaluated again before it can take the place of the best.
    fn challenger(&self) -> Option<usize> {
        let n = self.entries.len().checked_sub(1).filter(|it| *it > 0)?;
        let last = self.entries.get(n)?;
        let searched =
            last.purpose == Purpose::Search && self.is_noisy && last.samples.len() < SAMPLES;
        let promising = !self
            .entries
            .get(self.current)?
            .fitness()
            .is_above(last.fitness());
        (searched && promising && last.fitness() != Fitness::Invalid && n != self.current)
            .then_some(n)
    }

    /// Folds a recorded event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Started { hash, .. } => self.enter(Entry {
                parent: None,
                operator: Operator::Initial,
                purpose: Purpose::Search,
                edit: Edit::default(),
                hash: hash.clone(),
                samples: Vec::new(),
                by: None,
                touched: Vec::new(),
                cursor: 0,
                begun: 0,
            }),
            Event::Proposed {
                parent,
                purpose,
                operator,
                edit,
                hash,
                cursor,
                touched,
                by,
                ..
            } => {
                match operator {
                    Operator::Edit if *cursor > 0 => {
                        self.cursors.insert(*parent, *cursor);
                    }
                    Operator::Choice if *cursor > 0 => {
                        self.choices.insert(*parent, *cursor);
                    }
                    _ => {}
                }
                self.enter(Entry {
                    parent: Some(*parent),
                    operator: *operator,
                    purpose: *purpose,
                    edit: edit.clone(),
                    hash: hash.clone(),
                    samples: Vec::new(),
                    by: by.clone(),
                    touched: touched.clone(),
                    cursor: *cursor,
                    begun: 0,
                });
            }
            Event::Began { n } => {
                if let Some(entry) = self.entries.get_mut(*n) {
                    entry.begun += 1;
                }
            }
            Event::Ended { n, sample } => self.end(*n, sample),
            Event::Stopped { why } => self.stopped = Some(why.clone()),
        }
    }

    fn enter(&mut self, entry: Entry) {
        self.stopped = None;
        self.by_hash
            .entry(entry.hash.clone())
            .or_insert(self.entries.len());
        self.entries.push(entry);
    }

    /// Whether the evaluation of a candidate was begun so often without an end that it is given up.
    pub fn is_poisonous(&self, n: usize) -> bool {
        self.entries.get(n).is_some_and(|it| it.begun >= ATTEMPTS)
    }

    fn end(&mut self, n: usize, sample: &Sample) {
        self.stopped = None;
        let Some(entry) = self.entries.get_mut(n) else {
            return;
        };
        entry.samples.push(sample.clone());
        entry.begun = 0;
        let (purpose, count) = (entry.purpose, entry.samples.len());
        self.evaluations[usize::from(purpose == Purpose::Random)] += 1;
        if purpose == Purpose::Random {
            return;
        }
        if n == 0 {
            let scores = self
                .entries
                .first()
                .map(|it| it.samples.as_slice())
                .unwrap_or_default();
            self.is_noisy = scores
                .windows(2)
                .any(|it| matches!(it, [a, b] if a.score != b.score));
            return;
        }
        self.since += 1;
        self.judge(n, count);
    }

    fn judge(&mut self, n: usize, count: usize) {
        let (Some(entry), Some(current), Some(best)) = (
            self.entries.get(n),
            self.entries.get(self.current),
            self.entries.get(self.best),
        ) else {
            return;
        };
        let fitness = entry.fitness();
        let enough = !self.is_noisy || count >= SAMPLES;
        let improved = enough && fitness.is_above(current.fitness());
        let is_best = enough && fitness.is_above(best.fitness());
        // A candidate that must be evaluated again is not judged yet.
        if !enough && fitness.is_above(current.fitness()) {
            return;
        }
        let (operator, touched, cursor, number) = (
            entry.operator,
            entry.touched.clone(),
            entry.cursor,
            fitness.number(),
        );
        let equal =
            enough && !self.is_noisy && fitness == current.fitness() && fitness != Fitness::Invalid;
        self.bandit.tell(operator, is_best);
        self.learn(n, operator, &touched, cursor, is_best, number);
        let may_walk = matches!(
            operator,
            Operator::Edit | Operator::Literal | Operator::Stride
        );
        if is_best {
            (self.best, self.since, self.walked) = (n, 0, 0);
            self.curve
                .extend(fitness.score().map(|it| (self.evaluations[0], it)));
        }
        if improved {
            self.current = n;
        } else if equal && may_walk && self.walked < WALK {
            self.walked += 1;
            self.current = n;
        }
    }

    fn learn(
        &mut self,
        n: usize,
        operator: Operator,
        touched: &[usize],
        cursor: usize,
        improved: bool,
        number: f64,
    ) {
        match operator {
            Operator::Literal => {
                let count = touched
                    .iter()
                    .max()
                    .map_or(0, |it| it + 1)
                    .max(self.sizes.len());
                literal::learn(&mut self.sizes, count, touched, improved);
            }
            Operator::Choice if improved => self.settled.extend(touched),
            Operator::Vector => {
                let Some(content) = self.content(n) else {
                    return;
                };
                let point = vector::point(&self.component, &content);
                if let Some(vectors) = &mut self.vectors {
                    let mut random = Random::at(self.settings.seed, propose::draw(n, cursor));
                    vectors.tell(&point, number, &mut random);
                }
            }
            _ => {}
        }
    }
}
