//! A session and the handles on it: the lock around the pure [`Session`], the performing of its effects, and
//! the end with the last handle.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::account::Account;
use crate::error::{Error, Result};
use crate::hook::import::{Import, ImportId};
use crate::hook::settled::Settled;
use crate::hook::{Action, Hook, Operation, Path, Waiter};
use crate::layer::{Layer, Layers};
#[cfg(any(feature = "client", feature = "server"))]
use crate::limits::GuestLimits;
use crate::limits::Limits;
use crate::observe::{Measuring, Metrics, Registered};
use crate::peer::Peer;
use crate::session::{Calls, Effect, Effects, ExportId, Received, Redact, Session, Stats};
use crate::settle;
use crate::stream;
use crate::stub::{Capability, Interface, Stub};
use crate::tasks::Tasks;
use crate::trampoline;
#[cfg(any(feature = "client", feature = "server"))]
use crate::transport::websocket::gather::Progress;
use crate::value::Value;

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;

/// The options that all sessions of a server or client share.
#[derive(Clone, Default)]
pub struct Options {
    pub limits: Limits,
    /// The owner of running handlers; stopping it stops the session.
    pub tasks: Tasks,
    pub(crate) redact: Option<Redact>,
    pub(crate) layers: Layers,
    metrics: Option<Metrics>,
}

impl Options {
    /// Sets a function that may replace every error before it is sent. It is called with the session locked, so
    /// it must not call stubs.
    pub fn redact(
        mut self,
        redact: impl Fn(&Error) -> Option<Error> + Send + Sync + 'static,
    ) -> Self {
        self.redact = Some(Arc::new(redact));
        self
    }

    /// Adds a layer around every call of the peer, inside the layers added before.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Counts sessions and calls in `metrics`, inside the layers added before; added first, it also counts calls
    /// that later layers refuse.
    pub fn metrics(mut self, metrics: &Metrics) -> Self {
        self.metrics = Some(metrics.clone());
        self.layer(Measuring(metrics.clone()))
    }

    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the owner of running handlers.
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.tasks = tasks;
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("layers", &self.layers)
            .finish_non_exhaustive()
    }
}

/// A handle on one session. Clones are handles on the same session.
///
/// The session lives as long as a handle or a stub of it does. When the last one is dropped the session ends,
/// and with it the transport. A server keeps a handle for as long as the socket is open, since its peer may
/// have stubs while the server has none.
///
/// Behind it are three parts. The pure `Session` decides. `Shared` puts a lock around it, performs the
/// effects after unlocking and wakes the transport. `Link` is what handles and stubs own; its `Drop` ends the
/// session. `Shared` refers to `Link` weakly, otherwise the session would keep itself alive.
///
/// Every change goes through one function, in this order: lock, change the session, unlock, wake the transport
/// if there is something to send, perform the effects in order. Effects run application code, which may call
/// stubs of the same session; under the lock that would deadlock. Hooks that a change drops are held back by a
/// trampoline scope around the lock.
///
/// A transport needs three things: [`receive`](Connection::receive) for each frame that arrives,
/// [`outgoing`](Connection::outgoing) and [`take_outgoing`](Connection::take_outgoing) for frames to send, and
/// [`end`](Connection::end) when the other side is gone. It never sees the content of a message, so a new
/// transport needs no knowledge of the protocol. After the end, [`close_frame`](Connection::close_frame) says
/// how to close.
#[derive(Clone)]
pub struct Connection {
    link: Arc<Link>,
}

/// The close code and reason for a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The WebSocket close code.
    pub code: u16,
    /// At most 123 bytes, the limit of a WebSocket close frame.
    pub reason: String,
}

impl Connection {
    /// A session that offers `main` to its peer.
    pub fn new(main: impl Into<Capability>, options: &Options) -> Self {
        let main = main.into();
        Self::with_calls(|_| main, options, Calls::Possible)
    }

    /// A session that offers the object that `main` makes for its peer. The object may keep the [`Peer`] and
    /// attach values to it, for example the user after a log-in, for [layers](Options::layer) to read.
    pub fn for_peer<M: Into<Capability>>(main: impl FnOnce(&Peer) -> M, options: &Options) -> Self {
        Self::with_calls(|peer| main(peer).into(), options, Calls::Possible)
    }

