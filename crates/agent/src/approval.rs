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

/// What an answer that fulfils the [`form`] decides about calling a skill with this input.
pub fn decision(answer: &Value, skill: &Definition, input: &Value) -> Result<Decision, String> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let filled = |name: &str| text(name).filter(|text| !text.trim().is_empty());
    let decision = text("decision").unwrap_or_default();
    if decision != "modify" && filled("input").is_some() {
        return Err("to use another input, say modify".to_owned());
    }
    Ok(match decision {
        "session" => Decision::Approve(Remember::Session),
        "approve" | "yes" | "ok" => {
            Decision::Approve(remember(filled("field"), filled("prefix"), input)?)
        }
        "modify" => {
            let edited = filled("input").ok_or("to modify takes the input to use instead")?;
            let edited: Value = serde_json::from_str(edited).map_err(|error| error.to_string())?;
            let schema = jsonschema::validator_for(&skill.input);
            let schema = schema.map_err(|error| error.to_string())?;
            if let Some(fault) = schema.iter_errors(&edited).next() {
                return Err(format!("{}: {fault}", fault.instance_path()));
            }
            Decision::Modify(edited)
        }
        _ => Decision::Reject(filled("why").unwrap_or("it was not approved").to_owned()),
    })
}

/// What else an approval counts for. What is asked about begins with the prefix itself: otherwise it is not meant.
fn remember(field: Option<&str>, prefix: Option<&str>, input: &Value) -> Result<Remember, String> {
    let Some(prefix) = prefix else {
        return match field {
            Some(_) => Err("a field without a prefix says nothing".to_owned()),
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
            Some(field) => format!("{field:?} does not begin with {prefix:?} here"),
            None => format!("nothing in the input begins with {prefix:?}"),
        }),
        (Some(_), Some(_)) => Err(format!("several fields begin with {prefix:?}: say which")),
    }
}
