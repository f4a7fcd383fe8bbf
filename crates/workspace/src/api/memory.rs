//! `/api/memory`: the memories of agents.
//!
//! `agent` names the agent in every request; without it the default agent is meant.

use std::sync::Arc;

use access::{FoundRule, Principal, RouteRule};
use agent::{AgentHandle, KeepError, Population};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{MethodRouter, get, post};
use memory::{Access, Error, Handle, Layer, Record, Relation, Viewer, export};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::reply::{
    AuditCounts, Contradicted, Forgotten, Graph, Imported, Recalled, RecordView, Stored,
    TaskContext, VectorHits,
};
use super::rules::RULES;
use super::{
    Caller, Failure, Fields, Guarded, Part, Rights, by_query, invalid, read, respond, response,
    whole,
};

use crate::code::CodeIndexer;

mod shapes;

use shapes::{Forget, Named, Query, Search, Store};

/// The most bytes of an import.
const MAX_IMPORT: usize = 256 << 20;

/// How many nodes a graph has by default, and at most.
const NODES: (usize, usize) = (50, 500);

/// How many records a page has by default, and at most.
const RECORDS: (usize, usize) = (50, 500);

/// How many files and symbols that a question names an answer has.
const NAMED: usize = 20;

/// How many records a context lists.
const LISTED: usize = 20;

/// The routes of `/api/memory`.
///
/// With an indexer, the files that skills read and wrote are shown, too, to callers that may read them.
pub fn routes(population: Population, rights: Rights, code: Option<CodeIndexer>) -> Router {
    Router::new()
        .route("/api/memory/query", by_body(query))
        .route("/api/memory/store", by_body(store))
        .route("/api/memory/vector-search", by_body(search))
        .route("/api/memory/forget", by_body(forget))
        .route("/api/memory/context", by_query(context))
        .route("/api/memory/graph", by_query(graph))
        .route("/api/memory/records", by_query(records))
        .route("/api/memory/audit", by_query(audit))
        .route("/api/memory/export", get(export_all))
        .route(
            "/api/memory/import",
            post(import).layer(DefaultBodyLimit::max(MAX_IMPORT)),
        )
        .with_state(Guarded {
            part: Memories { population, code },
            rights,
        })
}

/// The memories of the agents of a population.
#[derive(Clone, Debug)]
struct Memories {
    population: Population,
    code: Option<CodeIndexer>,
}

/// The memory of an agent, as a caller sees it.
///
/// Reads go to `space`, which shows the records that the caller sees. Writes go to the agent: its law judges them,
/// and its journal has them.
#[derive(Debug)]
struct Subject {
    agent: AgentHandle,
    caller: Principal,
    space: Handle,
    /// None: the caller is shown no files.
    code: Option<CodeIndexer>,
}

impl Subject {
    /// The memory of the agent, with the files of its project as they are now.
    async fn with_files(self) -> Handle {
        if let Some(code) = &self.code {
            code.current(self.agent.id()).await;
        }
        self.space
    }

    /// Whether the caller may write and forget the records of others: an operator, or any caller of a server without
    /// access rules.
    fn is_operator(&self) -> bool {
        self.agent.viewer(&self.caller) == Viewer::All
    }
}

impl Part for Memories {
    type Subject = Subject;

    async fn find(&self, id: &str, caller: Principal) -> Result<Subject, Failure> {
        let agent = self.population.find(id).await;
        let agent = agent.map_err(super::agent::failure)?;
        let space = agent.memory(&caller).map_err(not_kept)?;
        let mut space = space.shared(Access::Own);
        let code = self.code.clone().filter(|_| reads_files(&caller));
        if code.is_some() {
            space = space.with_files();
        }
        Ok(Subject {
            agent,
            caller,
            space,
            code,
        })
    }
}

/// Whether a caller may read the files of a project by themselves: it is shown no more of them in memory.
fn reads_files(caller: &Principal) -> bool {
    let row = RouteRule::find(RULES.iter(), "GET", "/api/files/content");
    matches!(row, Some(FoundRule::Rule(rule)) if rule.check(caller).is_ok())
}

