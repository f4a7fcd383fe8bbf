//! Approvals: which calls a person agrees to before they are made. Every call of a skill passes here.

use std::sync::Arc;

use serde_json::Value;

use super::Work;
use super::act::selection;
use crate::approval::{self, Approval, Decision, Grant, Remember, Standing};
use crate::context::{AskedQuestion, Change};
use crate::event::{EffectId, Outgoing, Verdict};
use crate::law::{Origin, Selection};
use crate::limits;

/// A call that is about to be made.
pub(super) struct ProposedCall<'a> {
    pub(super) turn: &'a str,
    pub(super) place: &'a str,
    pub(super) conversation: &'a str,
    pub(super) skill: &'a str,
    pub(super) input: &'a Value,
    pub(super) marked: bool,
    pub(super) by: &'a str,
    pub(super) shown: &'a str,
}

impl Grant {
    /// Whether it counts for a call.
    fn covers(&self, asked: &ProposedCall<'_>) -> bool {
        let here = self.conversation.as_deref();
        let begins = |(field, prefix): &(String, String)| {
            let value = asked.input.get(field).and_then(Value::as_str);
            // A path that climbs out of its beginning does not begin so.
            value.is_some_and(|value| value.starts_with(prefix) && !value.contains(".."))
        };
        self.skill == asked.skill
            && self.by == asked.by
            && here.is_none_or(|it| it == asked.conversation)
            && self.prefix.as_ref().is_none_or(begins)
    }
}

impl Work<'_> {
    pub(super) fn wanted(&mut self, asked: &ProposedCall<'_>) {
        let turn = self.turn(asked.turn);
        let own = turn
            .as_ref()
            .is_some_and(|it| it.heard.origin == Origin::Own);
        let request = turn.map_or_else(String::new, |it| it.heard.text.clone());
        let selection = selection(self.law, asked.skill, &request);
        if selection == Selection::Forbid {
            let why = format!("the law of this agent forbids {:?}", asked.skill);
            return self.gate(None, Verdict::No(why));
        }
        let digest = approval::digest(asked.shown);
        if let Some(known) = self.known(asked) {
            if known.standing == Standing::Pending && known.digest != digest {
                let approval = known.id;
                self.change(Change::Shown { approval, digest });
            }
            return self.stand(&known);
        }
        let always = self.always_asks(asked.skill);
        let needed = asked.marked || always || selection == Selection::Ask;
        let mut grants = self.now.grants.iter();
        let granted = !always && grants.any(|it| it.covers(asked));
        if !needed || granted {
            return self.gate(None, Verdict::Go(asked.input.clone()));
        }
        if own {
            let why = "nobody is there to agree to what this agent does by itself".to_owned();
            return self.gate(None, Verdict::No(why));
        }
        if self.now.pending().len() >= limits::WAITING {
            let why = format!("{} calls wait for a person already", limits::WAITING);
            return self.gate(None, Verdict::No(why));
        }
        let seconds = i64::try_from(self.law.attention.approval_seconds).unwrap_or(i64::MAX);
        let approval = Approval {
            id: self.now.next,
            turn: asked.turn.to_owned(),
            place: asked.place.to_owned(),
            conversation: asked.conversation.to_owned(),
            skill: asked.skill.to_owned(),
            input: asked.input.clone(),
            at: self.at,
            until: self.at.saturating_add(seconds.saturating_mul(1000)),
            standing: Standing::Pending,
            digest,
        };
        let id = approval.id;
        self.change(Change::Asked {
            approval: Arc::new(approval),
        });
        self.gate(Some(id), Verdict::Ask);
    }

    /// The approval of the same call, if it was wanted before: it is begun again after a restart.
    fn known(&self, asked: &ProposedCall<'_>) -> Option<Arc<Approval>> {
        let mut approvals = self.now.approvals.values();
        let known = approvals.find(|it| {
            it.turn == asked.turn
                && it.place == asked.place
                && it.skill == asked.skill
                && &it.input == asked.input
        });
        known.cloned()
    }

    fn always_asks(&self, skill: &str) -> bool {
        let mut always = self.law.frozen.always_ask.iter();
        always.any(|it| skill.starts_with(it.as_str()))
    }

    pub(super) fn decided(&mut self, approval: EffectId, decision: &Decision, by: &str) {
        let Some(asked) = self.now.approvals.get(&approval).cloned() else {
            let why = "nobody asked for that".to_owned();
            return self.gate(Some(approval), Verdict::No(why));
        };
        // Who decides second finds it decided.
        if asked.standing != Standing::Pending || self.at > asked.until {
            return self.stand(&asked);
        }
        let standing = match decision {
            Decision::Approve(_) => Standing::Approved(asked.input.clone()),
            Decision::Modify(input) => Standing::Approved(input.clone()),
            Decision::Reject(why) => Standing::Rejected(why.clone()),
        };
        self.change(Change::Decided {
            approval,
            standing,
            by: by.to_owned(),
        });
        if let Decision::Approve(remember) = decision
            && !self.always_asks(&asked.skill)
        {
            self.grant(&asked, remember, by);
        }
        if let Some(asked) = self.now.approvals.get(&approval).cloned() {
            self.stand(&asked);
        }
    }

    fn grant(&mut self, asked: &Approval, remember: &Remember, by: &str) {
        // An agent speaks for another caller each time.
        if crate::turn::is_principal(by) {
            return;
        }
        let (conversation, prefix) = match remember {
            Remember::Once => return,
            Remember::Session => (Some(asked.conversation.clone()), None),
            Remember::Prefix { field, prefix } => (None, Some((field.clone(), prefix.clone()))),
        };
        let skill = asked.skill.clone();
        let grant = Grant {
            skill,
            conversation,
            prefix,
            by: by.to_owned(),
            from: asked.id,
        };
        self.change(Change::Granted { grant });
    }

    /// What follows from where an approval stands.
    fn stand(&mut self, asked: &Approval) {
        let verdict = match &asked.standing {
            Standing::Pending if self.at > asked.until => {
                self.expire(asked.id);
                Verdict::No("nobody decided in time".to_owned())
            }
            Standing::Pending => Verdict::Ask,
            Standing::Approved(input) => Verdict::Go(input.clone()),
            Standing::Rejected(why) => Verdict::No(why.clone()),
            Standing::Expired => Verdict::No("nobody decided in time".to_owned()),
        };
        self.gate(Some(asked.id), verdict);
    }

    pub(super) fn expire(&mut self, approval: EffectId) {
        let (standing, by) = (Standing::Expired, "time".to_owned());
        self.change(Change::Decided {
            approval,
            standing,
            by,
        });
    }

    /// A skill asks. To ask the same at the same place is no new question.
    pub(super) fn asked(&mut self, turn: &str, place: &str, message: &str) {
        let known = self.now.questions.get(turn).and_then(|it| it.open());
        if known.is_some_and(|it| it.place == place && it.message == message) {
            return;
        }
        let question = AskedQuestion {
            place: place.to_owned(),
            message: message.to_owned(),
            at: self.at,
            answer: None,
        };
        self.change(Change::Questioned {
            turn: turn.to_owned(),
            question: Arc::new(question),
        });
    }

    /// A message was taken as an answer.
    pub(super) fn taken(&mut self, turn: &str, message: &str) {
        if !message.is_empty() {
            self.change(Change::Taken {
                turn: turn.to_owned(),
                message: message.to_owned(),
            });
        }
    }

    fn gate(&mut self, approval: Option<EffectId>, verdict: Verdict) {
        self.done.out.push(Outgoing::Gate { approval, verdict });
    }
}
