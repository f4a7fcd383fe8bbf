//! What an agent does in a folder of files: a [`Project`] that cannot be left, and skills that work in it.
//!
//! A project is a capability. Whoever holds one reaches what lies beneath its folder and nothing else: paths are
//! parsed before they are used, and every one of them is resolved by the system beneath the folder, so that no
//! `..`, no absolute path and no symlink leads out, also not one that is put there in the middle of an operation.
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
//! // What an agent is given.
//! let skills = tools::skills(&project)?;
//! assert!(skills.get("file-write").is_some_and(|it| it.traits.approval));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Layout:
//! - [`ProjectPath`], [`Project`]: where something is, and what may be done there
//! - `project/read`, `write`, `diff`, `search`: the verbs of a project; `walk`: through its folders
//! - [`files`]: the skills `file-read`, `file-write` and `file-search`
//! - [`Limits`], [`Error`]: how much, and what can go wrong

mod error;
pub mod files;
mod limits;
mod path;
mod project;

pub use error::{Error, Kind};
pub use files::{ALIASES, skills};
pub use limits::Limits;
pub use path::{Problem, ProjectPath};
pub use project::{Case, Found, Hit, Incomplete, Lines, Project, Query, Syntax, Text, Written};
