//! Where something is in a project: text that was found to be a path beneath its folder.

use std::fmt;
use std::path::Path;

use crate::error::Error;

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;

/// What names the folder of the project in absolute paths.
const ROOT: &str = "/project";

/// What every system takes, with room for the names of temporary files.
const MAX_BYTES: usize = 4000;
const MAX_NAME_BYTES: usize = 255;
const MAX_NAMES: usize = 64;

/// How much of a text that is no path is repeated.
const SHOWN_CHARS: usize = 80;

/// A path beneath the folder of a project, with one spelling for each place: names joined by `/`, none of them
/// `.` or `..`. It is shown as an absolute one below `/project`.
///
/// It says nothing about what is there: a symlink may lead elsewhere, and is followed as far as that is in the
/// project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectPath(String);

/// What is wrong with a text that is no path in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// It says nothing. The folder itself is `.`.
    Empty,
    /// It is absolute, and not below `/project`.
    Absolute,
    /// It has `..` in it.
    Parent,
    /// It has a backslash in it, or a character that cannot be seen.
    Character,
    /// It is longer than paths may be, or one of its names is.
    TooLong,
    /// It has more names than paths may have.
    TooDeep,
}

impl ProjectPath {
    /// The folder of the project.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path that a text is: relative to the folder, or absolute below `/project`.
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

    /// The path of what has this name in this folder.
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

    /// Whether it is the folder of the project itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path relative to the folder of the project, which itself is `.`.
    pub fn as_str(&self) -> &str {
        match self.is_root() {
            true => ".",
            false => &self.0,
        }
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(self.as_str())
    }

    /// The folder it lies in, and its name there. The folder of the project has neither.
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
            Self::Absolute => "it is outside of the project, which is /project",
            Self::Parent => "a path has no `..` in it",
            Self::Character => "a path has no backslashes and no control characters in it",
            Self::TooLong => "the path is too long",
            Self::TooDeep => "the path has too many folders",
        })
    }
}
