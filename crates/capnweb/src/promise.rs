//! Promises: results of calls that can be used before they have arrived.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as Polling, Poll};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::account::Account;
use crate::convert::{FromValue, IntoArguments};
use crate::error::{Error, Result};
use crate::expression::PathPart;
use crate::hook::{Action, Hook, Operation};
use crate::map::MapBudget;
use crate::map::record::{self, Mapper};
use crate::settle;
use crate::stub::{Interface, Stub, account_of};
use crate::value::Value;

/// A promise without a type: what a [`Value`] holds in the place of a result still to come.
#[derive(Clone, Debug)]
pub struct Pipelined {
    hook: Hook,
    path: Vec<PathPart>,
}

impl Pipelined {
    pub(crate) fn new(hook: Hook, path: Vec<PathPart>) -> Self {
        Self { hook, path }
    }

    pub(crate) fn hook(&self) -> &Hook {
        &self.hook
    }

    pub(crate) fn path(&self) -> &[PathPart] {
        &self.path
    }

    /// The hook of what it stands for, its path followed.
    pub(crate) fn into_hook(self, account: &Account) -> Hook {
        if self.path.is_empty() {
            self.hook
        } else {
            self.hook.get(self.path, account)
        }
    }

    fn apply(&self, mut more: Vec<PathPart>, action: Action) -> Self {
        let mut path = self.path.clone();
        path.append(&mut more);
        let operation = Operation {
            path,
            action,
            account: account_of(&self.hook),
            permit: None,
        };
        Self::new(self.hook.apply(operation), Vec::new())
    }
}

impl From<Hook> for Pipelined {
    fn from(hook: Hook) -> Self {
        Self::new(hook, Vec::new())
    }
}

/// The result of a call, of type `T`, that is still on its way.
///
/// The call has been sent already. `promise.await` pulls its result and gives `Result<T>`. Without waiting, a
/// promise can be passed as an argument, called, mapped, or have its properties read: all of that travels with
/// the call in one round trip. Dropping it releases the result at the callee; the call itself runs to its end,
/// unless its method is cancellable.
pub struct Promise<T = Value> {
    inner: Pipelined,
    value: PhantomData<fn() -> T>,
}

impl<T> Promise<T> {
    /// Calls a method of the object that the result will be.
    pub fn call(&self, method: &str, arguments: impl IntoArguments) -> Promise {
        let path = vec![PathPart::Name(method.to_owned())];
        self.inner
            .apply(path, Action::Call(arguments.into_arguments()))
            .into()
    }

    /// Calls the result itself, when it will be a function.
    pub fn invoke(&self, arguments: impl IntoArguments) -> Promise {
        self.inner
            .apply(Vec::new(), Action::Call(arguments.into_arguments()))
            .into()
    }

    /// A property of the result. Nothing is sent until it is used.
    pub fn property(&self, name: &str) -> Promise {
        self.step(PathPart::Name(name.to_owned()))
    }

    /// An element of the result. Nothing is sent until it is used.
    pub fn index(&self, index: u32) -> Promise {
        self.step(PathPart::Number(f64::from(index)))
    }

    fn step(&self, part: PathPart) -> Promise {
        let mut inner = self.inner.clone();
        inner.path.push(part);
        inner.into()
    }

    /// The same promise, its result read as another type.
    pub fn cast<U>(self) -> Promise<U> {
        Promise {
            inner: self.inner,
            value: PhantomData,
        }
    }

    /// A promise that has failed already.
    pub fn broken(error: Error) -> Self {
        Self {
            inner: Hook::Broken(error).into(),
            value: PhantomData,
        }
    }

    fn map_recorded(&self, function: impl FnOnce(&Mapper, Promise) -> Value) -> Promise {
        match record::record(|mapper, input| function(mapper, Pipelined::from(input).into())) {
            Ok((captures, instructions)) => {
                let budget = MapBudget::new(&account_of(&self.inner.hook));
                self.inner
                    .apply(
                        Vec::new(),
                        Action::Map {
                            captures,
                            instructions,
                            budget,
                        },
                    )
                    .into()
            }
            Err(error) => Promise::broken(error),
        }
    }
}

