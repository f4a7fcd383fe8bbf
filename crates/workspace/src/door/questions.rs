//! Questions that wait for a person, over all agents: the whole list at each change, and how something was answered.

use std::collections::{BTreeMap, BTreeSet};

use ::capnweb::{Error as RpcError, Value};
use agent::{AgentHandle, ApprovalState, Change, EffectId, EventKind, Record};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, SelectAll};
use serde_json::{Value as Json, json};
use skill::QuestionAnswer;

use super::follow::{Callback, Follower, Over};
use super::workspace::WorkspaceObject;
use crate::api::approvals::{asked_by, is_for_in, previews};

/// The next records of an agent, and the rest of them.
type Records = BoxStream<'static, (usize, Result<Vec<(u64, Record)>, agent::Error>)>;

/// Questions that wait at one agent, by id.
type Waiting = BTreeMap<String, Json>;

pub(super) async fn follow(
    workspace: &WorkspaceObject,
    follower: Follower,
) -> Result<Value, RpcError> {
    let chat = &workspace.shared().parts.chat;
    let parts = chat.parts();
    let caller = workspace.as_caller();
    let mut agents = Vec::new();
    for id in parts.population.ids() {
        if parts.rights.agent(&caller, Some(&id)).is_ok()
            && let Ok(agent) = parts.population.find(&id).await
        {
            agents.push(agent);
        }
    }
    let list = List {
        waiting: vec![Waiting::new(); agents.len()],
        previews: vec![BTreeMap::new(); agents.len()],
        agents,
        workspace: workspace.clone(),
    };
    Ok(follower.run(|callback| list.run(callback)).into_value())
}

struct List {
    workspace: WorkspaceObject,
    agents: Vec<AgentHandle>,
    /// Questions that wait at each of them.
    waiting: Vec<Waiting>,
    /// What a person was shown last of approvals of each of them, and the event by which it was asked.
    previews: Vec<BTreeMap<EffectId, (String, u64)>>,
}

impl List {
    async fn run(mut self, callback: Callback) -> Result<(), Over> {
        let mut records: SelectAll<Records> = SelectAll::new();
        for (at, agent) in self.agents.clone().into_iter().enumerate() {
            let last = agent.last_event().await.map_err(Over::because)?;
            let follow = agent.follow(last).await.map_err(Over::because)?;
            let next = stream::unfold(follow, move |mut follow| async move {
                let records = follow.next().await?;
                Some(((at, records), follow))
            });
            records.push(next.boxed());
            self.look(at).await?;
        }
        self.tell(&callback, None).await?;
        while let Some((at, next)) = records.next().await {
            let next = next.map_err(Over::because)?;
            let next: Vec<_> = next.into_iter().filter(|(_, it)| concerns(it)).collect();
            if next.is_empty() {
                continue;
            }
            for (number, record) in &next {
                self.note(at, *number, record);
            }
            let before = self.waiting.get(at).cloned().unwrap_or_default();
            self.look(at).await?;
            let now = self.waiting.get(at).cloned().unwrap_or_default();
            let mut told = false;
            for (id, was) in before.iter().filter(|(id, _)| !now.contains_key(*id)) {
                let answered = self.answered(at, id, was, &next);
                self.tell(&callback, Some(answered)).await?;
                told = true;
            }
            if !told && before != now {
                self.tell(&callback, None).await?;
            }
        }
        Ok(())
    }

    /// Reads what waits at an agent.
    async fn look(&mut self, at: usize) -> Result<(), Over> {
        let Some(agent) = self.agents.get(at) else {
            return Ok(());
        };
        let status = agent.status().await.map_err(Over::because)?;
        let caller = self.workspace.caller();
        let mut waiting = Waiting::new();
        let mut known = self.previews.get_mut(at).map(std::mem::take);
        let known = known.get_or_insert_default();
        let pending: BTreeSet<EffectId> = status.approvals.iter().map(|it| it.id).collect();
        known.retain(|id, _| pending.contains(id));
        let unseen: BTreeSet<EffectId> = pending
            .into_iter()
            .filter(|it| !known.contains_key(it))
            .collect();
        if !unseen.is_empty() {
            let found = previews(agent, &unseen).await.map_err(Over::because)?;
            known.extend(found);
        }
        let approvals = status.approvals.iter();
        for it in approvals.filter(|it| is_for_in(caller, &it.by, &it.conversation)) {
            let mut shown = json!({
                "id": it.uuid, "agent": agent.id(), "kind": "approval", "by": it.by, "task": it.turn,
                "conversation": it.conversation, "at": it.at, "until": it.until, "skill": it.skill,
                "input": it.input, "notes": it.notes,
            });
            if let Some((preview, event)) = known.get(&it.id) {
                shown["preview"] = preview.as_str().into();
                shown["event"] = (*event).into();
            }
            waiting.insert(it.uuid.clone(), shown);
        }
        let questions = status.questions.iter();
        for it in questions.filter(|it| is_for_in(caller, &it.by, &it.conversation)) {
            let shown = json!({
                "id": it.id, "agent": agent.id(), "kind": "question", "by": it.by, "task": it.task,
                "conversation": it.conversation, "at": it.at, "question": it.question,
            });
            waiting.insert(it.id.clone(), shown);
        }
        if let Some(of) = self.waiting.get_mut(at) {
            *of = waiting;
        }
        if let Some(of) = self.previews.get_mut(at) {
            *of = std::mem::take(known);
        }
        Ok(())
    }

