//! The skill `file-write`, which needs an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{SkillError, SkillInput, skill};

use crate::files::on_disk;
use crate::path::ProjectPath;
use crate::project::Project;

/// The skill `file-write`, bound to a project. It needs an approval; its preview is the diff it would make.
#[derive(Clone, Debug)]
pub struct FileWrite(Project);

/// The input of the skill `file-write`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Write {
    /// The file, relative to the project folder or below /project. Missing files and folders are created.
    pub path: String,
    /// The whole new content of the file.
    pub content: String,
    /// The `hash` that file-read returned, or `absent` for a file that does not exist. If the file has changed since, it
    /// is not written.
    pub seen: Option<String>,
}

/// The output of the skill `file-write`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Wrote {
    /// The outcome in a sentence.
    pub says: String,
    /// The file, below /project.
    pub path: String,
    /// True when the file did not exist before.
    pub created: bool,
    /// True when the content differs from the one before.
    pub changed: bool,
    /// How many bytes the file has.
    pub size: usize,
    /// What tells this content from any other.
    pub hash: String,
}

impl FileWrite {
    pub fn new(project: Project) -> Self {
        Self(project)
    }
}

#[skill(
    name = "Write a file",
    tags = ["files", "workspace"],
    examples = ["write \"rain\" into notes/today.md"],
    approval,
    destructive,
    idempotent,
    replayable
)]
impl FileWrite {
    /// Writes a text file of the project, after a person has seen the diff and approved it.
    async fn run(&self, input: Write) -> Result<Wrote, SkillError> {
        let project = self.0.clone();
        let wrote = on_disk("write", move || {
            let path = ProjectPath::parse(&input.path)?;
            let written = project.write(&path, &input.content, input.seen.as_deref())?;
            let deed = match (written.created, written.changed) {
                (true, _) => "created",
                (false, true) => "changed",
                (false, false) => "unchanged",
            };
            Ok(Wrote {
                says: format!("{path}: {deed}, {} bytes", written.bytes),
                path: path.to_string(),
                created: written.created,
                changed: written.changed,
                size: written.bytes,
                hash: written.hash,
            })
        });
        wrote.await
    }

    /// The file that the path stands for, with the content that it has now.
    async fn bind(&self, input: Write) -> Result<Option<Value>, SkillError> {
        let project = self.0.clone();
        let bound = on_disk("write", move || {
            let (path, now) = project.state(&ProjectPath::parse(&input.path)?)?;
            let seen = input.seen.unwrap_or(now);
            Ok(json!({ "path": path.as_str(), "content": input.content, "seen": seen }))
        });
        bound.await.map(Some)
    }

    async fn preview(&self, input: Write) -> Result<Option<String>, SkillError> {
        let project = self.0.clone();
        let diff = on_disk("write", move || {
            let path = ProjectPath::parse(&input.path)?;
            let diff = project.diff(&path, &input.content)?;
            // After the diff: it was made from the content that the input names.
            if let Some(seen) = &input.seen {
                project.check_seen(&path, &input.content, seen)?;
            }
            Ok(diff)
        });
        diff.await.map(Some)
    }
}
