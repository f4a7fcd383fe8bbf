//! The state of an agent: the fold of the changes that were recorded. Only the agent's own steps change it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use memory::Millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::QuestionAnswer;

use crate::approval::{Approval, ApprovalState, Grant};
use crate::conversation::{Conversations, Line};
use crate::event::{
    Effect, EffectId, FurtherCall, Intent, Recollection, Request, TurnAnswer, TurnId,
};
use crate::law::{Edit, Law};
use crate::limits;
use crate::revision::{LawGate, ProposedLaw};
use crate::share;

/// The identity of an agent. The id is that of its birth; name and description are those of its manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name that other agents and programs use; it never changes.
    pub id: String,
    pub name: String,
    pub description: String,
}

/// The purpose of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    pub text: String,
}

/// Something an agent can do, as far as its steps have to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    /// The id of the skill.
    pub id: String,
    pub read_only: bool,
    /// It can be begun again.
    pub replayable: bool,
    /// A person agrees before it is done.
    pub approval: bool,
    /// Another agent does it: to call it is to wait for that agent.
    #[serde(default)]
    pub elsewhere: bool,
}

/// The state of an agent. A step works on a copy, so long parts that seldom change are shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    pub(crate) identity: Arc<Identity>,
    pub(crate) goals: Arc<Vec<Goal>>,
    pub(crate) abilities: Arc<BTreeMap<String, Ability>>,
    /// The requests that it has not answered.
    pub(crate) turns: BTreeMap<TurnId, Arc<Turn>>,
    /// The intents that no event has settled yet. The name in stored snapshots is older than the word.
    #[serde(rename = "wishes")]
    pub(crate) intents: BTreeMap<EffectId, Arc<Pending>>,
    /// Calls that a person decides about, and the last that were decided.
    pub(crate) approvals: BTreeMap<EffectId, Arc<Approval>>,
    pub(crate) grants: Arc<Vec<Grant>>,
    /// The definitions of other servers' skills that were called or approved, by the id of the skill.
    #[serde(default)]
    pub(crate) accepted: Arc<BTreeMap<String, String>>,
    /// Tasks with questions that were asked or answered, until they end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) questions: BTreeMap<TurnId, Arc<Questions>>,
    /// The last messages, by caller and conversation.
    pub(crate) conversations: Arc<Conversations>,
    /// How the last requests ended. A step that ends one copies the list, so that its entries are shared.
    pub(crate) ended: Arc<VecDeque<Ended>>,
    pub(crate) paused: bool,
    pub(crate) fault: Option<String>,
    /// The next number of an effect.
    pub(crate) next: EffectId,
    /// When it last heard something of others.
    pub(crate) heard: Millis,
    /// When each timer went off last; an idle pursuit is one, too.
    pub(crate) timers: Arc<BTreeMap<String, Millis>>,
    /// The version of its law, from 1.
    pub(crate) law_version: u64,
    /// How its law may change, and what is under way. A snapshot without it is read from the journal anew.
    pub(crate) revision: Arc<LawGate>,
}

/// A request that is over, and its answer.
type Ended = Arc<(TurnId, Arc<TurnAnswer>)>;

/// An effect that the agent wants and has not got a result of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Stored snapshots have it under its earlier name.
    #[serde(rename = "wish")]
    pub(crate) intent: Intent,
    /// Whether it was given out to be done. What is wanted during a pause is not.
    pub(crate) given: bool,
    /// When it was wanted.
    #[serde(default)]
    pub(crate) at: Millis,
}

/// A request, while it is worked on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub(crate) heard: Request,
    pub(crate) priority: u8,
    /// The highest priority that counts against requests of other callers.
    #[serde(default = "highest")]
    pub(crate) ceiling: u8,
    /// Its place among all requests.
    pub(crate) order: u64,
    /// When it arrived. Older journals have no such field.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub(crate) began: Millis,
    pub(crate) stage: Stage,
    pub(crate) found: Arc<Vec<Recollection>>,
    pub(crate) rounds: Vec<Arc<Round>>,
    pub(crate) tokens: u64,
    /// The procedure by which it is done: its place in the law, and what its slots stand for.
    pub(crate) procedure: Option<(String, BTreeMap<String, String>)>,
    /// Steps of the procedure that a person agreed to with an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) agreed: Vec<FurtherCall>,
    /// The answer, which is sent after memory was updated.
    pub(crate) answer: Option<TurnAnswer>,
    /// Questions about the request and their answers.
    pub(crate) asides: Vec<Line>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_unknown(at: &Millis) -> bool {
    *at == 0
}

fn highest() -> u8 {
    100
}

