//! The calls of all wires: where each comes from, whether it may begin, and how it ended.
//!
//! Every protocol announces its calls to the same [`Overseer`] through [`Calls`]. This crate knows what is said of a call;
//! what is done with it (limits, the audit trail, the log, metrics) is the overseer's.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dial::trace::{self, Scope, Span, TraceContext};
use http::HeaderMap;
use http::request::Parts;

use crate::Principal;
use crate::budget::{Account, Exceeded};

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;

/// The header in which a caller names its request.
pub const REQUEST_ID: &str = "x-request-id";

/// The longest name of a request that is taken from a caller, in bytes.
const MAX_REQUEST_ID: usize = 128;

/// What is recorded as the operation of a request that names none of those that exist.
pub const UNKNOWN: &str = "unknown";

/// Where a call comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Protocol and binding, as in `a2a/jsonrpc`.
    pub wire: &'static str,
    /// The connection, where one carries several calls.
    pub session: Option<u64>,
    pub address: Option<IpAddr>,
    /// What the caller calls its request; where it does not say, a name of ours from the beginning of the call on.
    pub request: String,
    /// The trace that the call belongs to.
    pub trace: Option<TraceContext>,
    /// How long the request is, in bytes, as far as that is known before it is read.
    pub bytes: u64,
}

impl Origin {
    /// A call on this wire of which nothing else is known.
    pub fn on(wire: &'static str) -> Self {
        Self {
            wire,
            ..Self::default()
        }
    }

    /// A call that came as an HTTP request.
    pub fn of(wire: &'static str, head: &Parts) -> Self {
        Self {
            session: head.extensions.get::<Session>().map(|it| it.0),
            address: head.extensions.get::<Peer>().map(|it| it.0.ip()),
            ..Self::with_headers(wire, &head.headers)
        }
    }

    /// The same call with a request of this many bytes, where its head did not say so.
    #[must_use]
    pub fn with_bytes(self, bytes: usize) -> Self {
        let bytes = self.bytes.max(bytes as u64);
        Self { bytes, ..self }
    }

    /// A call of which the headers are known.
    pub fn with_headers(wire: &'static str, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        Self {
            wire,
            request: text(REQUEST_ID).map(request_id).unwrap_or_default(),
            trace: text(trace::HEADER).and_then(TraceContext::read),
            bytes: text("content-length").map_or(0, |it| it.parse().unwrap_or(0)),
            ..Self::default()
        }
    }
}

