//! An episode done again under another law, by the agent's own steps and with the recorded results.
//!
//! No effect is carried out and no result is guessed. The steps are made with the recorded events as long as the agent
//! wants the same as it did then. Where it would want something else, or would see something else when it thinks, what
//! would have come of it is not known, and the episode counts as unknown. One thing is known although it differs: a memory
//! that the law would not have made a belief is none, so that what contradicted it later contradicts nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::context::Change;
use crate::event::{
    Candidate, Effect, EffectId, Event, EventKind, MemoryOutcome, MemoryResult, TurnId,
};
use crate::journal::Record;
use crate::law::Law;
use crate::step::{AgentState, rule};

/// An episode as the journal has it.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    turn: TurnId,
    /// The state when its message arrived, without other requests.
    state: AgentState,
    events: Vec<Event>,
    /// What the agent wanted, in order, and the calls that a person was asked about.
    wanted: Vec<(EffectId, Effect)>,
    asked: Vec<EffectId>,
}

/// Reads episodes from a journal, the last ones of it.
#[derive(Debug)]
pub(super) struct Reader {
    state: AgentState,
    open: BTreeMap<TurnId, Recording>,
    pub(super) over: VecDeque<Recording>,
    most: usize,
    /// How many held-out tests there were since the oldest of these episodes.
    held_out: VecDeque<usize>,
    episodes: usize,
    /// The records of memory that came to mind in any request.
    pub(super) recalled: BTreeSet<String>,
    /// Whether memory was also asked by the skill `recall`. What that found is in its output alone.
    pub(super) looked_up: bool,
}

impl Reader {
    pub(super) fn new(most: usize) -> Self {
        Self {
            state: AgentState::default(),
            open: BTreeMap::new(),
            over: VecDeque::new(),
            most,
            held_out: VecDeque::new(),
            episodes: 0,
            recalled: BTreeSet::new(),
            looked_up: false,
        }
    }

    /// How many proposals were tested on parts of these episodes that their authors had not seen.
    pub(super) fn asked_before(&self) -> u32 {
        let oldest = self.episodes.saturating_sub(self.over.len());
        let asked = self.held_out.iter().filter(|it| **it >= oldest).count();
        u32::try_from(asked).unwrap_or(u32::MAX)
    }

    pub(super) fn take(&mut self, record: Record) {
        let Record { event, changes, .. } = record;
        match &event.what {
            EventKind::Recalled { found, .. } => {
                let found = found.iter().map(|it| it.record.clone());
                self.recalled.extend(found);
            }
            EventKind::Wanted { skill, .. } | EventKind::Called { skill, .. } => {
                self.looked_up |= skill == RECALL;
            }
            _ => {}
        }
        if let EventKind::Heard(heard) = &event.what
            && !self.open.contains_key(&heard.turn)
        {
            let recording = Recording::new(&heard.turn, &self.state);
            self.open.insert(heard.turn.clone(), recording);
        }
        for change in &changes {
            self.state.apply(change);
            if matches!(
                change,
                Change::Gate {
                    step: revise::Change::HeldOut(_)
                }
            ) {
                self.held_out.push_back(self.episodes);
            }
        }
        for recording in self.open.values_mut() {
            if recording.note(&changes) | recording.is_about(&event.what) {
                recording.events.push(event.clone());
            }
        }
        for change in &changes {
            if let Change::Ended { turn, .. } = change
                && let Some(over) = self.open.remove(turn)
                && scored(&changes).is_some()
            {
                self.episodes += 1;
                self.over.push_back(over);
                if self.over.len() > self.most {
                    self.over.pop_front();
                }
            }
        }
    }
}

/// The skill by which memory is asked outside of the recall before a request.
const RECALL: &str = "recall";

/// What an episode that ended with these changes is worth. Those of cancelled requests and of proposals have no score.
fn scored(changes: &[Change]) -> Option<f64> {
    changes.iter().find_map(|it| match it {
        Change::Gate {
            step: revise::Change::Scored(score),
        } => Some(*score),
        _ => None,
    })
}