/// The questions of one task, and the messages that were taken as answers in it: to questions of skills, of the agent
/// itself, and about approvals. After a restart the last message of a task is delivered again; one that is in here is
/// not an answer to the next question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Questions {
    pub(crate) asked: Vec<AskedQuestion>,
    pub(crate) taken: Vec<String>,
}

impl Questions {
    /// The answer to the question of a place, if there is one.
    pub(crate) fn answer(&self, place: &str) -> Option<&QuestionAnswer> {
        let mut asked = self.asked.iter();
        asked.find(|it| it.place == place)?.answer.as_ref()
    }

    /// The name of the person that answered the question of a place.
    pub(crate) fn answered_by(&self, place: &str) -> Option<&str> {
        let mut asked = self.asked.iter();
        let by = asked.find(|it| it.place == place)?.by.as_str();
        (!by.is_empty()).then_some(by)
    }

    /// The question that waits for an answer.
    pub(crate) fn open(&self) -> Option<&AskedQuestion> {
        self.asked.iter().find(|it| it.answer.is_none())
    }
}

/// A question of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedQuestion {
    pub(crate) place: String,
    pub(crate) message: String,
    /// The caller who is asked, and the conversation it belongs to. Older journals have neither.
    #[serde(default, rename = "of", skip_serializing_if = "String::is_empty")]
    pub(crate) caller: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) conversation: String,
    /// When it was asked.
    pub(crate) at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<QuestionAnswer>,
    /// The name of the person that gave it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) by: String,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Queued,
    /// The caller is asked to confirm the request.
    Asking,
    /// Relevant records are being recalled.
    Recalling,
    /// It is thought about.
    Thinking,
    Acting,
    /// It is put into memory.
    Remembering,
}

/// One thought about a request, and what it led to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub(crate) text: String,
    pub(crate) thoughts: Vec<String>,
    pub(crate) calls: Vec<Called>,
}

/// A call, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Called {
    /// The id that the model gave it.
    pub(crate) id: String,
    pub(crate) skill: String,
    pub(crate) input: Value,
    /// Its number, once it was given out.
    pub(crate) effect: Option<EffectId>,
    pub(crate) outcome: Option<Outcome>,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Gave(Value),
    /// Nothing: a code, and why.
    Failed(String, String),
}

/// The activity of an agent, as others are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Idle,
    Thinking,
    Executing,
    /// It waits for a person.
    AwaitingApproval,
    /// It cannot go on.
    Error,
}

/// A change of the state. Changes are recorded, and the state is what they add up to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    Born {
        identity: Identity,
        goals: Vec<Goal>,
    },
    /// Its law has become this.
    Law {
        law: Arc<Law>,
        hash: String,
        why: String,
        by: String,
        /// Whether it is what the manifest and the law file say.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        manifest: bool,
    },
    /// A change of its law was refused.
    LawKept {
        why: String,
        by: String,
        /// The proposal. Older journals have no such field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit: Option<Edit>,
    },
    /// A change of its law is proposed and under way.
    LawProposed { proposed: Arc<ProposedLaw> },
    /// The gate of its law has come so far.
    Gate { step: revise::Change },
    /// It has looked through its journal for changes of its law.
    Reflected,
    /// It is for these, by its manifest.
    Goals { goals: Vec<Goal> },
    /// Its manifest names or describes it so.
    Described { identity: Identity },
    /// It is able to do these.
    Able { abilities: Vec<Ability> },
    /// A request is there.
    Opened { turn: Arc<Turn> },
    /// A request has come so far.
    Stage { turn: TurnId, stage: Stage },
    /// These were called to mind.
    Found {
        turn: TurnId,
        found: Arc<Vec<Recollection>>,
    },
    /// A request is done by a procedure.
    Procedure {
        turn: TurnId,
        name: String,
        slots: BTreeMap<String, String>,
    },
    /// It was thought about.
    Round {
        turn: TurnId,
        round: Arc<Round>,
        tokens: u64,
    },
    /// A call of the last round was given out under this number.
    Calling {
        turn: TurnId,
        call: usize,
        effect: EffectId,
    },
    /// A call of the last round came to this.
    Outcome {
        turn: TurnId,
        call: usize,
        outcome: Outcome,
    },
    /// A skill asks in a task.
    Questioned {
        turn: TurnId,
        question: Arc<AskedQuestion>,
    },
    /// A question is answered, or withdrawn if there is no answer.
    Replied {
        turn: TurnId,
        place: String,
        answer: Option<QuestionAnswer>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
    },
    /// A message was taken as an answer.
    Taken { turn: TurnId, message: String },
    /// The questions of a task are forgotten.
    Closed { turn: TurnId },
    /// A question was asked or answered.
    Aside { turn: TurnId, line: Line },
    /// A request will be answered so.
    Concluded { turn: TurnId, answer: TurnAnswer },
    /// A request has been answered.
    Ended {
        turn: TurnId,
        answer: Arc<TurnAnswer>,
    },
    #[serde(rename = "wished")]
    Intended { pending: Arc<Pending> },
    /// Something wanted during a pause is given out.
    Given { effect: EffectId },
    /// An effect has ended, or its request was cancelled.
    Settled { effect: EffectId },
    /// A call waits for a person.
    Asked { approval: Arc<Approval> },
    /// The person is shown something else than before.
    Shown {
        approval: EffectId,
        digest: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bound: Option<Value>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further: Vec<FurtherCall>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        shown: String,
    },
    /// A call was decided about.
    Decided {
        approval: EffectId,
        standing: ApprovalState,
        by: String,
    },
    /// A person agreed to later steps of the procedure of a request.
    Agreed {
        turn: TurnId,
        calls: Vec<FurtherCall>,
    },
    /// A decision counts for later calls.
    Granted { grant: Grant },
    /// A call was made without a question because of a grant.
    Passed {
        turn: TurnId,
        skill: String,
        /// The id of the grant outside of the agent.
        grant: String,
        /// The person who agreed to it.
        agreed: String,
    },
    /// A grant counts no more.
    Revoked { grant: String, by: String },
    /// This definition of another server's skill is the one that was called or approved.
    ToolAccepted { skill: String, version: String },
    /// It stopped, or went on.
    Paused { paused: bool },
    /// It cannot go on, or can again.
    Fault { problem: Option<String> },
    /// It heard something of others.
    Attended { at: Millis },
    /// A timer went off.
    Timed { name: String, at: Millis },
}

