//! Describes a skill as an MCP tool.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use skill::{Definition, Traits};

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;

pub(super) fn of(skill: &Definition) -> Tool {
    let tool = Tool::new(skill.id.clone(), description(skill), object(&skill.input))
        .with_title(skill.name.clone())
        .with_annotations(annotations(&skill.traits));
    let output = skill.output.as_ref().filter(|schema| describes(schema));
    match output {
        Some(schema) => tool.with_raw_output_schema(object(schema)),
        None => tool,
    }
}

/// Whether an output schema says anything: `true` (any value) and `null` (no value) are left out.
fn describes(output: &Value) -> bool {
    output.is_object() && output.get("type") != Some(&Value::from("null"))
}

/// Removes an output schema that revision 2025-11-25 does not allow: there it must describe an object.
pub(super) fn for_2025_11_25(tool: &mut Tool) {
    let described = tool.output_schema.take();
    tool.output_schema = described.filter(|it| it.get("type") == Some(&Value::from("object")));
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

fn annotations(traits: &Traits) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(traits.read_only)
        .destructive(traits.destructive)
        .idempotent(traits.idempotent)
        .open_world(traits.open_world)
}

/// A schema as a JSON object; [`Definition`] allows no other schemas.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
