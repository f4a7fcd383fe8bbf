//! A task as an object: the operations about it as methods, and callbacks that are told of it.

use std::sync::{Arc, Mutex, PoisonError};

use ::capnweb::{Arguments, Capability, Member, Reply as CapnwebReply, Target, Value};
use futures_util::{StreamExt as _, stream};
use serde_json::Value as Json;

use super::feed::{Feed, Frames, Happened};
use super::request::{Callback, Request};
use super::server::AgentObject;
use super::value::{failure, from_json};
use crate::error::Error;
use crate::operation::{self, Frame, Operation, Reply};

/// A task of the caller, or the message that was the whole answer.
pub(super) struct TaskObject {
    /// The agent, in the version of the call that gave this object.
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
    Message(Frame),
}

/// The callbacks that this object was given.
#[derive(Default)]
struct Feeds {
    /// The callback that came with the message, until the first `subscribe` takes its place.
    first: Option<Feed>,
    /// Those that are told; the first one is here, too.
    all: Vec<Feed>,
    /// How many there have been.
    given: usize,
}

impl Feeds {
    fn add(&mut self, feed: Feed) {
        self.all.retain(|feed| !feed.is_over());
        self.all.push(feed);
        self.given += 1;
    }
}

impl TaskObject {
    /// Performs an operation with many replies, and tells the callback of them if there is one.
    pub(super) async fn begin(
        agent: &AgentObject,
        operation: &'static Operation,
        arguments: Vec<Value>,
    ) -> Result<Self, Error> {
        let mut request = Request::read(operation, 0, arguments)?;
        let callback = request.callback.take();
        if callback.is_some() {
            agent.reaches_back("a callback")?;
        }
        let agent = agent.in_version_of(&request)?;
        let tenant = request.fields.get("tenant").and_then(Json::as_str);
        let tenant = tenant.unwrap_or_default().to_owned();
        let Reply::Many(mut frames) = agent.reply(operation, request).await? else {
            return Err(Error::Internal("one reply where there are many".to_owned()));
        };
        // The first reply says what the others are about.
        let portion = frames.next().await.unwrap_or(Ok(Vec::new()))?;
        let about = match portion.first().map(|frame| (frame, Happened::read(frame))) {
            Some((_, Happened::Task(task))) => About::Task {
                id: text(&task, "id"),
                tenant,
            },
            Some((frame, Happened::Message(_))) => About::Message(frame.clone()),
            _ => return Err(Error::Internal("a stream was empty".to_owned())),
        };
        let begun = Self {
            agent,
            about,
            feeds: Mutex::default(),
        };
        if let Some(callback) = callback {
            let frames = stream::iter([Ok(portion)]).chain(frames);
            let feed = begun.feed(callback, Box::pin(frames))?;
            let mut feeds = begun.lock();
            feeds.add(feed.clone());
            if operation.is_send() {
                feeds.first = Some(feed);
            }
        }
        Ok(begun)
    }

    /// Sends events to a callback: those behind the cursor, or the present status and what follows it.
    async fn subscribe(&self, arguments: Vec<Value>) -> Result<Subscription, Error> {
        let mut arguments = arguments.into_iter();
        let callback = arguments.next().map(Callback::of);
        let Some(Ok(callback)) = callback else {
            return Err(Error::invalid_field(
                "callback",
                "is not an object with methods",
            ));
        };
        self.agent.reaches_back("a callback")?;
        let cursor = arguments.next().filter(|cursor| !cursor.is_nullish());
        // JavaScript cannot show that two callbacks are one, and clients give the same one with the
        // message and here: the second takes the place of the first, so that it hears nothing twice.
        if cursor.is_none() {
            let first = self.lock().first.take();
            if let Some(first) = first.filter(Feed::can_be_taken_over) {
                first.take_over(callback);
                return Ok(Subscription(first));
            }
        }
        let frames = self.follow(cursor).await?;
        let feed = self.feed(callback, frames)?;
        self.lock().add(feed.clone());
        Ok(Subscription(feed))
    }

