//! The stored form of tasks: a stream of events for each, and rows to find them by.
//!
//! A stream holds only events that have a generation, so the sequence number of an event is its generation, and both
//! are the cursor of a client. Every reply about a task is folded from here; what is not committed has not happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use access::{Permissions, Principal, Role};
use bytes::Bytes;
use store::{Column, Entry, NewEvent, Query, Row, StreamId, Table, Value, View};

use crate::event::Event;
use crate::fold;
use crate::limits::{EVENT_BYTES_AT_ONCE, EVENTS_AT_ONCE};
use crate::types::wire::{DecodeError, WireMessage as _, messages};
use crate::types::{ContextId, Event as Payload, Message, StreamResponse, Task, TaskId};

/// A row for each task, with its scope and the columns that lists filter and sort by. The body is empty, or the task as
/// it was when its events were compacted.
pub(crate) static TASKS: Table = Table {
    name: "tasks",
    columns: &[
        Column::text("scope"),
        Column::text("context"),
        Column::integer("state"),
        Column::integer("updated"),
    ],
    indexes: &[&["scope", "updated"], &["scope", "context", "updated"]],
};

/// The tasks that are being worked on: after a crash, the tasks that were interrupted.
pub(crate) static RUNNING: Table = Table {
    name: "running",
    columns: &[],
    indexes: &[],
};

/// The sends that led to a task, by caller and message, so that a repeated one finds it.
pub(crate) static SENDS: Table = Table {
    name: "sends",
    columns: &[Column::integer("at")],
    indexes: &[&["at"]],
};

/// The webhooks, each with the last generation that was delivered. `open` is 1 while events may follow, and 2 when
/// delivery was given up: `given_up` then holds the time and `failure` the reason. `dialect` names the form of deliveries.
pub(crate) static WEBHOOKS: Table = Table {
    name: "webhooks",
    columns: &[
        Column::text("task"),
        Column::integer("delivered"),
        Column::integer("open"),
        Column::text("dialect"),
        Column::integer("given_up"),
        Column::text("failure"),
    ],
    indexes: &[&["task"], &["open"]],
};

/// The private notes of agents about their tasks.
pub(crate) static NOTES: Table = Table {
    name: "notes",
    columns: &[Column::text("task")],
    indexes: &[&["task"]],
};

/// The tables a task server needs.
pub static TABLES: &[&Table] = &[&TASKS, &RUNNING, &SENDS, &WEBHOOKS, &NOTES];

/// A caller under one tenant: the owner of tasks. Tasks of another scope do not exist for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scope(Arc<str>);

impl Scope {
    pub(crate) fn new(caller: &Principal, tenant: &str) -> Self {
        // Neither part can pretend to be the other: the first newline separates them.
        Self(format!("{}\n{tenant}", caller.name().replace('\n', " ")).into())
    }

    /// The scope of a row.
    pub(crate) fn stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The name of the caller that the scope belongs to; empty for the anonymous one.
    pub(crate) fn caller(&self) -> &str {
        self.0.split('\n').next().unwrap_or_default()
    }

    /// The caller with what it might do when it sent its last message. A journal that was written before senders were
    /// recorded has none; their callers have the default role.
    pub(crate) fn sender(&self, sender: Option<Sender>) -> Principal {
        let caller = Principal::named(self.caller());
        let Some(sender) = sender else {
            return caller.permitted(Role::default().permissions());
        };
        let bits = u8::try_from(sender.permissions).unwrap_or_default();
        let caller = caller
            .permitted(Permissions::from_bits(bits))
            .scoped(sender.scopes);
        match sender.person {
            Some(person) => caller.acting_for(&person),
            None => caller,
        }
    }

