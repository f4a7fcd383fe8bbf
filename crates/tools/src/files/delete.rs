//! The skill `file-delete`, which needs an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, SkillError, SkillInput, skill};

use crate::error::Error;
use crate::files::{Changing, on_disk, size};
use crate::observer::DeedKind;
use crate::path::ProjectPath;
use crate::project::ABSENT;

/// The skill `file-delete`, bound to a project. It needs an approval; its preview shows what would be lost.
#[derive(Clone, Debug)]
pub struct FileDelete(Changing);

/// The input of the skill `file-delete`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Delete {
    /// The file or the empty folder, relative to the project folder or below /project.
    pub path: String,
    /// The `hash` that file-read returned. If the file has changed since, it is not deleted.
    pub seen: Option<String>,
}

/// The output of the skill `file-delete`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Deleted {
    /// The outcome in a sentence.
    pub says: String,
    /// What was deleted, below /project.
    pub path: String,
    /// False when it was gone already.
    pub changed: bool,
}

impl FileDelete {
    pub(crate) fn new(changing: Changing) -> Self {
        Self(changing)
    }
}

#[skill(
    name = "Delete a file",
    permission = "write_files",
    tags = ["files", "workspace"],
    examples = ["delete notes/old.md"],
    approval,
    destructive,
    idempotent,
    replayable
)]
impl FileDelete {
    /// Deletes a file or an empty folder of the project for good, after a person has seen what is lost and approved it.
    async fn run(&self, input: Delete, ctx: Context) -> Result<Deleted, SkillError> {
        let changing = self.0.clone();
        let by = ctx.caller().to_string();
        let deleted = on_disk("delete", move || {
            let path = ProjectPath::parse(&input.path)?;
            let changed = changing.delete((&by, "file-delete"), &path, input.seen.as_deref())?;
            Ok(Deleted {
                says: match changed {
                    true => format!("{path} is deleted."),
                    false => format!("{path} was deleted already."),
                },
                path: path.to_string(),
                changed,
            })
        });
        let deleted = deleted.await?;
        self.0.project.tell(&ctx, DeedKind::Removed, &deleted.path);
        Ok(deleted)
    }

    /// The file with the content that it has now.
    async fn bind(&self, input: Delete) -> Result<Option<Value>, SkillError> {
        let project = self.0.project.clone();
        let bound = on_disk("delete", move || {
            let path = ProjectPath::parse(&input.path)?;
            let now = project.stamp(&path)?;
            let seen = input.seen.unwrap_or(now);
            if seen == ABSENT {
                return Err(Error::NotFound(path));
            }
            Ok(json!({ "path": path.as_str(), "seen": seen }))
        });
        bound.await.map(Some)
    }

    async fn preview(&self, input: Delete) -> Result<Option<String>, SkillError> {
        let project = self.0.project.clone();
        let shown = on_disk("delete", move || {
            let path = ProjectPath::parse(&input.path)?;
            // Deleted since it was approved: nothing to show.
            if project.stamp(&path)? == ABSENT {
                return Ok(format!("{path} is gone already."));
            }
            let file = project.file_size(&path)?;
            let what = match file {
                Some(bytes) => format!("This would delete {path} ({}) for good", size(bytes)),
                None => format!("This would delete {path} for good"),
            };
            // What is no text, or too long to be shown, is named by its size alone.
            let lost = file.and_then(|_| project.diff(&path, "").ok());
            Ok(match lost {
                Some(lost) if !lost.is_empty() => format!("{what}:\n{lost}"),
                _ => format!("{what}."),
            })
        });
        shown.await.map(Some)
    }
}
