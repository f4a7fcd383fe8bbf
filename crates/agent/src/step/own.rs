//! Acts of the agent itself: its birth, its pauses, its clock, and how its law changes.

use std::sync::Arc;

use memory::Millis;

use super::Work;
use crate::approval::ApprovalState;
use crate::context::{Change, Context, Goal, Identity, Stage};
use crate::event::{Effect, EffectId, End, Outgoing, Request, TurnAnswer, TurnId};
use crate::law::{Edit, Law};

/// The author of the law that an agent is born with.
pub(super) const BIRTH: &str = "birth";

/// The name of an idle pursuit among the timers.
const IDLE: &str = "idle";

/// When a tick changes something next, in milliseconds since 1970. It goes by the same conditions as `Work::ticked`.
pub(super) fn due(now: &Context, law: &Law) -> Option<Millis> {
    let patience = millis(law.attention.approval_seconds);
    let late = |since: Millis| since.saturating_add(patience).saturating_add(1);
    let approvals = now.approvals.values();
    let approvals = approvals.filter(|it| it.standing == ApprovalState::Pending);
    let approvals = approvals.map(|it| it.until.saturating_add(1));
    let clarified = now.intents.values().filter(|it| it.given);
    let clarified = clarified
        .filter(|it| it.intent.turn.is_some())
        .filter(|it| matches!(it.intent.effect, Effect::Clarify { .. }));
    let asked = now.questions.iter();
    let asked = asked.filter(|(turn, _)| now.turns.contains_key(*turn));
    let asked = asked.filter_map(|(_, it)| Some(late(it.open()?.at)));
    let proposed = now.revision.gate.open();
    let proposed = proposed.filter(|it| it.stage == revise::Stage::Approval);
    let proposed = proposed.and(now.revision.proposed.as_ref());
    let people = approvals
        .chain(clarified.map(|it| late(it.at)))
        .chain(asked)
        .chain(proposed.map(|it| late(it.at)));
    let own = (!now.paused).then(|| {
        let timers = law.timers.iter().filter(|it| !is_begun(now, &it.name));
        let timers = timers.map(|timer| match now.timers.get(&timer.name) {
            Some(last) => last.saturating_add(millis(timer.every)),
            None => Millis::MIN,
        });
        let idle = law.idle.iter().filter(|_| {
            let before = now.timers.get(IDLE).is_some_and(|&last| last >= now.heard);
            now.turns.is_empty() && !before && !is_begun(now, IDLE)
        });
        timers.chain(idle.map(|it| now.heard.saturating_add(millis(it.after))))
    });
    let reflection = reflects(now, law).then_some(now.heard);
    people
        .chain(own.into_iter().flatten())
        .chain(reflection)
        .min()
}

/// Whether it is time to look through its journal for changes of its law: after so many episodes, when there is nothing
/// else to do.
pub(super) fn reflects(now: &Context, law: &Law) -> bool {
    let every = u64::from(law.frozen.reflect_every);
    let revision = &now.revision;
    let idle = now.turns.is_empty() && !now.paused && now.fault.is_none();
    every > 0 && idle && revision.gate.open().is_none() && revision.unreflected >= every
}

/// Whether the last time of a timer is not over.
fn is_begun(now: &Context, name: &str) -> bool {
    let mut intents = now.intents.values();
    intents.any(|it| matches!(&it.intent.effect, Effect::Begin { name: it, .. } if it == name))
}

fn millis(seconds: u64) -> Millis {
    Millis::try_from(seconds)
        .unwrap_or(Millis::MAX)
        .saturating_mul(1000)
}

