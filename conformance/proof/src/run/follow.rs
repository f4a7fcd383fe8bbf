//! Streams, read as far as their tasks are.

use a2a::client::{Client, Events};
use a2a::event::Event;
use a2a::types::{SubscribeToTaskRequest, TaskState};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{PATIENCE, Run, failed, note};
use crate::scenario::Name;
use crate::wire::Wire;

/// A stream, open or cut.
#[derive(Debug)]
pub(super) struct Followed {
    task: String,
    /// The generation of the last event that was read. Every event is one further than the one before it, so it
    /// is known also where a wire does not tell.
    at: u64,
    wire: Wire,
    /// None when it was cut, or has ended.
    events: Option<Events>,
}

impl Followed {
    pub(super) fn new(task: &str, at: u64, wire: Wire, events: Option<Events>) -> Self {
        Self {
            task: task.to_owned(),
            at,
            wire,
            events,
        }
    }

    /// Counts an event that was read; behind the last one there must be the end.
    pub(super) async fn past(&mut self, event: &Event) -> Option<Value> {
        self.at += 1;
        if !event.state().is_some_and(TaskState::is_settled) {
            return None;
        }
        let mut events = self.events.take()?;
        Some(match timeout(PATIENCE, events.next()).await {
            Ok(None) => event::end(),
            Ok(Some(Ok(more))) => shown(&more, events.cursor()),
            Ok(Some(Err(error))) => failed(&error),
            Err(_) => note("no end"),
        })
    }

    /// The next event, with what follows it if it is the last.
    async fn next(&mut self) -> Vec<Value> {
        let Some(events) = &mut self.events else {
            return Vec::new();
        };
        let next = timeout(PATIENCE, events.next()).await;
        let cursor = events.cursor();
        match next {
            Ok(Some(Ok(event))) => {
                let mut seen = vec![shown(&event, cursor)];
                seen.extend(self.past(&event).await);
                seen
            }
            Ok(Some(Err(error))) => {
                self.events = None;
                vec![failed(&error)]
            }
            Ok(None) => {
                self.events = None;
                vec![event::end()]
            }
            Err(_) => {
                self.events = None;
                vec![note("no event")]
            }
        }
    }
}

/// How events look in a trace.
pub(super) mod event {
    use super::{Value, json};

    pub(in crate::run) fn end() -> Value {
        json!({ "end": true })
    }
}

/// An event with the cursor behind it.
pub(super) fn shown(event: &Event, cursor: Option<u64>) -> Value {
    json!({ "event": event.response(), "cursor": cursor })
}

impl Run<'_> {
    pub(super) async fn subscribe(
        &mut self,
        client: &Client,
        task: &Name,
        from: Option<u64>,
        stream: Option<&Name>,
        wire: Wire,
    ) -> Vec<Value> {
        let id = self.id(task);
        let generation = self.generation(&id).await;
        let at = from.unwrap_or_else(|| generation.saturating_sub(1));
        self.open(client, &id, from, at, stream, wire).await
    }

    pub(super) async fn resume(
        &mut self,
        client: &Client,
        stream: &Name,
        wire: Wire,
    ) -> Vec<Value> {
        let Some(followed) = self.streams.remove(stream) else {
            return vec![note("there is no such stream")];
        };
        let (task, at) = (followed.task, followed.at);
        self.open(client, &task, Some(at), at, Some(stream), wire)
            .await
    }

    /// Opens a stream, and reads its first event if there is one: some versions refuse only then.
    async fn open(
        &mut self,
        client: &Client,
        task: &str,
        from: Option<u64>,
        at: u64,
        stream: Option<&Name>,
        wire: Wire,
    ) -> Vec<Value> {
        let request = SubscribeToTaskRequest {
            id: task.to_owned(),
            ..SubscribeToTaskRequest::default()
        };
        let opened = match from {
            Some(cursor) => client.resume_task(request, cursor).await,
            None => client.subscribe_to_task(request).await,
        };
        if let Some(name) = stream {
            self.streams.remove(name);
        }
        let events = match opened {
            Ok(events) => events,
            Err(error) => return vec![failed(&error)],
        };
        let mut followed = Followed::new(task, at, wire, Some(events));
        // A cursor that is the last generation has nothing behind it; one that is larger is an error.
        let found = self.world.task(task).await;
        let last = found.map(|task| task.generation.unsigned_abs());
        let seen = match from.is_some() && last == from {
            true => Vec::new(),
            false => followed.next().await,
        };
        // A stream that was refused, or only showed how things are and ended, leaves nothing to go on with.
        let refused = seen.first().is_some_and(|it| it.get("event").is_none());
        if let Some(name) = stream
            && !refused
            && (from.is_some() || followed.events.is_some())
        {
            self.streams.insert(name.clone(), followed);
        }
        seen
    }

    /// Reads so many events, or all that have happened.
    pub(super) async fn read(
        &mut self,
        stream: &Name,
        count: Option<u32>,
        wire: Wire,
    ) -> (Wire, Vec<Value>) {
        let Some(mut followed) = self.streams.remove(stream) else {
            return (wire, vec![note("there is no such stream")]);
        };
        let last = self.generation(&followed.task).await;
        let mut seen = Vec::new();
        let mut left = count.unwrap_or(u32::MAX);
        while followed.events.is_some() && followed.at < last && left > 0 {
            seen.extend(followed.next().await);
            left -= 1;
        }
        let wire = followed.wire;
        self.streams.insert(stream.clone(), followed);
        (wire, seen)
    }

    pub(super) fn cut(&mut self, stream: &Name, wire: Wire) -> (Wire, Vec<Value>) {
        match self.streams.get_mut(stream) {
            Some(followed) => {
                followed.events = None;
                (followed.wire, Vec::new())
            }
            None => (wire, vec![note("there is no such stream")]),
        }
    }
}
