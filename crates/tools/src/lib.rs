//! The folder that an agent works in ([`Project`]) and the skills that read, write and search files in it.
//!
//! The setting that names the folder is `workspace`; in code it is a `Project`, because `workspace` is also the crate
//! of the human side and cargo's own word. A project is a capability: code that holds one reaches what lies beneath its
//! folder and nothing else. Paths are parsed before they are used, and the operating system resolves every one of them
//! beneath the open folder, so that no `..`, no absolute path and no symlink leads out of it, even if the symlink is
//! created in the middle of an operation.
//!
//! ```
//! use tools::{Lines, Project, ProjectPath};
//!
//! # let folder = tempfile::tempdir()?;
//! let project = Project::open(&folder.path().join("workspace"))?;
//! project.welcome()?;
//!
//! // `/project` names the folder, so these two are the same.
//! let path = ProjectPath::parse("/project/notes/today.md")?;
//! assert_eq!(path, ProjectPath::parse("notes/today.md")?);
//! project.write(&path, "rain\nsun\n", None)?;
//! assert_eq!(project.read(&path, Lines::from(2))?.content, "sun\n");
//! assert!(ProjectPath::parse("../secret").is_err());
//!
//! // The skills that an agent is given; writing needs an approval.
//! let skills = tools::skills(&project)?;
//! assert!(skills.get("file-write").is_some_and(|it| it.traits.approval));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Layout:
//! - [`ProjectPath`], [`Project`]: a parsed path, and the folder it is resolved in
//! - `project/read`, `write`, `diff`, `search`, `list`, `rename`: the operations of a project; `walk`: its folders in order
//! - [`files`]: the skills `file-list`, `file-read`, `file-search`, `file-write`, `file-edit`, `file-move`, `file-delete` and `undo`
//! - [`FileObserver`]: is told what skills do with files
//! - [`FileDelta`]: what changed in a file, line by line
//! - [`Watch`]: what is touched in a project, by this program or by others
//! - [`history`]: what agents changed, so that it can be taken back
//! - [`terminal`]: the skill `terminal-run`; [`sandbox`]: what confines a command (both on Linux)
//! - [`Limits`], [`Error`]: bounds of each operation, and how it fails

mod delta;
mod error;
pub mod files;
pub mod history;
mod limits;
mod observer;
mod path;
mod project;
#[cfg(target_os = "linux")]
pub mod sandbox;
#[cfg(target_os = "linux")]
pub mod terminal;
mod watch;

pub use delta::{DeltaOperation, FileDelta, apply_delta, deltas};
pub use error::{Error, Kind};
pub use files::{ALIASES, skills, skills_with_history};
pub use history::{FileChange, History};
pub use limits::Limits;
pub use observer::{DeedKind, FileDeed, FileObserver};
pub use path::{Problem, ProjectPath};
pub use project::{
    ABSENT, Accepted, Case, FileCache, FileCacheCounts, FileStatus, Hit, Hunk, Incomplete, Lines,
    Listed, Listing, ListingKind, PatchProblem, Patched, Project, Query, SearchResult, Syntax,
    Text, WholeFile, Written, apply,
};
pub use watch::{Touched, Watch};
