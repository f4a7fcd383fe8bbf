//! A skill as a tool.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use skill::{Definition, Traits};

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;

/// The tool that a skill is.
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

/// Whether there is something to say about what a skill gives: it may give nothing, or anything.
fn describes(output: &Value) -> bool {
    output.is_object() && output.get("type") != Some(&Value::from("null"))
}

/// Before 2026-07-28 what a tool gives is an object or is not described.
pub(super) fn for_old_clients(tool: &mut Tool) {
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

/// A schema, which in a definition is always an object.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