    pub(crate) fn with_calls(
        main: impl FnOnce(&Peer) -> Capability,
        options: &Options,
        calls: Calls,
    ) -> Self {
        let account = Account::new(
            options.limits.clone(),
            options.tasks.clone(),
            options.layers.clone(),
        );
        let main = main(&Peer::new(&account));
        let session = Session::new(
            main.into_hook(),
            account.clone(),
            options.redact.clone(),
            calls,
        );
        let registered = options
            .metrics
            .as_ref()
            .map(|metrics| metrics.register(&account));
        let shared = Arc::new(Shared {
            session: Mutex::new(session),
            _registered: registered,
            account,
            started: Instant::now(),
            outgoing: Signal::default(),
            parked: AtomicBool::new(false),
            ended: Notify::new(),
            link: OnceLock::new(),
        });
        shared.account.belongs_to(&shared);
        let link = Arc::new(Link {
            shared: shared.clone(),
        });
        // Cannot be set already: it was just made.
        let _ = shared.link.set(Arc::downgrade(&link));
        Self { link }
    }

    /// The peer's main object.
    pub fn remote<T: Interface + ?Sized>(&self) -> Stub<T> {
        let hook = self
            .link
            .shared
            .with(|session, _| session.main_import(&self.link));
        Stub::from_capability(hook.into())
    }

    /// The sizes of the tables.
    pub fn stats(&self) -> Stats {
        self.link.shared.stats()
    }

    /// The peer of this session, with the values attached to it.
    pub fn peer(&self) -> Peer {
        Peer::new(&self.link.shared.account)
    }

    /// Processes one frame from the peer. Calls in it have started when this returns.
    pub fn receive(&self, frame: &str) {
        self.link.shared.receive(frame);
    }

    /// The frames to send next, in order; empty when there are none.
    pub fn take_outgoing(&self) -> VecDeque<String> {
        self.link.shared.take_outgoing()
    }

    /// Returns when there may be frames to send, or the session has ended. For one transport only: of several
    /// waiting callers the last one is woken.
    pub async fn outgoing(&self) {
        self.link.shared.outgoing().await;
    }

    /// Sends the reason to the peer and ends the session.
    pub fn abort(&self, error: Error) {
        self.link.abort(error);
    }

    /// Ends the session without a message to the peer: the transport is gone, or about to be.
    pub fn end(&self, error: Error) {
        self.link.shared.end(error);
    }

    /// Waits for the session's end and returns the reason.
    pub async fn closed(&self) -> Error {
        self.link.closed().await
    }

    /// How to close the transport, once the session has ended and its frames are sent.
    pub fn close_frame(&self) -> Option<Close> {
        self.link.shared.close_frame()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.link.shared
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// The frames that a transport should send now.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) enum Due {
    Nothing,
    /// Releases, which may wait for a moment.
    Later,
    /// Answers, which wait for others.
    Gathers,
    Now(VecDeque<String>),
}

/// The number of bytes that are sent without waiting for others.
#[cfg(any(feature = "client", feature = "server"))]
const MUCH: usize = 16 << 10;

/// Owned by handles and stubs; dropping the last one ends the session.
pub(crate) struct Link {
    shared: Arc<Shared>,
}

impl Link {
    pub(crate) fn account(&self) -> &Account {
        &self.shared.account
    }

    pub(crate) fn push(self: &Arc<Self>, import: &Arc<Import>, operation: Operation) -> Hook {
        let mut operation = Some(operation);
        let sent = self
            .shared
            .with(|session, effects| match import.resolution() {
                // Resolved since the caller looked: apply the operation to the resolution.
                Some(_) => None,
                None => operation
                    .take()
                    .map(|operation| session.push(self, import.id(), operation, effects)),
            });
        match (sent, operation) {
            (Some(hook), _) => hook,
            (None, Some(operation)) => Hook::Import(import.clone()).apply(operation),
            (None, None) => Hook::Broken(Error::internal("an operation was lost")),
        }
    }

    pub(crate) fn stream(
        self: &Arc<Self>,
        import: &Arc<Import>,
        path: Path,
        arguments: Vec<Value>,
        waiter: Waiter,
    ) -> usize {
        let action = Action::Call(arguments);
        let operation = Operation {
            path,
            action,
            account: self.account().clone(),
            permit: None,
        };
        self.shared
            .with(|session, effects| session.stream(self, import.id(), operation, waiter, effects))
    }

