//! A task as an object: the operations about it as methods, and callbacks that are told of it.

use std::sync::{Arc, Mutex, PoisonError};

use ::capnweb::{Arguments, Member, Reply as Answer, Target, Value};
use futures_util::StreamExt as _;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::request::{Callback, Request};
use super::server::AgentObject;
use super::value::{failure, from_json};
use crate::error::Error;
use crate::operation::{self, Frame, Operation, Reply};
use crate::sabotage::broken;
use crate::types::TaskState;

/// A task of the caller's, or the message that was all of the answer.
pub(super) struct TaskObject {
    agent: AgentObject,
    about: About,
    feeds: Mutex<Feeds>,
}

enum About {
    /// The task of this id, under this tenant.
    Task {
        id: String,
        tenant: String,
    },
    Message(Json),
}

/// Those who are told.
#[derive(Default)]
struct Feeds {
    /// The callback that came with the message, until another takes its place.
    first: Option<Feed>,
    others: Vec<Feed>,
}

/// A subscriber: its callback, and the token that ends it or says that it has ended.
#[derive(Clone)]
struct Feed {
    callback: Arc<Mutex<Callback>>,
    stop: CancellationToken,
}

type Frames = futures_core::stream::BoxStream<'static, Result<Vec<Frame>, Error>>;

impl TaskObject {
    /// Performs an operation with many replies, and tells the callback of them if there is one.
    pub(super) async fn begin(
        agent: &AgentObject,
        operation: &'static Operation,
        arguments: Vec<Value>,
    ) -> Result<Self, Error> {
        let mut request = Request::read(operation, 0, arguments)?;
        let callback = request.callback.take();
        let tenant = request.fields.get("tenant").and_then(Json::as_str);
        let tenant = tenant.unwrap_or_default().to_owned();
        let Reply::Many(mut frames) = agent.reply(operation, request).await? else {
            return Err(Error::Internal("one reply where there are many".to_owned()));
        };
        // The first reply says what the others are about.
        let portion = frames.next().await.unwrap_or(Ok(Vec::new()))?;
        let about = match portion.first().map(Happened::read) {
            Some(Happened::Task(task)) => About::Task {
                id: text(&task, "id"),
                tenant,
            },
            Some(Happened::Message(message)) => About::Message(message),
            _ => return Err(Error::Internal("a stream was empty".to_owned())),
        };
        let begun = Self {
            agent: agent.clone(),
            about,
            feeds: Mutex::default(),
        };
        if let Some(callback) = callback {
            let frames = futures_util::stream::iter([Ok(portion)]).chain(frames);
            let feed = begun.feed(callback, Box::pin(frames));
            begun.lock().first = Some(feed);
        }
        Ok(begun)
    }

    /// Sends events to a callback, from the cursor on or from now on.
    async fn subscribe(&self, arguments: Vec<Value>) -> Result<(), Error> {
        let mut arguments = arguments.into_iter();
        let callback = arguments.next().map(Callback::of);
        let Some(Ok(callback)) = callback else {
            return Err(Error::invalid_field(
                "callback",
                "is not an object with methods",
            ));
        };
        let cursor = arguments.next().filter(|cursor| !cursor.is_nullish());
        let About::Task { id, tenant } = &self.about else {
            return Ok(());
        };
        // JavaScript cannot show that two callbacks are one, and clients give the same one with the
        // message and here: the second takes the place of the first, so that it hears nothing twice.
        if cursor.is_none() {
            let mut feeds = self.lock();
            if let Some(first) = feeds.first.take() {
                *lock(&first.callback) = callback;
                feeds.others.push(first);
                return Ok(());
            }
        }
        let mut request = about(id, tenant);
        if let Some(cursor) = cursor {
            let cursor = super::value::to_json(cursor, "cursor")?;
            let cursor = cursor
                .as_str()
                .map_or_else(|| cursor.to_string(), str::to_owned);
            let name = crate::binding::http_call::CURSOR_HEADER;
            request.parameters.insert(name.to_string(), cursor);
        }
        let Some(operation) = operation::following() else {
            return Err(Error::UnsupportedOperation(
                "nothing can be followed".to_owned(),
            ));
        };
        let Reply::Many(frames) = self.agent.reply(operation, request).await? else {
            return Err(Error::Internal("one reply where there are many".to_owned()));
        };
        let feed = self.feed(callback, frames);
        let mut feeds = self.lock();
        // Those that have ended need not be kept.
        feeds.others.retain(|feed| !feed.stop.is_cancelled());
        feeds.others.push(feed);
        Ok(())
    }

    /// The last one who came hears no more: callbacks cannot be told apart.
    fn unsubscribe(&self) {
        let mut feeds = self.lock();
        let last = feeds.others.pop();
        if let Some(feed) = last.or_else(|| feeds.first.take()) {
            feed.stop.cancel();
        }
    }

