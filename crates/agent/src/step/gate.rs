//! Approvals: which calls a person agrees to before they are made. Every call of a skill passes here.

use std::sync::Arc;

use serde_json::Value;

use super::Work;
use super::act::rule;
use crate::approval::{self, Approval, ApprovalState, Decision, Grant, Remember};
use crate::context::{AskedQuestion, Change, Outcome, Turn};
use crate::event::{Asking, CallFacts, Effect, EffectId, FurtherCall, Outgoing, Verdict};
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
    pub(super) facts: &'a CallFacts,
}

/// What a person is told besides the call.
fn notes(asked: &ProposedCall<'_>, proposed: bool, changed: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(agent) = asked.by.strip_prefix("agent:") {
        notes.push(format!("The agent {agent} asks for this call."));
    }
    if proposed {
        notes.push("The agent proposes this call; its input was not said by you.".to_owned());
    }
    if changed {
        notes.push(CHANGED.to_owned());
    }
    notes
}

/// What a person is shown of a call, as far as it is kept to be listed.
fn listed(shown: &str) -> String {
    if shown.len() <= limits::SHOWN {
        return shown.to_owned();
    }
    let begin = crate::text::bounded(shown, limits::SHOWN);
    format!("{begin}\n(The rest is shown in the task.)")
}

/// What a person is told of a tool that is not as it was called, allowed or asked about.
const CHANGED: &str = "The tool has another description or schema than before.";

/// Whether a call that changes nothing elsewhere tells others something: a letter, a post on a board, a record that is
/// public, an address that is opened, which its host reads. Asked about if it may follow from found text, which could have
/// a secret of the caller told to its writer.
fn tells_others(skill: &str, input: &Value) -> bool {
    matches!(skill, "ask-agent" | "board-post" | "browser-navigate") || input["public"] == true
}

impl ProposedCall<'_> {
    /// The input that the call is made with, and that grants are compared with.
    fn input(&self) -> &Value {
        self.facts.bound.as_ref().unwrap_or(self.input)
    }

    /// The person for whom it is made: the caller, unless that is an agent that acts for a person.
    fn person(&self) -> &str {
        match self.facts.person.as_str() {
            "" => self.by,
            person => person,
        }
    }
}

