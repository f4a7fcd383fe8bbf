//! A path beneath the folder of a project, parsed from text.

use std::fmt;
use std::path::Path;

use crate::error::Error;

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;

/// The name of the project's folder in absolute paths, as people and models see them.
const ROOT: &str = "/project";

/// Below `PATH_MAX` of Linux (4,096), with room for the names of temporary files.
const MAX_BYTES: usize = 4000;
const MAX_NAME_BYTES: usize = 255;
const MAX_NAMES: usize = 64;

/// How many characters of a refused text an error repeats.
const SHOWN_CHARS: usize = 80;

/// A path beneath the folder of a project, in one canonical spelling: names joined by `/`, none of them `.` or `..`.
/// `Display` writes it as an absolute path below `/project`.
///
/// The path is text only: nothing needs to exist there, and a symlink on it may lead to another place in the project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectPath(String);

/// Why a text is not a path in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The text is empty. The folder itself is written `.` or `/project`.
    Empty,
    /// An absolute path that is not below `/project`.
    Absolute,
    /// One of the names is `..`.
    Parent,
    /// A backslash or a control character.
    Character,
    /// The path is longer than 4,000 bytes, or one of its names is longer than 255.
    TooLong,
    /// More than 64 names.
    TooDeep,
}

impl ProjectPath {
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses a path: relative to the folder, or absolute below `/project`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::read(text).map_err(|problem| Error::Path {
            path: text.chars().take(SHOWN_CHARS).collect(),
            problem,
        })
    }

    fn read(text: &str) -> Result<Self, Problem> {
        if text.is_empty() {
            return Err(Problem::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(Problem::TooLong);
        }
        let beneath = match text.strip_prefix(ROOT) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
            _ if text.starts_with('/') => return Err(Problem::Absolute),
            _ => text,
        };
        let mut path = Self::root();
        for (count, name) in beneath
            .split('/')
            .filter(|it| !matches!(*it, "" | "."))
            .enumerate()
        {
            if count == MAX_NAMES {
                return Err(Problem::TooDeep);
            }
            path.push(name)?;
        }
        Ok(path)
    }

    pub(crate) fn join(&self, name: &str) -> Result<Self, Problem> {
        let mut path = self.clone();
        path.push(name)?;
        match path.0.len() > MAX_BYTES {
            true => Err(Problem::TooLong),
            false => Ok(path),
        }
    }

    fn push(&mut self, name: &str) -> Result<(), Problem> {
        if name == ".." {
            return Err(Problem::Parent);
        }
        if name
            .chars()
            .any(|it| it.is_control() || matches!(it, '\\' | '/'))
        {
            return Err(Problem::Character);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(Problem::TooLong);
        }
        if !self.is_root() {
            self.0.push('/');
        }
        self.0.push_str(name);
        Ok(())
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path relative to the project's folder; `.` for the folder itself.
    pub fn as_str(&self) -> &str {
        match self.is_root() {
            true => ".",
            false => &self.0,
        }
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(self.as_str())
    }

    /// The parent folder and the last name. None for the project's folder itself.
    pub(crate) fn split(&self) -> Option<(Self, &str)> {
        match self.0.rsplit_once('/') {
            Some((folder, name)) => Some((Self(folder.to_owned()), name)),
            None if self.is_root() => None,
            None => Some((Self::root(), &self.0)),
        }
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ROOT)?;
        match self.is_root() {
            true => Ok(()),
            false => write!(f, "/{}", self.0),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the path is empty",
            Self::Absolute => "outside of the project, which is /project",
            Self::Parent => "`..` is not allowed in a path",
            Self::Character => "backslashes and control characters are not allowed in a path",
            Self::TooLong => "the path, or one of its names, is too long",
            Self::TooDeep => "the path has more than 64 names",
        })
    }
}
