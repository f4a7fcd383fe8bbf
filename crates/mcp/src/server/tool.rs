//! Describes a skill as an MCP tool.

use serde::Serialize;
use serde_json::Value;
use skill::{Definition, Traits};

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;

/// A tool in the list.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tool {
    pub(super) name: String,
    title: String,
    pub(super) description: String,
    pub(super) input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_schema: Option<Value>,
    annotations: Annotations,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

pub(super) fn of(skill: &Definition) -> Tool {
    let Traits {
        read_only,
        destructive,
        idempotent,
        open_world,
        ..
    } = skill.traits;
    let output = skill.output.as_ref().filter(|schema| describes(schema));
    Tool {
        name: skill.id.clone(),
        title: skill.name.clone(),
        description: description(skill),
        input_schema: portable(&skill.input),
        output_schema: output.map(portable),
        annotations: Annotations {
            read_only_hint: read_only,
            destructive_hint: destructive,
            idempotent_hint: idempotent,
            open_world_hint: open_world,
        },
    }
}

/// Whether an output schema says anything: `true` (any value) and `null` (no value) are left out.
fn describes(output: &Value) -> bool {
    output.is_object() && output.get("type") != Some(&Value::from("null"))
}

/// Removes an output schema that the revisions before 2026-07-28 do not allow: there it must describe an object.
pub(super) fn for_sessions(tool: &mut Tool) {
    let described = tool.output_schema.take();
    tool.output_schema = described.filter(|it| it.get("type") == Some(&Value::from("object")));
}

/// The formats that JSON Schema 2020-12 defines.
const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// The keywords below which are schemas by a name of the author's, and those which hold no schema at all.
const BY_NAME: [&str; 5] = [
    "properties",
    "$defs",
    "definitions",
    "patternProperties",
    "dependentSchemas",
];
const NO_SCHEMA: [&str; 4] = ["enum", "const", "default", "examples"];

/// A schema without the formats that only one library knows, such as Rust's integer types: validators of clients warn
/// about each, and some refuse the tool. The fence validates with the schema as it was written.
fn portable(schema: &Value) -> Value {
    let mut schema = schema.clone();
    remove_formats(&mut schema);
    schema
}

fn remove_formats(schema: &mut Value) {
    let schema = match schema {
        Value::Array(schemas) => return schemas.iter_mut().for_each(remove_formats),
        Value::Object(schema) => schema,
        _ => return,
    };
    let unknown = |format: &Value| !FORMATS.contains(&format.as_str().unwrap_or_default());
    if schema.get("format").is_some_and(unknown) {
        schema.remove("format");
    }
    for (keyword, below) in schema {
        match below {
            Value::Object(named) if BY_NAME.contains(&&**keyword) => {
                named.values_mut().for_each(remove_formats);
            }
            _ if NO_SCHEMA.contains(&&**keyword) => {}
            below => remove_formats(below),
        }
    }
}

/// The description, then the tags and the examples, each list in a line of its own.
fn description(skill: &Definition) -> String {
    let mut text = skill.description.clone();
    text.push_str("\n\n");
    list(&mut text, "tags", "tag", &skill.tags);
    text.push('\n');
    list(&mut text, "examples", "example", &skill.examples);
    text
}

fn list(text: &mut String, name: &str, item: &str, items: &[String]) {
    text.push_str(&format!("<{name}>"));
    for one in items {
        text.push_str(&format!("<{item}>{}</{item}>", escaped(one)));
    }
    text.push_str(&format!("</{name}>"));
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
