//! Requests to a model, counted and recorded as spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dial::trace::{self, Kind, Span};
use futures_util::{StreamExt as _, stream};

use super::budget::{self, Price};
use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas, Usage};
use crate::request::Request;

/// What was asked of the models of a server so far.
#[derive(Debug, Default)]
pub struct Meter {
    replied: AtomicU64,
    failed: AtomicU64,
    /// Requests that a budget of tokens or money refused or cut off.
    over_budget: AtomicU64,
    input: AtomicU64,
    output: AtomicU64,
    /// In millionths of a [`Cost`](super::Cost), so that nothing is lost by rounding.
    cost: AtomicU64,
}

/// The counts of a [`Meter`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metered {
    pub replied: u64,
    pub failed: u64,
    pub over_budget: u64,
    /// Tokens as the providers count them, and estimated where they do not.
    pub usage: Usage,
    /// In millionths of the unit of the prices.
    pub cost: u64,
}

impl Meter {
    pub fn read(&self) -> Metered {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Metered {
            replied: read(&self.replied),
            failed: read(&self.failed),
            over_budget: read(&self.over_budget),
            usage: Usage::new(read(&self.input), read(&self.output)),
            cost: read(&self.cost) / 1_000_000,
        }
    }

    fn add(&self, usage: Usage, price: Price) {
        self.input.fetch_add(usage.input, Ordering::Relaxed);
        self.output.fetch_add(usage.output, Ordering::Relaxed);
        let cost = u64::try_from(price.of(usage)).unwrap_or(u64::MAX);
        self.cost.fetch_add(cost, Ordering::Relaxed);
    }
}

/// Counts replies, tokens and cost, and records a span for each request. It stands around all other layers: a request that
/// is tried again is one request, and its attempts are parts of its span.
#[derive(Debug)]
pub struct Observed {
    inner: Arc<dyn Model>,
    price: Price,
    meter: Arc<Meter>,
}

impl Observed {
    pub fn new(inner: Arc<dyn Model>, price: Price, meter: Arc<Meter>) -> Self {
        Self {
            inner,
            price,
            meter,
        }
    }
}

impl Model for Observed {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, request: Request) -> Deltas {
        let asked = RequestSpan {
            model: self.inner.clone(),
            request: Some(request),
            deltas: None,
            span: Span::default(),
            used: Used {
                price: self.price,
                meter: self.meter.clone(),
                reported: None,
                estimated: Usage::default(),
            },
        };
        Box::pin(stream::unfold(asked, |asked| asked.next()))
    }
}

/// A request under way.
struct RequestSpan {
    model: Arc<dyn Model>,
    /// The request, until it is sent.
    request: Option<Request>,
    deltas: Option<Deltas>,
    span: Span,
    used: Used,
}

/// What a request has used. It is counted when this is dropped, also where the reply broke off.
struct Used {
    price: Price,
    meter: Arc<Meter>,
    reported: Option<Usage>,
    estimated: Usage,
}

impl Used {
    fn usage(&self) -> Usage {
        self.reported.unwrap_or(self.estimated)
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        self.meter.add(self.usage(), self.price);
    }
}

impl RequestSpan {
    async fn next(mut self) -> Option<(Result<Delta, Error>, Self)> {
        if let Some(request) = self.request.take() {
            self.begin(request);
        }
        let next = self.deltas.as_mut()?.next();
        let delta = trace::within(self.span.scope(), next).await?;
        match &delta {
            Ok(Delta::Usage(usage)) => self.used.reported = Some(*usage),
            Ok(Delta::Text(text) | Delta::Reasoning(text)) => {
                self.used.estimated += Usage::new(0, budget::estimate(text.len()));
            }
            Ok(Delta::End(_)) => {
                self.used.meter.replied.fetch_add(1, Ordering::Relaxed);
                self.end();
            }
            Ok(_) => {}
            Err(error) => {
                let meter = &self.used.meter;
                let count = match error {
                    Error::Budget(_) => &meter.over_budget,
                    _ => &meter.failed,
                };
                count.fetch_add(1, Ordering::Relaxed);
                if matches!(error, Error::Budget(_)) && self.used.estimated.output == 0 {
                    // It was not sent.
                    self.used.estimated = Usage::default();
                }
                self.span.fail(error);
                self.end();
            }
        }
        Some((delta, self))
    }

    fn begin(&mut self, request: Request) {
        self.span = Span::start(Kind::Client, "chat");
        if self.span.is_recorded() {
            let name = self.model.name();
            let (provider, model) = name.split_once(':').unwrap_or(("", name));
            self.span.set("gen_ai.operation.name", "chat");
            self.span.set("gen_ai.provider.name", provider.to_owned());
            self.span.set("gen_ai.request.model", model.to_owned());
        }
        self.used.estimated = Usage::new(budget::read(&request), 0);
        self.deltas = Some(self.model.reply(request));
    }

    /// The span says what the reply took.
    fn end(&mut self) {
        let Usage { input, output } = self.used.usage();
        self.span.set("gen_ai.usage.input_tokens", input);
        self.span.set("gen_ai.usage.output_tokens", output);
    }
}
