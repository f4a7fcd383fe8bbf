//! The skill `file-search`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::{SkillError, SkillInput, skill};
use tokio_util::sync::CancellationToken;

use crate::files::{counted, incomplete, on_disk, within};
use crate::path::ProjectPath;
use crate::project::{Case, Project, Query, Syntax};

/// The skill `file-search`, bound to a project.
#[derive(Clone, Debug)]
pub struct FileSearch(Project);

/// The input of the skill `file-search`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Search {
    /// The text to look for.
    pub query: String,
    /// True when `query` is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// True when capital and small letters are the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// The file, or the folder with all in it; the whole project if it is left out.
    pub path: Option<String>,
    /// Which files, by name, such as *.rs, or by path, such as src/**/*.rs.
    pub glob: Option<String>,
    /// How many lines are enough; 100 if it is left out.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The output of the skill `file-search`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Searched {
    /// The lines, by path and number.
    pub matches: Vec<Match>,
    /// How many files were searched.
    pub files_searched: usize,
    /// How many files were not, because they are too large, no text, or cannot be read.
    pub files_skipped: usize,
    /// Why there may be more than was found, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A line with a hit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Match {
    /// The file, below /project.
    pub path: String,
    /// Which line, counted from 1.
    pub line: usize,
    /// The line, or what is around the hit in a long one.
    pub content: String,
}

impl FileSearch {
    pub fn new(project: Project) -> Self {
        Self(project)
    }
}

#[skill(
    name = "Search files",
    permission = "read_files",
    tags = ["files", "search", "workspace"],
    examples = ["search for TODO", "search for fn main"],
    read_only,
    idempotent,
    replayable
)]
impl FileSearch {
    /// Looks for a text or a regular expression in the files of the project, except those that .gitignore excludes.
    async fn run(&self, input: Search) -> Result<Searched, SkillError> {
        let project = self.0.clone();
        // Dropping this future does not stop the blocking thread; the token tells it to stop.
        let unwanted = CancellationToken::new();
        let _told = unwanted.clone().drop_guard();
        let searched = on_disk("search", move || {
            let found = project.search(&input.query()?, &|| unwanted.is_cancelled())?;
            let matches = found.hits.into_iter().map(|hit| Match {
                path: hit.path.to_string(),
                line: hit.line,
                content: hit.text,
            });
            Ok(Searched {
                matches: matches.collect(),
                files_searched: found.files,
                files_skipped: found.skipped,
                incomplete: found.incomplete.map(|why| incomplete(why).to_owned()),
            })
        });
        searched.await
    }

    fn tell(&self, output: &Value) -> Option<String> {
        let mut lines = Vec::new();
        for found in output.get("matches")?.as_array()? {
            let path = within(found.get("path")?.as_str()?, "/project");
            let line = found.get("line")?.as_u64()?;
            let text = found.get("content")?.as_str()?;
            lines.push(format!("{path}:{line}: {text}"));
        }
        let count = |name: &str| -> usize {
            let count = output.get(name).and_then(Value::as_u64).unwrap_or_default();
            usize::try_from(count).unwrap_or(usize::MAX)
        };
        if lines.is_empty() {
            let searched = counted(count("files_searched"), "file");
            lines.push(format!("Nothing found: I looked into {searched}."));
        }
        if count("files_skipped") > 0 {
            let skipped = counted(count("files_skipped"), "file");
            lines.push(format!("I left out {skipped}, too large or not text."));
        }
        if let Some(why) = output.get("incomplete").and_then(Value::as_str) {
            lines.push(format!("That is not all: {why}."));
        }
        Some(lines.join("\n"))
    }
}

impl Search {
    fn query(self) -> Result<Query, crate::Error> {
        let mut query = Query::new(self.query);
        if self.regex {
            query.syntax = Syntax::Regex;
        }
        if self.ignore_case {
            query.case = Case::Ignored;
        }
        if let Some(path) = self.path {
            query.path = ProjectPath::parse(&path)?;
        }
        if let Some(limit) = self.limit {
            query.hits = limit;
        }
        query.glob = self.glob;
        Ok(query)
    }
}
