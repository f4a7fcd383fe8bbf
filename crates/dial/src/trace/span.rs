//! Spans: what was done within a trace, from when to when.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::{Scope, TraceContext, scope, within};

/// Takes the spans that have ended. It is called on the path of every call: it does not wait.
pub trait Recorder: fmt::Debug + Send + Sync + 'static {
    fn record(&self, span: EndedSpan);
}

/// Where spans are recorded. Clones are the same.
#[derive(Clone, Debug)]
pub struct Tracer(Arc<dyn Recorder>);

impl Tracer {
    pub fn new(recorder: Arc<dyn Recorder>) -> Self {
        Self(recorder)
    }
}

/// On which side of a request a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Answers a request of another program.
    Server,
    /// Is part of the work.
    Internal,
    /// Waits for another program.
    Client,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    Text(Cow<'static, str>),
    Number(i64),
}

impl From<&'static str> for Attribute {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// A span that has ended.
#[derive(Clone, Debug)]
pub struct EndedSpan {
    /// The trace, and the span itself.
    pub context: TraceContext,
    /// The span that it is part of; none where the trace begins here.
    pub parent: Option<u64>,
    pub name: Cow<'static, str>,
    pub kind: Kind,
    pub began: SystemTime,
    pub time: Duration,
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// Work under way that is recorded when this is dropped. Where nothing is recorded it is empty, and costs nothing.
#[derive(Debug, Default)]
#[must_use = "a span lasts until it is dropped"]
pub struct Span(Option<Box<Open>>);

#[derive(Debug)]
struct Open {
    tracer: Tracer,
    began: Instant,
    span: EndedSpan,
}

impl Span {
    /// A part of the work that is polled now. Nothing is recorded of a trace that its caller does not record.
    pub fn start(kind: Kind, name: impl Into<Cow<'static, str>>) -> Self {
        match scope() {
            Some(Scope {
                context,
                tracer: Some(tracer),
            }) => Self::below(&tracer, Some(context), kind, name.into()),
            _ => Self::default(),
        }
    }

    /// The answer to a request: in the trace of its caller, or in a new one.
    pub fn of_request(
        tracer: &Tracer,
        caller: Option<TraceContext>,
        name: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::below(tracer, caller, Kind::Server, name.into())
    }

    fn below(
        tracer: &Tracer,
        parent: Option<TraceContext>,
        kind: Kind,
        name: Cow<'static, str>,
    ) -> Self {
        if parent.is_some_and(|it| !it.sampled) {
            return Self::default();
        }
        let trace = || u128::from(random()) << 64 | u128::from(random());
        Self(Some(Box::new(Open {
            tracer: tracer.clone(),
            began: Instant::now(),
            span: EndedSpan {
                context: TraceContext {
                    trace: parent.map_or_else(trace, |it| it.trace),
                    span: random(),
                    sampled: true,
                },
                parent: parent.map(|it| it.span),
                name,
                kind,
                began: SystemTime::now(),
                time: Duration::ZERO,
                attributes: Vec::new(),
                failure: None,
            },
        })))
    }

    /// Whether it is recorded: what is only told to a span need not be computed for another.
    pub fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        if let Some(open) = &mut self.0 {
            open.span.attributes.push((name, value.into()));
        }
    }

    pub fn fail(&mut self, why: &dyn fmt::Display) {
        if let Some(open) = &mut self.0 {
            open.span.failure = Some(why.to_string());
        }
    }

    /// The scope of what is part of it; none where it is not recorded.
    pub fn scope(&self) -> Option<Scope> {
        self.0.as_ref().map(|open| Scope {
            context: open.span.context,
            tracer: Some(open.tracer.clone()),
        })
    }

    /// Does work as a part of it.
    pub async fn within<T>(&self, work: impl Future<Output = T>) -> T {
        within(self.scope(), work).await
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            let Open {
                tracer,
                began,
                mut span,
            } = *open;
            span.time = began.elapsed();
            tracer.0.record(span);
        }
    }
}

/// An id that was not given out before, in all likelihood. It is not zero, and no secret: each state of the standard library has random keys of its own.
pub fn random() -> u64 {
    RandomState::new().hash_one(0_u8).max(1)
}
