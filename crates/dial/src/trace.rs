//! The W3C trace context: which trace a call belongs to, taken in with a request and passed on with requests of ours.
//!
//! A context is ambient, unlike everything else: it follows the future of a call ([`within`]), so that a connection to a
//! model, a tool server or another agent bears it without every function in between having an argument for it. It decides
//! nothing; who loses it loses a link in a picture.
//!
//! Where spans are recorded, the context comes with the [`Tracer`] that takes them ([`Scope`]), so that two servers of one
//! process have their own. Layout: this file has the context and its header, `carried` what follows a future, `span` the spans.

use std::fmt;

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;

/// The header that bears a context (W3C Trace Context 3.2).
pub const HEADER: &str = "traceparent";

/// A trace, and the span in it that is the parent of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    pub trace: u128,
    pub span: u64,
    /// Whether the caller records the trace.
    pub sampled: bool,
}

impl TraceContext {
    /// Reads the value of [`HEADER`]. A value that breaks a rule is no context: W3C 3.2.2.2 has it ignored.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut parts = text.split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let hex = |text: &str, length: usize| {
            let plain = text
                .bytes()
                .all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
            (text.len() == length && plain).then_some(())
        };
        hex(version, 2)?;
        hex(trace, 32)?;
        hex(span, 16)?;
        hex(flags, 2)?;
        // Later versions may have more parts; the first version has exactly four, and ff is none.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let context = Self {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
            sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
        };
        (context.trace != 0 && context.span != 0).then_some(context)
    }

    /// The same trace with another span as the parent.
    #[must_use]
    pub fn below(self, span: u64) -> Self {
        Self { span, ..self }
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }
}

#[cfg(feature = "trace")]
mod carried;
#[cfg(feature = "trace")]
mod span;

#[cfg(feature = "trace")]
pub use carried::{Scope, current, scope, within};
#[cfg(feature = "trace")]
pub use span::{Attribute, EndedSpan, Kind, Recorder, Span, Tracer, random};
