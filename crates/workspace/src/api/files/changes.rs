//! Changes of files: what agents changed, the way back, and diffs that people apply.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::history::ChangeKind;
use tools::{Accepted, Error, FileChange, History, Hunk, Project, ProjectPath, apply};

use super::{Files, MAX_BODY, ask, number, on_disk, project_of, refused};
use crate::api::{Caller, Failure, Fields, read, respond, whole};

/// How many changes a reply has by default, and at most.
const CHANGES: (usize, usize) = (100, 500);

/// The longest diff of a listed change, in bytes.
const MAX_DIFF: usize = 120 << 10;

pub(super) fn routes() -> Router<Files> {
    Router::new()
        .route("/api/files/changes", get(changes))
        .route("/api/files/undo", post(undo))
        .route(
            "/api/files/diff",
            post(diff).layer(DefaultBodyLimit::max(MAX_BODY)),
        )
}

impl Files {
    /// The changes in the project of an agent.
    async fn history(&self, caller: &Caller, named: Option<&str>) -> Result<History, Failure> {
        let agent = self.chat.agent(caller, named).await?;
        let parts = project_of(&self.projects, &agent)?;
        parts.history.ok_or_else(|| {
            let why = "changes are not kept: the data is in memory";
            Failure::new(StatusCode::NOT_IMPLEMENTED, "not_kept", why)
        })
    }
}

/// `?limit=N`, the last first.
async fn changes(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let listed = async {
        let limit = number(&fields, "limit", CHANGES)?;
        let history = files.history(&caller, fields.get("agent")).await?;
        on_disk(move || {
            let changes = history.changes(limit);
            let changes: Vec<Value> = changes.iter().map(shown).collect();
            Ok(json!({ "changes": changes }))
        })
        .await
    };
    respond(listed.await)
}

fn shown(change: &FileChange) -> Value {
    let at = memory::Millis::try_from(change.at).unwrap_or_default();
    let mut shown = json!({
        "id": change.id,
        "at": memory::format_time(at),
        "by": change.by,
        "skill": change.skill,
    });
    match &change.what {
        ChangeKind::Content {
            path,
            before,
            after,
            ..
        } => {
            shown["path"] = path.as_str().into();
            shown["operation"] = match (before, after) {
                (None, _) => "created",
                (_, None) => "deleted",
                _ => "modified",
            }
            .into();
        }
        ChangeKind::Moved { from, to, .. } => {
            shown["path"] = to.as_str().into();
            shown["from"] = from.as_str().into();
            shown["operation"] = "moved".into();
        }
        _ => {}
    }
    let diff = change.diff();
    match diff.len() > MAX_DIFF {
        true => shown["too_long"] = true.into(),
        false => shown["diff"] = diff.into(),
    }
    shown
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Undo {
    /// The id of a change; without it the last one.
    change: Option<String>,
    agent: Option<String>,
}

async fn undo(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let undone = async {
        let body = whole(body)?;
        let wanted: Undo = match body.is_empty() {
            true => Undo::default(),
            false => read(&body)?,
        };
        let named = wanted.agent.as_deref().or_else(|| fields.get("agent"));
        let history = files.history(&caller, named).await?;
        let by = files.chat.parts().rights.caller(&caller).to_string();
        on_disk(move || {
            let change = match wanted.change {
                Some(change) => change,
                None => history.last()?.id,
            };
            let undone = history.undo(&by, &change, None)?;
            Ok(json!({
                "success": true,
                "change": undone.change,
                "path": undone.path.to_string(),
                "id": undone.id,
            }))
        })
        .await
    };
    respond(undone.await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Diff {
    path: String,
    diff: String,
    /// The numbers of the only hunks that are applied, counted from 1.
    hunks: Option<Vec<usize>>,
    /// The hash of the content that the diff is for, or `absent`.
    seen: Option<String>,
    /// Nothing is written.
    #[serde(default)]
    preview: bool,
    /// The agent applies it, after a person agreed.
    #[serde(default)]
    requires_approval: bool,
    agent: Option<String>,
}

async fn diff(
    State(files): State<Files>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let applied = async {
        let diff: Diff = read(&whole(body)?)?;
        let path = ProjectPath::parse(&diff.path).map_err(refused)?;
        let named = diff.agent.as_deref().or_else(|| fields.get("agent"));
        let (agent, project) = files.project(&caller, named).await?;
        let (waits, preview) = (diff.requires_approval, diff.preview);
        let mut input = json!({ "path": diff.path, "diff": diff.diff });
        if let Some(hunks) = &diff.hunks {
            input["hunks"] = json!(hunks);
        }
        if let Some(seen) = &diff.seen {
            input["seen"] = seen.as_str().into();
        }
        let mut reply = on_disk(move || {
            let (mut reply, content, hash) = diff.patched(&project, &path)?;
            if preview {
                reply["content"] = content.into();
            } else if !waits {
                // What was read is what is replaced.
                let written = project.write(&path, &content, Some(&hash))?;
                reply["hash"] = written.hash.into();
            }
            Ok(reply)
        })
        .await?;
        if waits && !preview {
            let asked = ask(&files, &caller, &agent, "file-edit", input).await?;
            for (name, value) in asked.as_object().into_iter().flatten() {
                reply[name] = value.clone();
            }
        }
        Ok(reply)
    };
    respond(applied.await)
}

impl Diff {
    /// The reply that says where it fits, the content that it makes of the file, and the hash of what it was applied to.
    fn patched(
        self,
        project: &Project,
        path: &ProjectPath,
    ) -> Result<(Value, String, String), Error> {
        let (text, hash) = match project.whole(path) {
            Ok(file) => (file.content, file.hash),
            Err(Error::NotFound(_)) => (String::new(), tools::ABSENT.to_owned()),
            Err(error) => return Err(error),
        };
        if self.seen.is_some_and(|seen| seen != hash) {
            return Err(Error::Changed(path.clone()));
        }
        let accepted = self.hunks.map_or(Accepted::All, Accepted::Only);
        let patched = apply(&text, &self.diff, &accepted).map_err(|problem| Error::Patch {
            path: path.clone(),
            problem,
        })?;
        let hunks: Vec<Value> = patched.hunks.iter().map(hunk).collect();
        let reply = json!({
            "success": true,
            "path": path.to_string(),
            "lines_added": patched.lines_added,
            "lines_removed": patched.lines_removed,
            "hunks": hunks,
        });
        Ok((reply, patched.content, hash))
    }
}

/// The outcome for a hunk.
fn hunk(hunk: &Hunk) -> Value {
    match hunk {
        Hunk::Applied { line, .. } => json!({ "applied": true, "line": line }),
        _ => json!({ "applied": false }),
    }
}
