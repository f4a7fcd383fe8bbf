//! A callback that is told what happens, in batches and in order, until it is let go of.

use std::sync::Arc;
use std::time::Duration;

use ::capnweb::{Arguments, Capability, Description, Member, Reply, Target, Tasks, Type, Value};
use a2a::binding::capnweb::value::from_json;
use a2a::limits::Limits;
use serde_json::{Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// A callback, before anything is followed.
pub(super) struct Follower {
    callback: Callback,
    tasks: Tasks,
    place: OwnedSemaphorePermit,
}

/// A callback, with how long a call of it may take.
#[derive(Clone)]
pub(super) struct Callback {
    function: Capability,
    limit: Duration,
}

/// Why a stream is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Over(pub(super) String);

impl Over {
    pub(super) fn because(reason: impl std::fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

impl Callback {
    /// Tells it, and waits until it was taken.
    pub(super) async fn tell(&self, what: Json) -> Result<(), Over> {
        match timeout(self.limit, self.function.invoke((from_json(what),))).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Over(format!("the callback failed: {}", error.message()))),
            Err(_) => Err(Over::because("the callback took too long")),
        }
    }
}

impl Follower {
    pub(super) fn new(
        function: Capability,
        limits: &Limits,
        tasks: &Tasks,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            callback: Callback {
                function,
                limit: limits.callback_time,
            },
            tasks: tasks.clone(),
            place,
        }
    }

    /// Runs until the work is over, the subscription is dropped, or the server stops.
    pub(super) fn run<F>(self, work: impl FnOnce(Callback) -> F) -> Subscription
    where
        F: Future<Output = Result<(), Over>> + Send + 'static,
    {
        let Self {
            callback,
            tasks,
            place,
        } = self;
        let (tell, ended) = watch::channel(None);
        let gone = callback.function.clone();
        let work = work(callback);
        let stopping = tasks.stopping();
        let running = async move {
            let _place = place;
            let reason = tokio::select! {
                done = work => match done {
                    Ok(()) => "complete".to_owned(),
                    Err(Over(reason)) => reason,
                },
                _ = gone.closed() => "the session has ended".to_owned(),
                () = stopping => "the server is stopping".to_owned(),
            };
            tell.send_replace(Some(reason));
        };
        Subscription {
            ended,
            _running: Arc::new(AbortOnDropHandle::new(tokio::spawn(running))),
        }
    }
}

/// Something that is followed; it ends when this is dropped.
#[derive(Clone)]
pub(super) struct Subscription {
    ended: watch::Receiver<Option<String>>,
    /// Held, so that it ends with the last clone.
    _running: Arc<AbortOnDropHandle<()>>,
}

impl Subscription {
    /// The object that a caller holds.
    pub(super) fn into_value(self) -> Value {
        Value::Stub(Capability::new(self))
    }

    /// Waits until it is over, and says why.
    pub(super) fn ended(&self) -> Reply {
        let mut ended = self.ended.clone();
        Reply::future(async move {
            let reason = match ended.wait_for(Option::is_some).await {
                Ok(reason) => reason.clone(),
                Err(_) => None,
            };
            let reason = reason.unwrap_or_else(|| "it was let go of".to_owned());
            from_json(json!({ "reason": reason }))
        })
        .cancellable()
    }
}

impl Target for Subscription {
    fn member(&self, name: &str) -> Member {
        match name {
            "ended" => Member::Method,
            _ => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, _: Arguments) -> Reply {
        match method {
            "ended" => self.ended(),
            _ => Reply::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "Subscription"
    }

    fn describe(&self) -> Description {
        let subscription = Description::new(
            "Subscription",
            "Something that goes on until it is disposed.",
        );
        subscription.method("ended", "Waits until it is over.", Vec::new(), Type::Any)
    }
}
