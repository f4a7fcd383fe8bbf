//! Handles on remote objects that outlive their sessions.
//!
//! A session ends with its connection, and every stub of it with it. A [`Reconnecting`] handle connects
//! again, after a while that grows and is chosen at random, asks the new session something before anyone
//! may use it, and derives what was derived from the old root from the new one.
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
//! // To be asked again does no harm, so it is, until there is an answer.
//! println!("{}", shop.retry(|shop| shop.price("tea")).await?);
//!
//! // Adding twice would; so this fails when nobody knows whether it was done.
//! match cart.call(|cart| cart.add("tea")).await {
//!     Err(error) if error.code() == Some(reconnect::CONNECTION_LOST) => println!("tea, maybe"),
//!     other => other?,
//! }
//! # Ok(()) }
//! ```
//!
//! What happens while nobody is connected is not lost when the object offers it by cursor: see
//! [`resume`](crate::resume) and [`Reconnecting::resume`].

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, Options};
use crate::context::Tasks;
use crate::convert::FromValue;
use crate::error::{Error, Result};
use crate::promise::Promise;
use crate::resume::{Sink, Subscription};
use crate::stub::{Any, Capability, Interface, Stub};
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

/// How long things may take, and how often they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The bound of the first wait before an attempt. Each further bound is twice the one before.
    pub first_wait: Duration,
    /// The largest bound.
    pub longest_wait: Duration,
    /// A session that lasted so long has proved itself: the wait after it is a first one.
    pub steady_after: Duration,
    /// How long one attempt may take, the question to the new session included.
    pub attempt_limit: Duration,
    /// How long a call waits for a connection before it fails with [`NOT_CONNECTED`].
    pub patience: Duration,
    /// How many sessions may end during a call that is retried.
    pub retries: u32,
    /// What the waits are drawn from, for tests; otherwise every client waits differently.
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

/// How to connect, before anything has been tried.
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

    /// Asks this of every new session. While it fails, the session is not used and another is tried. By
    /// default anything the peer answers will do.
    pub fn probe<F>(mut self, probe: impl Fn(Stub<T>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.probe = Box::new(move |root| Box::pin(probe(Stub::from_capability(root))));
        self
    }

    /// With other times than the usual.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// With this owner of what runs.
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

/// A handle on an object at the other end of whatever connection there is. Clones are the same handle.
///
/// When the last handle is gone, the connection is closed.
pub struct Reconnecting<T: Interface + ?Sized = Any> {
    core: Arc<Core>,
    origin: Origin,
    object: PhantomData<fn() -> Box<T>>,
}

impl<T: Interface + ?Sized + 'static> Reconnecting<T> {
    /// Makes a call in the present session, or in the next when there is none.
    ///
    /// When the session ends before the answer is there, nobody knows whether the call was done, and it
    /// fails with [`CONNECTION_LOST`].
    pub async fn call<R: FromValue>(&self, call: impl FnOnce(&Stub<T>) -> Promise<R>) -> Result<R> {
        let live = self.core.live().await?;
        let promise = call(&self.in_session(&live));
        match promise.await {
            Err(error) => Err(self.judge(&live, error).await),
            given => given,
        }
    }

    /// Makes a call that does no harm when it is done twice: when the session ends before the answer is
    /// there, it is made again in the next one.
    pub async fn retry<R: FromValue>(&self, call: impl Fn(&Stub<T>) -> Promise<R>) -> Result<R> {
        let mut retries = self.core.settings().retries;
        loop {
            match self.call(&call).await {
                Err(error) if retries > 0 && error.code() == Some(CONNECTION_LOST) => retries -= 1,
                outcome => return outcome,
            }
        }
    }

    /// A handle on an object that one can get from this one. It is got when it is first used in a session,
    /// and again when getting it has failed.
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

    /// What an error of a call means to the caller.
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
