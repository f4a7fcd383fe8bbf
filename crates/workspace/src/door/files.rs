//! Changes of the files of a project, whatever made them: an agent, a person, a command or another program. The folder is
//! looked at again and again while a window follows it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use ::capnweb::{Error as RpcError, Value};
use serde_json::{Value as Json, json};
use tools::{Error, ListingKind, Project, ProjectPath};

use super::follow::{Follower, Over};
use super::workspace::{What, WorkspaceObject, said};
use crate::api::files::{on_disk, project_of};

/// How long after a look the next one follows; after one that took long, later.
const PAUSE: Duration = Duration::from_millis(700);

/// The most files that are followed, and how deep.
const MOST: usize = 20_000;
const DEPTH: usize = 32;

/// How many changes are told at once.
const BATCH: usize = 500;

/// The files of a project: sizes and times of change.
type Seen = BTreeMap<String, (u64, Option<SystemTime>)>;

pub(super) async fn follow(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let parts = &workspace.shared().parts;
    let agent = parts
        .chat
        .agent(&workspace.as_caller(), what.text("agent")?)
        .await
        .map_err(|it| said(&it))?;
    let project = project_of(&parts.projects, &agent).map_err(|it| said(&it))?;
    let project = project.project;
    let first = look(&project).await.map_err(|it| said(&it))?;
    let subscription = follower.run(|callback| async move {
        let mut before = first;
        loop {
            tokio::time::sleep(PAUSE).await;
            let began = tokio::time::Instant::now();
            let now = look(&project)
                .await
                .map_err(|failure| Over::because(failure.told().1))?;
            let changes = changes(&before, &now);
            before = now;
            for batch in changes.chunks(BATCH) {
                callback.tell(json!(batch)).await?;
            }
            // A large project may be looked at a tenth of the time.
            tokio::time::sleep(began.elapsed() * 9).await;
        }
    });
    Ok(subscription.into_value())
}

async fn look(project: &Project) -> Result<Seen, crate::api::Failure> {
    let project = project.clone();
    on_disk(move || {
        let mut seen = Seen::new();
        let root = ProjectPath::parse("/project")?;
        take(&project, &root, DEPTH, &mut seen)?;
        Ok(seen)
    })
    .await
}

/// Takes the files of a folder in, and those below it.
fn take(project: &Project, path: &ProjectPath, depth: usize, seen: &mut Seen) -> Result<(), Error> {
    for entry in project.list(path, None, usize::MAX)?.entries {
        if seen.len() >= MOST {
            return Ok(());
        }
        let name = entry.path.as_str().rsplit('/').next().unwrap_or_default();
        match entry.kind {
            ListingKind::Folder if depth > 1 && name != ".git" && entry.path != *path => {
                // A folder that goes meanwhile has no files.
                let _ = take(project, &entry.path, depth - 1, seen);
            }
            ListingKind::File => {
                seen.insert(entry.path.to_string(), (entry.bytes, entry.modified));
            }
            _ => {}
        }
    }
    Ok(())
}

fn changes(before: &Seen, now: &Seen) -> Vec<Json> {
    let changed = now.iter().filter_map(|(path, file)| {
        let operation = match before.get(path) {
            None => "created",
            Some(was) if was != file => "modified",
            Some(_) => return None,
        };
        Some(json!({ "path": path, "operation": operation, "size": file.0 }))
    });
    let deleted = before.keys().filter(|path| !now.contains_key(*path));
    let deleted = deleted.map(|path| json!({ "path": path, "operation": "deleted" }));
    changed.chain(deleted).collect()
}
