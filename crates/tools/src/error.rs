//! What can go wrong in a project.

use std::fmt;
use std::io;

use cap_std::fs::FileType;

use crate::path::{Problem, ProjectPath};

/// Why something was not done. The text goes on after "could not read", "could not write" and the like.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no path in a project. Nothing was looked for.
    #[error("{path:?}: {problem}")]
    Path {
        /// What was given, shortened.
        path: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A symlink on the way leads out.
    #[error("{0}: it leads out of the project")]
    Outside(ProjectPath),
    /// Nothing is there.
    #[error("{0}: there is no such file")]
    NotFound(ProjectPath),
    /// Something is there that is no file, or something on the way is no folder.
    #[error("{path}: it is {kind}")]
    Kind {
        /// Where.
        path: ProjectPath,
        /// What it is instead.
        kind: Kind,
    },
    /// The bytes are not UTF-8.
    #[error("{0}: it is not text")]
    NotText(ProjectPath),
    /// More than the [limits](crate::Limits) allow.
    #[error("{path}: {bytes} bytes are too many, the limit is {limit}")]
    TooLarge {
        /// Where.
        path: ProjectPath,
        /// How many there are, as far as was looked.
        bytes: u64,
        /// How many there may be.
        limit: u64,
    },
    /// What would change is more than can be shown.
    #[error(
        "{path}: the difference is longer than the {limit} bytes that can be shown, so that nobody could agree to it; write less at a time"
    )]
    TooMuch {
        /// Where.
        path: ProjectPath,
        /// How many bytes can be shown.
        limit: usize,
    },
    /// It is not what the caller had seen.
    #[error("{0}: it has changed since it was read")]
    Changed(ProjectPath),
    /// The system does not let us, or the file is marked read-only.
    #[error("{0}: permission denied")]
    Denied(ProjectPath),
    /// What is searched for, or the pattern of names, is none.
    #[error("{what}: {problem}")]
    Query {
        /// Which of the two.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The folder of the project cannot be made or opened.
    #[error("open the project {folder}: {source}")]
    Folder {
        /// Which folder.
        folder: String,
        /// What the system said.
        source: io::Error,
    },
    /// Whatever else the system says.
    #[error("{path}: {source}")]
    Io {
        /// Where.
        path: ProjectPath,
        /// What the system said.
        source: io::Error,
    },
}

/// What is there instead of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file, where a folder should be.
    NoFolder,
    /// A pipe, a socket, a device: something that has no end, or does something when it is opened.
    Special,
}

impl Error {
    /// A word that programs decide by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "invalid-path",
            Self::Outside(_) => "outside-workspace",
            Self::NotFound(_) => "not-found",
            Self::Kind { .. } => "not-a-file",
            Self::NotText(_) => "not-text",
            Self::TooLarge { .. } => "too-large",
            Self::TooMuch { .. } => "too-much",
            Self::Changed(_) => "changed",
            Self::Denied(_) => "denied",
            Self::Query { .. } => "invalid-query",
            Self::Folder { .. } | Self::Io { .. } => "io",
        }
    }

    /// What the system said about this path.
    pub(crate) fn io(path: &ProjectPath, source: io::Error) -> Self {
        use io::ErrorKind::{
            AlreadyExists, CrossesDevices, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        };
        let path = path.clone();
        match source.kind() {
            NotFound => Self::NotFound(path),
            // cap-std has no errno for a path that leaves its folder; the system always has one.
            PermissionDenied if source.raw_os_error().is_none() => Self::Outside(path),
            CrossesDevices => Self::Outside(path),
            PermissionDenied => Self::Denied(path),
            IsADirectory => Self::kind(&path, Kind::Folder),
            // A symlink that leads nowhere is in the way of a folder, and is none.
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
    /// What something is that is no file.
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
            Self::NoFolder => "below something that is no folder",
            Self::Special => "neither a file nor a folder",
        })
    }
}
