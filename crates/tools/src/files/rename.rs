//! The skill `file-move`, which needs an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, SkillError, SkillInput, skill};

use crate::error::Error;
use crate::files::{Changing, on_disk};
use crate::observer::DeedKind;
use crate::path::ProjectPath;
use crate::project::ABSENT;

/// The skill `file-move`, bound to a project. It needs an approval.
#[derive(Clone, Debug)]
pub struct FileMove(Changing);

/// The input of the skill `file-move`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Move {
    /// The file or folder, relative to the project folder or below /project.
    pub from: String,
    /// Its new path, or the folder it is moved into. Missing folders are created; nothing is overwritten.
    pub to: String,
    /// The `hash` that file-read returned. If the file has changed since, it is not moved.
    pub seen: Option<String>,
}

/// The output of the skill `file-move`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Moved {
    /// The outcome in a sentence.
    pub says: String,
    /// Where it was, below /project.
    pub from: String,
    /// Where it is, below /project.
    pub to: String,
    /// False when it had been moved already.
    pub changed: bool,
}

impl FileMove {
    pub(crate) fn new(changing: Changing) -> Self {
        Self(changing)
    }
}

#[skill(
    name = "Move a file",
    permission = "write_files",
    tags = ["files", "workspace"],
    examples = ["rename notes.md to ideas.md", "move notes.md into archive/"],
    approval,
    idempotent,
    replayable
)]
impl FileMove {
    /// Moves or renames a file or a folder of the project, after a person has approved it. Nothing is overwritten.
    async fn run(&self, input: Move, ctx: Context) -> Result<Moved, SkillError> {
        let changing = self.0.clone();
        let by = ctx.caller().to_string();
        let moved = on_disk("move", move || {
            let from = ProjectPath::parse(&input.from)?;
            // An input that was bound names the place itself, which is a folder if one was moved there before a restart.
            let to = match input.seen {
                Some(_) => ProjectPath::parse(&input.to)?,
                None => changing.project.destination(&from, &input.to)?,
            };
            let changed = changing.rename((&by, "file-move"), &from, &to, input.seen.as_deref())?;
            Ok(Moved {
                says: match changed {
                    true => format!("{from} is {to} now."),
                    false => format!("{from} is {to} already."),
                },
                from: from.to_string(),
                to: to.to_string(),
                changed,
            })
        });
        let moved = moved.await?;
        let project = &self.0.project;
        project.tell(&ctx, DeedKind::Removed, &moved.from);
        project.tell(&ctx, DeedKind::Wrote, &moved.to);
        Ok(moved)
    }

    /// The path it would have, and the content that it has now.
    async fn bind(&self, input: Move) -> Result<Option<Value>, SkillError> {
        let project = self.0.project.clone();
        let bound = on_disk("move", move || {
            let from = ProjectPath::parse(&input.from)?;
            let now = project.stamp(&from)?;
            // `from` is missing: it was moved before a restart, and `to` is its new path.
            let to = match now == ABSENT {
                true => ProjectPath::parse(&input.to)?,
                false => project.destination(&from, &input.to)?,
            };
            let seen = input.seen.unwrap_or(now);
            if seen == ABSENT {
                return Err(Error::NotFound(from));
            }
            Ok(json!({ "from": from.as_str(), "to": to.as_str(), "seen": seen }))
        });
        bound.await.map(Some)
    }

    async fn preview(&self, input: Move) -> Result<Option<String>, SkillError> {
        let project = self.0.project.clone();
        let shown = on_disk("move", move || {
            let from = ProjectPath::parse(&input.from)?;
            let to = ProjectPath::parse(&input.to)?;
            let there = project.stamp(&from)? == ABSENT;
            if !there && project.stamp(&to)? != ABSENT {
                return Err(Error::Exists(to));
            }
            Ok(format!("This would move {from} to {to}."))
        });
        shown.await.map(Some)
    }
}