impl Work<'_> {
    /// A call is about to be made: it may, it may not, or a person is asked. One question covers all reasons to ask.
    pub(super) fn wanted(&mut self, asked: &ProposedCall<'_>) {
        let turn = self.turn(asked.turn);
        let own = turn
            .as_ref()
            .is_some_and(|it| it.heard.origin == Origin::Own);
        let found = turn.as_ref().is_some_and(|turn| {
            turn.procedure.is_none() && self.now.follows_from_found(turn, asked.skill, asked.input)
        });
        let request = turn.map_or_else(String::new, |it| it.heard.text.clone());
        let rule = rule(self.law, asked.skill, &request);
        if rule == Some(Selection::Forbid) {
            let why = format!("the law of this agent forbids {:?}", asked.skill);
            return self.gate(None, Verdict::No(why));
        }
        if let Some(known) = self.known(asked) {
            return self.again(asked, &known);
        }
        let always = self.always_asks(asked.skill) || asked.facts.each_time;
        if let Some(agreed) = self.agreed(asked).filter(|_| !always) {
            let input = agreed.bound.unwrap_or(agreed.input);
            return self.gate(None, Verdict::Go(input));
        }
        let proposed = self.is_unsaid_proposal(asked);
        let changed = self.has_changed(asked);
        let free = asked.facts.unasked || rule == Some(Selection::Allow);
        let told = found && tells_others(asked.skill, asked.input);
        let proposed = proposed || told;
        let needed = always
            || proposed
            || changed
            || rule == Some(Selection::Ask)
            || (!free && (asked.marked || asked.facts.changes));
        let granted = match needed && !always && !changed {
            true => self.granted(asked, proposed, found).cloned(),
            false => None,
        };
        if !needed || granted.is_some() {
            if let Some(grant) = granted {
                self.change(Change::Passed {
                    turn: asked.turn.into(),
                    skill: asked.skill.to_owned(),
                    grant: grant.key(),
                    agreed: grant.agreed_by().to_owned(),
                });
            }
            self.accept(asked.skill, &asked.facts.version);
            let input = match needed {
                true => asked.input(),
                false => asked.input,
            };
            return self.gate(None, Verdict::Go(input.clone()));
        }
        if own {
            let why = "this agent acts without a caller here, so no person can approve the call"
                .to_owned();
            return self.gate(None, Verdict::No(why));
        }
        if let Some(why) = self.too_many(asked.person()) {
            return self.gate(None, Verdict::No(why));
        }
        let notes = notes(asked, proposed, changed);
        let approval = self.approval(asked, notes);
        self.change(Change::Asked {
            approval: Arc::new(approval.clone()),
        });
        self.stand(&approval);
    }

    /// The step of a procedure that a person agreed to with an earlier one, as it was shown.
    fn agreed(&self, asked: &ProposedCall<'_>) -> Option<FurtherCall> {
        let turn = self.turn(asked.turn)?;
        let mut agreed = turn.agreed.iter();
        let agreed = agreed.find(|it| {
            it.skill == asked.skill && &it.input == asked.input && it.version == asked.facts.version
        });
        agreed.cloned()
    }

    fn approval(&self, asked: &ProposedCall<'_>, notes: Vec<String>) -> Approval {
        let seconds = i64::try_from(self.law.attention.approval_seconds).unwrap_or(i64::MAX);
        Approval {
            id: self.now.next,
            uuid: asked.facts.approval.clone(),
            by: asked.by.to_owned(),
            person: asked.facts.person.clone(),
            turn: asked.turn.into(),
            place: asked.place.to_owned(),
            conversation: asked.conversation.to_owned(),
            skill: asked.skill.to_owned(),
            input: asked.input.clone(),
            bound: asked.facts.bound.clone(),
            version: asked.facts.version.clone(),
            each_time: asked.facts.each_time,
            notes,
            at: self.at,
            until: self.at.saturating_add(seconds.saturating_mul(1000)),
            standing: ApprovalState::Pending,
            further: asked.facts.further.clone(),
            digest: approval::digest(asked.shown),
            shown: listed(asked.shown),
        }
    }

    /// The same call is wanted once more. An approval that waits is for what is shown now, and one of a tool that has changed
    /// since, also if it was given, is asked for again.
    fn again(&mut self, asked: &ProposedCall<'_>, known: &Approval) {
        let open = matches!(
            known.standing,
            ApprovalState::Pending | ApprovalState::Approved(_)
        );
        if open && known.version != asked.facts.version {
            let mut notes = known.notes.clone();
            if !notes.iter().any(|it| it == CHANGED) {
                notes.push(CHANGED.to_owned());
            }
            let renewed = Approval {
                id: known.id,
                uuid: known.uuid.clone(),
                ..self.approval(asked, notes)
            };
            self.change(Change::Asked {
                approval: Arc::new(renewed.clone()),
            });
            return self.stand(&renewed);
        }
        let digest = approval::digest(asked.shown);
        let other = known.digest != digest || known.bound != asked.facts.bound;
        if known.standing == ApprovalState::Pending && other {
            self.change(Change::Shown {
                approval: known.id,
                digest,
                bound: asked.facts.bound.clone(),
                further: asked.facts.further.clone(),
                shown: listed(asked.shown),
            });
        }
        self.stand(known);
    }

    /// Whether the agent proposes the call itself, with an input that its caller did not say. A procedure is said by the
    /// law.
    fn is_unsaid_proposal(&self, asked: &ProposedCall<'_>) -> bool {
        if !(asked.facts.changes || asked.facts.claimed || asked.marked) {
            return false;
        }
        let proposed = asked.place.strip_prefix("call-");
        let effect = proposed.and_then(|it| it.split('/').next()?.parse::<EffectId>().ok());
        let intent = effect.and_then(|effect| self.now.intents.get(&effect));
        let proposed = intent.is_some_and(
            |it| matches!(&it.intent.effect, Effect::Call { skill, .. } if skill == asked.skill),
        );
        let turn = self.turn(asked.turn);
        let turn = turn.filter(|it| proposed && it.procedure.is_none());
        turn.is_some_and(|turn| self.unsaid(&turn, asked.input))
    }

    /// Whether another server has changed the skill since it was called or approved.
    fn has_changed(&self, asked: &ProposedCall<'_>) -> bool {
        let accepted = self.now.accepted.get(asked.skill);
        accepted.is_some_and(|it| *it != asked.facts.version)
    }

    /// The earlier decision that covers the call. None covers what the agent proposes after it has read other text, and
    /// none for the session what may follow from such text (`step/found.rs`).
    fn granted(&self, asked: &ProposedCall<'_>, proposed: bool, found: bool) -> Option<&Grant> {
        let has_read = |turn: &Turn| {
            let calls = turn.rounds.iter().flat_map(|it| &it.calls);
            let mut gave = calls.filter(|it| matches!(it.outcome, Some(Outcome::Gave(_))));
            !turn.found.is_empty() || gave.next().is_some()
        };
        if proposed && self.turn(asked.turn).is_some_and(|it| has_read(&it)) {
            return None;
        }
        let covers = |grant: &&Grant| {
            let here = grant.conversation.as_deref();
            grant.skill == asked.skill
                && grant.by == asked.by
                && grant.version == asked.facts.version
                && (grant.until == 0 || self.at <= grant.until)
                && here.is_none_or(|it| !found && it == asked.conversation)
                && grant.covers_input(asked.input())
        };
        self.now.grants.iter().find(covers)
    }

    /// The skill is called as another server defines it now.
    fn accept(&mut self, skill: &str, version: &str) {
        let known = self.now.accepted.get(skill);
        if !version.is_empty() && known.is_none_or(|it| it != version) {
            self.change(Change::ToolAccepted {
                skill: skill.to_owned(),
                version: version.to_owned(),
            });
        }
    }

    /// Why nothing more can be asked for a caller, if so many calls wait for a person. Each caller has a share, so that
    /// the unanswered questions of one leave room for those of others; what agents ask each other is in the share of the
    /// person at the start of their chain.
    fn too_many(&self, person: &str) -> Option<String> {
        let waiting = self.now.pending();
        let own = waiting.iter().filter(|it| it.person() == person).count();
        if own >= limits::WAITING_EACH {
            let most = limits::WAITING_EACH;
            return Some(format!(
                "{most} calls of this caller wait for a person already, which is the most: one of them has to be \
                 answered first"
            ));
        }
        let most = limits::WAITING;
        (waiting.len() >= most)
            .then(|| format!("{most} calls wait for a person already, which is the most"))
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
            let why = "no such approval is pending".to_owned();
            return self.gate(Some(approval), Verdict::No(why));
        };
        // A second decision does not change the first.
        if asked.standing != ApprovalState::Pending || self.at > asked.until {
            return self.stand(&asked);
        }
        let input = asked.bound.as_ref().unwrap_or(&asked.input);
        let standing = match decision {
            Decision::Approve(_) => ApprovalState::Approved(input.clone()),
            Decision::Modify(input) => ApprovalState::Approved(input.clone()),
            Decision::Reject(why) => ApprovalState::Rejected(why.clone()),
        };
        self.change(Change::Decided {
            approval,
            standing,
            by: by.to_owned(),
        });
        if !matches!(decision, Decision::Reject(_)) {
            self.accept(&asked.skill, &asked.version);
        }
        if matches!(decision, Decision::Approve(_)) && !asked.further.is_empty() {
            for further in &asked.further {
                self.accept(&further.skill, &further.version);
            }
            self.change(Change::Agreed {
                turn: asked.turn.clone(),
                calls: asked.further.clone(),
            });
        }
        if let Decision::Approve(remember) = decision
            && self.may_grant(&asked)
        {
            self.grant(&asked, remember, by);
        }
        if let Some(asked) = self.now.approvals.get(&approval).cloned() {
            self.stand(&asked);
        }
    }

    /// Whether a decision may count for later calls. An agent speaks for another caller each time.
    fn may_grant(&self, asked: &Approval) -> bool {
        !self.always_asks(&asked.skill) && !asked.each_time && !crate::turn::is_principal(&asked.by)
    }

    fn grant(&mut self, asked: &Approval, remember: &Remember, by: &str) {
        if crate::turn::is_principal(by) {
            return;
        }
        let (conversation, prefix) = match remember {
            Remember::Once => return,
            Remember::Session => (Some(asked.conversation.clone()), None),
            Remember::Prefix { field, prefix } => (None, Some((field.clone(), prefix.clone()))),
        };
        let caller = match asked.by.as_str() {
            "" => by,
            caller => caller,
        };
        let seconds = i64::try_from(self.law.attention.grant_seconds).unwrap_or(i64::MAX);
        let grant = Grant {
            skill: asked.skill.clone(),
            conversation,
            prefix,
            by: caller.to_owned(),
            agreed: by.to_owned(),
            from: asked.id,
            id: asked.uuid.clone(),
            until: self.at.saturating_add(seconds.saturating_mul(1000)),
            version: asked.version.clone(),
        };
        self.change(Change::Granted { grant });
    }

    /// Sends the verdict for the present state of an approval.
    fn stand(&mut self, asked: &Approval) {
        let verdict = match &asked.standing {
            ApprovalState::Pending if self.at > asked.until => {
                self.expire(asked.id);
                Verdict::No("the approval expired: no decision in time".to_owned())
            }
            ApprovalState::Pending => Verdict::Ask(Asking {
                notes: asked.notes.clone(),
                grants: self.may_grant(asked),
                further: self.further_steps(&asked.turn),
            }),
            ApprovalState::Approved(input) => Verdict::Go(input.clone()),
            ApprovalState::Rejected(why) => Verdict::Rejected(why.clone()),
            ApprovalState::Expired => {
                Verdict::No("the approval expired: no decision in time".to_owned())
            }
        };
        self.gate(Some(asked.id), verdict);
    }

    pub(super) fn expire(&mut self, approval: EffectId) {
        let (standing, by) = (ApprovalState::Expired, "time".to_owned());
        self.change(Change::Decided {
            approval,
            standing,
            by,
        });
    }

    /// A skill asks. To ask the same at the same place is no new question.
    pub(super) fn asked(&mut self, turn: &str, question: AskedQuestion) {
        let known = self.now.questions.get(turn).and_then(|it| it.open());
        if known.is_some_and(|it| it.place == question.place && it.message == question.message) {
            return;
        }
        self.change(Change::Questioned {
            turn: turn.into(),
            question: Arc::new(question),
        });
    }

    /// A message was taken as an answer.
    pub(super) fn taken(&mut self, turn: &str, message: &str) {
        if !message.is_empty() {
            self.change(Change::Taken {
                turn: turn.into(),
                message: message.to_owned(),
            });
        }
    }

    fn gate(&mut self, approval: Option<EffectId>, verdict: Verdict) {
        self.done.out.push(Outgoing::Gate { approval, verdict });
    }
}
