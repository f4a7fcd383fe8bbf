//! Streams of the events of a task: from its beginning, from now on, or from a cursor.

use std::sync::Arc;

use futures_util::stream;
use store::{Follow, StreamState};

use super::Inner;
use super::journal::{self, Scope};
use super::live::Opened;
use crate::error::Error;
use crate::event::{Event, EventStream};
use crate::fold;
use crate::limits::EVENTS_AT_ONCE;
use crate::sabotage::broken;
use crate::types::{ContextId, Event as Payload, Struct, Task, TaskId, TaskState};

/// What a stream does when its task waits for input; it always ends with the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The stream ends: the caller that sends the input gets a stream of its own.
    EndsForInput,
    /// The stream stays open.
    GoesOn,
}

/// The metadata key of a task that a stream sends in place of events that were compacted.
pub const COMPACTED: &str = "urn:monas:a2a:ext:resume:1/compacted";

impl Inner {
    /// The stream that answers a message of a task.
    pub(super) fn answer_stream(
        self: &Arc<Self>,
        scope: Scope,
        opened: Opened,
        history: Option<i32>,
    ) -> EventStream {
        let first = opened.snapshot.map(|task| present(*task, history));
        let mut subscription = self.subscription(scope, opened.id, opened.context, *opened.follow);
        subscription.next.extend(first);
        subscription.history = history;
        subscription.into_stream()
    }

    /// All events after a cursor, then the ones to come. For a task that has ended the stream ends after its last event.
    pub(super) async fn resume_stream(
        self: &Arc<Self>,
        scope: Scope,
        id: TaskId,
        cursor: u64,
        history: Option<i32>,
    ) -> Result<EventStream, Error> {
        // Checks that the task exists and belongs to the caller, with the errors of all operations.
        self.load(&scope, &id).await?;
        let (found_scope, found_id) = (scope.clone(), id.clone());
        let found = self
            .store
            .read(move |view| {
                let task = journal::load(view, &found_scope, &found_id)?;
                Ok(task.zip(view.stream(&journal::stream(&found_id))?))
            })
            .await?;
        let Some((task, StreamState { last, .. })) = found else {
            return Err(Error::TaskNotFound(id.into()));
        };
        if cursor > last {
            let why = format!("generation {cursor} is ahead of the task, which is at {last}");
            return Err(Error::invalid_field("Last-Event-ID", why));
        }
        let follow = self.follow(&id, cursor);
        let mut subscription =
            self.subscription(scope, id, task.context_id.as_str().into(), follow);
        subscription.past = last;
        subscription.history = history;
        subscription.over = cursor == last && task.state().is_terminal();
        Ok(subscription.into_stream())
    }

    /// The task as it is, then what happens to it.
    pub(super) async fn live_stream(
        self: &Arc<Self>,
        scope: Scope,
        id: TaskId,
    ) -> Result<EventStream, Error> {
        let task = self.load(&scope, &id).await?;
        if task.state().is_terminal() {
            // A2A 3.1.6: there is nothing to subscribe to.
            return Err(Error::UnsupportedOperation(format!(
                "task {id:?} has ended: get it, or name a cursor"
            )));
        }
        Ok(self.stream_from(scope, task, None))
    }

    /// The same for a repeated message; a task that has ended is the only event.
    pub(super) async fn snapshot_stream(
        self: &Arc<Self>,
        scope: Scope,
        id: TaskId,
        history: Option<i32>,
    ) -> Result<EventStream, Error> {
        let task = self.load(&scope, &id).await?;
        Ok(self.stream_from(scope, task, history))
    }

    fn stream_from(
        self: &Arc<Self>,
        scope: Scope,
        task: Task,
        history: Option<i32>,
    ) -> EventStream {
        let (id, context) = (TaskId::from(&task.id), ContextId::from(&task.context_id));
        let follow = self.follow(&id, task.generation.unsigned_abs());
        let mut subscription = self.subscription(scope, id, context, follow);
        subscription.over = task.state().is_terminal();
        subscription.next.push(present(task, history));
        subscription.into_stream()
    }

    fn follow(&self, task: &TaskId, after: u64) -> Follow {
        self.store.follow(&journal::stream(task), after)
    }