    /// Tells a callback of all that happens, one thing after the other, until it is over, or the
    /// callback fails or is gone.
    fn feed(&self, callback: Callback, mut frames: Frames) -> Feed {
        let feed = Feed {
            callback: Arc::new(Mutex::new(callback)),
            stop: CancellationToken::new(),
        };
        let told = feed.clone();
        let stopping = self.agent.wire.tasks.stopping();
        let telling = async move {
            while let Some(Ok(portion)) = frames.next().await {
                for frame in portion {
                    let callback = lock(&told.callback).clone();
                    if tell(&callback, &frame).await.is_err() {
                        return;
                    }
                }
            }
        };
        let (gone, stop) = (feed.clone(), feed.stop.clone());
        let work = async move {
            let gone = async {
                let callback = lock(&gone.callback).clone();
                callback.gone().await;
            };
            let _ended = stop.clone().drop_guard();
            tokio::select! {
                () = telling => {}
                () = gone => {}
                () = stop.cancelled() => {}
                () = stopping => {}
            }
        };
        tokio::spawn(self.agent.wire.tasks.track(work));
        feed
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Feeds> {
        lock(&self.feeds)
    }
}

impl Target for TaskObject {
    fn member(&self, name: &str) -> Member {
        match name {
            "subscribe" | "unsubscribe" => Member::Method,
            name if about_a_task(name).is_some() => Member::Method,
            _ => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Answer {
        let arguments = arguments.rest();
        match method {
            "subscribe" => Answer::future(async move {
                let subscribed = self.subscribe(arguments).await;
                subscribed.map_err(|error| failure(&error))
            }),
            "unsubscribe" => {
                self.unsubscribe();
                Answer::ready(())
            }
            name => match about_a_task(name) {
                Some(operation) => Answer::future(async move {
                    let performed = self.perform(operation, arguments).await;
                    performed.map_err(|error| failure(&error))
                }),
                None => Answer::no_such_method(name),
            },
        }
    }

    fn interface(&self) -> &'static str {
        "Task"
    }
}

impl TaskObject {
    /// An operation about this task.
    async fn perform(
        &self,
        operation: &'static Operation,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        match &self.about {
            // There is nothing more to it.
            About::Message(message) => Ok(from_json(message.clone())),
            About::Task { id, tenant } => {
                let mut request = Request::read(operation, 1, arguments)?;
                let field = operation.positional.first().copied().unwrap_or("id");
                let field = operation.field(field).map_or(field, |it| it.json_name);
                request.fields.insert(field.to_owned(), id.clone().into());
                request
                    .fields
                    .insert("tenant".to_owned(), tenant.clone().into());
                self.agent.perform(operation, request).await
            }
        }
    }
}

/// The operation of that name, if it is about a task.
fn about_a_task(name: &str) -> Option<&'static Operation> {
    let operation = operation::method(name)?;
    matches!(operation.positional.first(), Some(&("id" | "task_id"))).then_some(operation)
}

fn about(id: &str, tenant: &str) -> Request {
    let mut request = Request::default();
    request.fields.insert("id".to_owned(), id.into());
    request.fields.insert("tenant".to_owned(), tenant.into());
    request
}

/// What a frame tells of, in the words of either version.
enum Happened {
    Task(Json),
    Message(Json),
    Status(Json),
    Artifact(Json),
    Nothing,
}

impl Happened {
    fn read(frame: &Frame) -> Self {
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
async fn tell(callback: &Callback, frame: &Frame) -> ::capnweb::Result<()> {
    let (method, mut event) = match Happened::read(frame) {
        Happened::Task(task) => {
            let mut event = json!({
                "taskId": task["id"], "contextId": task["contextId"], "status": task["status"],
            });
            if task.get("kind").is_some() {
                event["kind"] = "status-update".into();
            }
            ("onStatusUpdate", with_final(event))
        }
        Happened::Status(event) => ("onStatusUpdate", with_final(event)),
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

/// An event that says whether it is the last.
fn with_final(mut event: Json) -> Json {
    let state = event["status"]["state"].as_str().unwrap_or_default();
    let state = state.trim_start_matches("TASK_STATE_");
    let state = state.to_ascii_uppercase().replace('-', "_");
    let state = TaskState::named(&format!("TASK_STATE_{state}"));
    let ends = state.is_some_and(TaskState::ends_streams);
    if let Some(event) = event.as_object_mut() {
        event.insert("final".to_owned(), ends.into());
    }
    event
}

fn text(json: &Json, member: &str) -> String {
    json[member].as_str().unwrap_or_default().to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
