//! The skill `file-write`, which a person agrees to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::{Context, Id, OneOrMore, Reply, Skill, SkillError, SkillInput, Spec, Traits};

use crate::files::on_disk;
use crate::path::ProjectPath;
use crate::project::Project;

/// Writes files of a project. It is marked as needing approval, and its preview is the difference that it would
/// make.
#[derive(Clone, Debug)]
pub struct FileWrite(Project);

/// Which file, and what it is to hold.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Write {
    /// The file, relative to the project or below /project. It and its folders are made if they are not there.
    pub path: String,
    /// What the file holds afterwards: all of it.
    pub content: String,
    /// The `hash` that file-read gave. If the file has another content by now it is left alone.
    pub seen: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Wrote {
    /// In a sentence.
    pub says: String,
    /// The file, below /project.
    pub path: String,
    /// It was not there before.
    pub created: bool,
    /// It is not what it was before.
    pub changed: bool,
    /// How many bytes the file has.
    pub size: usize,
    /// What tells this content from any other.
    pub hash: String,
}

impl FileWrite {
    /// In this project.
    pub fn new(project: Project) -> Self {
        Self(project)
    }
}

impl Skill for FileWrite {
    const SPEC: Spec = {
        let mut traits = Traits::new();
        traits.approval = true;
        traits.destructive = true;
        traits.idempotent = true;
        traits.replayable = true;
        Spec::new(
            Id::new("file-write"),
            "Write a file",
            "Writes a text file of the project, after a person has seen the difference and agreed.",
            OneOrMore::new(&["files", "workspace"]),
            OneOrMore::new(&["write \"rain\" into notes/today.md"]),
        )
        .with(traits)
    };
    type Input = Write;
    type Output = Wrote;

    async fn run(&self, input: Write, _ctx: Context) -> Result<Reply<Wrote>, SkillError> {
        let project = self.0.clone();
        let wrote = on_disk("write", move || {
            let path = ProjectPath::parse(&input.path)?;
            let written = project.write(&path, &input.content, input.seen.as_deref())?;
            let deed = match (written.created, written.changed) {
                (true, _) => "made",
                (false, true) => "changed",
                (false, false) => "left as it was",
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
        wrote.await.map(Reply::Done)
    }

    async fn preview(&self, input: Write) -> Result<Option<String>, SkillError> {
        let project = self.0.clone();
        let diff = on_disk("write", move || {
            project.diff(&ProjectPath::parse(&input.path)?, &input.content)
        });
        diff.await.map(Some)
    }
}

const _: Spec = FileWrite::SPEC;