    /// What is to be told to a callback that is not the first.
    async fn follow(&self, cursor: Option<Value>) -> Result<Frames, Error> {
        let (id, tenant) = match &self.about {
            About::Task { id, tenant } => (id, tenant),
            About::Message(frame) => {
                let only = stream::iter([Ok(vec![frame.clone()])]);
                return Ok(Box::pin(only));
            }
        };
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
        match self.agent.reply(operation, request).await? {
            Reply::Many(frames) => Ok(frames),
            Reply::One(_) => Err(Error::Internal("one reply where there are many".to_owned())),
        }
    }

    /// Ends the subscription of a callback. One that is not recognised is the only one there ever was, or cannot be told
    /// from the others.
    fn unsubscribe(&self, arguments: Vec<Value>) -> Result<(), Error> {
        let callback = arguments.into_iter().next().map(Callback::of);
        let callback = callback.and_then(Result::ok);
        let mut feeds = self.lock();
        let named = |feed: &&Feed| callback.as_ref().is_some_and(|it| feed.tells(it));
        let recognised: Vec<Feed> = feeds.all.iter().filter(named).cloned().collect();
        if recognised.is_empty() && feeds.given > 1 {
            let why = "is not recognised, because JavaScript gives a callback a new identity each time it is passed, and \
                this task object has had several: dispose the subscription that subscribe returned";
            return Err(Error::invalid_field("callback", why));
        }
        let ended = if recognised.is_empty() {
            std::mem::take(&mut feeds.all)
        } else {
            recognised
        };
        for feed in ended {
            feed.end();
        }
        feeds.all.retain(|feed| !feed.is_over());
        // A callback that comes later takes no place of one that was sent away.
        if feeds.first.as_ref().is_some_and(Feed::is_over) {
            feeds.first = None;
        }
        Ok(())
    }

    fn feed(&self, callback: Callback, frames: Frames) -> Result<Feed, Error> {
        let place = self.agent.place_for_a_subscription()?;
        let tasks = &self.agent.wire.tasks;
        let limit = self.agent.wire.limits.callback_time;
        Ok(Feed::start(callback, frames, place, limit, tasks))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The subscription of one callback: it ends when it is released, with its session, or by `unsubscribe`.
struct Subscription(Feed);

impl Target for Subscription {
    fn member(&self, name: &str) -> Member {
        match name {
            "unsubscribe" => Member::Method,
            _ => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, _: Arguments) -> CapnwebReply {
        match method {
            "unsubscribe" => {
                self.0.end();
                CapnwebReply::ready(())
            }
            name => CapnwebReply::no_such_method(name),
        }
    }

    fn interface(&self) -> &'static str {
        "Subscription"
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.end();
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

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> CapnwebReply {
        let arguments = arguments.rest();
        match method {
            "subscribe" => CapnwebReply::future(async move {
                let subscribed = self.subscribe(arguments).await;
                subscribed
                    .map(|subscription| Value::Stub(Capability::new(subscription)))
                    .map_err(|error| failure(&error))
            }),
            "unsubscribe" => {
                let ended = self.unsubscribe(arguments);
                CapnwebReply::future(async move { ended.map_err(|error| failure(&error)) })
            }
            name => match about_a_task(name) {
                Some(operation) => CapnwebReply::future(async move {
                    let performed = self.perform(operation, arguments).await;
                    performed.map_err(|error| failure(&error))
                }),
                None => CapnwebReply::no_such_method(name),
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
            About::Message(frame) if operation.shows_a_task() => Ok(match Happened::read(frame) {
                Happened::Message(message) => from_json(message),
                _ => Value::Null,
            }),
            About::Message(_) => Err(Error::UnsupportedOperation(
                "the agent answered with a message: there is no task".to_owned(),
            )),
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

fn text(json: &Json, member: &str) -> String {
    json[member].as_str().unwrap_or_default().to_owned()
}
