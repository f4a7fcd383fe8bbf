//! Targets: objects with methods that peers may call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::convert::{FromValue, Output};
use crate::describe::Description;
use crate::error::{Error, Result};
use crate::value::Value;

/// An object with methods that a peer may call. Usually written with [`#[target]`](crate::target); by hand when
/// the members are only known at run time.
///
/// It is the serving side of an object; the using side is a [`Stub`](crate::Stub). A target is owned by the
/// capabilities that lead to it, of this process and of peers, and is dropped when the last one is released or
/// the sessions end. There is no other registration: a peer can reach exactly the objects it was given.
///
/// A call goes through these steps. [`member`](Self::member) decides what a name is; only a `Method` is
/// called. Promises in the arguments are awaited first. Layers of the session run around the call. Then
/// [`call`](Self::call) runs at once, up to the first wait of the future it returns, so that calls start in the
/// order in which they arrive; the rest runs as a task beside other calls. The task belongs to the session's
/// [`Tasks`](crate::Tasks) and outlives the session, unless the reply is
/// [cancellable](Reply::cancellable).
///
/// Arguments belong to the call: capabilities among them are released when it ends, unless the target keeps
/// them. A panic is caught and becomes an internal error without its text. Methods take `Arc<Self>`, not
/// `&self`, because the future outlives the call of the function.
///
/// JavaScript gives every object some members and treats an object with a `then` as a promise, so those names
/// never reach a target.
pub trait Target: Send + Sync + 'static {
    /// What `name` is on this object.
    fn member(&self, name: &str) -> Member;

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply;

    fn get(self: Arc<Self>, property: &str) -> Reply {
        let _ = property;
        Reply::ready(())
    }

    /// Calls the object itself, when it is a function.
    fn invoke(self: Arc<Self>, arguments: Arguments) -> Reply {
        drop(arguments);
        Reply::not_a_function()
    }

    /// The name of its type, for layers and logs; empty when it has none.
    fn interface(&self) -> &'static str {
        ""
    }

    /// Its name, members and their types, where known.
    fn describe(&self) -> Description {
        Description::default()
    }
}

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// It reads as `undefined`.
    Absent,
    /// It can be called, or read as a function.
    Method,
    /// It can be read.
    Getter,
}

/// The answer of a target: a result, or the future of one.
pub struct Reply(pub(crate) ReplyInner);

pub(crate) enum ReplyInner {
    Ready(Result<Value>),
    Future(
        Pin<Box<dyn Future<Output = Result<Value>> + Send>>,
        WhenReleased,
    ),
    NoSuchMethod(Option<String>),
}

/// What happens to a running call when its result is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenReleased {
    /// It runs to its end, as the protocol has it.
    RunsOn,
    Stops,
}

impl Reply {
    /// A result that is there.
    pub fn ready(output: impl Output) -> Self {
        Self(ReplyInner::Ready(output.into_outcome()))
    }

    /// A result that will come.
    pub fn future<F>(future: F) -> Self
    where
        F: Future<Output: Output> + Send + 'static,
    {
        Self(ReplyInner::Future(
            Box::pin(async move { future.await.into_outcome() }),
            WhenReleased::RunsOn,
        ))
    }

    /// Makes the call cancellable: its future is dropped as soon as its result is released (the caller has
    /// released it and nothing was pipelined on it, or the caller's session has ended). `#[method(cancel)]` does
    /// this.
    pub fn cancellable(mut self) -> Self {
        if let ReplyInner::Future(_, when_released) = &mut self.0 {
            *when_released = WhenReleased::Stops;
        }
        self
    }

    /// The call failed before it began, over its arguments for instance.
    pub fn error(error: Error) -> Self {
        Self(ReplyInner::Ready(Err(error)))
    }

    /// There is no such method.
    pub fn no_such_method(name: &str) -> Self {
        Self(ReplyInner::NoSuchMethod(Some(name.to_owned())))
    }

    /// The object is not a function.
    pub fn not_a_function() -> Self {
        Self(ReplyInner::NoSuchMethod(None))
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ReplyInner::Ready(result) => f.debug_tuple("Ready").field(result).finish(),
            ReplyInner::Future(_, when_released) => {
                write!(f, "Future({when_released:?})")
            }
            ReplyInner::NoSuchMethod(name) => f.debug_tuple("NoSuchMethod").field(name).finish(),
        }
    }
}

/// The arguments of a call, taken in order.
#[derive(Debug)]
pub struct Arguments {
    values: std::vec::IntoIter<Value>,
}

impl Arguments {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self {
            values: values.into_iter(),
        }
    }

    /// Takes the next argument as a `T`. A missing one is `undefined`; one of another type is a
    /// `TypeError` that names it.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<T> {
        let value = self.values.next().unwrap_or_default();
        T::from_value(value.without_raw()).map_err(|error| {
            Error::of(
                error.kind(),
                format!("argument '{name}': {}", error.message()),
            )
        })
    }

    /// What has not been taken.
    pub fn rest(self) -> Vec<Value> {
        self.values.map(Value::without_raw).collect()
    }

    /// How many have not been taken.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether all have been taken.
    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }
}

/// A function as a target: it has no members and can be called.
pub(crate) struct Function<F>(F);

impl<F, R> Function<F>
where
    F: Fn(Arguments) -> R + Send + Sync + 'static,
    R: Future<Output: Output> + Send + 'static,
{
    pub(crate) fn new(function: F) -> Self {
        Self(function)
    }
}

impl<F, R> Target for Function<F>
where
    F: Fn(Arguments) -> R + Send + Sync + 'static,
    R: Future<Output: Output> + Send + 'static,
{
    fn member(&self, _name: &str) -> Member {
        Member::Absent
    }

    fn call(self: Arc<Self>, method: &str, _arguments: Arguments) -> Reply {
        Reply::no_such_method(method)
    }

    fn invoke(self: Arc<Self>, arguments: Arguments) -> Reply {
        Reply::future((self.0)(arguments))
    }

    fn interface(&self) -> &'static str {
        "Function"
    }
}
