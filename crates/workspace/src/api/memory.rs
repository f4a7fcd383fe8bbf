//! `/api/memory`: what agents remember.
//!
//! `agent` names whose memory it is, everywhere; without it, the default agent's.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{MethodRouter, get, post};
use memory::{Access, Error, Handle, Hit, Layer, Memory, Record, export};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Answer, Caller, Failure, Fields, Rights, read, respond, response, whole};

mod shapes;

use shapes::{Forget, Query, Search, Sorted, Store, Whose};

/// The most bytes of an import.
const MAX_IMPORT: usize = 256 << 20;

/// How many nodes a graph has unless it is said otherwise, and at most.
const NODES: (usize, usize) = (50, 500);

/// How many records a context lists.
const LISTED: usize = 20;

/// What the routes know.
#[derive(Clone, Debug)]
struct Site {
    memory: Memory,
    rights: Rights,
}

/// The routes.
pub fn routes(memory: Memory, rights: Rights) -> Router {
    let site = Site { memory, rights };
    Router::new()
        .route("/api/memory/query", asked(query))
        .route("/api/memory/store", asked(store))
        .route("/api/memory/vector-search", asked(search))
        .route("/api/memory/forget", asked(forget))
        .route("/api/memory/context", looked(context))
        .route("/api/memory/graph", looked(graph))
        .route("/api/memory/audit", looked(audit))
        .route("/api/memory/export", get(export_all))
        .route(
            "/api/memory/import",
            post(import).layer(DefaultBodyLimit::max(MAX_IMPORT)),
        )
        .with_state(site)
}

impl Site {
    /// The memory of an agent, for whoever calls. Who may ask about an agent owns its space, and nobody governs.
    fn space(&self, caller: &Caller, agent: Option<&str>) -> Result<Handle, Failure> {
        let name = self.rights.agent(caller, agent)?;
        let handle = self.memory.space(name).map_err(failure)?;
        Ok(handle.shared(Access::Own))
    }
}

/// A route whose request is a body.
fn asked<B, F, T>(act: F) -> MethodRouter<Site>
where
    B: DeserializeOwned + Send + 'static,
    F: Fn(Handle, B) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Answer> + Send + 'static,
{
    post(
        async move |State(site): State<Site>,
                    caller: Caller,
                    body: Result<Bytes, BytesRejection>| {
            let read = || -> Result<(Handle, B), Failure> {
                let body = whole(body)?;
                let Whose { agent } = read(&body)?;
                Ok((site.space(&caller, agent.as_deref())?, read(&body)?))
            };
            let answer = match read() {
                Ok((space, body)) => act(space, body).await,
                Err(failure) => Err(failure),
            };
            respond(answer)
        },
    )
}

/// A route whose request is its address.
fn looked<F, T>(look: F) -> MethodRouter<Site>
where
    F: Fn(Handle, Fields) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Answer> + Send + 'static,
{
    get(
        async move |State(site): State<Site>, caller: Caller, RawQuery(raw): RawQuery| {
            let fields = Fields::of(raw);
            let answer = match site.space(&caller, fields.get("agent")) {
                Ok(space) => look(space, fields).await,
                Err(failure) => Err(failure),
            };
            respond(answer)
        },
    )
}

async fn query(space: Handle, query: Query) -> Answer {
    let mode = query.mode();
    let answer = space.recall(query.recall()?).await.map_err(failure)?;
    let entities: Vec<&str> = answer.entities.iter().map(|node| &*node.name).collect();
    Ok(json!({
        "entities": entities,
        "relationships": answer.relations,
        "sources": answer.hits.iter().map(shapes::hit).collect::<Vec<_>>(),
        "mode": mode,
        "retriever": answer.retriever,
    }))
}

async fn search(space: Handle, search: Search) -> Answer {
    let answer = space.recall(search.recall()).await.map_err(failure)?;
    let result = |hit: &Hit| {
        let mut shown = shapes::hit(hit);
        shown["similarity"] = json!(hit.similarity.unwrap_or(hit.relevance));
        shown
    };
    let results: Vec<Value> = answer.hits.iter().map(result).collect();
    Ok(json!({ "results": results, "retriever": answer.retriever }))
}

async fn store(space: Handle, store: Store) -> Answer {
    let (id, layer, outcome) = match store.sort()? {
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
    Ok(json!({ "success": true, "node_id": id, "layer": layer, "outcome": outcome }))
}

async fn forget(space: Handle, forget: Forget) -> Answer {
    let gone = space
        .forget(&forget.id, &forget.why)
        .await
        .map_err(failure)?;
    Ok(json!({ "success": true, "forgotten": gone }))
}

async fn context(space: Handle, fields: Fields) -> Answer {
    let task = fields.get("task_id").ok_or_else(|| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "task_id is missing").with("field", "task_id".into())
    })?;
    let context = space.context(task, LISTED).await.map_err(failure)?;
    let shown = |records: &[Arc<Record>]| -> Vec<Value> {
        records
            .iter()
            .map(|record| shapes::record(record))
            .collect()
    };
    Ok(json!({
        "task_id": task,
        "related_concepts": context.concepts,
        "previous_conversations": shown(&context.conversations),
        "code_references": shown(&context.code),
    }))
}

async fn graph(space: Handle, fields: Fields) -> Answer {
    let limit = fields.get("limit").and_then(|it| it.parse().ok());
    let limit = limit.unwrap_or(NODES.0).clamp(1, NODES.1);
    let picture = space
        .graph(fields.get("topic"), limit)
        .await
        .map_err(failure)?;
    Ok(json!({ "nodes": picture.nodes, "edges": picture.edges }))
}

async fn audit(space: Handle, _: Fields) -> Answer {
    let audit = space.audit().await.map_err(failure)?;
    let mut shown = json!(audit);
    shown["clean"] = audit.clean().into();
    shown["agent"] = space.name().into();
    Ok(shown)
}

/// As lines of JSON, or with `format=cypher` as statements that build the graph elsewhere.
async fn export_all(
    State(site): State<Site>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let exported = async {
        let space = site.space(&caller, fields.get("agent"))?;
        match fields.get("format") {
            None | Some("jsonl") => {}
            Some("cypher") => return space.cypher().await.map_err(failure),
            Some(other) => {
                let why = format!("there is no format {other:?}: it is jsonl or cypher");
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
        Err(failure) => respond(Err(failure)),
    }
}

async fn import(
    State(site): State<Site>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let answer = async {
        let space = site.space(&caller, fields.get("agent"))?;
        let body = whole(body)?;
        let text = std::str::from_utf8(&body).map_err(|_| {
            Failure::new(StatusCode::BAD_REQUEST, "not_text", "the body is not UTF-8")
        })?;
        let records = export::parse(text).map_err(failure)?;
        let given = records.len();
        let imported = space.import(records).await.map_err(failure)?;
        Ok(json!({ "success": true, "imported": imported, "known": given - imported }))
    };
    respond(answer.await)
}

/// What an error of memory is to its caller.
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
