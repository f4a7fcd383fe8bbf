//! The skill `file-list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::{SkillError, SkillInput, skill};

use crate::files::{counted, incomplete, on_disk, size, within};
use crate::path::ProjectPath;
use crate::project::{ListingKind, Project};

/// The default of `limit`.
const ENTRIES: usize = 200;

/// The skill `file-list`, bound to a project.
#[derive(Clone, Debug)]
pub struct FileList(Project);

/// The input of the skill `file-list`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct List {
    /// The folder, relative to the project folder or below /project; the project folder if it is left out.
    pub path: Option<String>,
    /// Which files, by name, such as *.md, or by path, such as src/**/*.rs: those of all folders below are listed.
    pub glob: Option<String>,
    /// How many entries are enough; 200 if it is left out.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The output of the skill `file-list`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Listed {
    /// The folder, below /project.
    pub path: String,
    /// What is in it, by name; with `glob` the files that fit, by path.
    pub entries: Vec<Entry>,
    /// Why there may be more than is listed, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A file or folder.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// Its path, below /project.
    pub path: String,
    /// file, folder, link or special.
    pub kind: String,
    /// How many bytes a file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl FileList {
    pub fn new(project: Project) -> Self {
        Self(project)
    }
}

#[skill(
    name = "List a folder",
    permission = "read_files",
    tags = ["files", "workspace"],
    examples = ["list my files", "what files are there?"],
    read_only,
    idempotent,
    replayable
)]
impl FileList {
    /// Lists the files and folders in a folder of the project, with their sizes; or finds files by their names.
    async fn run(&self, input: List) -> Result<Listed, SkillError> {
        let project = self.0.clone();
        let listed = on_disk("list", move || {
            let path = match &input.path {
                Some(path) => ProjectPath::parse(path)?,
                None => ProjectPath::root(),
            };
            let limit = input.limit.unwrap_or(ENTRIES);
            let found = project.list(&path, input.glob.as_deref(), limit)?;
            let entries = found.entries.into_iter().map(|it| Entry {
                path: it.path.to_string(),
                size: (it.kind == ListingKind::File).then_some(it.bytes),
                kind: kind(it.kind).to_owned(),
            });
            Ok(Listed {
                path: path.to_string(),
                entries: entries.collect(),
                incomplete: found.incomplete.map(|why| incomplete(why).to_owned()),
            })
        });
        listed.await
    }

    fn tell(&self, output: &Value) -> Option<String> {
        let folder = output.get("path")?.as_str()?;
        let entries = output.get("entries")?.as_array()?;
        let (mut files, mut folders, mut lines) = (0, 0, Vec::new());
        for entry in entries {
            let name = within(entry.get("path")?.as_str()?, folder);
            lines.push(match entry.get("kind")?.as_str()? {
                "folder" => {
                    folders += 1;
                    format!("{name}/")
                }
                "link" => format!("{name} (a link)"),
                "special" => format!("{name} (neither a file nor a folder)"),
                _ => {
                    files += 1;
                    format!("{name}  {}", size(entry.get("size")?.as_u64()?))
                }
            });
        }
        if lines.is_empty() {
            return Some(format!("There is nothing of that kind in {folder}."));
        }
        let mut counts = vec![counted(files, "file")];
        if folders > 0 {
            counts.push(counted(folders, "folder"));
        }
        lines.push(format!("{} in {folder}.", counts.join(" and ")));
        if let Some(why) = output.get("incomplete").and_then(Value::as_str) {
            lines.push(format!("That is not all: {why}."));
        }
        Some(lines.join("\n"))
    }
}

fn kind(kind: ListingKind) -> &'static str {
    match kind {
        ListingKind::File => "file",
        ListingKind::Folder => "folder",
        ListingKind::Link => "link",
        ListingKind::Special => "special",
    }
}
