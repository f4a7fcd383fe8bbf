//! Handles on remote objects that outlive their sessions: a client that reconnects.
//!
//! ```no_run
//! # use capnweb::{Stub, target};
//! # struct Shop; struct Cart;
//! # #[target] impl Shop {
//! #     pub fn price(&self, item: String) -> f64 { let _ = item; 0.0 }
//! #     pub fn open_cart(&self, owner: String) -> Cart { let _ = owner; Cart }
//! # }
//! # #[target] impl Cart { pub fn add(&self, item: String) { let _ = item; } }
//! use capnweb::reconnect::{self, Reconnect, Reconnecting};
//! use capnweb::{Capability, Options};
//!
//! # async fn run() -> capnweb::Result<()> {
//! let shop: Reconnecting<Shop> =
//!     Reconnect::websocket("ws://127.0.0.1:8080/rpc", Capability::nothing(), &Options::default()).start();
//! let cart = shop.derive(|shop| shop.open_cart("Ada"));      // opened again in every session
//!
//! // Reading twice does no harm, so the call is repeated until there is an answer.
//! println!("{}", shop.retry(|shop| shop.price("tea")).await?);
//!
//! // Adding twice would; so this fails when the connection is lost before the answer.
//! match cart.call(|cart| cart.add("tea")).await {
//!     Err(error) if error.code() == Some(reconnect::CONNECTION_LOST) => println!("tea, maybe"),
//!     other => other?,
//! }
//! # Ok(()) }
//! ```
//!
//! Events that happen while the client is not connected are not lost when the object offers them by cursor:
//! see [`resume`](crate::resume) and [`Reconnecting::resume`].

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, Options};
use crate::convert::FromValue;
use crate::error::{Error, Result};
use crate::promise::Promise;
use crate::resume::{Sink, Subscription};
use crate::stub::{Any, Capability, Interface, Stub};
use crate::tasks::Tasks;
use crate::transport::websocket;

mod derived;
mod events;
mod supervise;

#[cfg(test)]
#[path = "reconnect_tests.rs"]
mod tests;

use derived::Origin;
pub use events::Events;
use supervise::{Connect, Core, Live, Probe};

/// The `code` of a call that was under way when its connection was lost: it may or may not have been done.
pub const CONNECTION_LOST: &str = "connection_lost";

/// The `code` of a call that was not made because there was no connection for too long.
pub const NOT_CONNECTED: &str = "not_connected";

/// Waits, time limits and the number of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The bound of the first wait before an attempt. Each further bound is twice the one before.
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// After a session that lasted this long the back-off starts from `first_wait` again.
    pub steady_after: Duration,
    /// The time limit of one attempt, with the probe of the new session.
    pub attempt_limit: Duration,
    /// The time a call waits for a connection before it fails with [`NOT_CONNECTED`].
    pub patience: Duration,
    /// The number of sessions that may end during a retried call.
    pub retries: u32,
    /// The seed of the random waits, for tests; otherwise each client has its own.
    pub seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(30),
            steady_after: Duration::from_secs(5),
            attempt_limit: Duration::from_secs(10),
            patience: Duration::from_secs(60),
            retries: 10,
            seed: None,
        }
    }
}

/// The settings of a reconnecting client before it is started.
pub struct Reconnect<T: Interface + ?Sized = Any> {
    connect: Connect,
    probe: Probe,
    settings: Settings,
    tasks: Tasks,
    root: PhantomData<fn() -> Box<T>>,
}

impl<T: Interface + ?Sized> Reconnect<T> {
    /// Connects to a `ws://` address, and offers `main` to the server in every session. What runs belongs to
    /// `options.tasks`.
    pub fn websocket(
        url: impl Into<String>,
        main: impl Into<Capability>,
        options: &Options,
    ) -> Self {
        let (url, main, options) = (url.into(), main.into(), options.clone());
        let tasks = options.tasks.clone();
        let connect = move || {
            let (url, main, options) = (url.clone(), main.clone(), options.clone());
            async move { websocket::connect(&url, main, &options).await }
        };
        Self::new(connect).tasks(tasks)
    }

