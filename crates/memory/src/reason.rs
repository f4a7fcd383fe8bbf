//! The reason of a lasting record.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::MAX_REASON;

/// The reason of a lasting record: source, confidence, context, and why it is worth keeping. A value of this type is
/// complete; an incomplete one is a [`Draft`].
///
/// ```
/// use memory::Reason;
///
/// let reason = Reason::new("user:ada", 0.9, "what does Ada drink?", "she said so herself").unwrap();
/// assert_eq!(reason.origin(), "user");
/// let lacking = Reason::new("user:ada", 1.5, " ", "").unwrap_err();
/// assert_eq!(lacking.to_string(), "confidence is not from 0 to 1; context is missing; why is missing");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Draft", into = "Draft")]
pub struct Reason {
    source: String,
    confidence: f64,
    context: String,
    why: String,
}

impl Reason {
    /// A reason of the source (`user:ada`), the confidence (0 to 1), the question that the record answers, and why it is
    /// worth keeping.
    pub fn new(
        source: impl Into<String>,
        confidence: f64,
        context: impl Into<String>,
        why: impl Into<String>,
    ) -> Result<Self, Lacking> {
        Draft {
            source: Some(source.into()),
            confidence: Some(confidence),
            context: Some(context.into()),
            why: Some(why.into()),
        }
        .complete()
    }

    /// The source: `user:ada`, `tool:terminal`, `agent:scout`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The kind of source: the part before the colon.
    pub fn origin(&self) -> &str {
        self.source.split(':').next().unwrap_or_default()
    }

    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The question that the record answers.
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Why the record is worth keeping.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The same reason with another confidence, clamped to 0 to 1.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = if confidence.is_nan() {
            0.0
        } else {
            confidence.clamp(0.0, 1.0)
        };
        self
    }
}

/// A reason from outside: any part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    pub source: Option<String>,
    pub confidence: Option<f64>,
    pub context: Option<String>,
    pub why: Option<String>,
}

impl Draft {
    /// The reason, or all faults of the draft at once.
    pub fn complete(self) -> Result<Reason, Lacking> {
        let mut faults = Vec::new();
        let mut text = |name: &'static str, text: Option<String>| {
            let text = text.unwrap_or_default();
            if text.trim().is_empty() {
                faults.push((name, "is missing"));
            } else if text.len() > MAX_REASON {
                faults.push((name, "is too long"));
            }
            text
        };
        let source = text("source", self.source);
        let context = text("context", self.context);
        let why = text("why", self.why);
        let confidence = self.confidence.unwrap_or(f64::NAN);
        if self.confidence.is_none() {
            faults.push(("confidence", "is missing"));
        } else if !(0.0..=1.0).contains(&confidence) {
            faults.push(("confidence", "is not from 0 to 1"));
        }
        if faults.is_empty() {
            return Ok(Reason {
                source,
                confidence,
                context,
                why,
            });
        }
        faults.sort_by_key(|(name, _)| PARTS.iter().position(|part| part == name));
        Err(Lacking(faults))
    }
}

const PARTS: [&str; 4] = ["source", "confidence", "context", "why"];

impl TryFrom<Draft> for Reason {
    type Error = Lacking;

    fn try_from(draft: Draft) -> Result<Self, Lacking> {
        draft.complete()
    }
}

impl From<Reason> for Draft {
    fn from(reason: Reason) -> Self {
        Self {
            source: Some(reason.source),
            confidence: Some(reason.confidence),
            context: Some(reason.context),
            why: Some(reason.why),
        }
    }
}

/// The faults of an incomplete reason: names of parts, each with its fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking(Vec<(&'static str, &'static str)>);

impl Lacking {
    pub fn all() -> Self {
        Self(PARTS.map(|part| (part, "is missing")).to_vec())
    }

    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(part, _)| *part)
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (part, fault)) in self.0.iter().enumerate() {
            let before = if place == 0 { "" } else { "; " };
            write!(f, "{before}{part} {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Lacking {}
