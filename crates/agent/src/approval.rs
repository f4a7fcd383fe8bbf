//! Approvals of a person: calls that wait, decisions about them, and grants that are remembered.

use memory::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use skill::{Definition, Fault};

use crate::event::{EffectId, FurtherCall, TurnId};

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;

/// A call that a person decides about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: EffectId,
    /// What the approval is known by outside of the agent: a UUID, version 4.
    #[serde(default)]
    pub uuid: String,
    /// The caller that the call is made for.
    #[serde(default)]
    pub by: String,
    /// The person for whom that caller acts, if it is an agent that acts for one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub person: String,
    /// The task that the call is part of.
    pub turn: TurnId,
    /// Which call of that task.
    pub place: String,
    /// The conversation it belongs to.
    pub conversation: String,
    pub skill: String,
    /// With what it was to be called.
    pub input: Value,
    /// The input bound to the state that was shown, with which it is called; none is the input itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Value>,
    /// The hash of the skill's definition, if another server defines it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The decision counts for this call alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_time: bool,
    /// What the person is told besides the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// When it was wanted.
    pub at: Millis,
    /// Until when a decision counts.
    pub until: Millis,
    pub standing: ApprovalState,
    /// Later steps of the same procedure that a yes covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherCall>,
    /// The hash of the question as it was shown. An answer counts for what was shown, so a question with a preview that has
    /// changed is shown again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// The change or the command, as a person is shown it, until it is decided about; the beginning of a long one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
}

impl Approval {
    /// The person at the start of a chain of agents: the caller itself, unless that is an agent that acts for a person.
    pub fn person(&self) -> &str {
        match self.person.as_str() {
            "" => &self.by,
            person => person,
        }
    }
}

/// Where an approval stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalState {
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
    /// The caller of the call that was decided about; it counts for calls of this caller alone.
    #[serde(default)]
    pub by: String,
    /// The person who agreed. Empty in older journals: the caller itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agreed: String,
    /// The approval that it was part of.
    pub from: EffectId,
    /// What the grant is known by outside of the agent: the UUID of the approval.
    #[serde(default)]
    pub id: String,
    /// Until when it counts; 0 is without an end.
    #[serde(default)]
    pub until: Millis,
    /// The hash of the skill's definition when it was granted, if another server defines the skill.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
}

impl Grant {
    /// What it is known by outside of the agent. Grants of older journals have a number.
    pub fn key(&self) -> String {
        match self.id.as_str() {
            "" => self.from.to_string(),
            id => id.to_owned(),
        }
    }

    /// The person who agreed to it.
    pub fn agreed_by(&self) -> &str {
        match self.agreed.as_str() {
            "" => &self.by,
            person => person,
        }
    }

    /// Whether it counts for a call of its skill with this input.
    pub(crate) fn covers_input(&self, input: &Value) -> bool {
        self.prefix.as_ref().is_none_or(|(field, prefix)| {
            let value = input.get(field).and_then(Value::as_str);
            // A path that climbs out of its beginning does not begin so.
            value.is_some_and(|value| begins(value, prefix) && !value.contains(".."))
        })
    }
}

/// Whether a text begins with a prefix that ends at a border of it: at its end, at a slash, or between words.
fn begins(value: &str, prefix: &str) -> bool {
    let border = |letter: char| letter == '/' || letter.is_whitespace();
    value
        .strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(border) || prefix.ends_with(border))
}

/// The hash of a skill's definition, if another server defines it: what a person or a manifest allowed is this
/// description and this schema.
pub(crate) fn version(skill: &Definition) -> String {
    if skill.origin.is_none() {
        return String::new();
    }
    let traits = &skill.traits;
    let hints = json!([
        traits.read_only,
        traits.destructive,
        traits.idempotent,
        traits.open_world
    ]);
    let output = skill.output.clone().unwrap_or_default();
    let whole = json!([
        skill.name,
        skill.description,
        canonical(&skill.input),
        canonical(&output),
        hints
    ]);
    digest(&whole.to_string())
}