impl Context {
    /// Takes a recorded change in. This is all there is to a restart.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Born { identity, goals } => {
                self.identity = Arc::new(identity.clone());
                self.goals = Arc::new(goals.clone());
            }
            Change::Law { hash, .. } => {
                self.law_version += 1;
                let version = self.law_version;
                Arc::make_mut(&mut self.revision).follow(version, hash);
            }
            Change::LawKept { .. } => {}
            Change::LawProposed { proposed } => {
                Arc::make_mut(&mut self.revision).proposed = Some(proposed.clone());
            }
            Change::Gate { step } => Arc::make_mut(&mut self.revision).apply(step),
            Change::Reflected => Arc::make_mut(&mut self.revision).unreflected = 0,
            Change::Goals { goals } => self.goals = Arc::new(goals.clone()),
            Change::Described { identity } => self.identity = Arc::new(identity.clone()),
            Change::Able { abilities } => {
                let abilities = abilities.iter().map(|it| (it.id.clone(), it.clone()));
                self.abilities = Arc::new(abilities.collect());
            }
            Change::Opened { turn } => {
                self.next = self.next.max(EffectId::new(turn.order).next());
                self.turns.insert(turn.heard.turn.clone(), turn.clone());
            }
            Change::Stage { turn, stage } => self.change(turn, |it| it.stage = *stage),
            Change::Found { turn, found } => self.change(turn, |it| it.found = found.clone()),
            Change::Procedure { turn, name, slots } => {
                self.change(turn, |it| {
                    it.procedure = Some((name.clone(), slots.clone()))
                });
            }
            Change::Round {
                turn,
                round,
                tokens,
            } => self.change(turn, |it| {
                it.rounds.push(round.clone());
                it.tokens += tokens;
            }),
            Change::Calling { turn, call, effect } => {
                self.call(turn, *call, |it| it.effect = Some(*effect));
            }
            Change::Outcome {
                turn,
                call,
                outcome,
            } => {
                self.call(turn, *call, |it| it.outcome = Some(outcome.clone()));
            }
            Change::Questioned { turn, question } => {
                let questions = Arc::make_mut(self.questions.entry(turn.clone()).or_default());
                questions.asked.retain(|it| it.place != question.place);
                questions.asked.push(AskedQuestion::clone(question));
            }
            Change::Replied {
                turn,
                place,
                answer,
                by,
            } => {
                let questions = Arc::make_mut(self.questions.entry(turn.clone()).or_default());
                match answer {
                    None => questions.asked.retain(|it| &it.place != place),
                    Some(_) => {
                        let mut asked = questions.asked.iter_mut();
                        if let Some(asked) = asked.find(|it| &it.place == place) {
                            asked.answer.clone_from(answer);
                            asked.by.clone_from(by);
                        }
                    }
                }
            }
            Change::Taken { turn, message } => {
                let questions = Arc::make_mut(self.questions.entry(turn.clone()).or_default());
                questions.taken.push(message.clone());
                let excess = questions.taken.len().saturating_sub(limits::TAKEN);
                questions.taken.drain(..excess);
            }
            Change::Closed { turn } => drop(self.questions.remove(turn)),
            Change::Shown {
                approval,
                digest,
                bound,
                further,
                shown,
            } => {
                if let Some(approval) = self.approvals.get_mut(approval) {
                    let approval = Arc::make_mut(approval);
                    approval.digest.clone_from(digest);
                    approval.bound.clone_from(bound);
                    approval.further.clone_from(further);
                    approval.shown.clone_from(shown);
                }
            }
            Change::Aside { turn, line } => self.change(turn, |it| it.asides.push(line.clone())),
            Change::Concluded { turn, answer } => {
                self.change(turn, |it| it.answer = Some(answer.clone()));
            }
            Change::Ended { turn, answer } => self.end(turn, answer),
            Change::Intended { pending } => {
                self.next = self.next.max(pending.intent.id.next());
                self.intents.insert(pending.intent.id, pending.clone());
            }
            Change::Given { effect } => {
                if let Some(pending) = self.intents.get_mut(effect) {
                    Arc::make_mut(pending).given = true;
                }
            }
            Change::Settled { effect } => drop(self.intents.remove(effect)),
            Change::Asked { approval } => {
                self.next = self.next.max(approval.id.next());
                self.approvals.insert(approval.id, approval.clone());
                self.forget_decided();
            }
            Change::Decided {
                approval, standing, ..
            } => {
                if let Some(approval) = self.approvals.get_mut(approval) {
                    let approval = Arc::make_mut(approval);
                    approval.standing = standing.clone();
                    approval.shown.clear();
                }
            }
            Change::Agreed { turn, calls } => {
                self.change(turn, |it| it.agreed.extend(calls.iter().cloned()));
            }
            Change::Granted { grant } => {
                let grants = Arc::make_mut(&mut self.grants);
                grants.push(grant.clone());
                share::keep(grants, |it| &it.by, limits::GRANTS_EACH, limits::GRANTS);
            }
            Change::Revoked { grant, .. } => {
                Arc::make_mut(&mut self.grants).retain(|it| &it.key() != grant);
            }
            Change::ToolAccepted { skill, version } => {
                let accepted = Arc::make_mut(&mut self.accepted);
                if accepted.len() >= limits::ACCEPTED && !accepted.contains_key(skill) {
                    accepted.pop_first();
                }
                accepted.insert(skill.clone(), version.clone());
            }
            // It is for explanations alone.
            Change::Passed { .. } => {}
            Change::Paused { paused } => self.paused = *paused,
            Change::Fault { problem } => self.fault.clone_from(problem),
            Change::Attended { at } => self.heard = *at,
            Change::Timed { name, at } => {
                Arc::make_mut(&mut self.timers).insert(name.clone(), *at);
            }
        }
    }

    fn change(&mut self, turn: &str, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = self.turns.get_mut(turn) {
            change(Arc::make_mut(turn));
        }
    }

    fn call(&mut self, turn: &str, call: usize, change: impl FnOnce(&mut Called)) {
        self.change(turn, |turn| {
            if let Some(round) = turn.rounds.last_mut()
                && let Some(call) = Arc::make_mut(round).calls.get_mut(call)
            {
                change(call);
            }
        });
    }

    /// Ends a request and adds its text and answer to the conversation.
    fn end(&mut self, turn: &str, answer: &Arc<TurnAnswer>) {
        let Some(over) = self.turns.remove(turn) else {
            return;
        };
        self.questions.remove(turn);
        let ended = Arc::make_mut(&mut self.ended);
        ended.push_back(Arc::new((turn.into(), answer.clone())));
        if ended.len() > limits::ENDED {
            ended.pop_front();
        }
        let heard = &over.heard;
        let found =
            over.saw_found(over.rounds.len()) || self.said_before(heard).iter().any(|it| it.found);
        let line = |by: Option<&str>, text: &str| Line {
            by: by.map(str::to_owned),
            text: crate::text::bounded(text, limits::LINE),
            found: by.is_none() && found,
        };
        let asked = [line(Some(&heard.from), &heard.text)];
        let asides = over.asides.iter().cloned();
        let lines = asked.into_iter().chain(asides);
        let lines = lines.chain([line(None, &answer.text)]);
        let conversations = Arc::make_mut(&mut self.conversations);
        conversations.add(heard.caller(), &heard.conversation, lines);
    }

    /// The messages before a request in its conversation, by its caller and to its caller.
    pub(crate) fn said_before(&self, heard: &Request) -> &[Line] {
        let conversations = &self.conversations;
        conversations.lines(heard.caller(), &heard.conversation)
    }

    /// Decided approvals are of use only while their call may be begun again.
    fn forget_decided(&mut self) {
        while self.approvals.len() > limits::APPROVALS {
            let mut decided = self.approvals.values();
            let decided = decided.find(|it| it.standing != ApprovalState::Pending);
            let Some(id) = decided.map(|it| it.id) else {
                return;
            };
            self.approvals.remove(&id);
        }
    }

    pub fn state(&self) -> State {
        let waits = |it: &Arc<Approval>| it.standing == ApprovalState::Pending;
        let wants = |wanted: fn(&Effect) -> bool| {
            let mut intents = self.intents.values();
            intents.any(|it| wanted(&it.intent.effect))
        };
        if self.fault.is_some() {
            State::Error
        } else if self.approvals.values().any(waits)
            || self.questions.values().any(|it| it.open().is_some())
            || wants(|it| matches!(it, Effect::Clarify { .. }))
        {
            State::AwaitingApproval
        } else if wants(|it| matches!(it, Effect::Call { .. })) {
            State::Executing
        } else if !self.intents.is_empty() {
            State::Thinking
        } else {
            State::Idle
        }
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn goals(&self) -> &[Goal] {
        &self.goals
    }

    /// Whether it was told to stop where it is.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// The fault, if it cannot go on.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The calls that wait for a person, the oldest first.
    pub fn pending(&self) -> Vec<&Approval> {
        let approvals = self.approvals.values().map(|it| &**it);
        approvals
            .filter(|it| it.standing == ApprovalState::Pending)
            .collect()
    }

    /// The decisions that count for later calls.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// How many requests it works on, without those that wait for a person or for their turn.
    pub(crate) fn busy(&self) -> usize {
        self.turns.keys().filter(|turn| self.works_on(turn)).count()
    }

    /// The requests that have been begun and not answered, in their order, each with its caller.
    pub(crate) fn begun(&self) -> Vec<(TurnId, String)> {
        let mut begun: Vec<_> = self.turns.values().collect();
        begun.retain(|it| it.stage != Stage::Queued);
        begun.sort_by_key(|it| it.order);
        let begun = begun.into_iter().map(|it| &it.heard);
        begun
            .map(|heard| (heard.turn.clone(), heard.caller().to_owned()))
            .collect()
    }

    /// How many requests have been begun and not answered.
    pub(crate) fn open(&self) -> usize {
        let begun = |it: &&Arc<Turn>| it.stage != Stage::Queued;
        self.turns.values().filter(begun).count()
    }

    /// Whether it works on a request: it waits neither for its turn nor for a person, nor for another agent alone.
    pub(crate) fn works_on(&self, turn: &str) -> bool {
        let begun = |it: &Arc<Turn>| !matches!(it.stage, Stage::Queued | Stage::Asking);
        let asks = |it: &Arc<Questions>| it.open().is_some();
        let mut approvals = self.approvals.values();
        self.turns.get(turn).is_some_and(begun)
            && !self.questions.get(turn).is_some_and(asks)
            && !approvals.any(|it| it.turn == turn && it.standing == ApprovalState::Pending)
            && !self.waits_for_others(turn)
    }

    /// Whether all that it wants for a request is done by others.
    fn waits_for_others(&self, turn: &str) -> bool {
        let elsewhere = |skill: &str| self.abilities.get(skill).is_some_and(|it| it.elsewhere);
        let intents = self.intents.values().map(|it| &it.intent);
        let mut intents = intents.filter(|it| it.turn.as_deref() == Some(turn));
        let waits = |effect: &Effect| match effect {
            Effect::Clarify { .. } => true,
            Effect::Call { skill, .. } => elsewhere(skill),
            _ => false,
        };
        let Some(first) = intents.next() else {
            return false;
        };
        waits(&first.effect) && intents.all(|it| waits(&it.effect))
    }

    /// Whether a skill is known to change nothing.
    pub(crate) fn is_read_only(&self, skill: &str) -> bool {
        self.abilities.get(skill).is_some_and(|it| it.read_only)
    }

    /// How a request ended, if it was one of the last.
    pub(crate) fn answered(&self, turn: &str) -> Option<&Arc<TurnAnswer>> {
        let mut ended = self.ended.iter();
        ended.find(|it| it.0 == turn).map(|it| &it.1)
    }
}