    /// Keeps what a person is shown.
    fn note(&mut self, at: usize, number: u64, record: &Record) {
        if let Some(previews) = self.previews.get_mut(at) {
            let asked = asked_by(record).map(|(id, shown)| (id, (shown.to_owned(), number)));
            previews.extend(asked);
        }
    }

    /// How something that waits no longer was answered.
    fn answered(&self, at: usize, id: &str, was: &Json, records: &[(u64, Record)]) -> Json {
        let agent = self.agents.get(at).map(AgentHandle::id);
        let task = was["task"].as_str().unwrap_or_default();
        let mut answered = json!({
            "id": id, "agent": agent, "decision": "withdrawn", "by": "", "event": 0,
        });
        for (number, record) in records {
            if let Some((decision, by, more)) = decision(record, was["kind"] == "approval", task) {
                answered["decision"] = decision.into();
                answered["by"] = by.into();
                answered["event"] = (*number).into();
                if let Some((name, text)) = more {
                    answered[name] = text.into();
                }
            }
        }
        answered
    }

    async fn tell(&self, callback: &Callback, answered: Option<Json>) -> Result<(), Over> {
        let mut waiting: Vec<&Json> = self.waiting.iter().flat_map(BTreeMap::values).collect();
        waiting.sort_by_key(|it| it["at"].as_i64());
        let mut change = json!({ "waiting": waiting });
        if let Some(answered) = answered {
            change["answered"] = answered;
        }
        callback.tell(change).await
    }
}

/// Whether a record may change what waits.
fn concerns(record: &Record) -> bool {
    record.changes.iter().any(|change| {
        matches!(
            change,
            Change::Asked { .. }
                | Change::Shown { .. }
                | Change::Decided { .. }
                | Change::Questioned { .. }
                | Change::Replied { .. }
                | Change::Closed { .. }
                | Change::Ended { .. }
                | Change::Intended { .. }
                | Change::Settled { .. }
        )
    })
}

/// A decision in a word, the name of the person, and the reason or the answer.
type Decided = (&'static str, String, Option<(&'static str, String)>);

/// How a record decides about something of a task, if it does.
fn decision(record: &Record, approval: bool, task: &str) -> Option<Decided> {
    record.changes.iter().find_map(|change| match change {
        Change::Decided { standing, by, .. } if approval => match standing {
            ApprovalState::Approved(_) => Some(("approve", by.clone(), None)),
            ApprovalState::Rejected(why) => {
                Some(("reject", by.clone(), Some(("reason", why.clone()))))
            }
            ApprovalState::Expired => Some(("expired", by.clone(), None)),
            ApprovalState::Pending => None,
        },
        Change::Replied {
            turn, answer, by, ..
        } if !approval && turn == task => match answer {
            Some(QuestionAnswer::Given(given)) => {
                let words = given.get("answer").unwrap_or(given);
                let words = words
                    .as_str()
                    .map_or_else(|| words.to_string(), str::to_owned);
                Some(("answered", by.clone(), Some(("answer", words))))
            }
            Some(QuestionAnswer::Declined) => Some(("reject", by.clone(), None)),
            None => None,
        },
        Change::Settled { .. } if !approval => match &record.event.what {
            EventKind::Clarified {
                text: Some(text), ..
            } if record.turn() == Some(task) => {
                Some(("answered", String::new(), Some(("answer", text.clone()))))
            }
            _ => None,
        },
        _ => None,
    })
}
