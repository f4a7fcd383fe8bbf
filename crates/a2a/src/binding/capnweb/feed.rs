//! One callback and the events that it is told of.

use std::sync::Arc;
use std::time::Duration;

use ::capnweb::{Error as RpcError, Tasks, Value};
use futures_core::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::request::Callback;
use super::value::{failure, from_json};
use crate::error::Error;
use crate::operation::Frame;
use crate::sabotage::broken;

/// Events in portions that were there at the same moment.
pub(super) type Frames = BoxStream<'static, Result<Vec<Frame>, Error>>;

/// A callback that is told of events, one after the other, until they end, it fails, or it is ended.
#[derive(Clone)]
pub(super) struct Feed {
    /// `None` when it is over, so that the callback is released then.
    callback: Arc<watch::Sender<Option<Callback>>>,
    stop: CancellationToken,
    /// Set when the events ended and all of them were told.
    complete: CancellationToken,
}

impl Feed {
    /// Starts to tell. A call of the callback that takes longer than `limit` counts as failed.
    pub(super) fn start(
        callback: Callback,
        frames: Frames,
        place: OwnedSemaphorePermit,
        limit: Duration,
        tasks: &Tasks,
    ) -> Self {
        let (callback, told) = watch::channel(Some(callback));
        let feed = Self {
            callback: Arc::new(callback),
            stop: CancellationToken::new(),
            complete: CancellationToken::new(),
        };
        let (stop, complete) = (feed.stop.clone(), feed.complete.clone());
        let held = feed.callback.clone();
        let stopping = tasks.stopping();
        let telling = tell_all(told.clone(), frames, limit);
        let work = async move {
            let _place = place;
            let _ended = stop.clone().drop_guard();
            tokio::select! {
                told = telling => if told.is_ok() {
                    complete.cancel();
                },
                () = gone(told) => {}
                () = stop.cancelled() => {}
                () = stopping => {}
            }
            held.send_replace(None);
        };
        tokio::spawn(tasks.track(work));
        feed
    }

    pub(super) fn end(&self) {
        self.stop.cancel();
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether another callback can take the place of this one and misses nothing: not if this one has failed.
    pub(super) fn can_be_taken_over(&self) -> bool {
        !self.is_over() || self.complete.is_cancelled()
    }

    /// From now on another callback is told.
    pub(super) fn take_over(&self, callback: Callback) {
        self.callback.send_if_modified(|told| {
            let goes_on = told.is_some();
            if goes_on {
                *told = Some(callback);
            }
            goes_on
        });
    }

    /// Whether it tells this callback, as far as identities show.
    pub(super) fn tells(&self, callback: &Callback) -> bool {
        let told = self.callback.borrow();
        told.as_ref().is_some_and(|told| told.is(callback))
    }
}

/// Ends when the session of the callback has ended.
async fn gone(mut told: watch::Receiver<Option<Callback>>) {
    loop {
        let Some(callback) = told.borrow_and_update().clone() else {
            return;
        };
        tokio::select! {
            () = callback.gone() => return,
            changed = told.changed() => if changed.is_err() {
                return std::future::pending().await;
            },
        }
    }
}

/// Tells of all events; fails with the callback.
async fn tell_all(
    told: watch::Receiver<Option<Callback>>,
    frames: Frames,
    limit: Duration,
) -> Result<(), Failed> {
    let mut frames = std::pin::pin!(frames.peekable());
    while let Some(portion) = frames.next().await {
        let portion = match portion {
            Ok(portion) => portion,
            Err(error) => {
                let callback = told.borrow().clone();
                if let Some(callback) = callback {
                    say_why(&callback, &error).await;
                }
                return Err(Failed);
            }
        };
        let last = portion.len().saturating_sub(1);
        for (at, frame) in portion.iter().enumerate() {
            // A stream that is over says so at once.
            let ends = at == last && matches!(frames.as_mut().peek().now_or_never(), Some(None));
            let callback = told.borrow().clone().ok_or(Failed)?;
            let telling = tell(&callback, frame, ends);
            tokio::time::timeout(limit, telling).await??;
        }
    }
    Ok(())
}

/// Tells a callback that its caller may hear no more, because the credentials expired or were revoked. A callback may lack
/// the method; other errors come with the end of the session, which says why.
async fn say_why(callback: &Callback, error: &Error) {
    if let Error::Unauthenticated(_) | Error::Unauthorized(_) = error {
        let rpc = failure(error);
        let event = Value::Error(rpc);
        let _ = callback.tell("onError", event).await;
    }
}

/// A callback that failed, or took too long.
struct Failed;

impl From<RpcError> for Failed {
    fn from(_: RpcError) -> Self {
        Self
    }
}

impl From<tokio::time::error::Elapsed> for Failed {
    fn from(_: tokio::time::error::Elapsed) -> Self {
        Self
    }
}

/// What a frame tells of, in the words of either version.
pub(super) enum Happened {
    Task(Json),
    Message(Json),
    Status(Json),
    Artifact(Json),
    Nothing,
}

impl Happened {
    pub(super) fn read(frame: &Frame) -> Self {
        let reply = serde_json::from_slice(&frame.body);
        let mut reply: Json = reply.unwrap_or_default();
        // 0.3 has the name inside, 1.0 around it.
        if let Some(kind) = reply["kind"].as_str().map(str::to_owned) {
            return Self::named(&kind, reply);
        }
        let members = reply.as_object_mut().map(std::mem::take);
        match members.into_iter().flatten().next() {
            Some((name, event)) => Self::named(&name, event),
            None => Self::Nothing,
        }
    }

    fn named(name: &str, event: Json) -> Self {
        match name {
            "task" => Self::Task(event),
            "message" => Self::Message(event),
            "statusUpdate" | "status-update" => Self::Status(event),
            "artifactUpdate" | "artifact-update" => Self::Artifact(event),
            _ => Self::Nothing,
        }
    }
}

/// Tells of one event: of a status or of an artifact. A task that is shown whole is its status.
async fn tell(callback: &Callback, frame: &Frame, ends: bool) -> ::capnweb::Result<()> {
    let (method, mut event) = match Happened::read(frame) {
        Happened::Task(task) => {
            let mut event = json!({
                "taskId": task["id"], "contextId": task["contextId"], "status": task["status"],
                "final": ends,
            });
            if task.get("kind").is_some() {
                event["kind"] = "status-update".into();
            }
            ("onStatusUpdate", event)
        }
        Happened::Status(mut event) => {
            event["final"] = ends.into();
            ("onStatusUpdate", event)
        }
        Happened::Artifact(mut event) => {
            if let Some(event) = event.as_object_mut() {
                event.entry("append").or_insert(false.into());
                event.entry("lastChunk").or_insert(false.into());
            }
            ("onArtifactUpdate", event)
        }
        // A callback may lack a method for an answer without a task.
        Happened::Message(message) => {
            let _ = callback.tell("onMessage", from_json(message)).await;
            return Ok(());
        }
        Happened::Nothing => return Ok(()),
    };
    if broken("r09_calling_back") {
        return Ok(());
    }
    // Where to go on after a lost connection, which 0.3 does not say by itself.
    if let (Some(event), Some(cursor)) = (event.as_object_mut(), frame.cursor) {
        event.insert("generation".to_owned(), cursor.to_string().into());
    }
    callback.tell(method, from_json(event)).await
}
