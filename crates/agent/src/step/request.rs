//! The stages of a request: received, queued, recalled, thought about, answered.

use std::sync::Arc;

use super::Work;
use crate::approval::ApprovalState;
use crate::context::{Change, Outcome, Round, Stage, Turn};
use crate::conversation::Line;
use crate::event::{
    Candidate, Effect, EffectId, End, MemoryResult, Outgoing, Recollection, Request, TurnAnswer,
    TurnId,
};
use crate::law::{Edit, OnConflict, Origin};
use crate::message::Body;
use crate::text;
use skill::NOT_APPROVED;

impl Work<'_> {
    /// A request has arrived. One that arrives twice counts once.
    pub(super) fn heard(&mut self, heard: &Request) {
        let id = heard.turn.as_str();
        if let Some(answer) = self.now.answered(id) {
            let (turn, answer) = (heard.turn.clone(), TurnAnswer::clone(answer));
            self.done.out.push(Outgoing::Say { turn, answer });
            return;
        }
        if self.now.turns.contains_key(id) {
            return;
        }
        if heard.origin != Origin::Own {
            let at = self.at;
            self.change(Change::Attended { at });
        }
        let usual = self.priority(heard);
        let turn = Turn {
            priority: heard.priority.unwrap_or(usual).min(100),
            ceiling: match heard.may_raise || heard.origin == Origin::Own {
                true => 100,
                false => usual,
            },
            order: self.now.next.get(),
            began: self.at,
            stage: Stage::Queued,
            found: Arc::default(),
            rounds: Vec::new(),
            tokens: 0,
            procedure: None,
            agreed: Vec::new(),
            answer: None,
            asides: Vec::new(),
            heard: heard.clone(),
        };
        let waiting = self.now.queue().len();
        let begins = waiting == 0 && self.has_room();
        self.change(Change::Opened {
            turn: Arc::new(turn),
        });
        let most = self.law.attention.queue;
        if !begins && waiting >= most as usize {
            let text = match self.now.displaced_by(heard.person()) {
                Some(last) if last != id => {
                    let text = format!(
                        "The queue is full ({most} requests, attention.queue), and this caller has the most in it: \
                         another caller's request took this place. Ask again later."
                    );
                    self.conclude(&last, text, End::Refused);
                    None
                }
                _ => Some(format!(
                    "{waiting} requests are waiting already (attention.queue is {most}); ask again later."
                )),
            };
            if let Some(text) = text {
                return self.conclude(id, text, End::Refused);
            }
        }
        if let Some(letter) = &heard.letter
            && !matches!(letter.body, Body::Request { .. })
        {
            return self.letter(heard, &letter.body);
        }
        if let Some((goal, then)) = self.conflict(&heard.text) {
            match then {
                OnConflict::Allow => {}
                // There is no caller to ask about what it does by itself.
                OnConflict::Ask if heard.origin != Origin::Own => {
                    let stage = Stage::Asking;
                    self.change(Change::Stage {
                        turn: heard.turn.clone(),
                        stage,
                    });
                    let question =
                        format!("That goes against what I am for: {goal} Do you mean it?");
                    self.intent(Some(id), Effect::Clarify { question });
                }
                OnConflict::Refuse | OnConflict::Ask => {
                    let text = format!("That goes against what I am for: {goal}");
                    self.conclude(id, text, End::Refused);
                }
            }
        }
    }

    fn priority(&self, heard: &Request) -> u8 {
        let mut rules = self.law.goal_priority.iter();
        let rule = rules.find(|rule| {
            (rule.from.is_empty() || rule.from.contains(&heard.origin))
                && text::has_any(&heard.text, &rule.words)
        });
        rule.map_or(50, |rule| rule.priority)
    }

    /// The goal that a request goes against, and what the law says to that.
    fn conflict(&self, request: &str) -> Option<(String, OnConflict)> {
        self.law.goal_conflict.iter().find_map(|rule| {
            let mut goals = self.now.goals.iter();
            let goal = goals.find(|goal| text::has_any(&goal.text, &rule.goal))?;
            text::has_any(request, &rule.request).then(|| (goal.text.clone(), rule.then))
        })
    }

    /// What another agent says without wanting anything.
    fn letter(&mut self, heard: &Request, body: &Body) {
        let trust = self.trust(&heard.from);
        let text = match body {
            Body::Claim { confidence, .. } => {
                let sure = confidence * trust;
                let least = self.law.clarification.min_claim;
                if sure < least {
                    let text = format!(
                        "I take that to be {sure:.2} sure, and do not take it over: what is it based on?"
                    );
                    return self.conclude(&heard.turn, text, End::Refused);
                }
                match self.weigh_said(heard).map(|it| it.believe) {
                    Some(true) => format!("Noted, as {sure:.2} sure."),
                    Some(false) => format!(
                        "Noted, as {sure:.2} sure. I do not believe it yet: my law (memory.rules) keeps it as an observation."
                    ),
                    None => return self.discard(heard),
                }
            }
            Body::Proposal {
                justification,
                target,
                change,
                evidence,
                ..
            } => {
                let edit = Edit {
                    target: target.clone(),
                    change: change.clone(),
                    justification: justification.clone(),
                };
                return self.proposal(heard, edit, evidence.clone());
            }
            _ if self.weigh_said(heard).is_none() => return self.discard(heard),
            _ => "Noted.".to_owned(),
        };
        self.conclude(&heard.turn, text, End::Answered);
    }

    /// A letter is not taken over.
    fn discard(&mut self, heard: &Request) {
        let text = "I do not take that over: my law (memory.rules) discards it.".to_owned();
        self.conclude(&heard.turn, text, End::Refused);
    }

    /// How far another agent is believed.
    pub(super) fn trust(&self, agent: &str) -> f64 {
        let mut rules = self.law.agent_choice.iter();
        rules
            .find(|rule| rule.agent == agent)
            .map_or(0.5, |rule| rule.trust)
    }

    /// Begins what can be begun, the most important first.
    pub(super) fn admit(&mut self) {
        while self.has_room() {
            let Some(next) = self.now.queue().first().map(|(id, _)| (*id).to_owned()) else {
                return;
            };
            self.begin(&next);
        }
    }

    /// Whether another request can be begun.
    fn has_room(&self) -> bool {
        let most = self.law.attention.turns as usize;
        !self.now.paused && self.now.busy() < most && self.now.open() < crate::limits::OPEN
    }

    fn begin(&mut self, id: &str) {
        let Some(turn) = self.turn(id) else {
            return;
        };
        let limit = self.law.attention.recall;
        if limit == 0 {
            return self.decide(id);
        }
        self.change(Change::Stage {
            turn: id.into(),
            stage: Stage::Recalling,
        });
        let question = text::bounded(&turn.heard.text, crate::limits::LINE);
        self.intent(Some(id), Effect::Recall { question, limit });
    }

    pub(super) fn recalled(&mut self, effect: EffectId, found: &[Recollection]) {
        if let Some((turn, _)) = self.settle_for(effect) {
            let id = turn.heard.turn.clone();
            let most = self.law.attention.recall as usize;
            let found = found.iter().take(most).cloned().collect();
            self.change(Change::Found {
                turn: id.clone(),
                found: Arc::new(found),
            });
            self.decide(&id);
        }
    }

    /// By a procedure of the law, if one fits; otherwise by thinking.
    pub(super) fn decide(&mut self, id: &str) {
        let Some(turn) = self.turn(id) else {
            return;
        };
        let mut procedures = self.law.procedures.iter();
        let known = procedures.find_map(|it| {
            let slots = text::slots(&it.when, &turn.heard.text)?;
            Some((it.name.clone(), slots))
        });
        match known {
            Some((name, slots)) => {
                self.change(Change::Procedure {
                    turn: id.into(),
                    name,
                    slots,
                });
                self.proceed(id);
            }
            None => self.think(id),
        }
    }

    pub(super) fn think(&mut self, id: &str) {
        self.change(Change::Stage {
            turn: id.into(),
            stage: Stage::Thinking,
        });
        self.intent(Some(id), Effect::Think);
    }

    pub(super) fn thought(&mut self, effect: EffectId, round: Round, tokens: u64, declined: bool) {
        let Some((turn, _)) = self.settle_for(effect) else {
            return;
        };
        let id = turn.heard.turn.clone();
        let acts = !round.calls.is_empty();
        let text = round.text.clone();
        self.change(Change::Round {
            turn: id.clone(),
            round: Arc::new(round),
            tokens,
        });
        let budget = self.law.attention.tokens;
        if acts && turn.tokens + tokens > budget && budget > 0 {
            let text =
                format!("I stopped: this has cost more than the {budget} tokens I may spend.");
            return self.conclude(&id, text, End::Failed);
        }
        match acts {
            true => {
                self.change(Change::Stage {
                    turn: id.clone(),
                    stage: Stage::Acting,
                });
                self.advance(&id);
            }
            // What was said may be knowledge, also if no request was understood in it.
            false if declined => self.conclude_with(&id, text, End::Refused, self.candidates(&id)),
            false => {
                let (text, end) = ending(&turn, self.spoken(&turn, &text));
                self.conclude(&id, text, end);
            }
        }
    }

    /// What a person said to a question about the request itself, or about a call.
    pub(super) fn clarified(&mut self, effect: EffectId, said: Option<&str>) {
        let Some((turn, intent)) = self.settle_for(effect) else {
            return;
        };
        let id = turn.heard.turn.clone();
        if let Effect::Clarify { question } = intent.effect {
            let line = |by: Option<&str>, text: &str| Line {
                by: by.map(str::to_owned),
                text: text::bounded(text, crate::limits::LINE),
                found: false,
            };
            let asked = line(None, &question);
            self.change(Change::Aside {
                turn: id.clone(),
                line: asked,
            });
            if let Some(said) = said {
                let line = line(Some(&turn.heard.from), said);
                self.change(Change::Aside {
                    turn: id.clone(),
                    line,
                });
            }
        }
        let agreed = said.is_some_and(crate::answer::agrees);
        match (turn.stage, agreed) {
            (Stage::Asking, true) => {
                self.change(Change::Stage {
                    turn: id,
                    stage: Stage::Queued,
                });
                // Its turn comes with those of the others; it is not asked about again.
            }
            (Stage::Asking, false) => {
                self.conclude(&id, "Then I leave it.".to_owned(), End::Refused);
            }
            (_, agreed) => self.confirmed(&id, effect, agreed, said),
        }
    }

    /// What is to be said. Where that is what a skill gave, word for word, it is what the skill says of it for people.
    fn spoken(&self, turn: &Turn, text: &str) -> String {
        let calls = turn.rounds.iter().flat_map(|it| &it.calls);
        let gave = calls.filter_map(|call| match &call.outcome {
            Some(Outcome::Gave(output)) => Some(output),
            _ => None,
        });
        let mut repeated = gave.filter(|output| text::in_words(output) == text);
        let said = repeated.next().and_then(|output| text::said_of(output));
        said.unwrap_or(text).to_owned()
    }

    /// A request is decided; what is worth it is remembered first.
    pub(super) fn conclude(&mut self, id: &str, text: String, end: End) {
        let candidates = match end {
            End::Answered => self.candidates(id),
            _ => Vec::new(),
        };
        self.conclude_with(id, text, end, candidates);
    }

    fn conclude_with(&mut self, id: &str, text: String, end: End, candidates: Vec<Candidate>) {
        let answer = TurnAnswer { text, end };
        self.change(Change::Concluded {
            turn: id.into(),
            answer,
        });
        if candidates.is_empty() {
            return self.finish(id, &[]);
        }
        self.change(Change::Stage {
            turn: id.into(),
            stage: Stage::Remembering,
        });
        self.intent(Some(id), Effect::Remember { candidates });
    }

    pub(super) fn remembered(&mut self, effect: EffectId, outcomes: &[MemoryResult]) {
        if let Some((turn, _)) = self.settle_for(effect) {
            self.finish(&turn.heard.turn, outcomes);
        }
    }

    pub(super) fn finish(&mut self, id: &str, outcomes: &[MemoryResult]) {
        let Some(over) = self.turn(id) else {
            return;
        };
        let Some(mut answer) = over.answer.clone() else {
            return;
        };
        if let Some(problem) = outcomes.iter().find_map(|it| it.problem.as_deref())
            && self.is_letter(id)
        {
            answer.text = format!("I could not note it: {problem}");
            answer.end = End::Failed;
        }
        let against = outcomes.iter().filter_map(|it| it.against.as_deref());
        for against in against.filter(|_| self.law.belief_conflict.tell) {
            answer.text.push_str("\nThis contradicts what I hold: ");
            answer.text.push_str(against);
        }
        let turn = TurnId::from(id);
        self.change(Change::Ended {
            turn: turn.clone(),
            answer: Arc::new(answer.clone()),
        });
        self.score(&over, answer.end, outcomes);
        self.done.out.push(Outgoing::Say { turn, answer });
    }

    /// Whether a request is a letter that says something without wanting anything.
    fn is_letter(&self, id: &str) -> bool {
        let turn = self.turn(id);
        let letter = turn.as_ref().and_then(|it| it.heard.letter.as_ref());
        letter.is_some_and(|it| matches!(it.body, Body::Claim { .. } | Body::Answer { .. }))
    }

    /// A request was cancelled: its effects and its approvals end with it.
    pub(super) fn cancelled(&mut self, id: &str) {
        let wanted = self.now.intents.values();
        let wanted = wanted.filter(|it| it.intent.turn.as_deref() == Some(id));
        let wanted: Vec<EffectId> = wanted.map(|it| it.intent.id).collect();
        for effect in wanted {
            self.change(Change::Settled { effect });
        }
        let waiting = self.now.approvals.values();
        let waiting = waiting.filter(|it| it.turn == id && it.standing == ApprovalState::Pending);
        let waiting: Vec<EffectId> = waiting.map(|it| it.id).collect();
        for approval in waiting {
            let standing = ApprovalState::Rejected("the request was cancelled".to_owned());
            self.change(Change::Decided {
                approval,
                standing,
                by: "cancelled".to_owned(),
            });
        }
        if self.now.turns.contains_key(id) {
            let answer = TurnAnswer {
                text: String::new(),
                end: End::Cancelled,
            };
            self.change(Change::Ended {
                turn: id.into(),
                answer: Arc::new(answer),
            });
        }
    }

    pub(super) fn failed(&mut self, effect: EffectId, code: &str, message: &str) {
        let Some(pending) = self.now.intents.get(&effect) else {
            return;
        };
        match &pending.intent.effect {
            Effect::Recall { .. } => self.recalled(effect, &[]),
            Effect::Remember { .. } => self.remembered(effect, &[]),
            Effect::Clarify { .. } => self.clarified(effect, None),
            Effect::Begin { .. } => drop(self.settle(effect)),
            Effect::Call { .. } => self.refused(effect, code, message),
            Effect::Test { .. } => self.answer_proposal(effect),
            Effect::Amend { .. } => {
                if let Some((turn, _)) = self.settle_for(effect) {
                    let text = format!("I keep my law: {message}");
                    self.conclude(&turn.heard.turn, text, End::Failed);
                }
            }
            Effect::Think => {
                if let Some((turn, _)) = self.settle_for(effect) {
                    let text = format!("I could not think about it: {message}");
                    self.conclude(&turn.heard.turn, text, End::Failed);
                }
            }
        }
    }
}

