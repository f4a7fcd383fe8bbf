//! A session and the handles on it: the lock around the pure [`Session`], its effects performed, and
//! the moment when the last handle is gone.
//!
//! A transport needs three things of a [`Connection`]: [`receive`](Connection::receive) for each frame
//! that arrives, [`outgoing`](Connection::outgoing) to wait for frames to send, and
//! [`end`](Connection::end) when the other side is gone. It never sees a message's content.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::context::{Context, Tasks};
use crate::error::{Error, Result};
use crate::hook::import::{Import, ImportId};
use crate::hook::settled::Settled;
use crate::hook::{Action, Hook, Operation, Path, Waiter};
use crate::layer::{Layer, Layers};
use crate::limits::Limits;
use crate::observe::{Measuring, Metrics, Registered};
use crate::peer::Peer;
use crate::session::{Calls, Effect, Effects, ExportId, Redact, Session, Stats};
use crate::settle;
use crate::stream;
use crate::stub::{Capability, Interface, Stub};
use crate::trampoline;
use crate::value::Value;

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;

/// What every session of a server or client has in common.
#[derive(Clone, Default)]
pub struct Options {
    /// What the peer may ask of us.
    pub limits: Limits,
    /// Who owns the handlers that are still running.
    pub tasks: Tasks,
    pub(crate) redact: Option<Redact>,
    pub(crate) layers: Layers,
    metrics: Option<Metrics>,
}

impl Options {
    /// Looks at every error before it is sent and may replace it. Called with the session locked: it
    /// must not call stubs.
    pub fn redact(
        mut self,
        redact: impl Fn(&Error) -> Option<Error> + Send + Sync + 'static,
    ) -> Self {
        self.redact = Some(Arc::new(redact));
        self
    }

    /// With one more layer around every call of the peer, inside those that are there already.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Counts sessions and calls in `metrics`, from inside the layers that are there already; put first, it
    /// counts also what they refuse.
    pub fn metrics(mut self, metrics: &Metrics) -> Self {
        self.metrics = Some(metrics.clone());
        self.layer(Measuring(metrics.clone()))
    }

    /// With these limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With this owner of running handlers.
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

/// A handle on one session. Clones are the same session.
///
/// A session lives as long as a handle or a stub of it does. When the last is dropped the transport
/// closes.
#[derive(Clone)]
pub struct Connection {
    link: Arc<Link>,
}

/// How a transport should close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The WebSocket close code.
    pub code: u16,
    /// Why, in at most 123 bytes.
    pub reason: String,
}

impl Connection {
    /// A session that offers `main` to its peer.
    pub fn new(main: impl Into<Capability>, options: &Options) -> Self {
        let main = main.into();
        Self::with_calls(|_| main, options, Calls::Possible)
    }

    /// A session that offers what `main` makes for its peer. The object may keep the [`Peer`], to note
    /// for [layers](Options::layer) who has shown to be behind it.
    pub fn for_peer<M: Into<Capability>>(main: impl FnOnce(&Peer) -> M, options: &Options) -> Self {
        Self::with_calls(|peer| main(peer).into(), options, Calls::Possible)
    }

    pub(crate) fn with_calls(
        main: impl FnOnce(&Peer) -> Capability,
        options: &Options,
        calls: Calls,
    ) -> Self {
        let context = Context::new(
            options.limits.clone(),
            options.tasks.clone(),
            options.layers.clone(),
        );
        let main = main(&Peer::new(&context));
        let session = Session::new(
            main.into_hook(),
            context.clone(),
            options.redact.clone(),
            calls,
        );
        let registered = options
            .metrics
            .as_ref()
            .map(|metrics| metrics.register(&context));
        let shared = Arc::new(Shared {
            session: Mutex::new(session),
            _registered: registered,
            context,
            started: Instant::now(),
            outgoing: Signal::default(),
            parked: AtomicBool::new(false),
            ended: Notify::new(),
            link: OnceLock::new(),
        });
        shared.context.belongs_to(&shared);
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

    /// How large the tables are.
    pub fn stats(&self) -> Stats {
        self.link.shared.stats()
    }

    /// The other side, and what is known about it.
    pub fn peer(&self) -> Peer {
        Peer::new(&self.link.shared.context)
    }

    /// Takes one frame from the peer. Calls in it have started when this returns.
    pub fn receive(&self, frame: &str) {
        self.link.shared.receive(frame);
    }

    /// The frames to send next, in order; empty when there are none.
    pub fn take_outgoing(&self) -> VecDeque<String> {
        self.link.shared.take_outgoing()
    }

    /// Returns when there may be frames to send, or the session has ended. For one transport: of several that
    /// wait, the last is told.
    pub async fn outgoing(&self) {
        self.link.shared.outgoing().await;
    }

    /// Tells the peer why and ends the session.
    pub fn abort(&self, error: Error) {
        self.link.abort(error);
    }

    /// Ends the session without telling the peer: the transport is gone, or about to be.
    pub fn end(&self, error: Error) {
        self.link.shared.end(error);
    }

    /// Waits for the session's end and says why.
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

/// What there is to send.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) enum Due {
    Nothing,
    /// Releases, which may wait for a moment.
    Later,
    Now(VecDeque<String>),
}

/// What handles and stubs hold. Its end is the end of the session.
pub(crate) struct Link {
    shared: Arc<Shared>,
}

impl Link {
    pub(crate) fn context(&self) -> &Context {
        &self.shared.context
    }

