//! `/api/files`: the files of an agent's project, for people: the tree, a file, a change of it, a search.
//!
//! Every path is resolved beneath the folder of the project and cannot leave it (`tools::Project`). A person with
//! `write_files` writes at once; with `requires_approval` a write or a diff is a call of the agent's skill, which waits for
//! the approval under the id that is given back.

use std::sync::Arc;

use a2a::service::Call;
use a2a::types::{Answer as Sent, SendMessageRequest, TaskState};
use access::Origin;
use agent::AgentHandle;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Case, Error, History, ListingKind, Project, ProjectPath, Query};

use super::agent::failure;
use super::terminals::Terminals;
use super::{Caller, Failure, Fields, read, respond, whole};
use crate::chat::Chat;
use language::{is_code, language};

mod changes;
mod language;

/// How deep a tree is shown by default, and at most; how many entries it has at most.
const DEPTH: (usize, usize) = (8, 32);
const ENTRIES: usize = 5_000;

/// How many lines a search gives by default, and at most.
const HITS: (usize, usize) = (50, 500);

/// The most bytes of a file that is written.
const MAX_BODY: usize = 8 << 20;

/// The projects of agents, by their ids. An agent of which nothing is kept has none.
pub type Projects = Arc<dyn Fn(&str) -> Option<ProjectParts> + Send + Sync>;

/// The project of an agent, with what goes on in it.
#[derive(Clone, Debug)]
pub struct ProjectParts {
    pub project: Project,
    /// What agents changed in it. None: it is not kept.
    pub history: Option<History>,
    /// None: the agent runs no commands.
    pub terminals: Option<Terminals>,
}

#[derive(Clone)]
struct Files {
    chat: Chat,
    projects: Projects,
}

/// The routes of `/api/files`.
pub fn routes(chat: Chat, projects: Projects) -> Router {
    Router::new()
        .route("/api/files/tree", get(tree))
        .route(
            "/api/files/content",
            get(content).put(put).layer(DefaultBodyLimit::max(MAX_BODY)),
        )
        .route("/api/files/search", get(search))
        .merge(changes::routes())
        .with_state(Files { chat, projects })
}

impl Files {
    async fn project(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<(AgentHandle, Project), Failure> {
        let agent = self.chat.agent(caller, named).await?;
        let parts = project_of(&self.projects, &agent)?;
        Ok((agent, parts.project))
    }
}

/// The project of an agent.
pub(crate) fn project_of(
    projects: &Projects,
    agent: &AgentHandle,
) -> Result<ProjectParts, Failure> {
    projects(agent.id()).ok_or_else(|| {
        let why = format!("agent {:?} has no project folder", agent.id());
        Failure::new(StatusCode::NOT_FOUND, "no_project", why)
    })
}

/// Does something with the disk, beside the threads that serve.
pub(crate) async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(refused),
        Err(_) => {
            let why = "the server is stopping";
            Err(Failure::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopped",
                why,
            ))
        }
    }
}

/// The status of a failure of the project.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn refused(error: Error) -> Failure {
    let status = match error.code() {
        "not-found" | "no-change" => StatusCode::NOT_FOUND,
        "outside-workspace" | "denied" => StatusCode::FORBIDDEN,
        "changed" | "changed-since" | "does-not-fit" | "exists" => StatusCode::CONFLICT,
        "too-large" => StatusCode::PAYLOAD_TOO_LARGE,
        "io" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let field = match error.code() {
        "does-not-fit" => "diff",
        "no-change" | "changed-since" => "change",
        _ => "path",
    };
    let code = error.code().replace('-', "_");
    Failure::new(status, &code, &error).with("field", field.into())
}

/// The folder that a query names, or the project.
fn path_of(fields: &Fields) -> Result<ProjectPath, Failure> {
    ProjectPath::parse(fields.get("path").unwrap_or("/project")).map_err(refused)
}

/// `?path=FOLDER&depth=N`.
async fn tree(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let shown = async {
        let path = path_of(&fields)?;
        let depth = number(&fields, "depth", DEPTH)?;
        let (_, project) = files.project(&caller, fields.get("agent")).await?;
        on_disk(move || {
            let mut left = ENTRIES;
            let mut node = json!({ "path": path.to_string(), "type": "directory" });
            let (children, whole) = children(&project, &path, depth, &mut left)?;
            node["children"] = children.into();
            if !whole {
                node["incomplete"] = true.into();
            }
            Ok(node)
        })
        .await
    };
    respond(shown.await)
}

