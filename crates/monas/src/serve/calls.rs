//! The frame around every call on every wire: its limit, its line in the log, its record in the audit trail, its place
//! in the metrics, its span.
//!
//! Protocols announce their calls to [`access::Calls`]: the table of A2A, the dispatch of MCP, the table of ACP, and the
//! routes behind the door. This is the one overseer behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use access::budget::{self, Account, Budgets, Clock};
use access::{Admitted, CallRecord, Calls, Limit, Outcome, Overseer, Principal};
use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request};
use axum::http::header::RETRY_AFTER;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use dial::trace::{Span, Tracer};
use http_body_util::BodyExt as _;
use workspace::api::refusal;
use workspace::door::{DoorCaller, WireTap};

use crate::config::Config;
use crate::serve::audit::Recorder;
use counted::Counted;
use rates::RateLimits;

pub(crate) mod counted;
pub(crate) mod rates;

/// The overseer of a server's calls.
#[derive(Debug)]
pub(crate) struct CallDesk {
    /// None where limits are off.
    rates: Option<RateLimits>,
    /// Bounds how many refused callers of one address are written down, limits or not.
    refusals: RateLimits,
    audit: Option<Recorder>,
    tracer: Option<Tracer>,
    pub(crate) budgets: Budgets,
    pub(crate) counted: Arc<Counted>,
    /// Those who look on.
    pub(crate) tap: WireTap,
    /// Refused requests that were counted and not written down.
    unwritten: AtomicU64,
}

impl CallDesk {
    pub(crate) fn new(config: &Config, audit: Option<Recorder>, tracer: Option<Tracer>) -> Self {
        let limits = &config.limits;
        Self {
            rates: (config.rate_limit == crate::config::Switch::On)
                .then(|| RateLimits::new(limits.rate, limits.agent_rate)),
            refusals: RateLimits::new(limits.rate, limits.rate),
            audit,
            tracer,
            budgets: Budgets::new(config.budgets),
            counted: Arc::default(),
            tap: WireTap::default(),
            unwritten: AtomicU64::new(0),
        }
    }

    /// Requests without a valid credential that were counted and not written down, because their address sent too many.
    pub(crate) fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }

    /// Whether a call is written down. Strangers who try credentials in a flood would fill the log and the trail.
    fn is_written(&self, asked: &CallRecord, outcome: Outcome) -> bool {
        if outcome != Outcome::Unauthenticated || self.refusals.check(asked).is_ok() {
            return true;
        }
        self.unwritten.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn charge(&self, asked: &CallRecord) -> Result<Account, Limit> {
        if let Some(rates) = &self.rates {
            rates.check(asked)?;
        }
        // A call of a protocol waits for the turn that it causes, and the turn is counted; what people ask is done at once.
        let clock = match rates::is_for_people(asked.origin.wire) {
            true => Clock::Counted,
            false => Clock::Waiting,
        };
        let account = self.budgets.open(asked.caller.name(), None, clock)?;
        account.hold(asked.origin.bytes)?;
        Ok(account)
    }

    fn span_of(&self, asked: &CallRecord) -> Span {
        let Some(tracer) = &self.tracer else {
            return Span::default();
        };
        let mut span = Span::of_request(tracer, asked.origin.trace, asked.operation.clone());
        span.set("monas.wire", asked.origin.wire);
        span.set("monas.version", asked.version);
        span.set("monas.caller", shown(&asked.caller).to_owned());
        if !asked.origin.request.is_empty() {
            span.set("monas.request", asked.origin.request.clone());
        }
        span
    }

    fn record(&self, asked: &CallRecord, outcome: Outcome, time: Duration) {
        self.counted.count(asked, outcome, time);
        self.tap.show(asked, outcome, time);
        if !self.is_written(asked, outcome) {
            return;
        }
        log(asked, outcome, time);
        if let Some(audit) = &self.audit {
            audit.record(asked, outcome, time, SystemTime::now());
        }
    }
}

impl Overseer for CallDesk {
    fn begin(&self, asked: &CallRecord) -> Result<Admitted, Limit> {
        Ok(Admitted {
            account: self.admit(asked)?,
            span: self.span_of(asked),
        })
    }