    pub(crate) fn push(self: &Arc<Self>, import: &Arc<Import>, operation: Operation) -> Hook {
        let mut operation = Some(operation);
        let sent = self
            .shared
            .with(|session, effects| match import.resolution() {
                // Resolved since the caller looked.
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
            context: self.context().clone(),
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
    context: Context,
    started: Instant,
    outgoing: Signal,
    /// Nobody serves it, for want of anything to do.
    parked: AtomicBool,
    ended: Notify,
    link: OnceLock<Weak<Link>>,
    /// Set when sessions are counted.
    _registered: Option<Registered>,
}

impl Shared {
    pub(crate) fn receive(self: &Arc<Self>, frame: &str) {
        // Without a handle nobody could use what the frame brings; the session is about to end.
        let Some(link) = self.link.get().and_then(Weak::upgrade) else {
            return;
        };
        // Only the rate of calls depends on the time.
        let timed = self.context.limits().call_rate.is_some();
        let now = if timed {
            self.started.elapsed()
        } else {
            Duration::ZERO
        };
        self.with(|session, effects| *effects = session.receive(&link, frame, now));
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

    /// The frames to send, for who looks for the session's end as well. What nobody waits for is left for later,
    /// unless all is asked for.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn take_due(&self, all: bool) -> Due {
        // Whoever looks need not be told of what is here already.
        self.outgoing.given.store(false, Ordering::Relaxed);
        let mut session = self.lock();
        match session.outbox_bytes() {
            0 => Due::Nothing,
            _ if all || session.is_urgent() => Due::Now(session.take_outbox()),
            _ => Due::Later,
        }
    }

    pub(crate) async fn outgoing(&self) {
        std::future::poll_fn(|context| self.poll_outgoing(context)).await;
    }

    /// As [`Self::outgoing`], for who waits for many sessions.
    pub(crate) fn poll_outgoing(&self, context: &TaskContext<'_>) -> Poll<()> {
        self.outgoing.poll(context)
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
        self.context.limits()
    }

    /// How many bytes wait to be sent.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn queued_bytes(&self) -> usize {
        self.lock().outbox_bytes()
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn tasks(&self) -> &Tasks {
        self.context.tasks()
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
        // Only this crate's code runs under the lock, and it does not panic half-way.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the session, then does outside the lock what follows from it.
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
                settle::hook(&hook, &self.context, Box::new(answer));
            }
            Effect::Tell { waiters, hook } => {
                waiters.into_iter().for_each(|waiter| hook.settle(waiter))
            }
            Effect::GiveUp { hook } => {
                if let (Hook::Promise(promise), Some(error)) = (hook, self.ended()) {
                    promise.give_up(&error);
                }
            }
            Effect::Pump { from, to } => self.context.spawn(stream::pump(from, to)),
            Effect::Collect {
                mime,
                content,
                resolver,
            } => {
                let context = self.context.clone();
                self.context.spawn(async move {
                    let blob = stream::collect_blob(mime, content, &context).await;
                    resolver.resolve(Hook::from_result(blob, &context));
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

/// Says to one who waits that there is something to do. What was said before it waited counts as well.
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

    fn poll(&self, context: &TaskContext<'_>) -> Poll<()> {
        if self.given.swap(false, Ordering::Acquire) {
            return Poll::Ready(());
        }
        self.waiting.register(context.waker());
        // Once more: it may have been given between the two.
        if self.given.swap(false, Ordering::Acquire) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// The beginning of a text, at most so many bytes, whole characters only.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The main object of a peer that offers nothing.
pub(crate) fn nothing() -> Hook {
    Hook::Value(Arc::new(Settled::new(Value::Undefined)))
}
