//! Records: a text, its circumstances, and how firmly it is held.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::layer::{Lasting, Layer};
use crate::limits::{MAX_METADATA, MAX_NAME, MAX_TEXT};
use crate::reason::Reason;
use crate::text::date::Millis;
use crate::viewer::caller_of;

/// The id of a record. New ids are UUIDs of version 7, so that ids of one space are ordered by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(String);

impl RecordId {
    /// An id from a wire, the store or an import.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub(crate) fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RecordId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text and its circumstances, as the caller gives them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    pub text: String,
    /// `conversation`, `code`, `concept`, or a kind of the caller's own.
    #[serde(rename = "type")]
    pub kind: String,
    /// The conversation. Records of a session are neighbours in ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The time of the event; without it, the time of recording counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The source of an observation: `user:ada`, `tool:terminal`, `file:src/main.rs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The caller that it belongs to, by name; empty is the anonymous caller. Records of version 0.1.0 have none, and
    /// belong to the caller that their source names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether every caller of the agent sees it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
    /// Returned to the caller unchanged.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Content {
    /// A text without circumstances.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Checks the bounds of `limits`.
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
            ("owner", self.owner.as_ref()),
        ];
        for (what, name) in names {
            if name.is_some_and(|name| name.len() > MAX_NAME) {
                return refuse(what, "is too long");
            }
        }
        // It is serialised a second time when it is stored, which costs little: metadata is small or absent.
        let metadata = serde_json::to_vec(&self.metadata).map_or(usize::MAX, |bytes| bytes.len());
        if metadata > MAX_METADATA {
            return refuse("metadata", "is too long");
        }
        Ok(())
    }
}

/// A record of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: RecordId,
    #[serde(flatten)]
    pub content: Content,
    /// The time of recording.
    pub recorded: Millis,
    pub standing: Standing,
    #[serde(default)]
    pub usage: Usage,
    /// The record that this one repeats, if the agent said it after having recalled that one. Echoes are logged only:
    /// they are not recalled, and nothing is concluded from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<RecordId>,
}

impl Record {
    pub fn layer(&self) -> Layer {
        match &self.standing {
            Standing::Observed => Layer::Observation,
            Standing::Working { .. } => Layer::Working,
            Standing::Kept(kept) if kept.certainty == Certainty::Hypothesis => Layer::Hypothesis,
            Standing::Kept(kept) => kept.layer.into(),
        }
    }

    /// The reason and the support of a lasting record.
    pub fn kept(&self) -> Option<&Kept> {
        match &self.standing {
            Standing::Kept(kept) => Some(kept),
            Standing::Observed | Standing::Working { .. } => None,
        }
    }

    /// The time of the event, or of recording if that is not known.
    pub fn occurred(&self) -> Millis {
        self.content.occurred.unwrap_or(self.recorded)
    }

    /// The caller that it belongs to, by name: as it was recorded, or the one that its source names. None belongs to no
    /// caller: operators see it.
    pub fn owner(&self) -> Option<&str> {
        let recorded = self.content.owner.as_deref();
        recorded.or_else(|| caller_of(self.source()?))
    }

    /// The source of the reason, or of the observation, or its speaker.
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

/// How firmly a record is held. A lasting one has a reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    Observed,
    /// Logged, and in working memory until this time.
    Working {
        until: Millis,
    },
    Kept(Kept),
}

/// What belongs to a lasting record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub layer: Lasting,
    pub reason: Reason,
    #[serde(default)]
    pub certainty: Certainty,
    /// Further sources that have said the same, each once.
    #[serde(default)]
    pub support: Vec<Support>,
    /// The records it was concluded from.
    #[serde(default)]
    pub from: Vec<RecordId>,
}

impl Kept {
    pub fn certain(&self) -> bool {
        self.certainty == Certainty::Certain
    }

    /// Whether this source has said it.
    pub fn rests_on(&self, source: &str) -> bool {
        self.reason.source() == source || self.support.iter().any(|it| it.source == source)
    }
}

/// Whether a lasting record is in doubt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    #[default]
    Certain,
    /// Its source speculates ("maybe", "might"): it is no belief until another source, or a plain statement, confirms it.
    Hypothesis,
    /// A record that prevails contradicts it.
    Uncertain {
        against: RecordId,
        /// The name of the [`Conflict`](crate::Conflict).
        because: String,
    },
}

/// A source that said the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Support {
    pub source: String,
    pub at: Millis,
}

/// How often a record was recalled, and when last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub times: u32,
    pub last: Option<Millis>,
    /// The last question, shortened.
    #[serde(default)]
    pub question: String,
}

/// What remains of a forgotten record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    pub id: RecordId,
    pub layer: Layer,
    pub at: Millis,
    pub why: String,
    /// The SHA-256 of the text, so that the text itself is gone.
    pub hash: String,
}