/// A name of a request as a caller gives it, if it is one that may be written down: short, without spaces and controls, and not
/// what a credential looks like (a signed token, a capability).
fn request_id(text: &str) -> String {
    let plain = text.bytes().all(|it| it.is_ascii_graphic());
    let secret = text.starts_with("eyJ") || text.contains(crate::capability::PREFIX);
    match plain && !secret && text.len() <= MAX_REQUEST_ID {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// The address of the other side of a connection. The listener puts it into the extensions of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The connection of a request that carries several calls, by a number that no other one of this process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session(pub u64);

impl Session {
    /// The next number.
    pub fn next() -> Self {
        static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        Self(1 + LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }
}

/// How a call ended. The number of outcomes is fixed: they are labels of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Outcome {
    Ok,
    /// The request was invalid, or named something that does not exist.
    Rejected,
    /// The caller was not authenticated.
    Unauthenticated,
    /// The caller may not do that.
    Denied,
    /// A limit on calls was reached.
    Limited,
    /// A fault of ours, or the server was busy.
    Failed,
    /// The caller went before the answer.
    Cancelled,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Rejected => "rejected",
            Self::Unauthenticated => "unauthenticated",
            Self::Denied => "denied",
            Self::Limited => "limited",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The outcome that a status of HTTP stands for.
    pub fn of_status(status: u16) -> Self {
        match status {
            0..400 => Self::Ok,
            401 => Self::Unauthenticated,
            403 => Self::Denied,
            429 => Self::Limited,
            400..500 => Self::Rejected,
            _ => Self::Failed,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is known of a call.
#[derive(Clone, Debug)]
pub struct CallRecord {
    pub origin: Origin,
    pub caller: Principal,
    /// The version of the protocol; empty where it has none.
    pub version: &'static str,
    /// One of a table or a route, or [`UNKNOWN`]: never a text of the caller's choosing.
    pub operation: Cow<'static, str>,
}

/// A caller made more calls than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rate limit exceeded: retry after {} s", seconds(*.retry_after))]
pub struct TooManyCalls {
    /// After this time there is room for one more.
    pub retry_after: Duration,
}

impl TooManyCalls {
    /// The value of `Retry-After`, in whole seconds.
    pub fn seconds(&self) -> u64 {
        seconds(self.retry_after)
    }
}

fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// A call may not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    #[error(transparent)]
    Calls(#[from] TooManyCalls),
    #[error(transparent)]
    Budget(#[from] Exceeded),
}

impl Limit {
    /// The value of `Retry-After`, in whole seconds; none where waiting alone does not help.
    pub fn seconds(&self) -> Option<u64> {
        match self {
            Self::Calls(limit) => Some(limit.seconds()),
            Self::Budget(exceeded) => exceeded.seconds(),
        }
    }
}

/// What a call that may begin is done in: its span, and the account of what it uses.
#[derive(Debug, Default)]
pub struct Admitted {
    pub span: Span,
    pub account: Account,
}

/// Watches the calls of all wires: limits, the audit trail, the log, metrics and spans.
///
/// There is one in a server, behind [`Calls`], so that a limit counts over all wires and no wire can leave something
/// out. The crates of protocols know this trait and nothing of what is behind it.
///
/// For each call [`begin`](Self::begin) comes first and decides; then the work runs in the span and the account that
/// it returned; then [`end`](Self::end) comes exactly once, also when the work was dropped or has panicked, because
/// [`BegunCall`] tells it when it is dropped. A call that `begin` refuses has ended with that, and the overseer
/// records it itself. A call of a caller that was not admitted has no `begin`, only an `end` ([`Calls::refused`]).
///
/// Both methods are on the path of every call and must not wait: what takes time, as writing the trail, is put into a
/// queue. The operation of a record is a row of a table or [`UNKNOWN`], never a text of the caller: it becomes a label
/// of metrics, and labels that callers choose would fill the memory.
pub trait Overseer: fmt::Debug + Send + Sync + 'static {
    /// Whether a call may begin. A refused call has ended with it, and is recorded by the overseer itself.
    fn begin(&self, asked: &CallRecord) -> Result<Admitted, Limit>;

    /// As [`begin`](Self::begin) for what was not read yet: it is charged to its caller, and has no span.
    fn admit(&self, asked: &CallRecord) -> Result<Account, Limit> {
        self.begin(asked).map(|it| it.account)
    }

    /// The span of a call that was admitted, once it is known which call it is.
    fn span(&self, asked: &CallRecord) -> Span {
        let _ = asked;
        Span::default()
    }

    /// A call that began has ended.
    fn end(&self, asked: &CallRecord, outcome: Outcome, time: Duration);
}

/// Where calls are announced. Without an overseer every call may begin, and none is recorded. Clones share one.
#[derive(Clone, Debug, Default)]
pub struct Calls(Option<Arc<dyn Overseer>>);

impl Calls {
    pub fn new(overseer: Arc<dyn Overseer>) -> Self {
        Self(Some(overseer))
    }

    /// Begins a call. Its end is recorded when the [`BegunCall`] is told so, or dropped.
    pub fn begin(&self, asked: CallRecord) -> Result<BegunCall, Limit> {
        let Some(overseer) = &self.0 else {
            return Ok(BegunCall {
                trace: asked.origin.trace.map(Scope::from),
                account: Account::default(),
                under: None,
            });
        };
        let asked = named(asked);
        let admitted = overseer.begin(&asked)?;
        Ok(begun(overseer, asked, admitted, Instant::now()))
    }

    /// Charges something to its caller before it is read: a frame or a body of which only the sender and the length are
    /// known. Its operation is [`UNKNOWN`] until [`UnreadCall::begin`] says which call it is.
    pub fn admit(&self, caller: &Principal, origin: Origin) -> Result<UnreadCall, Limit> {
        let asked = CallRecord {
            origin,
            caller: caller.clone(),
            version: "",
            operation: UNKNOWN.into(),
        };
        let Some(overseer) = &self.0 else {
            return Ok(UnreadCall {
                account: Account::default(),
                bytes: 0,
                under: None,
            });
        };
        let asked = named(asked);
        let account = overseer.admit(&asked)?;
        Ok(UnreadCall {
            account,
            bytes: asked.origin.bytes,
            under: Some(Box::new(Unread {
                overseer: overseer.clone(),
                asked,
                began: Instant::now(),
            })),
        })
    }

    /// Records a call that ended before it began, such as a call of an unknown caller.
    pub fn refused(&self, asked: &CallRecord, outcome: Outcome) {
        if let Some(overseer) = &self.0 {
            overseer.end(asked, outcome, Duration::ZERO);
        }
    }

    /// Whether there is an overseer.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }
}

/// The call with a name for the log, the trail and the trace, if its caller gave none.
fn named(mut asked: CallRecord) -> CallRecord {
    if asked.origin.request.is_empty() {
        asked.origin.request = format!("{:016x}", trace::random());
    }
    asked
}

fn begun(
    overseer: &Arc<dyn Overseer>,
    mut asked: CallRecord,
    admitted: Admitted,
    began: Instant,
) -> BegunCall {
    let Admitted { span, account } = admitted;
    // A trace of which nothing is recorded here is passed on as it came.
    let trace = span.scope().or(asked.origin.trace.map(Scope::from));
    asked.origin.trace = asked.origin.trace.or(trace.as_ref().map(|it| it.context));
    BegunCall {
        trace,
        account,
        under: Some(Box::new(Under {
            overseer: overseer.clone(),
            asked,
            span,
            began,
        })),
    }
}

/// A frame or a body that was charged to its caller and is not read yet. It becomes a call, or ends as an unknown one:
/// what cannot be read counts against the limits of its sender, and is recorded.
#[derive(Debug)]
#[must_use = "what is dropped is recorded as cancelled"]
pub struct UnreadCall {
    account: Account,
    /// The length that was charged.
    bytes: u64,
    under: Option<Box<Unread>>,
}

#[derive(Debug)]
struct Unread {
    overseer: Arc<dyn Overseer>,
    asked: CallRecord,
    began: Instant,
}

impl UnreadCall {
    /// Charges what came beyond the length that was announced.
    pub fn hold(&mut self, bytes: u64) -> Result<(), Exceeded> {
        let more = bytes.saturating_sub(self.bytes);
        self.bytes = self.bytes.max(bytes);
        match more {
            0 => Ok(()),
            more => self.account.hold(more),
        }
    }

    /// It was read, and is this call.
    pub fn begin(mut self, asked: CallRecord) -> BegunCall {
        let account = std::mem::take(&mut self.account);
        let Some(unread) = self.under.take() else {
            return BegunCall {
                trace: asked.origin.trace.map(Scope::from),
                account,
                under: None,
            };
        };
        let mut asked = asked;
        if asked.origin.request.is_empty() {
            asked
                .origin
                .request
                .clone_from(&unread.asked.origin.request);
        }
        let span = unread.overseer.span(&asked);
        let admitted = Admitted { span, account };
        begun(&unread.overseer, asked, admitted, unread.began)
    }

    /// It was read, and is no call that is recorded.
    pub fn pass(mut self) {
        self.under = None;
    }

    /// It is no call.
    pub fn end(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(unread) = self.under.take() {
            let time = unread.began.elapsed();
            unread.overseer.end(&unread.asked, outcome, time);
        }
    }
}

impl Drop for UnreadCall {
    fn drop(&mut self) {
        self.finish(Outcome::Cancelled);
    }
}

/// A call under way. Dropped without an end it was cancelled.
#[derive(Debug)]
#[must_use = "a call that is dropped is recorded as cancelled"]
pub struct BegunCall {
    trace: Option<Scope>,
    account: Account,
    under: Option<Box<Under>>,
}

#[derive(Debug)]
struct Under {
    overseer: Arc<dyn Overseer>,
    asked: CallRecord,
    span: Span,
    began: Instant,
}

impl BegunCall {
    /// Does the work of the call: in its trace, and within its budget.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Exceeded> {
        let work = trace::within(self.trace.clone(), work);
        self.account.run(work).await
    }

    pub fn end(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        let Some(mut call) = self.under.take() else {
            return;
        };
        call.span.set("monas.outcome", outcome.name());
        if outcome == Outcome::Failed {
            call.span.fail(&outcome);
        }
        call.overseer
            .end(&call.asked, outcome, call.began.elapsed());
    }
}

impl Drop for BegunCall {
    fn drop(&mut self) {
        self.finish(Outcome::Cancelled);
    }
}
