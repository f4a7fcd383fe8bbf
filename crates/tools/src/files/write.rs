//! The skill `file-write`, which needs an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, SkillError, SkillInput, UNCHANGED, skill};

use crate::error::Error;
use crate::files::{Changing, on_disk, size};
use crate::observer::DeedKind;
use crate::path::ProjectPath;
use crate::project::Project;

/// The skill `file-write`, bound to a project. It needs an approval; its preview is the diff it would make.
#[derive(Clone, Debug)]
pub struct FileWrite(Changing);

/// The input of the skill `file-write`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Write {
    /// The file, relative to the project folder or below /project. Missing files and folders are created.
    pub path: String,
    /// The whole new content of the file; with `append` what is added at its end.
    pub content: String,
    /// True when the content is added at the end of the file, on a line of its own.
    #[serde(default)]
    pub append: bool,
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
    pub(crate) fn new(changing: Changing) -> Self {
        Self(changing)
    }
}

#[skill(
    name = "Write a file",
    permission = "write_files",
    tags = ["files", "workspace"],
    examples = ["write \"rain\" into notes/today.md"],
    approval,
    destructive,
    idempotent,
    replayable
)]
impl FileWrite {
    /// Writes a text file of the project, after a person has seen the diff and approved it.
    async fn run(&self, input: Write, ctx: Context) -> Result<Wrote, SkillError> {
        let changing = self.0.clone();
        let by = ctx.caller().to_string();
        let wrote = on_disk("write", move || {
            let path = ProjectPath::parse(&input.path)?;
            let content = input.whole(&changing.project, &path)?;
            let written =
                changing.write((&by, "file-write"), &path, &content, input.seen.as_deref())?;
            let deed = match (written.created, written.changed) {
                (true, _) => "created",
                (false, true) => "changed",
                (false, false) => "unchanged",
            };
            Ok(Wrote {
                says: format!("{path}: {deed}, {}", size(written.bytes as u64)),
                path: path.to_string(),
                created: written.created,
                changed: written.changed,
                size: written.bytes,
                hash: written.hash,
            })
        });
        let wrote = wrote.await?;
        self.0.project.tell(&ctx, DeedKind::Wrote, &wrote.path);
        Ok(wrote)
    }

    /// The file that the path stands for, with the content that it has now.
    async fn bind(&self, input: Write) -> Result<Option<Value>, SkillError> {
        let project = self.0.project.clone();
        let bound = on_disk("write", move || {
            let (path, now) = project.state(&ProjectPath::parse(&input.path)?)?;
            // `append` becomes the whole content here, so that the approval is about exactly that content.
            let content = input.whole(&project, &path)?;
            let seen = input.seen.unwrap_or(now);
            Ok(json!({ "path": path.as_str(), "content": content, "seen": seen }))
        });
        bound.await.map(Some)
    }

    async fn preview(&self, input: Write) -> Result<Option<String>, SkillError> {
        let project = self.0.project.clone();
        let diff = on_disk("write", move || {
            let path = ProjectPath::parse(&input.path)?;
            let content = input.whole(&project, &path)?;
            let diff = project.diff(&path, &content)?;
            // After the diff: it was made from the content that the input names.
            if let Some(seen) = &input.seen {
                project.check_seen(&path, &content, seen)?;
            }
            Ok(match project.has(&path, &content)? {
                true => Err(diff),
                false => Ok(diff),
            })
        });
        let same = |diff: String| SkillError::coded(UNCHANGED, diff.trim_end());
        diff.await?.map(Some).map_err(same)
    }
}

impl Write {
    /// The content that the file is to have.
    fn whole(&self, project: &Project, path: &ProjectPath) -> Result<String, Error> {
        if !self.append {
            return Ok(self.content.clone());
        }
        let mut whole = match project.text(path) {
            Ok(before) => before,
            Err(Error::NotFound(_)) => String::new(),
            Err(error) => return Err(error),
        };
        for text in ["", &*self.content] {
            whole.push_str(text);
            if !whole.is_empty() && !whole.ends_with('\n') {
                whole.push('\n');
            }
        }
        Ok(whole)
    }
}
