//! How an operation on a project fails.

use std::fmt;
use std::io;

use cap_std::fs::FileType;

use crate::path::{Problem, ProjectPath};
use crate::project::PatchProblem;

/// Why an operation on a project failed. The text continues "could not read", "could not write" and the like.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a path in a project. The disk was not accessed.
    #[error("{path:?}: {problem}")]
    Path {
        /// The given text, shortened.
        path: String,
        problem: Problem,
    },
    /// A symlink on the path leads out of the project.
    #[error("{0}: a symlink leads out of the project")]
    Outside(ProjectPath),
    #[error("{0}: there is no such file")]
    NotFound(ProjectPath),
    /// The path exists and is not a file, or one of its parents is not a folder.
    #[error("{path}: it is {kind}")]
    Kind {
        path: ProjectPath,
        /// What the path is instead of a file.
        kind: Kind,
    },
    /// Something is there already, where something else was to be moved to.
    #[error("{0}: a file or folder with this name exists")]
    Exists(ProjectPath),
    #[error("{0}: a folder cannot be moved into itself")]
    IntoItself(ProjectPath),
    /// A folder that has something in it is not deleted.
    #[error("{0}: the folder is not empty; delete what is in it first")]
    NotEmpty(ProjectPath),
    #[error("{0}: not UTF-8 text")]
    NotText(ProjectPath),
    /// A file, or a text to write, is larger than the [limits](crate::Limits) allow.
    #[error("{path}: {bytes} bytes are too many, the limit is {limit}")]
    TooLarge {
        path: ProjectPath,
        /// The size, as far as it was read.
        bytes: u64,
        limit: u64,
    },
    /// The diff is longer than an approval can show, so that a person could not read all of it.
    #[error(
        "{path}: the diff is longer than the {limit} bytes that an approval can show; write less at a time"
    )]
    TooMuch { path: ProjectPath, limit: usize },
    /// The content is not the one with the hash that the caller passed as `seen`.
    #[error("{0}: the file has changed since it was read; read it again")]
    Changed(ProjectPath),
    /// The operating system denies access, or the file is marked read-only.
    #[error("{0}: permission denied")]
    Denied(ProjectPath),
    /// A diff cannot be applied to the file. Nothing was changed.
    #[error("{path}: {problem}")]
    Patch {
        path: ProjectPath,
        problem: PatchProblem,
    },
    /// There is no such change to take back.
    #[error("undo change {0:?}: unknown, or already dropped from the history")]
    NoChange(String),
    /// Nothing was changed yet, or all of it is taken back.
    #[error("anything: no change of a file by an agent is left to take back")]
    NothingToUndo,
    /// The place of the change is not as the change left it.
    #[error(
        "undo change {change} of {path}: these lines were changed again since; nothing was undone"
    )]
    NotUndone { path: ProjectPath, change: String },
    /// The text or the glob of a search is invalid.
    #[error("{what}: {problem}")]
    Query { what: &'static str, problem: String },
    /// A command could not be run; the text says why.
    #[error("the command: {0}")]
    Command(String),
    /// The project's folder is not where it was opened.
    #[error("the project folder {0}: it was moved or replaced since the server started")]
    Moved(String),
    /// The project's folder cannot be created or opened.
    #[error("open the project folder {folder}: {source}")]
    Folder { folder: String, source: io::Error },
    /// Any other error of the operating system.
    #[error("{path}: {source}")]
    Io {
        path: ProjectPath,
        source: io::Error,
    },
}

/// What a path is that is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    Folder,
    /// A parent of the path is a file or a dangling symlink.
    NoFolder,
    /// A file where a folder is needed.
    NotFolder,
    /// The folder of the project itself.
    Root,
    /// A pipe, a socket or a device: reading may never end, and opening may have effects.
    Special,
}

impl Error {
    /// The stable code of this error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "invalid-path",
            Self::Outside(_) => "outside-workspace",
            Self::NotFound(_) => "not-found",
            Self::Kind { .. } => "not-a-file",
            Self::Exists(_) => "exists",
            Self::IntoItself(_) => "into-itself",
            Self::NotEmpty(_) => "not-empty",
            Self::NotText(_) => "not-text",
            Self::TooLarge { .. } => "too-large",
            Self::TooMuch { .. } => "too-much",
            Self::Changed(_) => "changed",
            Self::Denied(_) => "denied",
            Self::Query { .. } => "invalid-query",
            Self::Patch { .. } => "does-not-fit",
            Self::NoChange(_) | Self::NothingToUndo => "no-change",
            Self::NotUndone { .. } => "changed-since",
            Self::Command(_) => "command",
            Self::Moved(_) => "moved",
            Self::Folder { .. } | Self::Io { .. } => "io",
        }
    }

    /// Classifies an error of the operating system about this path.
    pub(crate) fn io(path: &ProjectPath, source: io::Error) -> Self {
        use io::ErrorKind::{
            AlreadyExists, CrossesDevices, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        };
        let path = path.clone();
        match source.kind() {
            NotFound => Self::NotFound(path),
            // cap-std reports a path that leaves its folder without an errno; the operating system always sets one.
            PermissionDenied if source.raw_os_error().is_none() => Self::Outside(path),
            CrossesDevices => Self::Outside(path),
            PermissionDenied => Self::Denied(path),
            IsADirectory => Self::kind(&path, Kind::Folder),
            // A dangling symlink where a folder should be gives AlreadyExists.
            NotADirectory | AlreadyExists => Self::kind(&path, Kind::NoFolder),
            _ => Self::Io { path, source },
        }
    }

    pub(crate) fn kind(path: &ProjectPath, kind: Kind) -> Self {
        Self::Kind {
            path: path.clone(),
            kind,
        }
    }
}

impl Kind {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind.is_dir() {
            true => Self::Folder,
            false => Self::Special,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Folder => "a folder",
            Self::Root => "the folder of the project itself",
            Self::NotFolder => "not a folder",
            Self::NoFolder => "below something that is not a folder",
            Self::Special => "neither a file nor a folder",
        })
    }
}
