//! The account of a session: the limits it is charged against, its layers, and what is known about its peer.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::{Mutex, MutexGuard};

use crate::connection::Shared;
use crate::error::Error;
use crate::layer::Layers;
use crate::limits::{GuestLimits, Limits};
use crate::permit::{Awaiting, CallPermit, Held, Unread};
use crate::session::Stats;
use crate::tasks::Tasks;
use crate::trampoline::{self, Job};

/// Smaller messages are not charged: the limit on calls in flight bounds their number.
const SMALL_MESSAGE: usize = 4 << 10;

/// A value that the application has attached to a peer.
type Fact = Arc<dyn Any + Send + Sync>;

/// The account that an operation runs on. Every operation carries a clone, which is one reference count.
///
/// Work that a peer causes can leave its session: a call is queued behind a promise, forwarded to another
/// session, or goes on after the session has ended. The account goes with it, so the work is still charged
/// against the limits of the peer that asked, runs inside that session's layers, and is spawned on that
/// session's [`Tasks`]. That is why operations do not reach for the session instead: it may be another one, it
/// may be gone, and it may be locked.
///
/// It owns counters, not things. A counter is raised by making a permit ([`CallPermit`], [`Awaiting`],
/// [`Unread`], [`Held`]) and lowered by dropping it, so a count cannot leak on an early return. The permit is
/// made before the limit is compared, and dropped when it is exceeded; two threads may both be refused at the
/// border, but the limit is never passed.
///
/// Exceeding `max_calls_in_flight` or the rate is found while the session is locked and returned as an error.
/// The other limits are found anywhere, so [`Account::exceed`] ends the session through the trampoline, when
/// its lock is free.
///
/// It refers to its session weakly, since the session owns it. `Account::default()` has no session and
/// default limits: it is the account of calls that the application makes on its own objects.
#[derive(Clone)]
pub(crate) struct Account(Arc<AccountInner>);

struct AccountInner {
    limits: Limits,
    tasks: Tasks,
    /// The layers around the calls of the peer.
    layers: Layers,
    /// The application's values about the peer, one of each type.
    facts: Mutex<Vec<Fact>>,
    calls_in_flight: AtomicUsize,
    /// Promises inside values that are being awaited.
    awaited_promises: AtomicUsize,
    /// Bytes in streams that the application has not read yet.
    unread_bytes: AtomicUsize,
    /// Bytes of results that the peer has not released, of messages with running calls, and of Blobs that are
    /// arriving.
    held_bytes: AtomicUsize,
    /// Set for a peer that is not known when its session begins.
    guest: OnceLock<GuestLimits>,
    admitted: AtomicBool,
    /// Bytes of all messages that came before the peer was admitted.
    guest_bytes: AtomicUsize,
    /// The session of this account, once it is made.
    session: OnceLock<Weak<Shared>>,
}

impl Account {
    pub(crate) fn new(limits: Limits, tasks: Tasks, layers: Layers) -> Self {
        Self(Arc::new(AccountInner {
            limits,
            tasks,
            layers,
            facts: Mutex::default(),
            calls_in_flight: AtomicUsize::new(0),
            awaited_promises: AtomicUsize::new(0),
            unread_bytes: AtomicUsize::new(0),
            held_bytes: AtomicUsize::new(0),
            guest: OnceLock::new(),
            admitted: AtomicBool::new(false),
            guest_bytes: AtomicUsize::new(0),
            session: OnceLock::new(),
        }))
    }

    /// Makes this the account of a session, which then ends when a limit is exceeded.
    pub(crate) fn belongs_to(&self, session: &Arc<Shared>) {
        // Set once, when the session is made.
        let _ = self.0.session.set(Arc::downgrade(session));
    }

    /// Ends the session because a limit was exceeded, as soon as its lock is free.
    pub(crate) fn exceed(&self, error: &Error) {
        if let Some(session) = self.session() {
            let error = error.clone();
            trampoline::run(Job::Run(Box::new(move || session.abort(error))));
        }
    }

    fn session(&self) -> Option<Arc<Shared>> {
        self.0.session.get().and_then(Weak::upgrade)
    }

    /// The sizes of the session's tables; zeros when there is no session.
    pub(crate) fn stats(&self) -> Stats {
        self.session()
            .map_or_else(Stats::default, |session| session.stats())
    }

    /// The sizes of the session's tables and whether it is parked, while it is open.
    pub(crate) fn open(&self) -> Option<(Stats, bool)> {
        let session = self.session()?;
        Some((session.open()?, session.is_parked()))
    }

    /// Returns when the session has ended; never, when there is no session.
    pub(crate) async fn ended(&self) {
        match self.0.session.get().map(Weak::upgrade) {
            Some(Some(session)) => drop(session.closed().await),
            Some(None) => {}
            None => std::future::pending().await,
        }
    }