impl Recording {
    fn new(turn: &str, state: &AgentState) -> Self {
        let mut state = state.clone();
        let context = &mut state.context;
        context.turns.clear();
        context.intents.clear();
        context.approvals.clear();
        context.questions.clear();
        context.paused = false;
        context.revision = Arc::default();
        state.manifest = None;
        Self {
            turn: turn.into(),
            state,
            events: Vec::new(),
            wanted: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// Takes down what the agent wants for this request. Says whether its question was withdrawn by the clock.
    fn note(&mut self, changes: &[Change]) -> bool {
        let mut withdrawn = false;
        for change in changes {
            match change {
                Change::Intended { pending }
                    if pending.intent.turn.as_deref() == Some(&self.turn) =>
                {
                    let intent = &pending.intent;
                    self.wanted.push((intent.id, intent.effect.clone()));
                }
                Change::Asked { approval }
                    if approval.turn == self.turn && !self.asked.contains(&approval.id) =>
                {
                    self.asked.push(approval.id);
                }
                Change::Decided { approval, .. } => withdrawn |= self.asked.contains(approval),
                _ => {}
            }
        }
        withdrawn
    }

    fn is_about(&self, what: &EventKind) -> bool {
        match what {
            EventKind::Heard(heard) => heard.turn == self.turn,
            EventKind::Wanted { turn, .. }
            | EventKind::Asked { turn, .. }
            | EventKind::Answered { turn, .. }
            | EventKind::Cancelled { turn } => *turn == self.turn,
            EventKind::Decided { approval, .. } => self.asked.contains(approval),
            other => effect_of(other).is_some_and(|effect| self.place(effect).is_some()),
        }
    }

    fn place(&self, effect: EffectId) -> Option<usize> {
        self.wanted.iter().position(|(id, _)| *id == effect)
    }
}

fn effect_of(what: &EventKind) -> Option<EffectId> {
    match what {
        EventKind::Recalled { effect, .. }
        | EventKind::Thought { effect, .. }
        | EventKind::Done { effect, .. }
        | EventKind::Failed { effect, .. }
        | EventKind::Clarified { effect, .. }
        | EventKind::Remembered { effect, .. } => Some(*effect),
        _ => None,
    }
}

/// Why the outcome of an episode under another law is not known.
pub(super) type Unknown = &'static str;

/// What an episode is worth under a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    pub(super) score: f64,
    /// Beliefs that it left and that never came to mind.
    pub(super) unused: u32,
}

/// Episodes done again under one law, in the order of the journal.
#[derive(Debug)]
pub(super) struct Replay {
    law: Arc<Law>,
    /// Records of memory that would not be beliefs under this law.
    lost: BTreeSet<String>,
}

impl Replay {
    pub(super) fn under(law: Arc<Law>) -> Self {
        Self {
            law,
            lost: BTreeSet::new(),
        }
    }

    /// What an episode is worth under this law, or why that is not known; `recalled` are the records that were of use.
    pub(super) fn score(
        &mut self,
        recording: &Recording,
        recalled: &BTreeSet<String>,
    ) -> Result<Worth, Unknown> {
        let mut run = Run {
            recording,
            state: recording.state.clone(),
            wanted: Vec::new(),
            asked: Vec::new(),
            lost: &mut self.lost,
            recalled,
            unused: 0,
            score: None,
        };
        let then = std::mem::replace(&mut run.state.law, self.law.clone());
        run.all(&then)
    }
}

struct Run<'a> {
    recording: &'a Recording,
    state: AgentState,
    /// What the agent wants under this law, in order.
    wanted: Vec<(EffectId, Effect)>,
    asked: Vec<EffectId>,
    lost: &'a mut BTreeSet<String>,
    recalled: &'a BTreeSet<String>,
    unused: u32,
    score: Option<f64>,
}

