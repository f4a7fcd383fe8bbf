//! Questions that wait for a person: calls that need an approval, and questions of skills, of tool servers, of other agents and of the
//! agent itself. It is listed for the caller who is asked, and can be answered by its id without naming a task.

use a2a::types::{Message, Part, Role, TaskId};
use memory::Millis;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use skill::extension::{Question, QuestionKind};

use crate::approval::{self, Approval};
use crate::context::Context;
use crate::error::Error;
use crate::event::{Effect, TurnId};
use crate::handle::AgentHandle;
use crate::skills::YES_OR_NO;
use crate::text;
use crate::turn::is_principal;

/// A question that waits for a person and is no approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitingQuestion {
    /// What it is known by outside of the agent: a UUID, version 4, made from its place.
    pub id: String,
    /// The caller who is asked.
    pub by: String,
    /// The task that waits for the answer.
    pub task: TurnId,
    pub conversation: String,
    pub question: String,
    /// When it was asked.
    pub at: Millis,
    /// The scope of the call that asks; none for a question of the agent itself.
    #[serde(skip)]
    pub(crate) scope: Option<String>,
}

impl Context {
    /// The questions that wait, besides approvals.
    pub fn waiting_questions(&self) -> Vec<WaitingQuestion> {
        let asked = self.questions.iter().filter_map(|(turn, questions)| {
            let open = questions.open()?;
            let heard = self.turns.get(turn).map(|it| &it.heard);
            let by = heard.map_or(&*open.caller, |it| it.caller());
            let conversation = heard.map_or(&open.conversation, |it| &it.conversation);
            Some(WaitingQuestion {
                id: id_of(turn, &open.place, open.at),
                by: by.to_owned(),
                task: turn.clone(),
                conversation: conversation.clone(),
                question: open.message.clone(),
                at: open.at,
                scope: Some(scope_of(&open.place).to_owned()),
            })
        });
        let clarified = self.intents.values().filter_map(|pending| {
            let turn = pending.intent.turn.as_ref()?;
            let Effect::Clarify { question } = &pending.intent.effect else {
                return None;
            };
            let heard = &self.turns.get(turn)?.heard;
            Some(WaitingQuestion {
                id: id_of(turn, &pending.intent.id.to_string(), pending.at),
                by: heard.caller().to_owned(),
                task: turn.clone(),
                conversation: heard.conversation.clone(),
                question: question.clone(),
                at: pending.at,
                scope: None,
            })
        });
        asked.chain(clarified).collect()
    }

    /// The tasks of a caller in a conversation that wait for a person, each with what it asks.
    pub(crate) fn waiting_in(&self, caller: &str, conversation: &str) -> Vec<Waits> {
        let approvals = self.pending().into_iter();
        let approvals = approvals.filter(|it| it.by == caller && it.conversation == conversation);
        let approvals = approvals.map(|it| Waits {
            task: it.turn.clone(),
            asks: asks_of(it),
            at: it.at,
            is_offer: false,
        });
        let questions = self.waiting_questions().into_iter();
        let questions = questions.filter(|it| it.by == caller && it.conversation == conversation);
        let questions = questions.map(|it| Waits {
            is_offer: is_offer(&it.question),
            task: it.task,
            asks: it.question,
            at: it.at,
        });
        let mut waiting: Vec<_> = approvals.chain(questions).collect();
        waiting.sort();
        waiting.dedup_by(|one, other| one.task == other.task);
        waiting
    }
}

/// A task that waits for a person, and what it asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Waits {
    pub(crate) task: TurnId,
    pub(crate) asks: String,
    pub(crate) at: Millis,
    /// A person may leave it without an answer and lose nothing.
    pub(crate) is_offer: bool,
}

/// The task that an answer without a task id is for: the one that asked last, unless two or more wait that are no offers. Offers,
/// such as "Shall I remember that?", are left without an answer by people who talk on, and must not make every
/// later yes unclear.
pub(crate) fn answered_by_next(waiting: &[Waits]) -> Option<&Waits> {
    let firm = waiting.iter().filter(|it| !it.is_offer).count();
    // Ids of tasks are in the order of time, also within a millisecond.
    let last = waiting.iter().max_by_key(|it| (it.at, &it.task))?;
    (firm < 2).then_some(last)
}

/// Whether a question is an offer of the agent itself. The words of others are behind `asks:`.
fn is_offer(question: &str) -> bool {
    question.ends_with(YES_OR_NO) && !question.contains(" asks:")
}

/// The question of an approval, in a line.
fn asks_of(approval: &Approval) -> String {
    let example = approval::example(&approval.input);
    format!("May I call {} with {example}?", approval.skill)
}

/// The reply to an answer that could be one to several questions.
fn which_of(waiting: &[Waits]) -> String {
    let mut text = format!(
        "{} questions wait in this conversation, and the message does not say which one it answers:",
        waiting.len()
    );
    for Waits { task, asks, .. } in waiting {
        let line = asks.lines().next().unwrap_or_default();
        text.push_str(&format!("\n- task {task}: {}", text::bounded(line, 300)));
    }
    text.push_str(
        "\nSend the answer with the id of its task, or say it with: monas approvals answer ID ANSWER",
    );
    text
}