/// How a request ends with these last words. Work that a person did not approve of, and that was not done in another way
/// after that, was not done; neither is a failed call that is only reported.
fn ending(turn: &Turn, text: String) -> (String, End) {
    let calls = turn.rounds.iter().flat_map(|it| &it.calls);
    let outcomes: Vec<&Outcome> = calls.filter_map(|it| it.outcome.as_ref()).collect();
    let gave = |it: &&&Outcome| matches!(it, Outcome::Gave(_));
    let mut since = outcomes.iter().rev().take_while(|it| !gave(it));
    let refused = since.find_map(|it| match it {
        Outcome::Failed(code, why) if code == NOT_APPROVED => Some(why),
        _ => None,
    });
    if let Some(why) = refused {
        let text = match text.contains(why.as_str()) {
            true => text,
            false => format!("{text}\nIt was not approved: {why}"),
        };
        let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
        return (text, End::NotApproved);
    }
    match outcomes.last() {
        Some(Outcome::Failed(code, why)) if text == format!("error: {why}") => {
            let end = match code.as_str() {
                "refused" | "forbidden" => End::Refused,
                _ => End::Failed,
            };
            (why.clone(), end)
        }
        _ => (text, End::Answered),
    }
}

/// The name in memory of a source of this origin.
pub(crate) fn source(origin: Origin, from: &str) -> String {
    match origin {
        Origin::Own => "own".to_owned(),
        origin => format!("{}:{from}", origin.name()),
    }
}
