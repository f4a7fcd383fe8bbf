//! Streams that outlive connections.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use tokio::time::sleep;

use super::channel::Reply;
use super::{Body, Client, Error};
use crate::event::Event;
use crate::operation::{self, Operation};
use crate::types::wire::WireMessage;
use crate::types::{Event as Payload, GetTaskRequest, SubscribeToTaskRequest, TaskState};

/// What happens to a task, until nothing more comes without another message.
///
/// When the connection is lost, the stream goes on behind the last event over another one. An agent that
/// keeps no events sends the task as it is instead.
pub struct Events {
    /// Events, each with the cursor behind it.
    told: BoxStream<'static, (Result<Event, Error>, Option<u64>)>,
    cursor: Option<u64>,
}

impl Events {
    /// Opens a stream. A refusal is returned here, not as the first event.
    pub(super) async fn open<Q: WireMessage>(
        client: Client,
        operation: &'static Operation,
        request: Q,
        cursor: Option<u64>,
    ) -> Result<Self, Error> {
        // A request that follows a task names it.
        let task = (operation.positional == ["id"])
            .then(|| {
                serde_json::to_value(&request).ok()?["id"]
                    .as_str()
                    .map(str::to_owned)
            })
            .flatten();
        let replies = match client.call(operation, &request, cursor).await? {
            Reply::Many(replies) => replies,
            Reply::One(_) => return Err(Error::unclear("one answer where a stream was expected")),
        };
        let following = Following {
            client,
            replies,
            task,
            cursor,
            over: false,
            failures: 0,
            heard: 0,
        };
        let told = stream::unfold(following, |mut following| async move {
            let event = following.next().await?;
            Some(((event, following.cursor), following))
        });
        Ok(Self {
            told: Box::pin(told),
            cursor,
        })
    }

    /// Where [`Client::resume_task`] goes on behind what has been read, if the wire tells.
    pub fn cursor(&self) -> Option<u64> {
        self.cursor
    }
}

impl Stream for Events {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.told.poll_next_unpin(cx).map(|told| {
            let (event, cursor) = told?;
            self.cursor = cursor;
            Some(event)
        })
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}

struct Following {
    client: Client,
    replies: BoxStream<'static, Result<(Option<u64>, Body), Error>>,
    /// What the stream is about, once that is known.
    task: Option<String>,
    cursor: Option<u64>,
    /// Whether nothing more is to come.
    over: bool,
    /// How often in a row the stream broke without news.
    failures: usize,
    /// How many events came since it was opened.
    heard: usize,
}

impl Following {
    async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            if self.over {
                return None;
            }
            let broken = match self.replies.next().await {
                Some(Ok((cursor, body))) => return Some(self.take(cursor, body)),
                Some(Err(error)) if !error.is_passing() => {
                    self.over = true;
                    // 0.3 refuses in the stream.
                    return Some(match self.task.clone().filter(|_| self.failures > 0) {
                        Some(task) => self.ended(task, error).await,
                        None => Err(error),
                    });
                }
                Some(Err(error)) => error,
                None => Error::lost("the stream ended before its task"),
            };
            if let Some(told) = self.go_on(broken).await {
                return Some(told);
            }
        }
    }

    fn take(&mut self, cursor: Option<u64>, body: Body) -> Result<Event, Error> {
        let event = Event::new(body.event().inspect_err(|_| self.over = true)?);
        let cursor = cursor.or(event.cursor());
        // Who is told again how the task stands, and no more, has made no progress.
        self.heard += 1;
        if self.heard > 1 || cursor > self.cursor {
            self.failures = 0;
        }
        self.cursor = cursor.or(self.cursor);
        let task = match &event.response().payload {
            Payload::Task(task) => Some(&task.id),
            Payload::StatusUpdate(update) => Some(&update.task_id),
            Payload::ArtifactUpdate(update) => Some(&update.task_id),
            // A message is the whole answer.
            Payload::Message(_) => {
                self.over = true;
                None
            }
            Payload::Unset => None,
        };
        if let Some(task) = task {
            self.task = Some(task.clone());
        }
        let state = event.state();
        self.over |= state.is_some_and(TaskState::is_settled);
        Ok(event)
    }

    /// Follows the task again, or tells why that is not possible.
    async fn go_on(&mut self, broken: Error) -> Option<Result<Event, Error>> {
        let pause = self.client.pauses().nth(self.failures);
        self.failures += 1;
        let Some(task) = self.task.clone() else {
            self.over = true;
            return Some(Err(broken));
        };
        let Some(pause) = pause else {
            self.over = true;
            return Some(self.ended(task, broken).await);
        };
        sleep(pause).await;
        let operation = operation::following()?;
        let request = SubscribeToTaskRequest {
            id: task.clone(),
            ..SubscribeToTaskRequest::default()
        };
        match self.client.call(operation, &request, self.cursor).await {
            Ok(Reply::Many(replies)) => {
                self.replies = replies;
                self.heard = 0;
                None
            }
            Ok(Reply::One(_)) => {
                self.over = true;
                Some(Err(Error::unclear(
                    "one answer where a stream was expected",
                )))
            }
            Err(error) if error.refusal().is_some() => {
                self.over = true;
                Some(self.ended(task, error).await)
            }
            Err(error) => {
                self.over = true;
                Some(Err(error))
            }
        }
    }

    /// The final task, for one that cannot be followed: it may have ended at an agent that keeps no events.
    async fn ended(&mut self, id: String, broken: Error) -> Result<Event, Error> {
        let request = GetTaskRequest {
            id,
            ..GetTaskRequest::default()
        };
        let Ok(task) = self.client.get_task(request).await else {
            return Err(broken);
        };
        let event = Event::new(task);

        if event.state().is_some_and(TaskState::is_settled) {
            Ok(event)
        } else {
            Err(broken)
        }
    }
}