impl<T: FromValue> Promise<T> {
    /// Waits for the result, from now on for so long. After that it fails with the code `timeout` and
    /// gives the result up, which also ends the call when its method is one that stops then.
    pub fn deadline(self, limit: Duration) -> impl Future<Output = Result<T>> + Send + use<T> {
        let end = Instant::now().checked_add(limit);
        let result = self.into_future();
        async move {
            match end {
                Some(end) => tokio::time::timeout_at(end, result)
                    .await
                    .unwrap_or_else(|_| Err(Error::timed_out(limit))),
                // Later than the clock can tell.
                None => result.await,
            }
        }
    }
}

impl Promise {
    /// Runs a function on the result at the callee's side, in the same round trip: on each element
    /// when it is an array, once when it is anything else but `null` and `undefined`.
    ///
    /// The function runs here, once, on a stand-in; what it calls is recorded and sent. Stubs it uses
    /// come in by [`Mapper::capture`].
    pub fn map<R: Into<Value>>(&self, function: impl FnOnce(&Mapper, Promise) -> R) -> Promise {
        self.map_recorded(|mapper, input| function(mapper, input).into())
    }
}

impl<T> Promise<Vec<T>> {
    /// Runs a function on each element at the callee's side, in the same round trip. See
    /// [`Promise::map`].
    pub fn map<U>(
        &self,
        function: impl FnOnce(&Mapper, Promise<T>) -> Promise<U>,
    ) -> Promise<Vec<U>> {
        self.map_recorded(|mapper, input| function(mapper, input.cast()).into())
            .cast()
    }
}

impl<T: Interface + ?Sized> Promise<Stub<T>> {
    /// A stub of the object the result will be, to be called before it is there.
    pub fn pipeline(&self) -> Stub<T> {
        let account = account_of(&self.inner.hook);
        Stub::from_capability(self.inner.clone().into_hook(&account).into())
    }
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            value: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Promise({:?})", self.inner.hook)
    }
}

impl<T> From<Pipelined> for Promise<T> {
    fn from(inner: Pipelined) -> Self {
        Self {
            inner,
            value: PhantomData,
        }
    }
}

impl<T> From<Promise<T>> for Value {
    fn from(promise: Promise<T>) -> Self {
        Self::Promise(promise.inner)
    }
}

impl<T> From<&Promise<T>> for Value {
    fn from(promise: &Promise<T>) -> Self {
        Self::Promise(promise.inner.clone())
    }
}

impl<T: FromValue> IntoFuture for Promise<T> {
    type Output = Result<T>;
    type IntoFuture = Awaited<T>;

    fn into_future(self) -> Awaited<T> {
        let account = account_of(&self.inner.hook);
        let hook = self.inner.into_hook(&account);
        let (sender, receiver) = oneshot::channel();
        settle::hook(
            &hook,
            &account,
            // Sending fails when the future was dropped.
            Box::new(move |result| drop(sender.send(result))),
        );
        Awaited {
            _hook: hook,
            receiver,
            value: PhantomData,
        }
    }
}

/// The future of a [`Promise`]. Dropping it gives the result up.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Awaited<T> {
    /// Held so that the result is not released while it is waited for.
    _hook: Hook,
    receiver: oneshot::Receiver<Result<Value>>,
    value: PhantomData<fn() -> T>,
}

impl<T: FromValue> Future for Awaited<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Result<T>> {
        match Pin::new(&mut self.receiver).poll(polling) {
            Poll::Ready(Ok(result)) => {
                Poll::Ready(result.and_then(|value| T::from_value(value.without_raw())))
            }
            Poll::Ready(Err(_)) => Poll::Ready(Err(Error::new("the call ended without an answer"))),
            Poll::Pending => Poll::Pending,
        }
    }
}
