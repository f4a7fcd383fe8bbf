//! What an agent does in a folder of files: a [`Workspace`] that cannot be left, and skills that work in it.
//!
//! A workspace is a capability. Whoever holds one reaches what lies beneath its folder and nothing else: paths are
//! parsed before they are used, and every one of them is resolved by the system beneath the folder, so that no
//! `..`, no absolute path and no symlink leads out, also not one that is put there in the middle of an operation.
//!
//! ```
//! use tools::{Lines, Workspace, WorkspacePath};
//!
//! # let folder = tempfile::tempdir()?;
//! let workspace = Workspace::open(&folder.path().join("workspace"))?;
//! workspace.welcome()?;
//!
//! // `/project` names the folder, so these two are the same.
//! let path = WorkspacePath::parse("/project/notes/today.md")?;
//! assert_eq!(path, WorkspacePath::parse("notes/today.md")?);
//! workspace.write(&path, "rain\nsun\n", None)?;
//! assert_eq!(workspace.read(&path, Lines::from(2))?.content, "sun\n");
//! assert!(WorkspacePath::parse("../secret").is_err());
//!
//! // What an agent is given.
//! let skills = tools::skills(&workspace)?;
//! assert!(skills.get("file-write").is_some_and(|it| it.traits.approval));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Layout:
//! - [`WorkspacePath`], [`Workspace`]: where something is, and what may be done there
//! - `workspace/read`, `write`, `diff`, `search`: the verbs of a workspace; `walk`: through its folders
//! - [`files`]: the skills `file-read`, `file-write` and `file-search`
//! - [`Limits`], [`Error`]: how much, and what can go wrong

mod error;
pub mod files;
mod limits;
mod path;
mod workspace;

pub use error::{Error, Kind};
pub use files::{ALIASES, skills};
pub use limits::Limits;
pub use path::{Problem, WorkspacePath};
pub use workspace::{Case, Found, Hit, Incomplete, Lines, Query, Syntax, Text, Workspace, Written};