    pub(crate) fn pull(self: &Arc<Self>, import: &Arc<Import>, waiter: Waiter) {
        let resolved = self
            .shared
            .with(|session, effects| match import.resolution() {
                Some(hook) => Some((hook, waiter)),
                None => {
                    session.pull(import.id(), waiter, effects);
                    None
                }
            });
        if let Some((hook, waiter)) = resolved {
            hook.settle(waiter);
        }
    }

    pub(crate) fn release(&self, id: ImportId, generation: u64) {
        self.shared
            .with(|session, effects| session.release(id, generation, effects));
    }

    pub(crate) fn abort(&self, error: Error) {
        self.shared
            .with(|session, effects| effects.extend(session.abort(error)));
    }

    pub(crate) async fn closed(&self) -> Error {
        self.shared.closed().await
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.end(Error::new(
            "the session was closed because its last stub was dropped",
        ));
    }
}

/// The session behind its lock.
pub(crate) struct Shared {
    session: Mutex<Session>,
    account: Account,
    started: Instant,
    outgoing: Signal,
    /// Whether the session is parked: idle, without a task of its own.
    parked: AtomicBool,
    ended: Notify,
    link: OnceLock<Weak<Link>>,
    /// Set when sessions are counted.
    _registered: Option<Registered>,
}

impl Shared {
    pub(crate) fn receive(self: &Arc<Self>, frame: &str) {
        // Without a handle there is no user of the frame's content; the session is about to end.
        let Some(link) = self.link.get().and_then(Weak::upgrade) else {
            return;
        };
        // Only the rate of calls depends on the time.
        let timed = self.account.limits().call_rate.is_some();
        let now = if timed {
            self.started.elapsed()
        } else {
            Duration::ZERO
        };
        // Read without the lock: others of the session do not wait for a large frame.
        let received = Received::read(frame, &self.account);
        self.with(|session, effects| *effects = session.receive(&link, received, now));
    }

    pub(crate) fn stats(&self) -> Stats {
        self.lock().stats()
    }

    /// As [`Self::stats`], while it has not ended.
    pub(crate) fn open(&self) -> Option<Stats> {
        let session = self.lock();
        session.ended().is_none().then(|| session.stats())
    }

    pub(crate) fn take_outgoing(&self) -> VecDeque<String> {
        self.lock().take_outbox()
    }

    /// The frames to send, for a transport that also checks for the session's end. Releases alone may wait,
    /// unless `all` is set. Everything waits when `gathers` is set, unless it is much or the session has ended.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn take_due(&self, all: bool, gathers: bool) -> Due {
        // The caller looks now, so an earlier signal is obsolete.
        self.outgoing.given.store(false, Ordering::Relaxed);
        let mut session = self.lock();
        match session.outbox_bytes() {
            0 => Due::Nothing,
            1..MUCH if gathers && session.ended().is_none() => Due::Gathers,
            _ if all || session.is_urgent() => Due::Now(session.take_outbox()),
            _ => Due::Later,
        }
    }

