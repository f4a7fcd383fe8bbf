//! The messages of `/api/vision`, as requests and replies have them.

use serde::{Deserialize, Serialize};

use crate::changed::Change;
use crate::element::Element;
use crate::find::Fit;
use crate::reader::Line;

/// The question about a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// What can be clicked or typed into?
    #[default]
    IdentifyClickableElements,
    /// What is written?
    ReadText,
    /// Which element fits a description?
    Find,
    /// What is not as it was in another picture?
    Compare,
}

/// The body of `POST /api/vision/analyze`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalyzeRequest {
    /// The picture in base64, also as a `data:` URL: PNG, JPEG or WebP.
    pub image: String,
    /// The question; without one, what can be clicked.
    #[serde(default)]
    pub task: Task,
    /// The description of an element, for `find`.
    #[serde(default)]
    pub description: Option<String>,
    /// The picture before, for `compare`.
    #[serde(default)]
    pub before: Option<String>,
    /// The task whose state the picture becomes.
    #[serde(default)]
    pub task_id: Option<String>,
    /// The address of the page, for that state.
    #[serde(default)]
    pub current_url: Option<String>,
}

/// The reply of `POST /api/vision/analyze`. A field that the question did not ask for is missing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AnalyzeReply {
    /// What can be clicked or typed into; empty for `read_text` and `compare`.
    pub elements: Vec<Element>,
    /// The lines of text, for `read_text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<Line>>,
    /// The element that fits, for `find`; null if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_element: Option<u32>,
    /// Other elements that fit, for `find`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<Fit>>,
    /// The changed regions, for `compare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Change>>,
    /// Why texts are missing, and the command that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The reply of `GET /api/vision/state`: the last picture that was analysed for a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StateReply {
    /// The task.
    pub task_id: String,
    /// The address of the page, where it is known.
    pub current_url: Option<String>,
    /// The picture in base64.
    pub screenshot: String,
    /// What can be clicked or typed into.
    pub elements: Vec<Element>,
    /// When it was analysed (RFC 3339).
    pub timestamp: String,
}

/// The body of `POST /api/vision/context`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// The task whose last picture is looked at.
    pub task_id: String,
    /// The goal, in words.
    pub context: String,
}

/// The reply of `POST /api/vision/context`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextReply {
    /// Whether an element fits.
    pub success: bool,
    /// The number of the element that fits best.
    pub suggested_element: Option<u32>,
    /// Others that fit, the best first.
    pub alternatives: Vec<Fit>,
}

impl From<crate::Finding> for ContextReply {
    fn from(finding: crate::Finding) -> Self {
        Self {
            success: finding.best.is_some(),
            suggested_element: finding.best.map(|best| best.index),
            alternatives: finding.alternatives,
        }
    }
}
