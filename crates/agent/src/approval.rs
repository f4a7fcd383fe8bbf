//! What a person agrees to: calls that wait, decisions about them, and grants that are remembered.

use memory::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use skill::Definition;

use crate::event::{EffectId, TurnId};

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;

/// A call that a person decides about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: EffectId,
    /// The task that the call is part of.
    pub turn: TurnId,
    /// Which call of that task.
    pub place: String,
    /// The conversation it belongs to.
    pub conversation: String,
    pub skill: String,
    /// With what it was to be called.
    pub input: Value,
    /// When it was wanted.
    pub at: Millis,
    /// Until when a decision counts.
    pub until: Millis,
    pub standing: Standing,
    /// The hash of the question as it was shown. An answer counts for what was shown, so a question with a preview that has
    /// changed is shown again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// Where an approval stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It waits for a decision.
    Pending,
    /// It may be called with this.
    Approved(Value),
    /// It may not, for this reason.
    Rejected(String),
    /// There was no decision in time.
    Expired,
}

/// What a person decides about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It may be made, and so may others, if this says so.
    Approve(Remember),
    /// It may not be made.
    Reject(String),
    /// It may be made with another input.
    Modify(Value),
}

/// For what else a decision counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remember {
    Once,
    /// For every call of the skill in this conversation.
    Session,
    /// For every call of the skill in which this field of the input begins so.
    Prefix {
        field: String,
        /// What it begins with.
        prefix: String,
    },
}

/// A decision that counts for later calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub skill: String,
    /// Only in this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Only where this field begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<(String, String)>,
    /// The caller who decided; it counts for calls of this caller alone.
    #[serde(default)]
    pub by: String,
    /// The approval that it was part of.
    pub from: EffectId,
}

/// The hash of a question as it is shown.
pub(crate) fn digest(shown: &str) -> String {
    let hash = Sha256::digest(shown.as_bytes());
    hash.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// What an answer to the question looks like: flat, so that every protocol can show it as a form. A plain word will
/// do.
pub fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "enum": ["approve", "yes", "ok", "reject", "no", "modify", "session"],
                "description": "approve, reject, modify (with another input), or session: approve now and for this conversation",
            },
            "input": { "type": "string", "description": "with modify: the input to use instead, as JSON" },
            "field": { "type": "string", "description": "with prefix: the field of the input that it is about, if that is not clear" },
            "prefix": { "type": "string", "description": "with approve: also whatever begins so from now on" },
            "why": { "type": "string", "description": "with reject: what the agent is told" },
        },
        "required": ["decision"],
    })
}

/// Why an answer that fulfils the [`form`] decides nothing. The person is shown the message and asked again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableAnswer {
    /// Another input is given with a decision that would not use it.
    #[error("to use another input, say modify")]
    InputWithoutModify,
    #[error("to modify takes the input to use instead")]
    ModifyWithoutInput,
    #[error(transparent)]
    NotJson(#[from] serde_json::Error),
    /// The schema of the skill's input is not a schema, so no other input can be checked.
    #[error("{0}")]
    Schema(String),
    /// The other input is not one of the skill.
    #[error("{path}: {fault}")]
    Input { path: String, fault: String },
    #[error("a field without a prefix says nothing")]
    FieldWithoutPrefix,
    #[error("{field:?} does not begin with {prefix:?} here")]
    OtherField { field: String, prefix: String },
    #[error("nothing in the input begins with {0:?}")]
    NoField(String),
    #[error("several fields begin with {0:?}: say which")]
    SeveralFields(String),
}

/// What an answer that fulfils the [`form`] decides about calling a skill with this input.
pub fn decision(
    answer: &Value,
    skill: &Definition,
    input: &Value,
) -> Result<Decision, UnusableAnswer> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let filled = |name: &str| text(name).filter(|text| !text.trim().is_empty());
    let decision = text("decision").unwrap_or_default();
    if decision != "modify" && filled("input").is_some() {
        return Err(UnusableAnswer::InputWithoutModify);
    }
    Ok(match decision {
        "session" => Decision::Approve(Remember::Session),
        "approve" | "yes" | "ok" => {
            Decision::Approve(remember(filled("field"), filled("prefix"), input)?)
        }
        "modify" => {
            let edited = filled("input").ok_or(UnusableAnswer::ModifyWithoutInput)?;
            let edited: Value = serde_json::from_str(edited)?;
            let schema = jsonschema::validator_for(&skill.input);
            let schema = schema.map_err(|error| UnusableAnswer::Schema(error.to_string()))?;
            if let Some(fault) = schema.iter_errors(&edited).next() {
                return Err(UnusableAnswer::Input {
                    path: fault.instance_path().to_string(),
                    fault: fault.to_string(),
                });
            }
            Decision::Modify(edited)
        }
        _ => Decision::Reject(filled("why").unwrap_or("it was not approved").to_owned()),
    })
}

/// What else an approval counts for. What is asked about begins with the prefix itself: otherwise it is not meant.
fn remember(
    field: Option<&str>,
    prefix: Option<&str>,
    input: &Value,
) -> Result<Remember, UnusableAnswer> {
    let Some(prefix) = prefix else {
        return match field {
            Some(_) => Err(UnusableAnswer::FieldWithoutPrefix),
            None => Ok(Remember::Once),
        };
    };
    let members = input.as_object().into_iter().flatten();
    let mut fitting = members.filter(|(name, value)| {
        let begins = value.as_str().is_some_and(|text| text.starts_with(prefix));
        begins && field.is_none_or(|field| field == *name)
    });
    match (fitting.next(), fitting.next()) {
        (Some((name, _)), None) => Ok(Remember::Prefix {
            field: name.clone(),
            prefix: prefix.to_owned(),
        }),
        (None, _) => Err(match field {
            Some(field) => UnusableAnswer::OtherField {
                field: field.to_owned(),
                prefix: prefix.to_owned(),
            },
            None => UnusableAnswer::NoField(prefix.to_owned()),
        }),
        (Some(_), Some(_)) => Err(UnusableAnswer::SeveralFields(prefix.to_owned())),
    }
}