    /// The transport processes frames now and looks for messages to send when it has: until it waits again it is not
    /// woken for them. A task that wakes itself costs the wake-up of another thread, which finds nothing to do.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn attend(&self) {
        drop(self.outgoing.waiting.take());
    }

    /// How far the peer is with the answers to its calls.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn progress(&self) -> Progress {
        self.lock().progress()
    }

    pub(crate) async fn outgoing(&self) {
        std::future::poll_fn(|task| self.poll_outgoing(task)).await;
    }

    /// As [`Self::outgoing`], for a task that waits for many sessions.
    pub(crate) fn poll_outgoing(&self, task: &TaskContext<'_>) -> Poll<()> {
        self.outgoing.poll(task)
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn set_parked(&self, parked: bool) {
        self.parked.store(parked, Ordering::Relaxed);
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed)
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn limits(&self) -> &Limits {
        self.account.limits()
    }

    /// The bounds on the peer while it is not known.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn guest(&self) -> Option<&GuestLimits> {
        self.account.guest()
    }

    /// The number of bytes that wait to be sent.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn queued_bytes(&self) -> usize {
        self.lock().outbox_bytes()
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn tasks(&self) -> &Tasks {
        self.account.tasks()
    }

    pub(crate) fn end(self: &Arc<Self>, error: Error) {
        self.with(|session, effects| *effects = session.end(error));
    }

    pub(crate) fn abort(self: &Arc<Self>, error: Error) {
        self.with(|session, effects| *effects = session.abort(error));
    }

    #[cfg(feature = "client")]
    pub(crate) fn pull_all(self: &Arc<Self>) {
        self.with(|session, _| session.pull_all());
    }

    pub(crate) fn ended(&self) -> Option<Error> {
        self.lock().ended().cloned()
    }

    pub(crate) fn close_frame(&self) -> Option<Close> {
        let error = self.lock().shown_end()?;
        Some(Close {
            code: 3000,
            reason: cut(error.message(), 123).to_owned(),
        })
    }

    #[cfg(feature = "server")]
    pub(crate) fn reject_pending(self: &Arc<Self>, error: &Error) {
        let Some(link) = self.link.get().and_then(Weak::upgrade) else {
            return;
        };
        self.with(|session, effects| *effects = session.reject_pending(&link, error));
    }

    pub(crate) async fn closed(&self) -> Error {
        loop {
            let ended = self.ended.notified();
            futures_util::pin_mut!(ended);
            // Registered before looking, so that an end between the two is not missed.
            ended.as_mut().enable();
            if let Some(error) = self.ended() {
                return error;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock()
    }

    /// Changes the session under its lock, then performs the effects without it. See [`Connection`].
    fn with<T>(self: &Arc<Self>, change: impl FnOnce(&mut Session, &mut Effects) -> T) -> T {
        let mut effects = Effects::new();
        let (result, wake, ended) = trampoline::scope(|| {
            let mut session = self.lock();
            let was_open = session.ended().is_none();
            let result = change(&mut session, &mut effects);
            let ended = was_open && session.ended().is_some();
            (result, session.outbox_bytes() > 0, ended)
        });
        if wake || ended {
            self.outgoing.give();
        }
        if ended {
            self.ended.notify_waiters();
        }
        for effect in effects {
            self.perform(effect);
        }
        result
    }

    fn perform(self: &Arc<Self>, effect: Effect) {
        match effect {
            Effect::Apply {
                hook,
                operation,
                resolver,
            } => resolver.resolve(hook.apply(operation)),
            Effect::Answer { export, hook } => {
                let shared = Arc::downgrade(self);
                let answer = move |result: Result<Value>| {
                    if let Some(shared) = shared.upgrade() {
                        shared.answer(export, result.as_ref().map_err(Clone::clone));
                    }
                };
                settle::hook(&hook, &self.account, Box::new(answer));
            }
            Effect::Tell { waiters, hook } => {
                waiters.into_iter().for_each(|waiter| hook.settle(waiter))
            }
            Effect::GiveUp { hook } => {
                if let (Hook::Promise(promise), Some(error)) = (hook, self.ended()) {
                    promise.give_up(&error);
                }
            }
            Effect::Pump { from, to } => self.account.spawn(stream::pump(from, to)),
            Effect::Collect {
                mime,
                content,
                resolver,
            } => {
                let account = self.account.clone();
                self.account.spawn(async move {
                    let blob = stream::collect_blob(mime, content, &account).await;
                    resolver.resolve(Hook::from_result(blob, &account));
                });
            }
        }
    }

    fn answer(self: &Arc<Self>, export: ExportId, result: Result<&Value>) {
        let Some(link) = self.link.get().and_then(Weak::upgrade) else {
            return;
        };
        self.with(|session, effects| *effects = session.answer(&link, export, result));
    }
}

/// Wakes one waiting transport. A signal given before the wait counts too.
#[derive(Debug, Default)]
struct Signal {
    given: AtomicBool,
    waiting: AtomicWaker,
}

impl Signal {
    fn give(&self) {
        self.given.store(true, Ordering::Release);
        self.waiting.wake();
    }

    fn poll(&self, task: &TaskContext<'_>) -> Poll<()> {
        if self.given.swap(false, Ordering::Acquire) {
            return Poll::Ready(());
        }
        self.waiting.register(task.waker());
        // Check again: it may have been given between the check and the registration.
        if self.given.swap(false, Ordering::Acquire) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// The beginning of a text: at most `bytes` bytes, whole characters only.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The main object of a peer that offers nothing.
pub(crate) fn nothing() -> Hook {
    Hook::Value(Arc::new(Settled::new(Value::Undefined)))
}
