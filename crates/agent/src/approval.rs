//! What a person agrees to: calls that wait, decisions about them, and grants that are remembered.

use memory::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::{EffectId, TurnId};

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;

/// A call that a person decides about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its number.
    pub id: EffectId,
    /// The task that the call is part of.
    pub turn: TurnId,
    /// Which call of that task.
    pub place: String,
    /// The conversation it belongs to.
    pub conversation: String,
    /// The skill.
    pub skill: String,
    /// With what it was to be called.
    pub input: Value,
    /// When it was wanted.
    pub at: Millis,
    /// Until when a decision counts.
    pub until: Millis,
    /// Where it stands.
    pub standing: Standing,
}

/// Where an approval stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Nobody has decided.
    Pending,
    /// It may be called with this.
    Approved(Value),
    /// It may not, for this reason.
    Rejected(String),
    /// Nobody decided in time.
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
    /// For nothing else.
    Once,
    /// For every call of the skill in this conversation.
    Session,
    /// For every call of the skill in which this field of the input begins so.
    Prefix {
        /// The field.
        field: String,
        /// What it begins with.
        prefix: String,
    },
}

/// A decision that counts for later calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The skill.
    pub skill: String,
    /// Only in this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Only where this field begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<(String, String)>,
    /// Who decided, and whom it counts for.
    #[serde(default)]
    pub by: String,
    /// The approval that it was part of.
    pub from: EffectId,
}

/// What an answer to the question looks like: flat, so that every protocol can show it as a form. A plain word will
/// do.
pub fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "enum": ["approve", "yes", "reject", "no", "modify", "session"],
                "description": "approve, reject, modify (with another input), or session: approve now and for this conversation",
            },
            "input": { "type": "string", "description": "with modify: the input to use instead, as JSON" },
            "field": { "type": "string", "description": "with approve and prefix: the field of the input that it is about" },
            "prefix": { "type": "string", "description": "with approve: also whatever begins so from now on" },
            "why": { "type": "string", "description": "with reject: what the agent is told" },
        },
        "required": ["decision"],
    })
}

/// What an answer that fulfils the [`form`] decides; `input` is the schema of what the skill takes.
pub fn decision(answer: &Value, input: &Value) -> Result<Decision, String> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let filled = |name: &str| text(name).filter(|text| !text.trim().is_empty());
    Ok(match text("decision").unwrap_or_default() {
        "session" => Decision::Approve(Remember::Session),
        "approve" | "yes" => Decision::Approve(match (filled("field"), filled("prefix")) {
            (Some(field), Some(prefix)) => Remember::Prefix {
                field: field.to_owned(),
                prefix: prefix.to_owned(),
            },
            _ => Remember::Once,
        }),
        "modify" => {
            let edited = filled("input").ok_or("to modify takes the input to use instead")?;
            let edited: Value = serde_json::from_str(edited).map_err(|error| error.to_string())?;
            let schema = jsonschema::validator_for(input).map_err(|error| error.to_string())?;
            if let Some(fault) = schema.iter_errors(&edited).next() {
                return Err(format!("{}: {fault}", fault.instance_path()));
            }
            Decision::Modify(edited)
        }
        _ => Decision::Reject(filled("why").unwrap_or("it was not approved").to_owned()),
    })
}