impl Work<'_> {
    pub(super) fn born(&mut self, identity: &Identity, goals: &[Goal], law: &Law) {
        // An agent is created once; a second `born` event changes nothing.
        if self.now.law_version > 0 {
            return;
        }
        let (identity, goals) = (identity.clone(), goals.to_vec());
        self.change(Change::Born { identity, goals });
        self.change(Change::Law {
            hash: law.hash(),
            law: Arc::new(law.clone()),
            why: "it was born with it".to_owned(),
            by: BIRTH.to_owned(),
            manifest: true,
        });
    }

    pub(super) fn resumed(&mut self) {
        self.change(Change::Paused { paused: false });
        if self.now.fault.is_some() {
            self.change(Change::Fault { problem: None });
        }
        let held = self.now.intents.values().filter(|it| !it.given);
        let held: Vec<_> = held.map(|it| it.intent.clone()).collect();
        for intent in held {
            self.change(Change::Given { effect: intent.id });
            self.done.out.push(Outgoing::Do(intent));
        }
    }

    pub(super) fn ticked(&mut self) {
        let late = self.now.approvals.values();
        let late = late.filter(|it| it.standing == ApprovalState::Pending && self.at > it.until);
        let late: Vec<(EffectId, TurnId)> = late.map(|it| (it.id, it.turn.clone())).collect();
        for (approval, turn) in late {
            self.expire(approval);
            self.done.out.push(Outgoing::Resume { turn });
        }
        self.expire_questions(millis(self.law.attention.approval_seconds));
        self.expire_proposal(millis(self.law.attention.approval_seconds));
        if self.now.paused {
            return;
        }
        let at = self.at;
        for timer in &self.law.timers {
            let every = millis(timer.every);
            let Some(&last) = self.now.timers.get(&timer.name) else {
                // Its first time is one period from now.
                self.change(Change::Timed {
                    name: timer.name.clone(),
                    at,
                });
                continue;
            };
            let passed = at.saturating_sub(last);
            if passed >= every {
                // A tick that is late does not make the next one late.
                let due = at - passed % every.max(1);
                self.pursue(&timer.name, &timer.request, due);
            }
        }
        if let Some(idle) = &self.law.idle {
            let after = millis(idle.after);
            let quiet = self.now.turns.is_empty() && at.saturating_sub(self.now.heard) >= after;
            let before = self
                .now
                .timers
                .get(IDLE)
                .is_some_and(|&last| last >= self.now.heard);
            if quiet && !before {
                self.pursue(IDLE, &idle.request, at);
            }
        }
    }

    /// What was asked in a request and not answered for so long is not waited for. A question of the agent itself
    /// counts as declined; one of a skill is withdrawn, and the skill decides what that means.
    fn expire_questions(&mut self, patience: i64) {
        let at = self.at;
        let late = |since: i64| at.saturating_sub(since) > patience;
        let clarified = self
            .now
            .intents
            .values()
            .filter(|it| it.given && late(it.at));
        let clarified = clarified.filter(|it| matches!(it.intent.effect, Effect::Clarify { .. }));
        let clarified: Vec<_> = clarified
            .filter_map(|it| Some((it.intent.id, it.intent.turn.clone()?)))
            .collect();
        for (effect, turn) in clarified {
            self.clarified(effect, None);
            self.done.out.push(Outgoing::Resume { turn });
        }
        let asked = self.now.questions.iter();
        let asked = asked.filter(|(turn, _)| self.now.turns.contains_key(*turn));
        let asked: Vec<(TurnId, String)> = asked
            .filter_map(|(turn, it)| Some((turn, it.open().filter(|it| late(it.at))?)))
            .map(|(turn, question)| (turn.clone(), question.place.clone()))
            .collect();
        for (turn, place) in asked {
            self.change(Change::Replied {
                turn: turn.clone(),
                place,
                answer: None,
                by: String::new(),
            });
            self.done.out.push(Outgoing::Resume { turn });
        }
    }

    /// Asks something of itself, unless the last time is not over.
    fn pursue(&mut self, name: &str, request: &str, at: Millis) {
        if is_begun(&self.now, name) {
            return;
        }
        self.change(Change::Timed {
            name: name.to_owned(),
            at,
        });
        let (name, request) = (name.to_owned(), request.to_owned());
        self.intent(None, Effect::Begin { name, request });
    }

    /// A letter proposes a change of the law. The order of an operator, and the proposal of an agent that the law lets,
    /// reach the gate.
    pub(super) fn proposal(&mut self, heard: &Request, edit: Edit, evidence: Vec<u64>) {
        let id = heard.turn.as_str();
        let by = heard.from.clone();
        let mut rules = self.law.agent_choice.iter();
        let trusted = rules.any(|rule| rule.agent == by && rule.amends);
        let refused = if edit.target.trim().is_empty() {
            Some(
                "a proposal names the target and the change, for example \"attention.turns\" and 2; what is to be done \
                 is a request"
                    .to_owned(),
            )
        } else if !heard.operator && !trusted {
            Some(format!(
                "{by} may not change my law: an operator may, and an agent with `amends` in agent_choice"
            ))
        } else {
            None
        };
        if let Some(why) = refused {
            self.change(Change::LawKept {
                why: why.clone(),
                by,
                edit: Some(edit),
            });
            return self.outcome(id, format!("I keep my law: {why}."), End::Refused);
        }
        // It is not one of those that wait for their turn.
        self.change(Change::Stage {
            turn: heard.turn.clone(),
            stage: Stage::Acting,
        });
        let ordered = heard.operator;
        self.intent(
            Some(id),
            Effect::Amend {
                edit,
                by,
                ordered,
                evidence,
            },
        );
    }

    /// Answers a letter. A proposal is not knowledge, so nothing of it is remembered.
    pub(super) fn outcome(&mut self, turn: &str, text: String, end: End) {
        let answer = TurnAnswer { text, end };
        self.change(Change::Concluded {
            turn: turn.into(),
            answer,
        });
        self.finish(turn, &[]);
    }

    /// The manifest and the law file were edited, and an operator accepts what they say now.
    pub(super) fn accepted(&mut self, goals: &[Goal], law: &Law, why: &str, by: &str) {
        if *self.now.goals != goals {
            let goals = goals.to_vec();
            self.change(Change::Goals { goals });
        }
        let (hash, law) = (law.hash(), Arc::new(law.clone()));
        let replaced = revise::Event::Replaced {
            hash: hash.clone(),
            by: by.to_owned(),
        };
        // A proposal that is under way was made against another law.
        drop(self.revise(&replaced, None));
        self.change(Change::Law {
            hash,
            law,
            why: why.to_owned(),
            by: by.to_owned(),
            manifest: true,
        });
    }
}
