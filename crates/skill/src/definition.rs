//! A skill as the wires see it: what it is called, what it takes and gives. No handler is in it.

use a2a::types::{AgentSkill, Part};
use access::{Permission, Principal, Rule};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use model::Tool;
use serde_json::{Value, json};

use crate::error::{DefinitionError, Fault, SkillError};
use crate::input;
use crate::spec::{Needs, Spec, Traits, is_label};

/// What is said about a skill on every wire.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name on every wire.
    pub id: String,
    pub name: String,
    pub description: String,
    /// Words to find it by; never empty.
    pub tags: Vec<String>,
    /// What one could ask for; never empty.
    pub examples: Vec<String>,
    /// What it takes: a schema of an object.
    pub input: Value,
    /// What it gives, if it says so.
    pub output: Option<Value>,
    pub traits: Traits,
    /// The permission that its callers need, if they need one.
    pub permission: Option<Permission>,
    /// The scopes that its callers need beside the permission.
    pub scopes: Vec<String>,
    /// What it is called where it comes from, if that is another server.
    pub origin: Option<String>,
}

impl Definition {
    /// What a specification in code says, with its schemas.
    pub fn new(spec: &Spec, input: Value, output: Option<Value>) -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Self {
            id: spec.id.as_str().to_owned(),
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            tags: texts(spec.tags.texts()),
            examples: texts(spec.examples.texts()),
            input,
            output,
            traits: spec.traits,
            permission: match spec.needs {
                Needs::ByTraits => Some(spec.traits.permission()),
                Needs::Nothing => None,
                Needs::Permission(permission) => Some(permission),
            },
            scopes: texts(spec.scopes),
            origin: None,
        }
    }

    /// Whether a caller may have it called: the permission and the scopes that it needs.
    pub fn check(&self, caller: &Principal) -> Result<(), SkillError> {
        check_caller(&self.id, self.permission, &self.scopes, caller)
    }

    /// The skill in a card.
    pub fn card(&self) -> AgentSkill {
        let mut input_modes = vec!["application/json".to_owned()];
        if self.text_field().is_some() {
            input_modes.insert(0, "text/plain".to_owned());
        }
        AgentSkill {
            id: self.id.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            examples: self.examples.clone(),
            input_modes,
            output_modes: vec![self.output_mode().to_owned()],
            ..AgentSkill::default()
        }
    }

    /// The skill as a function of a language model.
    pub fn tool(&self) -> Tool {
        Tool::new(&self.id, &self.description, self.input.clone())
            .title(&self.name)
            .examples(&self.examples)
    }

    /// The media type of what it gives: text where that is what the schema says.
    pub fn output_mode(&self) -> &'static str {
        let kind = self.output.as_ref().and_then(|schema| schema.get("type"));
        match kind.and_then(Value::as_str) {
            Some("string") => "text/plain",
            _ => "application/json",
        }
    }

    /// The field that a plain text fills: the only one that must be there, or the only one there is, if it
    /// holds text.
    pub fn text_field(&self) -> Option<&str> {
        let (name, field) = input::text_field(&self.input)?;
        (field.get("type")? == "string").then_some(name)
    }

    /// What the parts of a message say that the input is: the first that holds data, else the text, as an object
    /// or as the one field that a text can fill. It is not checked here.
    pub fn input_of(&self, parts: &[Part]) -> Result<Value, Fault> {
        input::from_parts(&self.input, parts)
    }
}

/// Whether a caller may have the skill of this id called, which needs this permission and these scopes.
pub fn check_caller(
    id: &str,
    permission: Option<Permission>,
    scopes: &[String],
    caller: &Principal,
) -> Result<(), SkillError> {
    let rule = permission.map_or(Rule::part(), |it| Rule::part().needs(it));
    let checked = rule.check_scopes(caller, scopes);
    checked.map_err(|refusal| SkillError::Forbidden {
        id: id.to_owned(),
        refusal,
    })
}

/// A definition that was found to be one, with its schemas compiled.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) definition: Definition,
    pub(crate) tool: Tool,
    input: Validator,
    output: Option<Validator>,
}

impl Checked {
    pub(crate) fn new(definition: Definition) -> Result<Self, DefinitionError> {
        let id = definition.id.clone();
        if !is_label(&id) {
            return Err(DefinitionError::Id(id));
        }
        for (list, what) in [(&definition.tags, "tag"), (&definition.examples, "example")] {
            if list.is_empty() {
                return Err(DefinitionError::Empty { id, what });
            }
        }
        if definition.input.get("type") != Some(&json!("object")) {
            return Err(DefinitionError::NoObject(id));
        }
        let compile = |schema: &Value| {
            jsonschema::validator_for(schema).map_err(|error| DefinitionError::Schema {
                id: id.clone(),
                problem: error.to_string(),
            })
        };
        Ok(Self {
            input: compile(&definition.input)?,
            output: definition.output.as_ref().map(compile).transpose()?,
            tool: definition.tool(),
            definition,
        })
    }

    /// All that is wrong with an input.
    pub(crate) fn input_faults(&self, input: &Value) -> Vec<Fault> {
        faults(&self.input, input)
    }

    /// All that is wrong with an output.
    pub(crate) fn output_faults(&self, output: &Value) -> Vec<Fault> {
        self.output
            .as_ref()
            .map(|schema| faults(schema, output))
            .unwrap_or_default()
    }
}

/// How many faults one value is told at most.
const FAULTS: usize = 32;

/// All that a schema finds wrong with a value, each with the place it is in.
pub(crate) fn faults(schema: &Validator, value: &Value) -> Vec<Fault> {
    if schema.is_valid(value) {
        return Vec::new();
    }
    let errors = schema.iter_errors(value).take(FAULTS);
    errors
        .map(|error| Fault::new(error.instance_path().as_str(), in_words(&error)))
        .collect()
}

/// All that a schema finds wrong with a value, in words for people. An error says why the schema is none.
pub fn faults_of(schema: &Value, value: &Value) -> Result<Vec<Fault>, String> {
    let schema = jsonschema::validator_for(schema).map_err(|error| error.to_string())?;
    Ok(faults(&schema, value))
}

/// A value as it is named in a fault.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.len() > 40 => "this text".to_owned(),
        other => other.to_string(),
    }
}

/// What a schema finds wrong, in words for people and with all that it allows instead: the library names the first of a
/// list and counts the rest.
fn in_words(error: &ValidationError<'_>) -> String {
    let options = match error.kind() {
        ValidationErrorKind::Enum { options } => options,
        ValidationErrorKind::Required { property } => {
            return format!("{} is missing", property.as_str().unwrap_or_default());
        }
        ValidationErrorKind::Type {
            kind: TypeKind::Single(kind),
        } => {
            let expected = match kind.as_str() {
                "string" => "a text",
                "integer" => "a whole number",
                "number" => "a number",
                "boolean" => "true or false",
                "array" => "a list",
                "object" => "an object",
                other => other,
            };
            return format!("expected {expected}, not {}", shown(error.instance()));
        }
        _ => return error.to_string(),
    };
    let options = options.as_array().into_iter().flatten().map(|it| match it {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let options: Vec<String> = options.take(FAULTS).collect();
    format!("expected one of {}", options.join(", "))
}