    pub(crate) fn tenant(&self) -> &str {
        self.0.split_once('\n').map_or("", |(_, tenant)| tenant)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

messages! { "monas.journal";
    /// An event as it is stored. Ids that are the same in all events of a stream are left out.
    Record {
        event: Option<StreamResponse> = 1,
        /// The message of the caller that came with it.
        received: Option<Message> = 2,
        /// What the caller of that message might do, and of the one that opened the task.
        sender: Option<Sender> = 3,
    }

    /// What a caller might do when it sent a message: the work that follows is done with this, also after a restart.
    Sender {
        permissions: i32 = 1,
        scopes: Vec<String> = 2,
        /// The person at the start of the chain, if the caller acted for another.
        person: Option<String> = 3,
    }
}

impl Sender {
    pub(crate) fn of(caller: &Principal) -> Self {
        Self {
            permissions: caller.permissions().to_bits().into(),
            scopes: caller.scopes().to_vec(),
            person: caller.acts_for().map(str::to_owned),
        }
    }
}

/// The stream of a task.
pub(crate) fn stream(task: &TaskId) -> StreamId {
    StreamId::new(task.as_str())
}

/// An event to append, with its decoded form attached, so that followers need not decode it again.
pub(crate) fn record(
    task: &Task,
    event: StreamResponse,
    received: Option<&Message>,
    sender: Option<Sender>,
) -> NewEvent {
    let mut record = Record {
        event: Some(event),
        received: received.cloned(),
        sender,
    };
    record.set_ids("", "");
    let payload = record.to_protobuf();
    let mut event = record.event.unwrap_or_default();
    fold::set_ids(&mut event, &task.id, &task.context_id);
    NewEvent::new(payload).with_derived(Arc::new(Event::new(event)))
}

/// The event of an entry, for followers.
pub(crate) fn event(entry: &Entry, task: &TaskId, context: &ContextId) -> Arc<Event> {
    entry.derived(|payload| {
        let record = Record::from_protobuf(payload.clone()).unwrap_or_default();
        let mut event = record.event.unwrap_or_default();
        fold::set_ids(&mut event, task, context);
        Event::new(event)
    })
}

impl Record {
    /// Sets or clears the ids that are the same in all events of a stream; they are not stored.
    fn set_ids(&mut self, task: &str, context: &str) {
        if let Some(event) = &mut self.event {
            fold::set_ids(event, task, context);
        }
        if let Some(message) = &mut self.received {
            fold::set_message_ids(message, task, context);
        }
    }
}

/// Folds the event of an entry into its task.
pub(crate) fn apply(task: &mut Task, entry: &Entry, id: &TaskId, context: &ContextId) {
    let record = Record::from_protobuf(entry.payload().clone());
    let mut record = record.unwrap_or_default();
    record.set_ids(id, context);
    let event = record.event.unwrap_or_default();
    fold::apply(task, &event, record.received.as_ref());
}

/// A task by its id, if it exists and belongs to the scope.
pub(crate) fn load(
    view: &dyn View,
    scope: &Scope,
    id: &TaskId,
) -> Result<Option<Task>, store::Error> {
    match view.row(&TASKS, id)? {
        Some(row) if row.columns.first() == Some(&scope.as_str().into()) => {
            fold_row(view, &row).map(Some)
        }
        _ => Ok(None),
    }
}

/// What the caller of a task might do when it sent its last message.
pub(crate) fn last_sender(view: &dyn View, id: &TaskId) -> Result<Option<Sender>, store::Error> {
    let (stream, mut after, mut last) = (stream(id), 0, None);
    loop {
        let entries = view.page(&stream, after, EVENTS_AT_ONCE, EVENT_BYTES_AT_ONCE)?;
        for entry in &entries {
            let record = Record::from_protobuf(entry.payload().clone()).unwrap_or_default();
            last = record.sender.or(last);
            after = entry.sequence();
        }
        if entries.is_empty() {
            return Ok(last);
        }
    }
}

/// The row of a task of any scope, and that scope.
pub(crate) fn find(view: &dyn View, id: &TaskId) -> Result<Option<(Scope, Row)>, store::Error> {
    let row = view.row(&TASKS, id)?;
    Ok(row.and_then(|row| match row.columns.first() {
        Some(Value::Text(scope)) => Some((Scope::stored(scope), row)),
        _ => None,
    }))
}

/// The task of a row: its snapshot, and the events since.
pub(crate) fn fold_row(view: &dyn View, row: &Row) -> Result<Task, store::Error> {
    fold_to(view, row, u64::MAX)
}

/// The task of a row as it was at a generation, or at the later one of its snapshot.
pub(crate) fn fold_to(view: &dyn View, row: &Row, last: u64) -> Result<Task, store::Error> {
    let unreadable = |error: DecodeError| store::Error::Corrupt {
        path: "the journal".into(),
        problem: format!("task {}: {error}", row.key),
    };
    let mut task = Task::default();
    if !row.body.is_empty() {
        task = Task::from_protobuf(row.body.clone()).map_err(unreadable)?;
    }
    let stream = StreamId::new(row.key.as_str());
    let context = match row.columns.get(1) {
        Some(Value::Text(context)) => context.as_str(),
        _ => "",
    };
    loop {
        let after = u64::try_from(task.generation).unwrap_or(0);
        let entries = view.page(&stream, after, EVENTS_AT_ONCE, EVENT_BYTES_AT_ONCE)?;
        for entry in &entries {
            if entry.sequence() > last {
                return Ok(task);
            }
            let record = Record::from_protobuf(entry.payload().clone());
            let mut record = record.map_err(unreadable)?;
            record.set_ids(&row.key, context);
            fold::apply(
                &mut task,
                &record.event.unwrap_or_default(),
                record.received.as_ref(),
            );
        }
        let bytes: usize = entries.iter().map(|entry| entry.payload().len()).sum();
        if entries.len() < EVENTS_AT_ONCE && bytes < EVENT_BYTES_AT_ONCE {
            return Ok(task);
        }
    }
}

/// The task of a row without its history and its artifacts, which are not decoded where the events since the last status
/// are few.
pub(crate) fn fold_status(view: &dyn View, row: &Row) -> Result<Task, store::Error> {
    let stream = StreamId::new(row.key.as_str());
    let last = view.stream(&stream)?.map_or(0, |stream| stream.last);
    let first = last.saturating_sub(EVENTS_AT_ONCE as u64);
    // The events of a compacted task are gone, and its row has the whole task.
    let sequences = if row.body.is_empty() {
        first..last
    } else {
        0..0
    };
    for before in sequences.rev() {
        let entries = view.events(&stream, before, 1)?;
        let Some(entry) = entries.first() else { break };
        let record = Record::from_protobuf(entry.payload().clone()).unwrap_or_default();
        let Payload::StatusUpdate(update) = record.event.unwrap_or_default().payload else {
            continue;
        };
        let mut task = Task {
            id: row.key.clone(),
            generation: i64::try_from(last).unwrap_or(i64::MAX),
            status: update.status,
            ..Task::default()
        };
        if let Some(Value::Text(context)) = row.columns.get(1) {
            task.context_id.clone_from(context);
        }
        let ids = (task.id.clone(), task.context_id.clone());
        if let Some(message) = task.status.as_mut().and_then(|it| it.message.as_mut()) {
            fold::set_message_ids(message, &ids.0, &ids.1);
        }
        return Ok(task);
    }
    let mut task = fold_row(view, row)?;
    task.history.clear();
    task.artifacts.clear();
    Ok(task)
}

/// The row of a task as it is now.
pub(crate) fn row(scope: &Scope, task: &Task, snapshot: Bytes) -> Row {
    Row {
        key: task.id.clone(),
        columns: vec![
            scope.as_str().into(),
            task.context_id.as_str().into(),
            i64::from(task.state().number()).into(),
            updated(task).into(),
        ],
        body: snapshot,
    }
}

/// The row of a note.
pub(crate) fn note(task: &TaskId, key: &str, note: Bytes) -> Row {
    Row {
        key: format!("{task} {key}"),
        columns: vec![task.as_str().into()],
        body: note,
    }
}

/// The notes of a task, by key.
pub(crate) fn notes(
    view: &dyn View,
    task: &TaskId,
) -> Result<BTreeMap<String, Bytes>, store::Error> {
    let rows = view.rows(&Query::of(&NOTES).equal("task", task.as_str()))?;
    let key = |row: &Row| row.key.get(task.len() + 1..).unwrap_or_default().to_owned();
    Ok(rows.into_iter().map(|row| (key(&row), row.body)).collect())
}

/// When the status of a task last changed, in milliseconds: what lists are sorted by.
pub(crate) fn updated(task: &Task) -> i64 {
    let status = task.status.as_ref();
    status
        .and_then(|status| status.timestamp.as_ref())
        .map_or(0, |timestamp| timestamp.millis())
}