impl Run<'_> {
    fn all(&mut self, then: &Law) -> Result<Worth, Unknown> {
        self.sees_the_same(then)?;
        for event in &self.recording.events {
            let Some(what) = self.translated(&event.what, then)? else {
                continue;
            };
            let at = event.at;
            let step = self.state.step(&Event { at, what });
            for change in &step.changes {
                self.state.apply(change);
                match change {
                    Change::Intended { pending } => {
                        let intent = &pending.intent;
                        self.wanted.push((intent.id, intent.effect.clone()));
                    }
                    Change::Asked { approval } if !self.asked.contains(&approval.id) => {
                        self.asked.push(approval.id);
                    }
                    _ => {}
                }
            }
            self.score = scored(&step.changes).or(self.score);
        }
        let lasting = |wanted: &[(EffectId, Effect)]| {
            let other = |it: &&(EffectId, Effect)| !matches!(it.1, Effect::Remember { .. });
            wanted.iter().filter(other).count()
        };
        if lasting(&self.wanted) != lasting(&self.recording.wanted) {
            return Err("it would do something else");
        }
        let score = self.score.ok_or("it would not come to an end")?;
        Ok(Worth {
            score,
            unused: self.unused,
        })
    }

    /// What a model is shown of the law must be the same, if it was asked.
    fn sees_the_same(&self, then: &Law) -> Result<(), Unknown> {
        let thinks = |it: &(EffectId, Effect)| matches!(it.1, Effect::Think);
        if !self.recording.wanted.iter().any(thinks) {
            return Ok(());
        }
        let request = self.recording.events.iter().find_map(|it| match &it.what {
            EventKind::Heard(heard) => Some(heard),
            _ => None,
        });
        let request = request.ok_or("its message is not in the journal")?;
        let abilities = &self.state.context.abilities;
        let offered = |skill: &str| abilities.keys().any(|it| it.starts_with(skill));
        let now = &self.state.law;
        if now.active(&request.text, offered) != then.active(&request.text, offered) {
            return Err("the model would be told other rules");
        }
        let said = self.state.context.said_before(request).len();
        let seen = |law: &Law| said.min(law.attention.conversation as usize);
        match seen(now) == seen(then) {
            true => Ok(()),
            false => Err("the model would see another part of the conversation"),
        }
    }

    /// The recorded event with the numbers that effects have now. None: it is not needed under this law.
    fn translated(&mut self, what: &EventKind, then: &Law) -> Result<Option<EventKind>, Unknown> {
        let mut what = what.clone();
        match &mut what {
            EventKind::Decided { approval, .. } => {
                let place = self.recording.asked.iter().position(|it| it == approval);
                let now = place.and_then(|place| self.asked.get(place));
                *approval = *now.ok_or("a person would not be asked")?;
            }
            EventKind::Remembered { effect, outcomes } => {
                let Some(now) = self.remembered(*effect, outcomes)? else {
                    return Ok(None);
                };
                *effect = now;
            }
            EventKind::Recalled { effect, found } => {
                let (now, wanted) = self.same(*effect)?;
                *effect = now;
                let (Effect::Recall { limit, .. }, Effect::Recall { limit: before, .. }) = wanted
                else {
                    return Err("it would do something else");
                };
                let (limit, before) = (limit as usize, before as usize);
                if found.len() > limit || (limit > before && found.len() == before) {
                    return Err("it would recall another number of memories");
                }
                if found.iter().any(|it| self.lost.contains(&it.record)) {
                    return Err("it would not believe something that it recalled");
                }
            }
            other => {
                if let Some(effect) = effect_of(other) {
                    let (now, (wanted, _)) = self.same(effect)?;
                    if let Effect::Call { skill, .. } = &wanted {
                        self.gate_says_the_same(skill, then)?;
                    }
                    renumber(other, now);
                }
            }
        }
        Ok(Some(what))
    }

    /// The number that a recorded effect has now; both effects must be the same.
    fn same(&self, effect: EffectId) -> Result<(EffectId, (Effect, Effect)), Unknown> {
        let different = "it would do something else";
        let place = self.recording.place(effect).ok_or(different)?;
        let (_, before) = &self.recording.wanted[place];
        let (now, wanted) = self.wanted.get(place).ok_or(different)?;
        let same = match (before, wanted) {
            (Effect::Recall { question, .. }, Effect::Recall { question: now, .. }) => {
                question == now
            }
            (before, wanted) => before == wanted,
        };
        match same {
            true => Ok((*now, (wanted.clone(), before.clone()))),
            false => Err(different),
        }
    }

    /// Calls that needed no question are not in the journal as such: the rules about them must say the same.
    fn gate_says_the_same(&self, skill: &str, then: &Law) -> Result<(), Unknown> {
        let turn = self.state.context.turns.get(&self.recording.turn);
        let request = turn.map_or("", |it| it.heard.text.as_str());
        let now = &self.state.law;
        let same = rule(now, skill, request) == rule(then, skill, request)
            && now.clarification.min_grounded.to_bits()
                == then.clarification.min_grounded.to_bits();
        match same {
            true => Ok(()),
            false => Err("a call would be asked about, or would not be"),
        }
    }

    /// What memory would have done with what is to be remembered now. None: there is nothing to be remembered.
    fn remembered(
        &mut self,
        effect: EffectId,
        outcomes: &mut Vec<MemoryResult>,
    ) -> Result<Option<EffectId>, Unknown> {
        let place = self.recording.place(effect);
        let before = place.and_then(|it| self.recording.wanted.get(it));
        let Some((_, Effect::Remember { candidates: before })) = before else {
            return Err("its memory is not in the journal");
        };
        let now = self.wanted.iter().rev().find_map(|(id, it)| match it {
            Effect::Remember { candidates } => Some((*id, candidates)),
            _ => None,
        });
        let none: &[Candidate] = &[];
        let candidates = now.map_or(none, |(_, it)| it);
        let same = |a: &Candidate, b: &Candidate| a.text == b.text && a.source == b.source;
        let known = |it: &Candidate| before.iter().any(|then| same(it, then));
        if !candidates.iter().all(known) {
            return Err("it would remember something else");
        }
        let recorded = std::mem::take(outcomes);
        for (then, result) in before.iter().zip(recorded) {
            let mut candidates = candidates.iter();
            let now = candidates.find(|it| same(it, then));
            match now {
                Some(now) if now.believe && !then.believe => {
                    return Err("it would believe something else");
                }
                Some(now) if now.believe => {
                    if now.confidence.to_bits() != then.confidence.to_bits() {
                        return Err("it would be more or less sure of something");
                    }
                    self.unused += u32::from(!self.recalled.contains(&result.record));
                    outcomes.push(self.without_lost(result));
                }
                weaker => {
                    if then.believe && !result.record.is_empty() {
                        self.lost.insert(result.record.clone());
                    }
                    if weaker.is_some() {
                        outcomes.push(MemoryResult {
                            outcome: MemoryOutcome::Observed,
                            against: None,
                            against_record: None,
                            ..result
                        });
                    }
                }
            }
        }
        Ok(now.map(|(id, _)| id))
    }

    /// A contradiction with something that would not be believed is none.
    fn without_lost(&self, result: MemoryResult) -> MemoryResult {
        let lost = |record: &String| self.lost.contains(record);
        match result.against_record.as_ref().is_some_and(lost) {
            true => MemoryResult {
                outcome: MemoryOutcome::Kept,
                against: None,
                against_record: None,
                ..result
            },
            false => result,
        }
    }
}

fn renumber(what: &mut EventKind, now: EffectId) {
    match what {
        EventKind::Thought { effect, .. }
        | EventKind::Done { effect, .. }
        | EventKind::Failed { effect, .. }
        | EventKind::Clarified { effect, .. } => *effect = now,
        _ => {}
    }
}