    /// Connects by any means: over TLS, with a token, to one server of many.
    pub fn new<F>(connect: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Connection>> + Send + 'static,
    {
        Self {
            connect: Box::new(move || Box::pin(connect())),
            probe: Box::new(|root| Box::pin(answers(root))),
            settings: Settings::default(),
            tasks: Tasks::new(),
            root: PhantomData,
        }
    }

    /// Sets the probe of a new session. While it fails, the session is not used and another one is tried. By
    /// default any answer of the peer will do.
    pub fn probe<F>(mut self, probe: impl Fn(Stub<T>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.probe = Box::new(move |root| Box::pin(probe(Stub::from_capability(root))));
        self
    }

    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the owner of the reconnecting task.
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.tasks = tasks;
        self
    }

    /// Begins to connect. Needs a tokio runtime. It goes on until the last handle is dropped or its tasks are
    /// stopped.
    pub fn start(self) -> Reconnecting<T> {
        let core = Core::start(self.connect, self.probe, self.settings, self.tasks);
        Reconnecting {
            core,
            origin: Origin::Root,
            object: PhantomData,
        }
    }
}

impl<T: Interface + ?Sized> fmt::Debug for Reconnect<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconnect")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Reads a property that no object has. A refusal is an answer as well, unless it is the session's end.
async fn answers(root: Capability) -> Result<()> {
    let asked = root.property("isConnected").await;
    match asked {
        Err(error) if is_end(&root, &error) => Err(error),
        _ => Ok(()),
    }
}

/// Whether an error is that of the session's end rather than one that the peer answered with.
fn is_end(root: &Capability, error: &Error) -> bool {
    use futures_util::FutureExt;
    let ended = root.closed().now_or_never();
    ended.is_some_and(|ended| ended.is(error))
}

/// A handle on an object of a peer that survives its sessions. Clones are the same handle.
///
/// A session ends with its connection, and all of its stubs with it. Behind all handles of one connection there
/// is one task (`supervise`). It connects, probes the new session, publishes it, waits for its end, and begins
/// again after a random wait with a bound that doubles (back-off with full jitter), so that the clients of a
/// restarted server do not return at the same moment. A session is published only after the probe, because a
/// load balancer may accept connections for a server that does not answer.
///
/// A handle stores no stub. It has an *origin*: the root, or a function that gets the object from another
/// handle. In each session the object is got when it is first used, and got again if getting it failed. So one
/// reconnect restores the whole tree of objects, without calls for objects that are not used.
///
/// After the loss of a connection the client cannot know whether a call that was under way was done. The
/// caller decides: [`call`](Self::call) fails with [`CONNECTION_LOST`], [`retry`](Self::retry) makes the call
/// again. Repeating every call silently would run some of them twice.
///
/// The task belongs to the `Tasks` of the options. It ends when the last handle is dropped, which also closes
/// the connection, or when the tasks are stopped; then calls fail with [`NOT_CONNECTED`].
pub struct Reconnecting<T: Interface + ?Sized = Any> {
    core: Arc<Core>,
    origin: Origin,
    object: PhantomData<fn() -> Box<T>>,
}

impl<T: Interface + ?Sized + 'static> Reconnecting<T> {
    /// Makes a call in the present session, or in the next one when there is none.
    ///
    /// When the session ends before the answer arrives, it is unknown whether the call was done, and it fails
    /// with [`CONNECTION_LOST`].
    pub async fn call<R: FromValue>(&self, call: impl FnOnce(&Stub<T>) -> Promise<R>) -> Result<R> {
        let live = self.core.live().await?;
        let promise = call(&self.in_session(&live));
        match promise.await {
            Err(error) => Err(self.judge(&live, error).await),
            given => given,
        }
    }

    /// Makes an idempotent call: when the session ends before the answer arrives, the call is made again in the
    /// next one.
    pub async fn retry<R: FromValue>(&self, call: impl Fn(&Stub<T>) -> Promise<R>) -> Result<R> {
        let mut retries = self.core.settings().retries;
        loop {
            match self.call(&call).await {
                Err(error) if retries > 0 && error.code() == Some(CONNECTION_LOST) => retries -= 1,
                outcome => return outcome,
            }
        }
    }

    /// A handle on an object that is got from this one by `derive`: in each session when it is first used, and
    /// again when getting it has failed.
    pub fn derive<U: Interface + ?Sized + 'static>(
        &self,
        derive: impl Fn(&Stub<T>) -> Promise<Stub<U>> + Send + Sync + 'static,
    ) -> Reconnecting<U> {
        let derive = move |parent: &Capability| {
            let parent = Stub::from_capability(parent.clone());
            derive(&parent).pipeline().capability().clone()
        };
        Reconnecting {
            core: self.core.clone(),
            origin: Origin::derived(&self.core, self.origin.clone(), derive),
            object: PhantomData,
        }
    }

    /// Follows a log from a cursor on, or from its beginning, through all sessions: each event once.
    ///
    /// `subscribe` makes the call, in each session anew, with the cursor to go on from.
    pub fn resume<E>(
        &self,
        cursor: Option<String>,
        subscribe: impl Fn(&Stub<T>, Option<String>, Sink<E>) -> Promise<Stub<Subscription>>
        + Send
        + Sync
        + 'static,
    ) -> Events<E>
    where
        E: FromValue + Send + 'static,
    {
        let handle = self.clone();
        let subscribe = move |live: &Live, cursor, sink| {
            let object = handle.in_session(live);
            subscribe(&object, cursor, sink)
        };
        Events::new(self.core.clone(), cursor, Box::new(subscribe))
    }

    /// The object in the present session, or in the next when there is none. It ends with its session.
    pub async fn stub(&self) -> Result<Stub<T>> {
        let live = self.core.live().await?;
        Ok(self.in_session(&live))
    }

    /// Whether there is a session that can be used.
    pub fn is_connected(&self) -> bool {
        self.core.is_live()
    }

    /// How many sessions there have been that could be used.
    pub fn sessions(&self) -> u64 {
        self.core.sessions()
    }

    fn in_session(&self, live: &Live) -> Stub<T> {
        Stub::from_capability(self.origin.in_session(live))
    }

    /// The error of a call as the caller sees it: the end of the session becomes [`CONNECTION_LOST`].
    async fn judge(&self, live: &Live, error: Error) -> Error {
        self.origin.forget_if_broken(live);
        if live.lost(&error).await {
            Error::new("the connection was lost while the call was under way")
                .with_code(CONNECTION_LOST)
                .with_cause(error)
        } else {
            error
        }
    }
}

impl<T: Interface + ?Sized> Clone for Reconnecting<T> {
    fn clone(&self) -> Self {
        Self {
            core: self.core.clone(),
            origin: self.origin.clone(),
            object: PhantomData,
        }
    }
}

impl<T: Interface + ?Sized + 'static> fmt::Debug for Reconnecting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconnecting")
            .field("connected", &self.is_connected())
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}
