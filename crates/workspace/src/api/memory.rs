//! `/api/memory`: the memories of agents.
//!
//! `agent` names the agent in every request; without it the default agent is meant.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{MethodRouter, get, post};
use memory::{Access, Error, Handle, Layer, Memory, Record, export};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::reply::{
    AuditCounts, Forgotten, Found, Graph, Imported, Recalled, RecordView, Stored, TaskContext,
};
use super::{
    Caller, Failure, Fields, Guarded, Part, Rights, by_query, read, respond, response, whole,
};

mod shapes;

use shapes::{Forget, Named, Query, Search, Sorted, Store};

/// The most bytes of an import.
const MAX_IMPORT: usize = 256 << 20;

/// How many nodes a graph has by default, and at most.
const NODES: (usize, usize) = (50, 500);

/// How many records a context lists.
const LISTED: usize = 20;

/// The routes of `/api/memory`.
pub fn routes(memory: Memory, rights: Rights) -> Router {
    Router::new()
        .route("/api/memory/query", by_body(query))
        .route("/api/memory/store", by_body(store))
        .route("/api/memory/vector-search", by_body(search))
        .route("/api/memory/forget", by_body(forget))
        .route("/api/memory/context", by_query(context))
        .route("/api/memory/graph", by_query(graph))
        .route("/api/memory/audit", by_query(audit))
        .route("/api/memory/export", get(export_all))
        .route(
            "/api/memory/import",
            post(import).layer(DefaultBodyLimit::max(MAX_IMPORT)),
        )
        .with_state(Guarded {
            part: memory,
            rights,
        })
}

impl Part for Memory {
    type Subject = Handle;

    /// The memory of an agent. A caller who may ask about the agent owns its memory, but cannot write its axioms.
    async fn find(&self, id: &str) -> Result<Handle, Failure> {
        let handle = self.space(id).map_err(failure)?;
        Ok(handle.shared(Access::Own))
    }
}

/// A POST route; the body is its request.
fn by_body<B, F, T, R>(reply: F) -> MethodRouter<Guarded<Memory>>
where
    B: DeserializeOwned + Send + 'static,
    F: Fn(Handle, B) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Result<R, Failure>> + Send + 'static,
    R: Serialize + 'static,
{
    post(
        async move |State(guarded): State<Guarded<Memory>>,
                    caller: Caller,
                    body: Result<Bytes, BytesRejection>| {
            let replied = async {
                let body = whole(body)?;
                let Named { agent } = read(&body)?;
                let space = guarded.subject(&caller, agent.as_deref()).await?;
                reply(space, read(&body)?).await
            };
            respond(replied.await)
        },
    )
}

async fn query(space: Handle, query: Query) -> Result<Recalled, Failure> {
    let mode = query.mode();
    let answer = space.recall(query.recall()?).await.map_err(failure)?;
    let entities = answer.entities.iter().map(|node| node.name.to_string());
    Ok(Recalled {
        entities: entities.collect(),
        relationships: json!(answer.relations),
        sources: answer.hits.iter().map(shapes::hit).collect(),
        mode,
        retriever: answer.retriever.clone(),
    })
}

async fn search(space: Handle, search: Search) -> Result<Found, Failure> {
    let answer = space.recall(search.recall()).await.map_err(failure)?;
    let results = answer.hits.iter().map(|hit| {
        let mut shown = shapes::hit(hit);
        shown.similarity = Some(hit.similarity.unwrap_or(hit.relevance).into());
        shown
    });
    Ok(Found {
        results: results.collect(),
        retriever: answer.retriever.clone(),
    })
}

async fn store(space: Handle, store: Store) -> Result<Stored, Failure> {
    let (node_id, layer, outcome) = match store.sort()? {
        Sorted::Observe(content) => {
            let id = space.observe(content).await.map_err(failure)?;
            (id, Layer::Observation, "observed")
        }
        Sorted::Keep(keep) => {
            let layer = keep.layer.into();
            let outcome = space.keep(*keep).await.map_err(failure)?;
            (outcome.id().clone(), layer, outcome.name())
        }
    };
    Ok(Stored {
        success: true,
        node_id,
        layer,
        outcome: outcome.to_owned(),
    })
}

async fn forget(space: Handle, forget: Forget) -> Result<Forgotten, Failure> {
    let forgotten = space.forget(&forget.id, &forget.why).await;
    Ok(Forgotten {
        success: true,
        forgotten: forgotten.map_err(failure)?,
    })
}