/// The id of a question: the same as long as it waits.
pub(crate) fn id_of(turn: &str, place: &str, at: Millis) -> String {
    let hash = Sha256::digest(format!("{turn}\n{place}\n{at}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    let id = uuid::Builder::from_random_bytes(bytes);
    id.into_uuid().to_string()
}

/// The scope of the call that asked the question of a place.
fn scope_of(place: &str) -> &str {
    place.rsplit_once('/').map_or("", |(scope, _)| scope)
}

/// The approval or question that has an id.
struct Identified {
    /// It is answered with a decision about a call.
    approval: bool,
    /// The caller who is asked.
    by: String,
    task: TurnId,
}

impl AgentHandle {
    /// Answers what waits under an id, in words or as an object. The answer is delivered to its task; what follows from it is
    /// seen there. One that another agent passes on is delivered to the task of the caller who is asked. That `by` may answer
    /// was checked before.
    pub async fn answer_waiting(&self, id: &str, answer: Value, by: &str) -> Result<TaskId, Error> {
        let wanted = id.to_owned();
        let found = self.look(move |state, _| {
            let context = state.context();
            let mut approvals = context.pending().into_iter();
            let approval = approvals.find(|it| it.uuid == wanted).map(|it| Identified {
                approval: true,
                by: it.by.clone(),
                task: it.turn.clone(),
            });
            approval.or_else(|| {
                let mut questions = context.waiting_questions().into_iter();
                let question = questions.find(|it| it.id == wanted)?;
                Some(Identified {
                    approval: false,
                    by: question.by,
                    task: question.task,
                })
            })
        });
        let message = |task: &str| Message {
            message_id: uuid::Uuid::new_v4().to_string(),
            task_id: task.to_owned(),
            role: Role::User,
            parts: vec![match &answer {
                Value::String(text) => Part::text(text.clone()),
                object => Part::data(object.clone()),
            }],
            ..Message::default()
        };
        let unknown = || Error::NoApproval(id.to_owned());
        let waits = found.await?.ok_or_else(unknown)?;
        if waits.approval {
            check(&message(&waits.task))?;
        }
        let (agent, task) = self.asker(waits.by, waits.task).await?;
        let tasks = &self.population.0.tasks;
        tasks.answer(&agent, by, message(&task)).await?;
        Ok(TaskId::from(task.as_str()))
    }

    /// The agent and the task at the beginning of a chain of agents that pass a question on.
    async fn asker(&self, mut asked: String, mut task: TurnId) -> Result<(String, TurnId), Error> {
        let mut agent = self.clone();
        while is_principal(&asked) {
            let through = asked.trim_start_matches("agent:").to_owned();
            let lost = || Error::AskedThrough(through.clone());
            let tasks = &self.population.0.tasks;
            let (asker_task, scope) = tasks
                .asker(&asked, &agent.id, &task)
                .await?
                .ok_or_else(lost)?;
            agent = self.population.agent(&through)?;
            let question = agent.look(move |state, _| {
                let mut questions = state.context().waiting_questions().into_iter();
                questions.find(|it| it.task == asker_task && it.scope.as_ref() == Some(&scope))
            });
            let question = question.await?.ok_or_else(lost)?;
            (asked, task) = (question.by, question.task);
        }
        Ok((agent.id, task))
    }

    /// The reply to a text that reads as an answer while several questions wait in its conversation, so that it could be
    /// one to each of them; none where it is clear.
    pub async fn unclear_answer(
        &self,
        caller: &str,
        conversation: &str,
        text: &str,
    ) -> Option<String> {
        if !crate::answer::is_answer(text) {
            return None;
        }
        let waiting = self.waiting_in(caller.to_owned(), conversation.to_owned());
        let waiting = waiting.await;
        let unclear = waiting.len() > 1 && answered_by_next(&waiting).is_none();
        unclear.then(|| which_of(&waiting))
    }

    /// The tasks of a caller in a conversation that wait for a person, each with what it asks.
    pub(crate) async fn waiting_in(&self, caller: String, conversation: String) -> Vec<Waits> {
        let waits = self.look(move |state, _| state.context().waiting_in(&caller, &conversation));
        waits.await.unwrap_or_default()
    }
}

/// Whether a message reads as an answer to an approval.
fn check(message: &Message) -> Result<(), Error> {
    let question = Question {
        message: String::new(),
        schema: approval::form(true),
        number: 0,
        early: true,
        kind: QuestionKind::Approval,
        from: None,
    };
    let read = crate::answer::read(&question, message);
    read.map(drop).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Error::Answer(faults.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use super::{Waits, answered_by_next, is_offer};

    fn waits(task: &str, at: i64, is_offer: bool) -> Waits {
        Waits {
            task: task.into(),
            asks: String::new(),
            at,
            is_offer,
        }
    }

    #[test]
    fn the_next_answer_is_for_the_last_question_unless_two_calls_wait() {
        let next = |waiting: &[Waits]| answered_by_next(waiting).map(|it| it.task.to_string());
        let (offer, later) = (waits("offer", 1, true), waits("later", 2, true));
        let (call, other) = (waits("call", 3, false), waits("other", 4, false));
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[offer.clone(), later.clone()]), Some("later".into()));
        assert_eq!(
            next(&[offer.clone(), call.clone(), later]),
            Some("call".into())
        );
        assert_eq!(next(&[call.clone(), other, offer.clone()]), None);
        let same = waits("same", 1, true);
        assert_eq!(next(&[same, offer]), Some("same".into()));
    }

    #[test]
    fn words_of_others_are_no_offer() {
        assert!(is_offer(
            "Shall I remember that? “I am Ada” Answer yes or no."
        ));
        assert!(!is_offer(
            "The tool server files asks:\n> Answer yes or no."
        ));
        assert!(!is_offer("May I call file-write?"));
    }
}
