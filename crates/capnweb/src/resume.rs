//! Subscriptions that go on where they were cut off: a convention of two methods, and both of its ends.
//!
//! An object offers `subscribe(cursor, sink)`. It calls the sink, a function, with a list of
//! `{cursor, event}`, in order, and waits for the answer before it calls again; what it gives is a
//! [`Subscription`], which ends when it is released. A subscriber that was cut off subscribes again with the
//! cursor of the last event it has seen, and gets the events after it: each event once.
//! `docs/capnweb-resumable.md` describes the messages.
//!
//! A server writes the method in its own target, so that it can have any name and more parameters:
//!
//! ```
//! use capnweb::resume::{Item, Sink, Subscription};
//! use capnweb::{Result, target};
//! use futures_util::stream;
//!
//! struct Countdown;
//!
//! #[target]
//! impl Countdown {
//!     /// From ten to zero. The cursor is the number itself.
//!     pub fn subscribe(&self, cursor: Option<String>, sink: Sink<u32>) -> Result<Subscription> {
//!         let next = match cursor {
//!             None => 11,
//!             Some(cursor) => cursor.parse().map_err(|_| capnweb::resume::cursor_gone(&cursor))?,
//!         };
//!         let items = (0..next).rev().map(|n| Ok(Item::new(n.to_string(), n)));
//!         Ok(Subscription::start(sink, stream::iter(items)))
//!     }
//! }
//! ```
//!
//! or hands out a [`Resumable`], which is such a target over any log. A client that reconnects follows one
//! with [`Reconnecting::resume`](crate::reconnect::Reconnecting::resume).

use std::fmt;
use std::pin::{Pin, pin};

use futures_core::Stream;
use futures_util::StreamExt;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::account::Account;
use crate::convert::{Callback, FromValue};
use crate::describe::{Reference, Structure, Type};
use crate::error::{Error, Result};
use crate::hook::Hook;
use crate::hook::deferred::deferred;
use crate::promise::{Pipelined, Promise};
use crate::target;
use crate::value::{Object, Value};

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;

/// The most events that one call of a sink brings.
const MOST: usize = 128;

/// An event, and the cursor from which the events after it can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<E = Value> {
    /// Where the event stands in its log. Only the log knows what it means.
    pub cursor: String,
    pub event: E,
}

/// Where events go: a function of the subscriber's, called with some at a time.
pub type Sink<E = Value> = Callback<(Vec<Item<E>>,), ()>;

impl<E> Item<E> {
    /// An event and its cursor.
    pub fn new(cursor: impl Into<String>, event: E) -> Self {
        Self {
            cursor: cursor.into(),
            event,
        }
    }
}

impl<E: FromValue> FromValue for Item<E> {
    fn from_value(value: Value) -> Result<Self> {
        let (mut cursor, mut event) = (Value::Undefined, Value::Undefined);
        for (name, value) in Object::from_value(value)? {
            match name.as_str() {
                "cursor" => cursor = value,
                "event" => event = value,
                _ => drop(value),
            }
        }
        Ok(Self {
            cursor: crate::__macro::field("cursor", cursor)?,
            event: crate::__macro::field("event", event)?,
        })
    }

    fn describe() -> Type {
        Type::Object(Reference::new::<Self>(|| {
            Structure::new("", "")
                .field("cursor", "", Type::String)
                .field("event", "", E::describe())
        }))
    }
}

impl<E: Into<Value>> From<Item<E>> for Value {
    fn from(item: Item<E>) -> Self {
        Self::object([
            ("cursor", Self::from(item.cursor)),
            ("event", item.event.into()),
        ])
    }
}

/// The error for a cursor that the log cannot go on from: it is unknown, or what followed it is no more.
pub fn cursor_gone(cursor: &str) -> Error {
    Error::range_error(format!("the log cannot go on from '{cursor}'")).with_code(CURSOR_GONE)
}

/// The `code` of [`cursor_gone`]. The subscriber has missed events and has to begin anew.
pub const CURSOR_GONE: &str = "cursor_gone";

/// A subscription that is being served, until it is released.
pub struct Subscription {
    ended: Promise<()>,
    _running: DropGuard,
    /// Owns the task, when it is not that of a session.
    _account: Account,
}

impl Subscription {
    /// Serves a subscription: gives the sink what `events` yields until that ends or fails, the sink fails,
    /// or the subscription is released. Needs a tokio runtime, as every method has.
    pub fn start<E>(
        sink: Sink<E>,
        events: impl Stream<Item = Result<Item<E>>> + Send + 'static,
    ) -> Self
    where
        E: Into<Value> + Send + 'static,
    {
        let account = sink.capability().account();
        let released = CancellationToken::new();
        let (promise, resolver) = deferred();
        let work = {
            let (released, account) = (released.clone(), account.clone());
            async move {
                let served = released.run_until_cancelled(serve(sink, events)).await;
                if let Some(ended) = served {
                    let ended = ended.map(|()| Value::Undefined);
                    resolver.resolve(Hook::from_result(ended, &account));
                }
            }
        };
        account.spawn(work);
        Self {
            ended: Pipelined::from(Hook::Promise(promise)).into(),
            _running: released.drop_guard(),
            _account: account,
        }
    }
}

/// A subscription. It lasts until it is released.
#[target]
impl Subscription {
    /// Returns when there will be no more events, and fails with what kept the log or the sink from going on.
    // Not async: a call under way would hold the object, and releasing it would end nothing.
    pub fn ended(&self) -> Promise<()> {
        self.ended.clone()
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

/// Gives the sink all events that are there, in one call, until there are no more.
async fn serve<E: Into<Value>>(
    sink: Sink<E>,
    events: impl Stream<Item = Result<Item<E>>>,
) -> Result<()> {
    let mut events = pin!(events.ready_chunks(MOST));
    while let Some(ready) = events.next().await {
        let mut items = Vec::with_capacity(ready.len());
        let mut failed = None;
        for item in ready {
            match item {
                Ok(item) => items.push(Value::from(item)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if !items.is_empty() {
            sink.capability().invoke((items,)).await?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Ok(())
}

type Follow = dyn Fn(Option<String>) -> Result<Events> + Send + Sync;
type Events = Pin<Box<dyn Stream<Item = Result<Item>> + Send>>;

/// A target over any log that has cursors.
pub struct Resumable(Box<Follow>);

impl Resumable {
    /// Serves what `follow` gives: the events after a cursor, those that were and those that come, or all of
    /// them when there is no cursor. A cursor it cannot go on from is a [`cursor_gone`].
    pub fn new<E, S>(follow: impl Fn(Option<String>) -> Result<S> + Send + Sync + 'static) -> Self
    where
        E: Into<Value> + 'static,
        S: Stream<Item = Result<Item<E>>> + Send + 'static,
    {
        let erase = |item: Result<Item<E>>| {
            item.map(|Item { cursor, event }| Item::new(cursor, event.into()))
        };
        Self(Box::new(move |cursor| {
            let events = follow(cursor)?;
            Ok(Box::pin(events.map(erase)) as Events)
        }))
    }
}

/// A log with events that can be followed from any point on.
#[target]
impl Resumable {
    /// Calls the sink with the events after the cursor, or with all, in order, as they come.
    ///
    /// # Errors
    ///
    /// - `cursor_gone`: the log cannot go on from there
    pub fn subscribe(&self, cursor: Option<String>, sink: Sink) -> Result<Subscription> {
        Ok(Subscription::start(sink, (self.0)(cursor)?))
    }
}

impl fmt::Debug for Resumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resumable")
    }
}
