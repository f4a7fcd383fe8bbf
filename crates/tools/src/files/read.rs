//! The skill `file-read`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::{Context, SkillError, SkillInput, skill};

use crate::files::on_disk;
use crate::observer::DeedKind;
use crate::path::ProjectPath;
use crate::project::{Lines, Project};

/// The default of `limit`.
const LINES: usize = 2_000;

/// The skill `file-read`, bound to a project.
#[derive(Clone, Debug)]
pub struct FileRead(Project);

/// The input of the skill `file-read`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Read {
    /// The file, relative to the project folder or below /project.
    pub path: String,
    /// The first line to read, counted from 1.
    #[schemars(range(min = 1))]
    pub offset: Option<usize>,
    /// How many lines to read at most; 2000 if it is left out.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The output of the skill `file-read`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Content {
    /// The file, below /project.
    pub path: String,
    /// The lines that were read.
    pub content: String,
    /// The line to go on with, if the file does not end here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// True when a line is too long to be shown as a whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(default)]
    pub cut: bool,
    /// How many lines the file has.
    pub total_lines: usize,
    /// How many bytes the file has.
    pub size: usize,
    /// What tells this content of the whole file from any other; file-write takes it as `seen`.
    pub hash: String,
}

impl FileRead {
    pub fn new(project: Project) -> Self {
        Self(project)
    }
}

#[skill(
    name = "Read a file",
    permission = "read_files",
    tags = ["files", "workspace"],
    examples = ["read README.md", "show me /project/src/main.rs"],
    read_only,
    idempotent,
    replayable
)]
impl FileRead {
    /// Reads a text file of the project, all of it or some of its lines.
    async fn run(&self, input: Read, ctx: Context) -> Result<Content, SkillError> {
        let project = self.0.clone();
        let lines = Lines::from(input.offset.unwrap_or(1)).take(input.limit.unwrap_or(LINES));
        let content = on_disk("read", move || {
            let path = ProjectPath::parse(&input.path)?;
            let text = project.read(&path, lines)?;
            Ok(Content {
                path: path.to_string(),
                content: text.content,
                next_offset: text.next,
                cut: text.cut,
                total_lines: text.lines,
                size: text.bytes,
                hash: text.hash,
            })
        });
        let content = content.await?;
        self.0.tell(&ctx, DeedKind::Read, &content.path);
        Ok(content)
    }

    fn tell(&self, output: &Value) -> Option<String> {
        let mut text = output.get("content")?.as_str()?.to_owned();
        let path = output.get("path")?.as_str()?;
        if text.is_empty() {
            return Some(format!("There is no text in these lines of {path}."));
        }
        if let Some(next) = output.get("next_offset").and_then(Value::as_u64) {
            let total = output.get("total_lines")?.as_u64()?;
            let ends = if text.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!(
                "{ends}… {path} goes on with line {next} of {total}."
            ));
        }
        Some(text)
    }
}