/// A POST route; the body is its request.
fn by_body<B, F, T, R>(reply: F) -> MethodRouter<Guarded<Memories>>
where
    B: DeserializeOwned + Send + 'static,
    F: Fn(Subject, B) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Result<R, Failure>> + Send + 'static,
    R: Serialize + 'static,
{
    post(
        async move |State(guarded): State<Guarded<Memories>>,
                    caller: Caller,
                    body: Result<Bytes, BytesRejection>| {
            let replied = async {
                let body = whole(body)?;
                let Named { agent } = read(&body)?;
                let subject = guarded.subject(&caller, agent.as_deref()).await?;
                reply(subject, read(&body)?).await
            };
            respond(replied.await)
        },
    )
}

async fn query(subject: Subject, query: Query) -> Result<Recalled, Failure> {
    let mode = query.mode();
    let space = subject.with_files().await;
    let code = space.code_named(query.question(), NAMED).await;
    let code = code.map_err(failure)?;
    let answer = space.recall(query.recall()?).await.map_err(failure)?;
    let mut entities: Vec<String> = Vec::new();
    for node in answer.entities.iter().chain(&code.nodes) {
        if !entities.contains(&node.name) {
            entities.push(node.name.clone());
        }
    }
    let relations: Vec<&Relation> = answer.relations.iter().chain(&code.edges).collect();
    Ok(Recalled {
        entities,
        relationships: json!(relations),
        sources: answer.hits.iter().map(shapes::hit).collect(),
        mode,
        retriever: answer.retriever.clone(),
    })
}

async fn search(Subject { space, .. }: Subject, search: Search) -> Result<VectorHits, Failure> {
    let answer = space.recall(search.recall()).await.map_err(failure)?;
    let results = answer.hits.iter().map(|hit| {
        let mut shown = shapes::hit(hit);
        shown.similarity = Some(hit.similarity.unwrap_or(hit.relevance).into());
        shown
    });
    Ok(VectorHits {
        results: results.collect(),
        retriever: answer.retriever.clone(),
    })
}

async fn store(subject: Subject, store: Store) -> Result<Stored, Failure> {
    let own = AgentHandle::source_of(&subject.caller);
    let offer = store.offer(&own, subject.is_operator())?;
    let stored = subject.agent.store(&subject.caller, offer).await;
    let stored = stored.map_err(not_kept)?;
    let record = subject.space.get(&stored.record).await.map_err(failure)?;
    let contradicts = stored.contradicts.into_iter();
    Ok(Stored {
        success: true,
        layer: record.map_or(Layer::Observation, |record| record.layer()),
        node_id: stored.record,
        outcome: stored.outcome.name().to_owned(),
        contradicts: contradicts
            .map(|(id, content)| Contradicted { id, content })
            .collect(),
    })
}

async fn forget(subject: Subject, forget: Forget) -> Result<Forgotten, Failure> {
    let was_file = subject.space.forget_code(&forget.id).await;
    if was_file.map_err(failure)? {
        return Ok(Forgotten {
            success: true,
            forgotten: 1,
        });
    }
    let forgotten = subject
        .agent
        .forget(&subject.caller, &forget.id, &forget.why);
    Ok(Forgotten {
        success: true,
        forgotten: forgotten.await.map_err(not_kept)?,
    })
}

async fn context(subject: Subject, fields: Fields) -> Result<TaskContext, Failure> {
    let task = fields.get("task_id").ok_or_else(|| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "task_id is missing").with("field", "task_id".into())
    })?;
    let viewer = subject.agent.viewer(&subject.caller);
    let space = subject.with_files().await;
    let context = space.context(task, LISTED).await.map_err(failure)?;
    let shown = |records: &[Arc<Record>]| -> Vec<RecordView> {
        records
            .iter()
            .map(|record| shapes::record(record))
            .collect()
    };
    let mut code = shown(&context.code);
    let files = context.files.iter();
    code.extend(files.map(|file| shapes::code_file(file, task, &viewer)));
    Ok(TaskContext {
        task_id: task.to_owned(),
        previous_conversations: shown(&context.conversations),
        code_references: code,
        related_concepts: context.concepts.clone(),
    })
}

