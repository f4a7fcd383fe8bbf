//! The skill `file-edit`, which changes a file by a unified diff and needs an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, SkillError, SkillInput, skill};

use crate::error::Error;
use crate::files::{Changing, counted, on_disk};
use crate::observer::DeedKind;
use crate::path::ProjectPath;
use crate::project::{Accepted, Hunk};

/// The skill `file-edit`, bound to a project. It needs an approval; its preview is the diff as it would be applied.
#[derive(Clone, Debug)]
pub struct FileEdit(Changing);

/// The input of the skill `file-edit`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Edit {
    /// The file, relative to the project folder or below /project.
    pub path: String,
    /// A unified diff of this file. Line numbers may be off; the lines themselves must be in the file.
    pub diff: String,
    /// Which hunks are applied, counted from 1; all if it is left out.
    pub hunks: Option<Vec<usize>>,
    /// The `hash` that file-read returned, or `absent`. If the file has changed since, it is not changed.
    pub seen: Option<String>,
}

/// The output of the skill `file-edit`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Edited {
    /// The outcome in a sentence.
    pub says: String,
    /// The file, below /project.
    pub path: String,
    /// What became of each hunk.
    pub hunks: Vec<EditedHunk>,
    pub lines_added: usize,
    pub lines_removed: usize,
    /// What tells this content from any other.
    pub hash: String,
}

/// What became of a hunk.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EditedHunk {
    /// Its number in the diff, counted from 1.
    pub number: usize,
    /// False when it was not among those to apply.
    pub applied: bool,
    /// The line of the file that it begins at, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// How many lines further down than the diff says it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<isize>,
    /// How many lines of context at its ends were left out to find it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<usize>,
}

impl FileEdit {
    pub(crate) fn new(changing: Changing) -> Self {
        Self(changing)
    }
}

#[skill(
    name = "Edit a file",
    permission = "write_files",
    tags = ["files", "workspace"],
    examples = ["apply this diff to src/main.rs"],
    approval,
    destructive
)]
impl FileEdit {
    /// Changes a text file of the project by a unified diff, after a person has seen and approved it. All chosen hunks are
    /// applied, or none.
    async fn run(&self, input: Edit, ctx: Context) -> Result<Edited, SkillError> {
        let changing = self.0.clone();
        let by = ctx.caller().to_string();
        let edited = on_disk("edit", move || {
            let path = ProjectPath::parse(&input.path)?;
            let accepted = input.accepted();
            let (patched, now) = changing.project.patched(&path, &input.diff, &accepted)?;
            if input.seen.is_some_and(|it| it != now) {
                return Err(Error::Changed(path));
            }
            let written =
                changing.write((&by, "file-edit"), &path, &patched.content, Some(&now))?;
            let hunks: Vec<EditedHunk> = (1..).zip(&patched.hunks).map(EditedHunk::new).collect();
            let applied = hunks.iter().filter(|it| it.applied).count();
            Ok(Edited {
                says: format!(
                    "{path}: {} applied, +{} -{}",
                    counted(applied, "hunk"),
                    patched.lines_added,
                    patched.lines_removed
                ),
                path: path.to_string(),
                hunks,
                lines_added: patched.lines_added,
                lines_removed: patched.lines_removed,
                hash: written.hash,
            })
        });
        let edited = edited.await?;
        self.0.project.tell(&ctx, DeedKind::Wrote, &edited.path);
        Ok(edited)
    }

    /// The file with the content that it has now.
    async fn bind(&self, input: Edit) -> Result<Option<Value>, SkillError> {
        let project = self.0.project.clone();
        let bound = on_disk("edit", move || {
            let (path, now) = project.state(&ProjectPath::parse(&input.path)?)?;
            let seen = input.seen.unwrap_or(now);
            let mut bound = json!({ "path": path.as_str(), "diff": input.diff, "seen": seen });
            if let Some(hunks) = input.hunks {
                bound["hunks"] = json!(hunks);
            }
            Ok(bound)
        });
        bound.await.map(Some)
    }

    async fn preview(&self, input: Edit) -> Result<Option<String>, SkillError> {
        let project = self.0.project.clone();
        let diff = on_disk("edit", move || {
            let path = ProjectPath::parse(&input.path)?;
            let (patched, now) = project.patched(&path, &input.diff, &input.accepted())?;
            if input.seen.is_some_and(|it| it != now) {
                return Err(Error::Changed(path));
            }
            project.diff(&path, &patched.content)
        });
        diff.await.map(Some)
    }
}

impl Edit {
    fn accepted(&self) -> Accepted {
        match &self.hunks {
            Some(hunks) => Accepted::Only(hunks.clone()),
            None => Accepted::All,
        }
    }
}

impl EditedHunk {
    fn new((number, hunk): (usize, &Hunk)) -> Self {
        let (line, offset, fuzz) = match hunk {
            Hunk::Applied { line, offset, fuzz } => (Some(*line), Some(*offset), Some(*fuzz)),
            Hunk::LeftOut => (None, None, None),
        };
        Self {
            number,
            applied: line.is_some(),
            line,
            offset,
            fuzz,
        }
    }
}