    fn admit(&self, asked: &CallRecord) -> Result<Account, Limit> {
        self.charge(asked).inspect_err(|_| {
            self.record(asked, Outcome::Limited, Duration::ZERO);
        })
    }

    fn span(&self, asked: &CallRecord) -> Span {
        self.span_of(asked)
    }

    fn end(&self, asked: &CallRecord, outcome: Outcome, time: Duration) {
        self.record(asked, outcome, time);
    }
}

/// One line for each call.
fn log(asked: &CallRecord, outcome: Outcome, time: Duration) {
    let CallRecord {
        origin,
        caller,
        version,
        operation,
    } = asked;
    let address = origin.address.map(tracing::field::display);
    let trace = origin.trace.map(|it| format!("{:032x}", it.trace));
    tracing::info!(
        target: "monas::call",
        wire = origin.wire,
        version,
        operation = &**operation,
        caller = shown(caller),
        scheme = caller.scheme(),
        outcome = outcome.name(),
        ms = (time.as_secs_f64() * 10_000.0).round() / 10.0,
        request = origin.request,
        address,
        trace,
        "call"
    );
}

fn shown(caller: &Principal) -> &str {
    match caller.is_anonymous() {
        true => "anonymous",
        false => caller.name(),
    }
}

/// What is known of a request to a route outside of the protocols.
pub(crate) fn asked(head: &Parts, caller: &Principal) -> CallRecord {
    let path = head.extensions.get::<MatchedPath>();
    let path = path.map_or(access::calls::UNKNOWN, MatchedPath::as_str);
    let wire = match path.split('/').nth(1) {
        Some("api") => "api",
        Some("ws") => "chat",
        Some("ag-ui") => "ag-ui",
        Some("operator") => "operator",
        Some("metrics") => "metrics",
        _ => "http",
    };
    let origin = match head.extensions.get::<DoorCaller>() {
        Some(through) => through.origin.clone(),
        None => access::Origin::of(wire, head),
    };
    CallRecord {
        origin,
        caller: caller.clone(),
        version: "",
        operation: format!("{} {path}", method(head)).into(),
    }
}

/// The method of a request; one that no route has is not written down as the caller wrote it.
fn method(head: &Parts) -> &str {
    match head.method.as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") => known,
        _ => access::calls::UNKNOWN,
    }
}

/// Answers a request of an admitted caller, within its limit, and records the call.
pub(crate) async fn answer(
    calls: &Calls,
    caller: &Principal,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let mut asked = asked(&head, caller);
    let length = body.size_hint();
    let known = usize::try_from(length.lower()).unwrap_or(usize::MAX);
    asked.origin = asked.origin.with_bytes(known);
    let body = match length.exact() {
        Some(_) => body,
        None => counted_body(body),
    };
    let begun = match calls.begin(asked) {
        Ok(begun) => begun,
        Err(limit) => return limited(&limit),
    };
    let response = begun.run(next.run(Request::from_parts(head, body))).await;
    let response = response.unwrap_or_else(|exceeded| limited(&exceeded.into()));
    begun.end(Outcome::of_status(response.status().as_u16()));
    response
}

/// A body of unknown length, each piece of which counts for the call as soon as it is read.
fn counted_body(body: Body) -> Body {
    Body::new(body.map_frame(|frame| {
        let bytes = frame.data_ref().map_or(0, |it| it.len());
        // A call that holds too much ends at its next wait.
        let _ = budget::current().hold(bytes as u64);
        frame
    }))
}

/// The refusal of one call too many, or of one that uses too much, in the form of `/api`.
fn limited(limit: &Limit) -> Response {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = match limit {
        Limit::Calls(_) => refusal(status, "rate_limited", "rate limit exceeded"),
        Limit::Budget(exceeded) => refusal(status, "budget_exceeded", &exceeded.to_string()),
    };
    if let Some(seconds) = limit.seconds() {
        let after = HeaderValue::from(seconds);
        response.headers_mut().insert(RETRY_AFTER, after);
    }
    response
}
