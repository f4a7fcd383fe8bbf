//! Answers of `/api/memory` as lines for people.

use serde_json::Value;

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// What became of an addition.
pub(super) fn added(answer: &Value) -> Vec<String> {
    let (outcome, layer, id) = (&answer["outcome"], &answer["layer"], &answer["node_id"]);
    vec![format!(
        "{} as {}: {}",
        text(outcome),
        text(layer),
        text(id)
    )]
}

/// Each hit in a few lines: what it says, where it comes from, and why it was found.
pub(super) fn found(answer: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let hits = answer["sources"].as_array().map_or(&[][..], Vec::as_slice);
    for hit in hits {
        let speaker = hit["speaker"]
            .as_str()
            .map(|it| format!("{it}: "))
            .unwrap_or_default();
        let relevance = hit["relevance"].as_f64().unwrap_or_default();
        lines.push(format!(
            "{relevance:.2}  {speaker}{}",
            text(&hit["content"])
        ));
        let mut about = vec![text(&hit["layer"]), text(&hit["id"])];
        if let Some(time) = hit["occurred_at"].as_str() {
            about.push(time.to_owned());
        }
        if let Some(source) = hit["source"].as_str() {
            about.push(format!("source {source}"));
        }
        if let Some(confidence) = hit["confidence"].as_f64() {
            about.push(format!("confidence {confidence:.2}"));
        }
        if hit["certain"] == false {
            about.push(format!(
                "in doubt because of {}",
                text(&hit["contradicted_by"]["id"])
            ));
        }
        lines.push(format!("      {}", about.join(", ")));
        let reason = &hit["reason"];
        if reason.is_object() {
            lines.push(format!(
                "      answers {:?}, kept because {}",
                text(&reason["context"]),
                text(&reason["why"])
            ));
        }
        let signs = hit["explanation"].as_array().map_or(&[][..], Vec::as_slice);
        let signs = signs.iter().take(4).map(|sign| {
            let part = sign["part"].as_f64().unwrap_or_default();
            format!("{} {part:+.2}", text(&sign["sign"]))
        });
        let signs: Vec<String> = signs.collect();
        lines.push(format!("      found by {}", signs.join(", ")));
    }
    if lines.is_empty() {
        lines.push("nothing is known about that".to_owned());
    }
    lines
}

/// One line for each count.
pub(super) fn audit(answer: &Value) -> Vec<String> {
    let clean = if answer["clean"] == true {
        "clean"
    } else {
        "NOT clean"
    };
    let mut lines = vec![format!("{}: {clean}", text(&answer["agent"]))];
    for (name, count) in answer.as_object().into_iter().flatten() {
        match count {
            Value::Number(count) => lines.push(format!("{:16} {count}", name.replace('_', " "))),
            Value::Object(layers) => {
                let layers = layers
                    .iter()
                    .map(|(layer, count)| format!("  {layer:14} {count}"));
                lines.extend(layers);
            }
            _ => {}
        }
    }
    lines
}

/// What became of an import.
pub(super) fn imported(answer: &Value) -> Vec<String> {
    let (imported, known) = (&answer["imported"], &answer["known"]);
    vec![format!("{imported} imported, {known} known already")]
}
