//! Why something is kept: nothing enters the long term without it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::MAX_REASON;

/// The sufficient reason of a lasting record. There is no way to make one with a part missing.
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
    /// Who or what it comes from, how sure that is (0 to 1), the question it answers, and why it is worth keeping.
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

    /// Who or what it comes from: `user:ada`, `tool:terminal`, `agent:scout`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The kind of source: what stands before the colon.
    pub fn origin(&self) -> &str {
        self.source.split(':').next().unwrap_or_default()
    }

    /// How sure it is, from 0 to 1.
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The question it answers.
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Why it is worth keeping.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The same with another confidence, brought into its bounds.
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

/// A reason as it comes in: any part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// Who or what it comes from.
    pub source: Option<String>,
    /// How sure that is.
    pub confidence: Option<f64>,
    /// The question it answers.
    pub context: Option<String>,
    /// Why it is worth keeping.
    pub why: Option<String>,
}

impl Draft {
    /// The reason, if nothing is missing; otherwise all that is wrong with it.
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

/// What a reason lacks: names of parts, each with what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking(Vec<(&'static str, &'static str)>);

impl Lacking {
    /// Everything is missing.
    pub fn all() -> Self {
        Self(PARTS.map(|part| (part, "is missing")).to_vec())
    }

    /// The names of the parts.
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