async fn graph(subject: Subject, fields: Fields) -> Result<Graph, Failure> {
    let space = subject.with_files().await;
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

/// `?layer=`, `?type=`, `?before=ID`, `?limit=N`.
async fn records(Subject { space, .. }: Subject, fields: Fields) -> Result<Value, Failure> {
    let layer = match fields.get("layer") {
        None => None,
        Some(name) => {
            let known = Layer::named(name);
            let why = format!(
                "unknown layer {name:?}; layers are observation, working, belief, procedure and axiom"
            );
            Some(known.ok_or_else(|| invalid("layer", why))?)
        }
    };
    let limit = match fields.get("limit").map(str::parse::<usize>) {
        None => RECORDS.0,
        Some(Ok(limit)) if (1..=RECORDS.1).contains(&limit) => limit,
        Some(_) => {
            let why = format!("limit is to be a number from 1 to {}", RECORDS.1);
            return Err(invalid("limit", why));
        }
    };
    let kind = fields.get("type").map(str::to_owned);
    let wanted = move |record: &Record| {
        layer.is_none_or(|it| record.layer() == it)
            && kind.as_ref().is_none_or(|it| record.content.kind == *it)
    };
    let mut found = space.records(wanted).await.map_err(failure)?;
    found.sort_by(|a, b| (b.recorded, b.id.as_str()).cmp(&(a.recorded, a.id.as_str())));
    let begin = match fields.get("before") {
        None => 0,
        Some(id) => {
            let place = found.iter().position(|it| it.id.as_str() == id);
            let why = format!("no record {id:?} is listed");
            1 + place.ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "unknown", why))?
        }
    };
    let page = found.iter().skip(begin).take(limit);
    let page: Vec<RecordView> = page.map(|it| shapes::record(it)).collect();
    let more = begin + page.len() < found.len();
    let mut reply = json!({
        "agent": space.name().to_string(), "records": page, "total": found.len(),
    });
    if let Some(last) = page.last().filter(|_| more) {
        reply["next"] = last.id.as_str().into();
    }
    Ok(reply)
}

async fn audit(Subject { space, .. }: Subject, _: Fields) -> Result<AuditCounts, Failure> {
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
        unsettled: audit.unsettled,
        hypotheses: audit.hypotheses,
        without_reason: audit.without_reason,
    })
}

/// As lines of JSON, or with `format=cypher` as statements that build the graph elsewhere.
async fn export_all(
    State(guarded): State<Guarded<Memories>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let exported = async {
        let subject = guarded.subject(&caller, fields.get("agent")).await?;
        let space = subject.with_files().await;
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
    State(guarded): State<Guarded<Memories>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let answer = async {
        let subject = guarded.subject(&caller, fields.get("agent")).await?;
        let body = whole(body)?;
        let text = std::str::from_utf8(&body).map_err(|_| {
            Failure::new(StatusCode::BAD_REQUEST, "not_text", "the body is not UTF-8")
        })?;
        let records = export::parse(text).map_err(failure)?;
        let given = records.len();
        let imported = subject.agent.import(&subject.caller, records).await;
        let imported = imported.map_err(not_kept)?;
        Ok(Imported {
            success: true,
            imported: imported.new,
            known: given - imported.new - imported.discarded,
            discarded: imported.discarded,
        })
    };
    respond(answer.await)
}

/// The status and code of an error of an agent that was to remember or forget something.
fn not_kept(error: KeepError) -> Failure {
    let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
    let (status, code) = match error {
        KeepError::Memory(error) => return failure(error),
        KeepError::Agent(error) => return super::agent::failure(error),
        KeepError::Discarded => (unprocessable, "law"),
        KeepError::NotKnowledge => (unprocessable, "not_knowledge"),
        _ => (unprocessable, "invalid"),
    };
    Failure::new(status, code, format!("could not {error}"))
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
        Error::Denied { .. } | Error::NotOwner(_) => (StatusCode::FORBIDDEN, "denied"),
        Error::Unknown(_) => (StatusCode::NOT_FOUND, "unknown"),
        Error::Closed => (StatusCode::SERVICE_UNAVAILABLE, "closed"),
        error if error.is_full() => (StatusCode::SERVICE_UNAVAILABLE, "full"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "failed"),
    };
    Failure::new(status, code, format!("could not {error}"))
}
