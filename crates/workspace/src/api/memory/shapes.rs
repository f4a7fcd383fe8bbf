//! What requests about memory look like, and what is shown of records.

use axum::http::StatusCode;
use memory::{
    Certainty, Content, Draft, Hit, Keep, Layer, Mode, Noted, Recall, Record, RecordId, Standing,
    format_time, parse_time,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::Failure;

/// Whose memory a request is about; the rest of it is one of the others.
#[derive(Debug, Deserialize)]
pub(super) struct Whose {
    #[serde(default)]
    pub(super) agent: Option<String>,
}

/// A question.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    query: String,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    top_k: Option<usize>,
    #[serde(default)]
    layers: Vec<Layer>,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    since: Option<String>,
    #[serde(default)]
    until: Option<String>,
    #[serde(default)]
    task_id: Option<String>,
    #[serde(default)]
    max_tokens: Option<usize>,
    /// Whether the best hits count as used; they do unless it is false.
    #[serde(default)]
    noted: Option<bool>,
}

impl Query {
    pub(super) fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    pub(super) fn recall(self) -> Result<Recall, Failure> {
        let mut recall = Recall::new(self.query);
        recall.mode = self.mode.unwrap_or_default();
        recall.limit = self.top_k.unwrap_or(recall.limit);
        recall.layers = self.layers;
        recall.sources = self.sources;
        recall.since = time("since", self.since)?;
        recall.until = time("until", self.until)?;
        recall.task = self.task_id;
        recall.tokens = self.max_tokens;
        if self.noted == Some(false) {
            recall.noted = Noted::Look;
        }
        Ok(recall)
    }
}

/// A question by meaning.
#[derive(Debug, Deserialize)]
pub(super) struct Search {
    query: String,
    #[serde(default)]
    top_k: Option<usize>,
}

impl Search {
    pub(super) fn recall(self) -> Recall {
        let mut recall = Recall::new(self.query);
        recall.limit = self.top_k.unwrap_or(recall.limit);
        recall
    }
}

/// Something to forget.
#[derive(Debug, Deserialize)]
pub(super) struct Forget {
    pub(super) id: RecordId,
    #[serde(default)]
    pub(super) why: String,
}

/// Something to remember.
#[derive(Debug, Deserialize)]
pub(super) struct Store {
    #[serde(default, rename = "type")]
    kind: String,
    content: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    layer: Option<Layer>,
    #[serde(default)]
    reason: Option<Draft>,
    /// What it was concluded from.
    #[serde(default)]
    from: Vec<RecordId>,
}

/// What a request to remember something asks for.
#[derive(Debug)]
pub(super) enum Sorted {
    Observe(Content),
    Keep(Box<Keep>),
}

impl Store {
    /// An observation; with a layer of the long term, something to keep, which takes a whole reason.
    pub(super) fn sort(self) -> Result<Sorted, Failure> {
        let mut metadata = self.metadata.unwrap_or_default();
        let mut take = |name: &str| match metadata.remove(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            Some(Value::Null | Value::String(_)) | None => None,
            Some(other) => Some(other.to_string()),
        };
        let mut content = Content::text(self.content);
        content.kind = self.kind;
        content.session = take("session_id");
        content.speaker = take("speaker");
        content.task = take("task_id");
        content.source = take("source");
        content.occurred = time("metadata.occurred_at", take("occurred_at"))?;
        content.metadata = metadata;
        let asked = self.layer.unwrap_or(if self.reason.is_some() {
            Layer::Belief
        } else {
            Layer::Observation
        });
        let Some(layer) = asked.lasting() else {
            if asked == Layer::Working {
                let message = "working memory is entered by use, not by writing";
                return Err(
                    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
                        .with("field", "layer".into()),
                );
            }
            return Ok(Sorted::Observe(content));
        };
        let reason = self.reason.unwrap_or_default().complete();
        let reason = reason.map_err(|lacking| super::failure(lacking.into()))?;
        let from = self.from;
        Ok(Sorted::Keep(Box::new(Keep {
            content,
            layer,
            reason,
            from,
        })))
    }
}

fn time(field: &str, text: Option<String>) -> Result<Option<memory::Millis>, Failure> {
    let read = |text: String| {
        parse_time(&text).ok_or_else(|| {
            let message = format!("{text:?} is not a time such as 2024-06-09T19:30:00Z");
            Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
                .with("field", field.into())
        })
    };
    text.map(read).transpose()
}

/// A record as it is shown.
pub(super) fn record(record: &Record) -> Value {
    let content = &record.content;
    let mut shown = json!({
        "id": record.id,
        "type": content.kind,
        "content": content.text,
        "layer": record.layer(),
        "recorded_at": format_time(record.recorded),
        "metadata": content.metadata,
        "uses": record.usage.times,
    });
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            shown[name] = value;
        }
    };
    set("session_id", json!(content.session));
    set("speaker", json!(content.speaker));
    set("task_id", json!(content.task));
    set("occurred_at", json!(content.occurred.map(format_time)));
    set("source", json!(record.source()));
    if let Standing::Kept(kept) = &record.standing {
        set("reason", json!(kept.reason));
        set("certain", json!(kept.certain()));
        set("support", json!(kept.support));
        if let Certainty::Uncertain { against, because } = &kept.certainty {
            set(
                "contradicted_by",
                json!({ "id": against, "because": because }),
            );
        }
    }
    shown
}

/// A hit as it is shown: the record, how well it answers, and why that is thought.
pub(super) fn hit(hit: &Hit) -> Value {
    let mut shown = record(&hit.record);
    shown["relevance"] = json!(hit.relevance);
    shown["score"] = json!(hit.score);
    let signs = hit.signs.iter();
    let signs: Vec<Value> = signs
        .map(|(sign, part)| json!({ "sign": sign, "part": part }))
        .collect();
    shown["explanation"] = json!(signs);
    shown["provenance"] = json!(hit.provenance);
    if let Some(confidence) = hit.confidence {
        shown["confidence"] = json!(confidence);
    }
    shown
}