    pub(crate) fn facts(&self) -> MutexGuard<'_, Vec<Fact>> {
        self.0.facts.lock()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(work);
    }

    /// Counts one more call in flight; none when the limit is reached.
    pub(crate) fn permit(&self, message: Option<Arc<Held>>) -> Option<CallPermit> {
        let before = self.0.calls_in_flight.fetch_add(1, Ordering::Relaxed);
        let permit = CallPermit::new(self.clone(), message);
        let most = self.bound(self.0.limits.max_calls_in_flight);
        (before < most).then_some(permit)
    }

    /// Bounds what the peer sends until it is [admitted](Self::admit).
    pub(crate) fn restrict(&self, limits: GuestLimits) {
        // Set once, when the session is made; a later call changes nothing.
        let _ = self.0.guest.set(limits);
    }

    /// Ends the bounds of [`Self::restrict`].
    pub(crate) fn admit(&self) {
        self.0.admitted.store(true, Ordering::Relaxed);
    }

    /// The bounds on a peer that is not known yet; none for a peer that is.
    pub(crate) fn guest(&self) -> Option<&GuestLimits> {
        let limits = self.0.guest.get()?;
        (!self.0.admitted.load(Ordering::Relaxed)).then_some(limits)
    }

    /// A number of table entries or calls, or the smaller one of a peer that is not known yet.
    pub(crate) fn bound(&self, most: usize) -> usize {
        self.guest()
            .map_or(most, |guest| most.min(guest.max_entries))
    }

    /// Charges a message to its sender, before it is parsed. The charge for a large one lasts as long as it is kept.
    pub(crate) fn charge(&self, bytes: usize) -> Result<Option<Held>, Error> {
        if let Some(guest) = self.guest() {
            let before = self.0.guest_bytes.fetch_add(bytes, Ordering::Relaxed);
            if bytes > guest.max_message_bytes {
                return Err(too_large(guest.max_message_bytes));
            }
            if before.saturating_add(bytes) > guest.max_bytes {
                return Err(Error::range_error(format!(
                    "a session may send at most {} bytes until it is authenticated",
                    guest.max_bytes
                )));
            }
        }
        if bytes <= SMALL_MESSAGE {
            return Ok(None);
        }
        self.hold(bytes).map(Some)
    }

    /// Counts awaited promises inside a value; none when the limit is exceeded.
    pub(crate) fn await_promises(&self, count: usize) -> Option<Awaiting> {
        let before = self.0.awaited_promises.fetch_add(count, Ordering::Relaxed);
        let awaiting = Awaiting::new(self.clone(), count);
        (before.saturating_add(count) <= self.0.limits.max_awaited_promises).then_some(awaiting)
    }

    /// Counts bytes kept for the peer; when they exceed the limit the session ends.
    pub(crate) fn hold(&self, bytes: usize) -> Result<Held, Error> {
        let before = self.0.held_bytes.fetch_add(bytes, Ordering::Relaxed);
        let held = Held::new(self.clone(), bytes);
        if before.saturating_add(bytes) <= self.0.limits.max_held_bytes {
            return Ok(held);
        }
        let error = Error::range_error("the session makes us hold too many bytes");
        self.exceed(&error);
        Err(error)
    }

    /// Counts unread bytes of streams; none when the limit is exceeded.
    pub(crate) fn keep_unread(&self, bytes: usize) -> Option<Unread> {
        let before = self.0.unread_bytes.fetch_add(bytes, Ordering::Relaxed);
        let unread = Unread::new(self.clone(), bytes);
        (before.saturating_add(bytes) <= self.0.limits.max_queued_bytes).then_some(unread)
    }

    pub(crate) fn layers(&self) -> &Layers {
        &self.0.layers
    }

    pub(crate) fn end_call(&self) {
        self.0.calls_in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn end_awaiting(&self, count: usize) {
        self.0.awaited_promises.fetch_sub(count, Ordering::Relaxed);
    }

    pub(crate) fn end_unread(&self, bytes: usize) {
        self.0.unread_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn end_held(&self, bytes: usize) {
        self.0.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn calls_in_flight(&self) -> usize {
        self.0.calls_in_flight.load(Ordering::Relaxed)
    }
}

/// The refusal of a message of a sender that has not authenticated.
pub(crate) fn too_large(most: usize) -> Error {
    Error::range_error(format!(
        "Incoming message exceeds maximum size of {most} bytes of a session that is not authenticated."
    ))
}

impl Default for Account {
    fn default() -> Self {
        Self::new(Limits::default(), Tasks::new(), Layers::default())
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("calls_in_flight", &self.calls_in_flight())
            .finish_non_exhaustive()
    }
}