    fn subscription(
        self: &Arc<Self>,
        scope: Scope,
        task: TaskId,
        context: ContextId,
        follow: Follow,
    ) -> Subscription {
        Subscription {
            server: self.clone(),
            follow,
            scope,
            task,
            context,
            next: Vec::new(),
            history: None,
            past: 0,
            over: false,
        }
    }
}

/// A follower of one task: turns the entries of the task's stream into events for one caller.
///
/// It holds a position in the journal, not a channel from the run. The store wakes it when the stream grows, and hands
/// over entries from memory when they are recent and from disk otherwise: a slow reader costs no memory here, cannot
/// hold up the run, and misses nothing. Events come in portions, as many as are there, so that a wire writes them at once.
///
/// The order is: first the snapshot (`next`), if the caller is to get the task itself, then the events after its
/// generation. The position is taken before or together with the snapshot, never after it; otherwise an event committed
/// in between would be lost.
///
/// It ends with the event that ends the task; with one that asks for input, if the server is set so and the event is not
/// older than the moment of subscription (`past`): a question that was answered long ago must not end a stream that is
/// replayed from its beginning. It ends with an error when the server drains, so that the caller resumes from its cursor.
/// If the events behind the position were compacted, it sends the task instead, marked with [`COMPACTED`], and goes on.
struct Subscription {
    server: Arc<Inner>,
    follow: Follow,
    scope: Scope,
    task: TaskId,
    context: ContextId,
    /// Events to send before those of the journal.
    next: Vec<Arc<Event>>,
    history: Option<i32>,
    /// The last generation at the time of subscription: earlier questions do not end the stream.
    past: u64,
    over: bool,
}

impl Subscription {
    fn into_stream(self) -> EventStream {
        Box::pin(stream::unfold(self, |mut subscription| async move {
            let portion = subscription.portion().await?;
            Some((portion, subscription))
        }))
    }

    async fn portion(&mut self) -> Option<Result<Vec<Arc<Event>>, Error>> {
        if !self.next.is_empty() {
            return Some(Ok(std::mem::take(&mut self.next)));
        }
        if self.over {
            return None;
        }
        let entries = tokio::select! {
            biased;
            () = self.server.stopping.cancelled() => {
                self.over = true;
                return Some(Err(Error::Unavailable("the server is stopping; go on from the cursor later".to_owned())));
            }
            entries = self.follow.next_many(EVENTS_AT_ONCE) => entries?,
        };
        match entries {
            Ok(entries) => {
                let mut events = Vec::with_capacity(entries.len());
                for entry in &entries {
                    let event = journal::event(entry, &self.task, &self.context);
                    self.over = self.ends_with(&event, entry.sequence());
                    if broken("r03_streaming") && event.state().is_none() {
                        continue;
                    }
                    events.push(self.cut(event));
                    if self.over {
                        break;
                    }
                }
                Some(Ok(events))
            }
            Err(store::Error::Compacted { .. }) => Some(self.snapshot().await),
            Err(error) => {
                self.over = true;
                Some(Err(error.into()))
            }
        }
    }

    fn ends_with(&self, event: &Event, sequence: u64) -> bool {
        event.state().is_some_and(|state| {
            let waits = state == TaskState::InputRequired
                && self.server.interrupted == Interrupted::EndsForInput;
            state.is_terminal() || (waits && sequence >= self.past)
        })
    }

    /// Cuts the history of a task if the caller asked for less; other events are shared unchanged.
    fn cut(&self, event: Arc<Event>) -> Arc<Event> {
        match (&event.response().payload, self.history) {
            (Payload::Task(task), Some(_)) => present(task.clone(), self.history),
            _ => event,
        }
    }

    /// The task in place of its compacted events, marked.
    async fn snapshot(&mut self) -> Result<Vec<Arc<Event>>, Error> {
        let mut task = self.server.load(&self.scope, &self.task).await?;
        let metadata: &mut Struct = task.metadata.get_or_insert_default();
        metadata.insert(COMPACTED.to_owned(), true.into());
        self.over = task.state().is_terminal();
        self.follow = self
            .server
            .follow(&self.task, task.generation.unsigned_abs());
        Ok(vec![present(task, self.history)])
    }
}

fn present(mut task: Task, history: Option<i32>) -> Arc<Event> {
    fold::cut_history(&mut task, history);
    Arc::new(Event::new(task))
}
