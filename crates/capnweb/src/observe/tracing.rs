//! A span of `tracing` for each call.

use tokio::time::Instant;
use tracing::{Instrument, field};

use super::labels::Labels;
use crate::error::{Error, Result};
use crate::layer::{Call, CallResult, Layer, Next};

#[cfg(test)]
#[path = "tracing_tests.rs"]
mod tests;

/// A layer that puts each call in a span, named `call`, at the level of debugging.
///
/// What the handler logs stands inside the span. Its fields are `interface`, `member`, `kind`,
/// `argument_bytes`, and once the call has ended `outcome` (`ok`, `error` or `cancelled`), `code`,
/// `answer_bytes`, `milliseconds`, and how large the session's tables are then: `imports`, `exports`,
/// `pending`. A name that the object's description does not have is `other`. While no subscriber takes spans of
/// this level, none of it is computed.
#[derive(Debug, Default)]
pub struct Tracing {
    labels: Labels<()>,
}

impl Tracing {
    pub fn new() -> Self {
        Self::default()
    }
}

impl Layer for Tracing {
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
        let span = tracing::debug_span!(
            target: "capnweb",
            "call",
            interface = field::Empty,
            member = field::Empty,
            kind = ?call.kind(),
            argument_bytes = call.argument_bytes(),
            outcome = field::Empty,
            code = field::Empty,
            answer_bytes = field::Empty,
            milliseconds = field::Empty,
            imports = field::Empty,
            exports = field::Empty,
            pending = field::Empty,
        );
        if span.is_disabled() {
            return next.run().await;
        }
        let label = self.labels.of(call);
        span.record("interface", label.interface);
        span.record("member", label.member.as_str());
        let begun = Instant::now();
        let outcome = next.run().instrument(span.clone()).await;
        span.record("milliseconds", begun.elapsed().as_secs_f64() * 1000.0);
        match &outcome {
            Ok(answer) => {
                span.record("outcome", "ok");
                span.record("answer_bytes", answer.bytes());
            }
            Err(error) if error.code() == Some(Error::CANCELLED) => {
                span.record("outcome", "cancelled");
            }
            Err(error) => {
                span.record("outcome", "error");
                span.record("code", error.code());
            }
        }
        let tables = call.peer().stats();
        span.record("imports", tables.imports);
        span.record("exports", tables.exports);
        span.record("pending", tables.pending);
        outcome
    }
}
