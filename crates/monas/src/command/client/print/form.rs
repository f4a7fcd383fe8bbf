//! The fields of a form, as a person reads them.

use serde_json::Value;

/// A line for each field of a schema: its name, its type, whether it must be filled, and what it is. Empty for a form
/// that any text answers.
pub(super) fn fields(schema: &Value) -> Vec<String> {
    let Some(fields) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let plain = |field: &Value| field["type"] == "string" && field.get("enum").is_none();
    if fields.len() == 1 && fields.values().all(plain) {
        return Vec::new();
    }
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let fields = fields.iter();
    fields
        .map(|(name, field)| line(name, field, is_required(name)))
        .collect()
}

fn line(name: &str, field: &Value, required: bool) -> String {
    let mut about = vec![kind(field)];
    if required {
        about.push("required".to_owned());
    }
    if let Some(default) = field.get("default") {
        about.push(format!("default {default}"));
    }
    let text = |key: &str| field[key].as_str().map(|text| format!(": {text}"));
    let described = text("description").or_else(|| text("title"));
    format!(
        "{name} ({}){}",
        about.join(", "),
        described.unwrap_or_default()
    )
}

/// The type of a field, or the words that it takes.
fn kind(field: &Value) -> String {
    let words = field["enum"].as_array().map(|words| {
        let words = words.iter().map(|word| match word {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        });
        words.collect::<Vec<_>>().join(" | ")
    });
    let kind = match field["type"].as_str() {
        Some("string") => "text",
        Some("boolean") => "yes or no",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("array") => "a list",
        _ => "JSON",
    };
    let kind = words.unwrap_or_else(|| kind.to_owned());
    match field["format"].as_str() {
        Some(format) => format!("{kind}, {format}"),
        None => kind,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fields;

    #[test]
    fn a_form_shows_its_fields_with_their_types() {
        let schema = json!({
            "properties": {
                "name": { "type": "string", "description": "Your name" },
                "age": { "type": "integer", "default": 7 },
                "plan": { "type": "string", "enum": ["free", "paid"] },
                "sure": { "type": "boolean", "title": "Are you sure?" },
            },
            "required": ["name"],
        });
        let mut shown = fields(&schema);
        shown.sort();
        assert_eq!(
            shown,
            [
                "age (a whole number, default 7)",
                "name (text, required): Your name",
                "plan (free | paid)",
                "sure (yes or no): Are you sure?",
            ]
        );
    }

    #[test]
    fn a_form_that_any_text_answers_needs_no_list() {
        let schema = json!({ "properties": { "answer": { "type": "string" } } });
        assert!(fields(&schema).is_empty());
        assert!(fields(&json!({})).is_empty());
    }
}