async fn context(space: Handle, fields: Fields) -> Result<TaskContext, Failure> {
    let task = fields.get("task_id").ok_or_else(|| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "task_id is missing").with("field", "task_id".into())
    })?;
    let context = space.context(task, LISTED).await.map_err(failure)?;
    let shown = |records: &[Arc<Record>]| -> Vec<RecordView> {
        records
            .iter()
            .map(|record| shapes::record(record))
            .collect()
    };
    Ok(TaskContext {
        task_id: task.to_owned(),
        previous_conversations: shown(&context.conversations),
        code_references: shown(&context.code),
        related_concepts: context.concepts,
    })
}

async fn graph(space: Handle, fields: Fields) -> Result<Graph, Failure> {
    let limit = fields.get("limit").and_then(|it| it.parse().ok());
    let limit = limit.unwrap_or(NODES.0).clamp(1, NODES.1);
    let picture = space
        .graph(fields.get("topic"), limit)
        .await
        .map_err(failure)?;
    Ok(Graph {
        nodes: json!(picture.nodes),
        edges: json!(picture.edges),
    })
}

async fn audit(space: Handle, _: Fields) -> Result<AuditCounts, Failure> {
    let audit = space.audit().await.map_err(failure)?;
    let layers = audit.layers.iter();
    Ok(AuditCounts {
        agent: space.name().to_string(),
        clean: audit.clean(),
        contradictions: audit.contradictions,
        duplicates: audit.duplicates,
        echoes: audit.echoes,
        embedded: audit.embedded,
        forgotten: audit.forgotten,
        layers: layers
            .map(|(layer, count)| ((*layer).to_owned(), *count))
            .collect(),
        never_read: audit.never_read,
        recall_loops: audit.recall_loops,
        records: audit.records,
        uncertain: audit.uncertain,
        without_reason: audit.without_reason,
    })
}

/// As lines of JSON, or with `format=cypher` as statements that build the graph elsewhere.
async fn export_all(
    State(guarded): State<Guarded<Memory>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let exported = async {
        let space = guarded.subject(&caller, fields.get("agent")).await?;
        match fields.get("format") {
            None | Some("jsonl") => {}
            Some("cypher") => return space.cypher().await.map_err(failure),
            Some(other) => {
                let why = format!("unknown format {other:?}; formats are jsonl and cypher");
                let failure = Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", why);
                return Err(failure.with("field", "format".into()));
            }
        }
        let records = space.records(|_| true).await.map_err(failure)?;
        let mut lines = String::new();
        for record in records {
            lines.push_str(&export::line(&record).map_err(failure)?);
            lines.push('\n');
        }
        Ok(lines)
    };
    match exported.await {
        Ok(text) if fields.get("format") == Some("cypher") => {
            response(StatusCode::OK, "text/plain; charset=utf-8", text)
        }
        Ok(text) => response(StatusCode::OK, "application/jsonl", text),
        Err(failure) => respond::<()>(Err(failure)),
    }
}

async fn import(
    State(guarded): State<Guarded<Memory>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let answer = async {
        let space = guarded.subject(&caller, fields.get("agent")).await?;
        let body = whole(body)?;
        let text = std::str::from_utf8(&body).map_err(|_| {
            Failure::new(StatusCode::BAD_REQUEST, "not_text", "the body is not UTF-8")
        })?;
        let records = export::parse(text).map_err(failure)?;
        let given = records.len();
        let imported = space.import(records).await.map_err(failure)?;
        Ok(Imported {
            success: true,
            imported,
            known: given - imported,
        })
    };
    respond(answer.await)
}

/// The status and code of an error of memory.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn failure(error: Error) -> Failure {
    let (status, code) = match &error {
        Error::Reason(lacking) => {
            let missing: Vec<&str> = lacking.parts().collect();
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return Failure::new(status, "reason_missing", &error).with("missing", json!(missing));
        }
        Error::Content { .. } | Error::Rules(_) | Error::Input { .. } => {
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid")
        }
        Error::Denied { .. } => (StatusCode::FORBIDDEN, "denied"),
        Error::Unknown(_) => (StatusCode::NOT_FOUND, "unknown"),
        Error::Closed => (StatusCode::SERVICE_UNAVAILABLE, "closed"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "failed"),
    };
    Failure::new(status, code, format!("could not {error}"))
}
