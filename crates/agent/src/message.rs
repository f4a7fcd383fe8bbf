//! Letters that agents write to each other: typed, with where it comes from, in data parts of A2A messages.

use a2a::types::{Content, Message, Part, Struct};
use memory::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the metadata of a part that holds a letter has in it.
pub const LETTER: &str = "urn:monas:a2a:ext:letter:1";

/// How sure a writer counts that does not say so.
pub const UNSAID: f64 = 0.5;

/// Something that one agent writes to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Letter {
    #[serde(flatten)]
    pub body: Body,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// What a letter is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Body {
    /// A statement that the writer holds to be true.
    Claim {
        text: String,
        /// How sure the writer is, from 0 to 1.
        confidence: f64,
        /// Whether every caller of the reader may see it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        public: bool,
    },
    /// A change of the reader's law. The reader applies it or refuses it, and answers which.
    Proposal {
        #[serde(default)]
        text: String,
        /// The reason, in words.
        justification: String,
        /// The place in the law: `memory.rules[0].condition`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        target: String,
        /// The new value of the target, or an assignment: `min_confidence += 0.1`.
        #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
        change: serde_json::Value,
        /// Events of the reader's journal that speak for it, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<u64>,
    },
    /// Something that the writer wants from the reader.
    Request { text: String },
    /// The answer to an earlier letter.
    Answer {
        /// The id of that letter.
        to: String,
        /// Whether its claim, proposal or request was accepted.
        accepted: bool,
        text: String,
        /// How sure the writer is, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
    },
}

/// Where a letter comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// What it is known by, for an answer to refer to.
    pub id: String,
    /// The agent that wrote it.
    pub agent: String,
    /// The caller for whom the agent wrote it, if it did so in a request of that caller.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The events of its journal that it follows from.
    #[serde(default)]
    pub events: Vec<u64>,
    /// When it was written, in milliseconds since 1970.
    pub at: i64,
}

impl Provenance {
    /// The writer in words, with the caller for whom it was written.
    pub fn writer(&self) -> String {
        match &self.caller {
            Some(caller) => format!("{} (for {caller})", self.agent),
            None => self.agent.clone(),
        }
    }
}

/// Why a part that is marked as a letter is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLetter {
    #[error("a letter is a part that holds data")]
    NotData,
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    #[error("the confidence of a claim is from 0 to 1")]
    Confidence,
    #[error("a letter says which agent wrote it")]
    NoWriter,
    #[error("a letter has at most {0} bytes")]
    TooLong(usize),
}

impl Letter {
    /// The letter as a part of a message.
    pub fn part(&self) -> Part {
        let data = serde_json::to_value(self).unwrap_or_default();
        let mut part = Part::data(data);
        let metadata = part.metadata.get_or_insert_with(Struct::default);
        metadata.insert(LETTER.to_owned(), true.into());
        part
    }

    /// The first letter in a message. A part that is marked as a letter and is none is an error.
    pub fn of(message: &Message) -> Option<Result<Self, InvalidLetter>> {
        message.parts.iter().find_map(Self::in_part)
    }

    /// The letter in a part, if the part is marked as one.
    pub(crate) fn in_part(part: &Part) -> Option<Result<Self, InvalidLetter>> {
        let metadata = part.metadata.as_ref();
        metadata.filter(|it| it.contains_key(LETTER))?;
        Some(match &part.content {
            Content::Data(data) => {
                let letter = serde_json::from_value::<Self>(data.0.clone());
                letter.map_err(InvalidLetter::from).and_then(Self::checked)
            }
            _ => Err(InvalidLetter::NotData),
        })
    }

    pub(crate) fn checked(self) -> Result<Self, InvalidLetter> {
        match &self.body {
            Body::Claim { confidence, .. }
            | Body::Answer {
                confidence: Some(confidence),
                ..
            } if !(0.0..=1.0).contains(confidence) => Err(InvalidLetter::Confidence),
            _ if self.provenance.agent.trim().is_empty() => Err(InvalidLetter::NoWriter),
            _ => Ok(self),
        }
    }

    /// What a letter looks like, for programs.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).into()
    }

    /// What it says, in words.
    pub fn text(&self) -> &str {
        match &self.body {
            Body::Claim { text, .. }
            | Body::Proposal { text, .. }
            | Body::Request { text }
            | Body::Answer { text, .. } => text,
        }
    }
}

/// A request of this agent's.
pub(crate) fn request(agent: &str, id: &str, text: &str) -> Letter {
    let body = Body::Request {
        text: text.to_owned(),
    };
    written(agent, id, body)
}

/// A letter that this agent writes now.
pub fn written(agent: &str, id: &str, body: Body) -> Letter {
    Letter {
        body,
        provenance: Provenance {
            id: id.to_owned(),
            agent: agent.to_owned(),
            caller: None,
            events: Vec::new(),
            at: crate::actor::now(),
        },
    }
}

/// A claim of this agent's.
pub fn claim(agent: &str, id: &str, text: &str, confidence: f64, at: Millis) -> Letter {
    Letter {
        body: Body::Claim {
            text: text.to_owned(),
            confidence,
            public: false,
        },
        provenance: Provenance {
            id: id.to_owned(),
            agent: agent.to_owned(),
            caller: None,
            events: Vec::new(),
            at,
        },
    }
}