/// The entries of a folder, and whether they are all.
fn children(
    project: &Project,
    path: &ProjectPath,
    depth: usize,
    left: &mut usize,
) -> Result<(Vec<Value>, bool), Error> {
    let listed = project.list(path, None, usize::MAX)?;
    let mut all = listed.incomplete.is_none();
    let mut nodes = Vec::new();
    for entry in listed.entries {
        // Listing a file returns the file itself.
        if entry.path == *path {
            return Err(Error::NotFound(path.clone()));
        }
        if *left == 0 {
            return Ok((nodes, false));
        }
        *left -= 1;
        let name = entry.path.as_str().rsplit('/').next().unwrap_or_default();
        let mut node = json!({ "name": name, "path": entry.path.to_string() });
        match entry.kind {
            ListingKind::Folder => {
                node["type"] = "directory".into();
                let below = match depth > 1 && name != ".git" {
                    // A folder that cannot be read is shown without what is in it.
                    true => children(project, &entry.path, depth - 1, left).unwrap_or_default(),
                    false => (Vec::new(), name == ".git"),
                };
                node["children"] = below.0.into();
                all &= below.1;
            }
            ListingKind::Link => node["type"] = "link".into(),
            ListingKind::File => {
                node["type"] = "file".into();
                node["size"] = entry.bytes.into();
            }
            _ => node["type"] = "special".into(),
        }
        nodes.push(node);
    }
    Ok((nodes, all))
}

/// `?path=FILE`.
async fn content(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let shown = async {
        let given = fields.get("path").ok_or_else(|| missing("path"))?;
        let path = ProjectPath::parse(given).map_err(refused)?;
        let (_, project) = files.project(&caller, fields.get("agent")).await?;
        on_disk(move || {
            let file = project.whole(&path)?;
            Ok(json!({
                "path": path.to_string(),
                "size": file.content.len(),
                "content": file.content,
                "language": language(path.as_str()),
                "modified": file.modified.map(time),
                "hash": file.hash,
            }))
        })
        .await
    };
    respond(shown.await)
}