/// The value as JSON with the members of objects in order. Its hash is stored, so that its form must not change.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members.into_iter();
            let members = members
                .map(|(name, it)| format!("{}:{}", Value::from(name.as_str()), canonical(it)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
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
/// do. `grants`: whether an answer may count for later calls.
pub fn form(grants: bool) -> Value {
    let mut words = vec!["approve", "yes", "ok", "reject", "no", "modify"];
    let mut form = json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "description": "approve, reject, or modify (with another input)",
            },
            "input": { "type": "string", "description": "with modify: the input to use instead, as JSON, or the new text" },
            "why": { "type": "string", "description": "with reject: what the agent is told" },
        },
        "required": ["decision"],
    });
    if grants {
        words.push("session");
        let fields = &mut form["properties"];
        fields["decision"]["description"] = json!(
            "approve, reject, modify (with another input), or session: approve now and for this conversation"
        );
        fields["field"] = json!({ "type": "string", "description": "with prefix: the field of the input that it is about, if that is not clear" });
        fields["prefix"] = json!({ "type": "string", "description": "with approve: also whatever begins so from now on; it ends at a slash or between words" });
    }
    form["properties"]["decision"]["enum"] = json!(words);
    form
}

/// An input as an example of another one: with long texts left out.
pub(crate) fn example(input: &Value) -> String {
    let Value::Object(members) = input else {
        return "{...}".to_owned();
    };
    let members = members.iter().take(6).map(|(name, value)| {
        let value = match value {
            Value::String(text) if text.len() <= 24 => value.clone(),
            Value::Bool(_) | Value::Number(_) => value.clone(),
            _ => json!("..."),
        };
        (name.clone(), value)
    });
    let example = Value::Object(members.collect()).to_string();
    crate::text::bounded(&example, 300)
}

/// Why an answer that fulfils the [`form`] decides nothing. The person is shown the message and asked again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableAnswer {
    /// Another input is given with a decision that would not use it.
    #[error("to use another input, say modify")]
    InputWithoutModify,
    #[error("modify needs the input to use instead")]
    ModifyWithoutInput,
    /// A text is given instead of an input, and several fields could take it.
    #[error("several fields could take this text: give the input as JSON")]
    ModifyWhich,
    /// It begins as JSON does and is not JSON. Taken as a text it would be written as it stands.
    #[error("the input is not JSON ({0}): correct it, or give the text alone")]
    ModifyForm(String),
    /// The schema of the skill's input is not a schema, so no other input can be checked.
    #[error("{0}")]
    Schema(String),
    /// The other input is not one of the skill.
    #[error("{0}")]
    Input(Fault),
    #[error("a grant with a field needs a prefix")]
    FieldWithoutPrefix,
    #[error("{field:?} does not begin with {prefix:?} here")]
    OtherField { field: String, prefix: String },
    #[error("prefix {0:?} ends inside a path segment: end it with a slash, or give the whole path")]
    NoBorder(String),
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
            let faults =
                |it: &Value| skill::faults_of(&skill.input, it).map_err(UnusableAnswer::Schema);
            faults(input)?;
            let edited = edited_input(edited, input, |it| {
                faults(it).is_ok_and(|faults| faults.is_empty())
            })?;
            if let Some(fault) = faults(&edited)?.into_iter().next() {
                return Err(UnusableAnswer::Input(fault));
            }
            Decision::Modify(edited)
        }
        _ => Decision::Reject(filled("why").unwrap_or("it was not approved").to_owned()),
    })
}

/// The input that a person gives instead: a whole one, some fields of it, or the text that it is mostly about.
fn edited_input(
    given: &str,
    input: &Value,
    is_valid: impl Fn(&Value) -> bool,
) -> Result<Value, UnusableAnswer> {
    let mut merged = input.clone();
    let parsed = serde_json::from_str::<Value>(given);
    if let Err(error) = &parsed
        && given.trim_start().starts_with('{')
    {
        return Err(UnusableAnswer::ModifyForm(error.to_string()));
    }
    if let Ok(edited @ Value::Object(_)) = parsed {
        for (name, value) in edited.as_object().into_iter().flatten() {
            merged[name.as_str()] = value.clone();
        }
        // Some fields of it are meant, unless it is whole: what is wrong is said of those.
        return Ok(match is_valid(&edited) {
            true => edited,
            false => merged,
        });
    }
    let fields = input.as_object().into_iter().flatten();
    let texts = fields.filter(|(_, value)| value.is_string());
    let texts: Vec<&str> = texts.map(|(name, _)| name.as_str()).collect();
    let usual = ["content", "text", "body", "message", "request", "command"];
    let usual = usual.iter().find(|it| texts.contains(it)).copied();
    let field = match (usual, &texts[..]) {
        (Some(field), _) => field,
        (None, [field]) => *field,
        _ => return Err(UnusableAnswer::ModifyWhich),
    };
    merged[field] = json!(given);
    Ok(merged)
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
        (Some((_, value)), None) if !value.as_str().is_some_and(|it| begins(it, prefix)) => {
            Err(UnusableAnswer::NoBorder(prefix.to_owned()))
        }
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
