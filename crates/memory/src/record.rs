//! What memory holds: a text, what is known about it, and how firmly it is held.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::layer::{Lasting, Layer};
use crate::limits::{MAX_METADATA, MAX_NAME, MAX_TEXT};
use crate::reason::Reason;
use crate::text::date::Millis;

/// The id of a record. Ids of one space are ordered by the time they were given out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(String);

impl RecordId {
    /// An id that was given out before, or comes from an import.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// One that nobody has yet.
    pub(crate) fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RecordId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text and where it stands: what a caller gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// What was said, read or concluded.
    pub text: String,
    /// `conversation`, `code`, `concept`, or a word of the caller's.
    #[serde(rename = "type")]
    pub kind: String,
    /// The conversation, or whatever else its neighbours share with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// When it happened; when it was recorded, if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred: Option<Millis>,
    /// The task it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Where it comes from; for an observation `user:ada`, `tool:terminal`, `file:src/main.rs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whatever else the caller wants back.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Content {
    /// A text of which nothing else is known.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Whether it is within bounds.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse =
            |what: &'static str, problem: &'static str| Err(Error::Content { what, problem });
        if self.text.trim().is_empty() {
            return refuse("text", "is empty");
        }
        if self.text.len() > MAX_TEXT {
            return refuse("text", "is too long");
        }
        let names = [
            ("type", Some(&self.kind)),
            ("session", self.session.as_ref()),
            ("speaker", self.speaker.as_ref()),
            ("task", self.task.as_ref()),
            ("source", self.source.as_ref()),
        ];
        for (what, name) in names {
            if name.is_some_and(|name| name.len() > MAX_NAME) {
                return refuse(what, "is too long");
            }
        }
        // Written once more when it is stored; metadata is small or absent.
        let metadata = serde_json::to_vec(&self.metadata).map_or(usize::MAX, |bytes| bytes.len());
        if metadata > MAX_METADATA {
            return refuse("metadata", "is too long");
        }
        Ok(())
    }
}

/// Something that memory holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: RecordId,
    /// What it says.
    #[serde(flatten)]
    pub content: Content,
    /// When it came into memory.
    pub recorded: Millis,
    /// How firmly it is held.
    pub standing: Standing,
    /// How often it was of use.
    #[serde(default)]
    pub usage: Usage,
    /// What it repeats, if it is what the agent said after having recalled that. Echoes are in the log and nowhere
    /// else: they are not recalled, and nothing is concluded from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<RecordId>,
}

impl Record {
    /// The layer it is in.
    pub fn layer(&self) -> Layer {
        match &self.standing {
            Standing::Observed => Layer::Observation,
            Standing::Working { .. } => Layer::Working,
            Standing::Kept(kept) => kept.layer.into(),
        }
    }

    /// What is kept in the long term knows why.
    pub fn kept(&self) -> Option<&Kept> {
        match &self.standing {
            Standing::Kept(kept) => Some(kept),
            Standing::Observed | Standing::Working { .. } => None,
        }
    }

    /// When it happened, as far as is known.
    pub fn occurred(&self) -> Millis {
        self.content.occurred.unwrap_or(self.recorded)
    }

    /// Where it comes from.
    pub fn source(&self) -> Option<&str> {
        match &self.standing {
            Standing::Kept(kept) => Some(kept.reason.source()),
            _ => self
                .content
                .source
                .as_deref()
                .or(self.content.speaker.as_deref()),
        }
    }
}

/// How firmly a record is held. What lasts cannot be without a reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// In the log.
    Observed,
    /// In the log, and in working memory until this time.
    Working {
        /// When it is no longer.
        until: Millis,
    },
    /// In the long term.
    Kept(Kept),
}

/// What is known of a record in the long term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Where it is kept.
    pub layer: Lasting,
    /// Why.
    pub reason: Reason,
    /// Whether it is held without doubt.
    #[serde(default)]
    pub certainty: Certainty,
    /// Who else said so, besides the source of the reason; each once.
    #[serde(default)]
    pub support: Vec<Support>,
    /// What it was concluded from.
    #[serde(default)]
    pub from: Vec<RecordId>,
}

impl Kept {
    /// Whether nothing is held against it.
    pub fn certain(&self) -> bool {
        self.certainty == Certainty::Certain
    }

    /// Whether this source has a part in it.
    pub fn rests_on(&self, source: &str) -> bool {
        self.reason.source() == source || self.support.iter().any(|it| it.source == source)
    }
}

/// Whether something is held without doubt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Nothing is held against it.
    #[default]
    Certain,
    /// Something contradicts it.
    Uncertain {
        /// What does.
        against: RecordId,
        /// In which way.
        because: String,
    },
}

/// A source that said the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Support {
    /// Who.
    pub source: String,
    /// When.
    pub at: Millis,
}

/// How often a record was of use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// How often it was recalled.
    pub times: u32,
    /// When it was last.
    pub last: Option<Millis>,
    /// The question it was last recalled for.
    #[serde(default)]
    pub question: String,
}

/// What is left of a record that was forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The record's id.
    pub id: RecordId,
    /// The layer it was in.
    pub layer: Layer,
    /// When it was forgotten.
    pub at: Millis,
    /// Why.
    pub why: String,
    /// What its text was like: a hash, from which it cannot be read.
    pub hash: String,
}