fn time(at: std::time::SystemTime) -> String {
    let since = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    memory::format_time(memory::Millis::try_from(since.as_millis()).unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Put {
    path: String,
    content: String,
    #[serde(default)]
    requires_approval: bool,
    /// The hash of the content that is replaced, or `absent`.
    seen: Option<String>,
    agent: Option<String>,
}

async fn put(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let written = async {
        let put: Put = read(&whole(body)?)?;
        let path = ProjectPath::parse(&put.path).map_err(refused)?;
        let named = put.agent.as_deref().or_else(|| fields.get("agent"));
        let (agent, project) = files.project(&caller, named).await?;
        if put.requires_approval {
            let mut input = json!({ "path": put.path, "content": put.content });
            if let Some(seen) = put.seen {
                input["seen"] = seen.into();
            }
            return ask(&files, &caller, &agent, "file-write", input).await;
        }
        on_disk(move || {
            let written = project.write(&path, &put.content, put.seen.as_deref())?;
            Ok(json!({
                "success": true,
                "status": "written",
                "path": path.to_string(),
                "created": written.created,
                "changed": written.changed,
                "size": written.bytes,
                "hash": written.hash,
            }))
        })
        .await
    };
    respond(written.await)
}

/// Has the agent change a file with one of its skills, after an approval.
async fn ask(
    files: &Files,
    caller: &Caller,
    agent: &AgentHandle,
    skill: &str,
    input: Value,
) -> Result<Value, Failure> {
    let parts = files.chat.parts();
    let id = uuid::Uuid::new_v4().to_string();
    let message = skill::extension::call(id, skill, input);
    let request = SendMessageRequest {
        tenant: match parts.rights.is_default(agent.id()) {
            true => String::new(),
            false => agent.id().to_owned(),
        },
        ..message.into()
    };
    let mut call = Call::by(parts.rights.caller(caller));
    call.always_task = true;
    call.origin = Origin::on("api");
    let sent = parts.service.send_message(call, request).await;
    let sent = sent.map_err(|error| super::command::refused(&error))?;
    let Sent::Task(task) = sent.payload else {
        let why = "the agent did not take the call";
        return Err(Failure::new(StatusCode::CONFLICT, "refused", why));
    };
    let status = agent.status().await.map_err(failure)?;
    let mut approvals = status.approvals.iter();
    if let Some(approval) = approvals.find(|it| it.turn == task.id) {
        return Ok(json!({
            "success": true,
            "approval_id": approval.uuid,
            "status": "pending_approval",
            "task_id": task.id,
        }));
    }
    let state = task.status.as_ref().map(|it| it.state);
    let said = task.status.and_then(|it| it.message).map(|it| it.text());
    match state {
        // A grant covers the call.
        Some(TaskState::Completed) => {
            Ok(json!({ "success": true, "status": "written", "task_id": task.id }))
        }
        _ => {
            let why = said.unwrap_or_else(|| "the file was not written".to_owned());
            Err(Failure::new(StatusCode::CONFLICT, "refused", why))
        }
    }
}

/// `?query=WORDS&type=code|text|name&path=FOLDER&limit=N`.
async fn search(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let found = async {
        let words = fields
            .get("query")
            .ok_or_else(|| missing("query"))?
            .to_owned();
        let path = path_of(&fields)?;
        let limit = number(&fields, "limit", HITS)?;
        let kind = fields.get("type").unwrap_or("text").to_owned();
        if !["code", "text", "name"].contains(&&*kind) {
            let why = format!("type is {kind:?}; expected code, text or name");
            return Err(invalid("type", &why));
        }
        let (_, project) = files.project(&caller, fields.get("agent")).await?;
        on_disk(move || match &*kind {
            "name" => by_name(&project, &path, &words, limit),
            kind => by_content(&project, path, &words, kind == "code", limit),
        })
        .await
    };
    respond(found.await)
}

fn by_name(
    project: &Project,
    path: &ProjectPath,
    words: &str,
    limit: usize,
) -> Result<Value, Error> {
    let pattern = match words.contains(['*', '?', '[']) {
        true => words.to_owned(),
        false => format!("*{words}*"),
    };
    let listed = project.list(path, Some(&pattern), limit)?;
    let results = listed.entries.iter().map(|it| {
        let name = it.path.as_str().rsplit('/').next().unwrap_or_default();
        let relevance = if name == words { 1.0 } else { 0.7 };
        json!({ "path": it.path.to_string(), "line": 1, "content": name, "relevance": relevance })
    });
    let results: Vec<Value> = results.collect();
    Ok(json!({ "results": results, "incomplete": listed.incomplete.is_some() }))
}

fn by_content(
    project: &Project,
    path: ProjectPath,
    words: &str,
    code: bool,
    limit: usize,
) -> Result<Value, Error> {
    let mut query = Query::new(words);
    query.case = Case::Ignored;
    query.path = path;
    query.hits = HITS.1;
    let found = project.search(&query, &|| false)?;
    let hits = found.hits.iter();
    let hits = hits.filter(|it| !code || is_code(it.path.as_str()));
    let mut hits: Vec<_> = hits
        .map(|it| (relevance(words, it.path.as_str(), &it.text), it))
        .collect();
    hits.sort_by(|one, other| other.0.total_cmp(&one.0));
    let more = hits.len() > limit || found.incomplete.is_some();
    let results = hits.iter().take(limit).map(|(relevance, it)| {
        json!({
            "path": it.path.to_string(),
            "line": it.line,
            "content": it.text,
            "relevance": relevance,
        })
    });
    let results: Vec<Value> = results.collect();
    Ok(json!({ "results": results, "incomplete": more }))
}

/// How well a line answers a search: a definition counts most, then a whole word, then the case, then the name of the file.
fn relevance(words: &str, path: &str, line: &str) -> f64 {
    const DEFINES: [&str; 12] = [
        "fn ",
        "func ",
        "def ",
        "class ",
        "struct ",
        "enum ",
        "trait ",
        "interface ",
        "type ",
        "const ",
        "function ",
        "# ",
    ];
    let (lower, wanted) = (line.to_lowercase(), words.to_lowercase());
    let mut score = 0.5;
    if DEFINES.iter().any(|it| line.contains(it)) {
        score += 0.2;
    }
    let at = lower.find(&wanted);
    let whole = at.is_some_and(|at| {
        let border = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric() && it != '_');
        let before = lower.get(..at).and_then(|it| it.chars().next_back());
        let after = lower
            .get(at + wanted.len()..)
            .and_then(|it| it.chars().next());
        border(before) && border(after)
    });
    if whole {
        score += 0.15;
    }
    if line.contains(words) {
        score += 0.1;
    }
    if path.to_lowercase().contains(&wanted) {
        score += 0.05;
    }
    score
}

fn number(fields: &Fields, name: &str, (usual, most): (usize, usize)) -> Result<usize, Failure> {
    match fields.get(name).map(str::parse::<usize>) {
        None => Ok(usual),
        Some(Ok(number)) if (1..=most).contains(&number) => Ok(number),
        Some(_) => Err(invalid(
            name,
            &format!("expected a number from 1 to {most}"),
        )),
    }
}

fn missing(field: &str) -> Failure {
    invalid(field, &format!("{field} is missing"))
}

fn invalid(field: &str, problem: &str) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", problem).with("field", field.into())
}
