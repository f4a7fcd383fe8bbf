//! Counts what the journal of an agent has of its requests, skills, procedures, beliefs and peers.

use std::collections::BTreeMap;

use memory::Millis;

use super::{Endings, Noted, Peer, ProcedureUse, SkillUse, trust};
use crate::context::{Ability, Change, Outcome};
use crate::event::{Candidate, Effect, EffectId, End, EventKind, MemoryResult, TurnId};
use crate::journal::Record;
use crate::law::Law;

/// The skill by which another agent is asked, and the beginning of the source of its claims.
const ASK: &str = "ask-agent";
const AGENT: &str = "agent:";

/// The counts of a journal.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(super) requests: Endings,
    pub(super) learned: Vec<Noted>,
    pub(super) mistakes: Vec<Noted>,
    skills: BTreeMap<String, SkillUse>,
    runs: BTreeMap<String, Runs>,
    peers: BTreeMap<String, Contact>,
    open: BTreeMap<TurnId, Open>,
    beliefs: Beliefs,
}

/// The runs of a procedure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    pub(crate) count: u64,
    pub(crate) answered: u64,
    /// The events of the runs that came to nothing because a step failed.
    pub(crate) failed: Vec<u64>,
    failed_step: Option<usize>,
    timed: u64,
    millis: Millis,
    last: u64,
}

/// What was seen of another agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contact {
    asked: u64,
    answered: u64,
    timed: u64,
    millis: Millis,
    pub(crate) claims: u64,
    /// The events of its claims that were contradicted, and of what contradicted them.
    pub(crate) contradicted: Vec<(u64, u64)>,
    last: u64,
}

/// A request that has not ended.
#[derive(Debug, Default)]
struct Open {
    procedure: Option<(String, Millis)>,
    rounds: usize,
    /// The calls of the last round: skill, the agent that is asked, when it was given out, whether it failed.
    calls: Vec<OpenCall>,
    failed_step: Option<usize>,
    waited: bool,
}

#[derive(Debug)]
struct OpenCall {
    skill: String,
    agent: Option<String>,
    began: Option<Millis>,
}

#[derive(Debug, Default)]
struct Beliefs {
    wanted: BTreeMap<EffectId, Vec<Candidate>>,
    /// The source and the event of each record that became a belief.
    held: BTreeMap<String, (String, u64)>,
}

impl Tally {
    /// Counts a journal, or the end of one.
    pub(crate) fn of(history: &[(u64, Record)]) -> Self {
        let mut tally = Self::default();
        for (event, record) in history {
            for change in &record.changes {
                tally.change(*event, record.event.at, change);
            }
            match &record.event.what {
                EventKind::Remembered { effect, outcomes } => {
                    tally.remembered(*event, *effect, outcomes);
                }
                EventKind::Called { skill, outcome, .. } => {
                    tally.used(skill, *event, matches!(outcome, Outcome::Failed(..)));
                }
                _ => {}
            }
        }
        tally
    }

    fn change(&mut self, event: u64, at: Millis, change: &Change) {
        match change {
            Change::Opened { turn } => {
                self.open.insert(turn.heard.turn.clone(), Open::default());
            }
            Change::Procedure { turn, name, .. } => {
                if let Some(open) = self.open.get_mut(turn) {
                    open.procedure = Some((name.clone(), at));
                }
            }
            Change::Round { turn, round, .. } => {
                if let Some(open) = self.open.get_mut(turn) {
                    open.rounds += 1;
                    let calls = round.calls.iter().map(|it| OpenCall {
                        skill: it.skill.clone(),
                        agent: it
                            .input
                            .get("agent")
                            .and_then(|it| it.as_str())
                            .map(str::to_owned),
                        began: None,
                    });
                    open.calls = calls.collect();
                }
            }
            Change::Calling { turn, call, .. } => {
                let open = self.open.get_mut(turn);
                if let Some(call) = open.and_then(|it| it.calls.get_mut(*call)) {
                    call.began = Some(at);
                }
            }
            Change::Outcome {
                turn,
                call,
                outcome,
            } => self.ended_call(event, at, turn, *call, outcome),
            Change::Asked { approval } => {
                if let Some(open) = self.open.get_mut(&approval.turn) {
                    open.waited = true;
                }
            }
            Change::Ended { turn, answer } => self.ended(event, at, turn, answer.end),
            Change::Intended { pending } => {
                if let Effect::Remember { candidates } = &pending.intent.effect {
                    self.beliefs
                        .wanted
                        .insert(pending.intent.id, candidates.clone());
                }
            }
            Change::Law { why, by, .. } if by != "birth" => {
                let says = format!("{by} changed my law: {why}");
                self.learned.push(Noted { says, event });
            }
            Change::Gate {
                step: revise::Change::RolledBack { fall, .. },
            } => {
                let says = format!(
                    "I adopted a change of my law, and the mean score fell from {:.2} to {:.2}",
                    fall.before, fall.since
                );
                self.mistakes.push(Noted { says, event });
            }
            _ => {}
        }
    }

    fn used(&mut self, skill: &str, event: u64, failed: bool) {
        let used = self.skills.entry(skill.to_owned()).or_default();
        used.calls += 1;
        used.failed += u64::from(failed);
        used.event = event;
    }

