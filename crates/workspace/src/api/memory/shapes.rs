//! The requests about memory, and records as replies show them.

use agent::MemoryInput;
use axum::http::StatusCode;
use memory::{
    Certainty, CodeFile, Content, Draft, Hit, Layer, Mode, Noted, Recall, Record, RecordId,
    Standing, Viewer, format_time, parse_time,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::Failure;
use super::super::reply::{Contradiction, RecordHit, RecordView, SignPart};

/// The agent that a request names. The rest of the body is one of the types below.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    pub(super) agent: Option<String>,
}

/// The body of `/api/memory/query`.
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
    /// Whether the best hits count as used; the default is true.
    #[serde(default)]
    noted: Option<bool>,
}

impl Query {
    pub(super) fn question(&self) -> &str {
        &self.query
    }

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

/// The body of `/api/memory/vector-search`.
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

/// The body of `/api/memory/forget`.
#[derive(Debug, Deserialize)]
pub(super) struct Forget {
    pub(super) id: RecordId,
    #[serde(default)]
    pub(super) why: String,
}

/// The body of `/api/memory/store`.
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
    /// The records it was concluded from.
    #[serde(default)]
    from: Vec<RecordId>,
    /// Whether all callers of the agent may see it.
    #[serde(default)]
    public: bool,
}

impl Store {
    /// What the agent is to remember: an observation, or a record of the long term, which needs a complete reason. Its
    /// source is `own`, the caller's; an operator may name another one.
    pub(super) fn offer(self, own: &str, operator: bool) -> Result<MemoryInput, Failure> {
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
        content.public = self.public;
        let mut draft = self.reason;
        let named = draft.as_ref().and_then(|it| it.source.as_deref());
        for (field, source) in [
            ("metadata.source", content.source.as_deref()),
            ("reason.source", named),
        ] {
            if let Some(source) = source.filter(|it| !operator && *it != own) {
                let why = format!(
                    "the source {source:?} is forged: this caller is {own:?}, and only operators name another"
                );
                let failure = Failure::new(StatusCode::FORBIDDEN, "forged_source", why);
                return Err(failure.with("field", field.into()));
            }
        }
        // The words of a speaker that an operator reports count as the speaker's.
        let spoken = operator && content.speaker.is_some();
        if content.source.is_none() && !spoken {
            let source = named.unwrap_or(own).to_owned();
            content.source = Some(source);
        }
        let asked = self.layer.unwrap_or(match draft {
            Some(_) => Layer::Belief,
            None => Layer::Observation,
        });
        let lasting = match (asked, asked.lasting()) {
            (Layer::Working, _) => {
                return Err(entered("working memory is entered by use, not by writing"));
            }
            (Layer::Hypothesis, _) => {
                let why =
                    "a hypothesis is a belief that says so in its words, such as maybe or might";
                return Err(entered(why));
            }
            (_, None) => None,
            (_, Some(layer)) => {
                let draft = draft.get_or_insert_default();
                let source = content.source.clone();
                draft
                    .source
                    .get_or_insert_with(|| source.unwrap_or_else(|| own.to_owned()));
                let reason = std::mem::take(draft).complete();
                let reason = reason.map_err(|lacking| super::failure(lacking.into()))?;
                Some((layer, reason))
            }
        };
        Ok(MemoryInput {
            content,
            lasting,
            from: self.from,
        })
    }
}

/// Refuses a layer that is not written to.
fn entered(why: &str) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", why).with("field", "layer".into())
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

pub(super) fn record(record: &Record) -> RecordView {
    let content = &record.content;
    let kept = match &record.standing {
        Standing::Kept(kept) => Some(kept),
        _ => None,
    };
    let doubt = kept.and_then(|kept| match &kept.certainty {
        Certainty::Uncertain { against, because } => Some(Contradiction {
            id: against.clone(),
            because: because.clone(),
        }),
        Certainty::Certain | Certainty::Hypothesis => None,
    });
    RecordView {
        id: record.id.clone(),
        kind: content.kind.clone(),
        content: content.text.clone(),
        layer: record.layer(),
        recorded_at: format_time(record.recorded),
        metadata: content.metadata.clone(),
        uses: record.usage.times,
        session_id: content.session.clone(),
        speaker: content.speaker.clone(),
        task_id: content.task.clone(),
        occurred_at: content.occurred.map(format_time),
        source: record.source().map(str::to_owned),
        reason: kept.map(|kept| kept.reason.clone().into()),
        certain: kept.map(|kept| kept.certain()),
        support: kept.map(|kept| json!(kept.support)),
        contradicted_by: doubt,
        owner: record.owner().map(str::to_owned),
        public: content.public,
    }
}

/// A file that a task read or wrote, in the form of a record. Its outline is in the metadata.
pub(super) fn code_file(file: &CodeFile, task: &str, viewer: &Viewer) -> RecordView {
    let outline = &file.outline;
    let mut metadata = Map::new();
    let mut add = |name: &str, value: Value| metadata.insert(name.to_owned(), value);
    add("path", json!(format!("/project/{}", file.path)));
    add("language", json!(outline.language));
    add("hash", json!(file.hash));
    add("symbols", json!(outline.symbols));
    add("imports", json!(outline.imports));
    add("calls", json!(outline.calls));
    if outline.incomplete {
        add("incomplete", true.into());
    }
    let touch = file.touches.iter().rev().find(|it| it.task == task);
    if let Some(touch) = touch.or_else(|| file.last_touch(viewer)) {
        add("deed", json!(if touch.wrote { "written" } else { "read" }));
    }
    RecordView {
        id: file.id(),
        kind: "code".to_owned(),
        content: file.text(),
        layer: Layer::Observation,
        recorded_at: format_time(file.at),
        metadata,
        uses: 0,
        session_id: None,
        speaker: None,
        task_id: Some(task.to_owned()),
        occurred_at: touch.map(|it| format_time(it.at)),
        source: Some(format!("file:{}", file.path)),
        reason: None,
        certain: None,
        support: None,
        contradicted_by: None,
        owner: None,
        public: false,
    }
}

pub(super) fn hit(hit: &Hit) -> RecordHit {
    let signs = hit.signs.iter().map(|(sign, part)| SignPart {
        sign: json!(sign).as_str().unwrap_or_default().to_owned(),
        part: (*part).into(),
    });
    RecordHit {
        record: record(&hit.record),
        relevance: hit.relevance.into(),
        score: hit.score.into(),
        explanation: signs.collect(),
        provenance: json!(hit.provenance),
        confidence: hit.confidence,
        similarity: None,
    }
}
