//! What the agent does of itself: its birth, its pauses, its clock, and how its law changes.

use std::sync::Arc;

use super::Work;
use crate::approval::Standing;
use crate::context::{Change, Goal, Identity};
use crate::event::{Effect, EffectId, Outgoing, TurnId};
use crate::law::{Edit, Law};

/// What an idle pursuit is called among the timers.
const IDLE: &str = "idle";

impl Work<'_> {
    pub(super) fn born(&mut self, identity: &Identity, goals: &[Goal], law: &Law) {
        // One is born once.
        if self.now.law_version > 0 {
            return;
        }
        let (identity, goals) = (identity.clone(), goals.to_vec());
        self.change(Change::Born { identity, goals });
        self.change(Change::Law {
            hash: law.hash(),
            law: Arc::new(law.clone()),
            why: "it was born with it".to_owned(),
            by: "birth".to_owned(),
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
        let late = late.filter(|it| it.standing == Standing::Pending && self.at > it.until);
        let late: Vec<(EffectId, TurnId)> = late.map(|it| (it.id, it.turn.clone())).collect();
        for (approval, turn) in late {
            self.expire(approval);
            self.done.out.push(Outgoing::Resume { turn });
        }
        let patience = i64::try_from(self.law.attention.approval_seconds).unwrap_or(i64::MAX);
        let patience = patience.saturating_mul(1000);
        self.expire_questions(patience);
        if self.now.paused {
            return;
        }
        let at = self.at;
        for timer in &self.law.timers {
            let every = i64::try_from(timer.every)
                .unwrap_or(i64::MAX)
                .saturating_mul(1000);
            let Some(&last) = self.now.timers.get(&timer.name) else {
                // Its first time is one period from now.
                self.change(Change::Timed {
                    name: timer.name.clone(),
                    at,
                });
                continue;
            };
            if at.saturating_sub(last) >= every {
                self.pursue(&timer.name, &timer.request);
            }
        }
        if let Some(idle) = &self.law.idle {
            let after = i64::try_from(idle.after)
                .unwrap_or(i64::MAX)
                .saturating_mul(1000);
            let quiet = self.now.turns.is_empty() && at.saturating_sub(self.now.heard) >= after;
            let before = self
                .now
                .timers
                .get(IDLE)
                .is_some_and(|&last| last >= self.now.heard);
            if quiet && !before {
                self.pursue(IDLE, &idle.request);
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
            });
            self.done.out.push(Outgoing::Resume { turn });
        }
    }

    /// Asks something of itself, unless the last time is not over.
    fn pursue(&mut self, name: &str, request: &str) {
        let mut intents = self.now.intents.values();
        if intents
            .any(|it| matches!(&it.intent.effect, Effect::Begin { name: it, .. } if it == name))
        {
            return;
        }
        let at = self.at;
        self.change(Change::Timed {
            name: name.to_owned(),
            at,
        });
        let (name, request) = (name.to_owned(), request.to_owned());
        self.intent(None, Effect::Begin { name, request });
    }

    /// The law changes if the fixed rules allow it. Either way it is known who wanted it, and why.
    pub(super) fn proposed(&mut self, edit: &Edit, by: &str) {
        let by = by.to_owned();
        match edit.apply(self.law) {
            Ok(law) => self.change(Change::Law {
                hash: law.hash(),
                law: Arc::new(law),
                why: edit.justification.clone(),
                by,
            }),
            Err(refused) => self.change(Change::LawKept {
                why: refused.to_string(),
                by,
            }),
        }
    }
}