    fn ended_call(
        &mut self,
        event: u64,
        at: Millis,
        turn: &TurnId,
        call: usize,
        outcome: &Outcome,
    ) {
        let Some(open) = self.open.get_mut(turn) else {
            return;
        };
        let Some(call) = open.calls.get(call) else {
            return;
        };
        let failed = matches!(outcome, Outcome::Failed(..));
        if failed {
            open.failed_step = Some(open.rounds);
        }
        let skill = call.skill.clone();
        if skill == ASK {
            let gave = match outcome {
                Outcome::Gave(output) => Some(output),
                Outcome::Failed(..) => None,
            };
            let named = gave
                .and_then(|it| it.get("agent")?.as_str())
                .map(str::to_owned);
            if let Some(agent) = named.or_else(|| call.agent.clone()) {
                let did = gave.is_some_and(|it| it.get("accepted").is_none_or(|it| it == true));
                let peer = self.peers.entry(agent).or_default();
                peer.asked += 1;
                peer.answered += u64::from(did);
                if let Some(began) = call.began {
                    peer.timed += 1;
                    peer.millis = peer.millis.saturating_add(at.saturating_sub(began));
                }
                peer.last = event;
            }
        }
        self.used(&skill, event, failed);
    }

    fn ended(&mut self, event: u64, at: Millis, turn: &TurnId, end: End) {
        let Some(open) = self.open.remove(turn) else {
            return;
        };
        match end {
            End::Answered => self.requests.answered += 1,
            End::Refused | End::NotApproved => self.requests.refused += 1,
            End::Failed => self.requests.failed += 1,
            End::Cancelled => self.requests.cancelled += 1,
        }
        let Some((name, began)) = open.procedure else {
            return;
        };
        let runs = self.runs.entry(name).or_default();
        runs.count += 1;
        runs.last = event;
        match end {
            End::Answered => {
                runs.answered += 1;
                if !open.waited {
                    runs.timed += 1;
                    runs.millis = runs.millis.saturating_add(at.saturating_sub(began));
                }
            }
            End::Failed => {
                runs.failed.push(event);
                runs.failed_step = open.failed_step;
            }
            End::Refused | End::NotApproved | End::Cancelled => {}
        }
    }

    fn remembered(&mut self, event: u64, effect: EffectId, outcomes: &[MemoryResult]) {
        let candidates = self.beliefs.wanted.remove(&effect).unwrap_or_default();
        for (candidate, result) in candidates.iter().zip(outcomes) {
            let against = result.against_record.as_ref();
            if let Some((source, at)) = against.and_then(|it| self.beliefs.held.get(it)) {
                let says =
                    format!("I believed something from {source} that was contradicted later");
                self.mistakes.push(Noted { says, event });
                if let Some(agent) = source.strip_prefix(AGENT) {
                    let peer = self.peers.entry(agent.to_owned()).or_default();
                    peer.contradicted.push((*at, event));
                    peer.last = event;
                }
            }
            if candidate.believe {
                if let Some(agent) = candidate.source.strip_prefix(AGENT) {
                    let peer = self.peers.entry(agent.to_owned()).or_default();
                    peer.claims += 1;
                    peer.last = event;
                }
                let belief = (candidate.source.clone(), event);
                self.beliefs.held.insert(result.record.clone(), belief);
            }
        }
    }

    /// The runs of a procedure.
    pub(crate) fn runs(&self, procedure: &str) -> Option<&Runs> {
        self.runs.get(procedure)
    }

    /// The agents that it has heard of, by name.
    pub(crate) fn contacts(&self) -> impl Iterator<Item = (&str, &Contact)> {
        self.peers.iter().map(|(name, it)| (name.as_str(), it))
    }

    /// The skills of an agent and those that it had, the most used first.
    pub(super) fn skills(&self, abilities: &[Ability]) -> Vec<SkillUse> {
        let mut all = self.skills.clone();
        for ability in abilities {
            all.entry(ability.id.clone()).or_default();
        }
        let mut all: Vec<SkillUse> = all
            .into_iter()
            .map(|(skill, used)| SkillUse { skill, ..used })
            .collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.calls));
        all
    }

    /// The procedures of a law, in its order.
    pub(super) fn procedures(&self, law: &Law) -> Vec<ProcedureUse> {
        let procedures = law.procedures.iter().map(|it| {
            let runs = self.runs.get(&it.name).cloned().unwrap_or_default();
            ProcedureUse {
                name: it.name.clone(),
                when: it.when.clone(),
                steps: it.steps.iter().map(|step| step.skill.clone()).collect(),
                runs: runs.count,
                answered: runs.answered,
                failed_step: runs.failed_step,
                milliseconds: mean(runs.millis, runs.timed),
                event: runs.last,
            }
        });
        procedures.collect()
    }

    /// The agents that it has heard of, as it knows them.
    pub(super) fn peers(&self, law: &Law) -> Vec<Peer> {
        let peers = self.peers.iter().map(|(agent, it)| Peer {
            agent: agent.clone(),
            asked: it.asked,
            answered: it.answered,
            reliability: share(it.answered + 1, it.asked + 2),
            milliseconds: mean(it.millis, it.timed),
            trust: trust(law, agent),
            claims: it.claims,
            contradicted: it.contradicted.len() as u64,
            event: it.last,
        });
        peers.collect()
    }
}

fn mean(sum: Millis, count: u64) -> Option<Millis> {
    let count = Millis::try_from(count).ok()?;
    sum.checked_div(count)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the requests to an agent are far below 2^52"
)]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
