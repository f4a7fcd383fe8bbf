//! The folder that an agent works in, as a capability.

use std::fmt;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Kind};
use crate::limits::Limits;
use crate::path::ProjectPath;

mod diff;
mod read;
mod search;
mod walk;
mod write;

pub use read::{Lines, Text};
pub use search::{Case, Found, Hit, Query, Syntax};
pub use walk::Incomplete;
pub use write::Written;

/// What a new project begins with.
const WELCOME: &str = include_str!("project/welcome.md");

/// A folder, and what lies beneath it. Clones are the same project.
///
/// All of it waits for the disk: call it where waiting is allowed, in async code on a thread for that.
#[derive(Clone)]
pub struct Project {
    inner: Arc<Inner>,
}

struct Inner {
    root: Dir,
    limits: Limits,
    is_new: bool,
}

impl Project {
    /// The project in this folder, which is made if it is not there, readable for its owner alone. This is the
    /// one path that is taken from outside; symlinks in it are followed.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::with_limits(folder, Limits::default())
    }

    /// The same with other limits.
    pub fn with_limits(folder: &Path, limits: Limits) -> Result<Self, Error> {
        let opened = make(folder).and_then(|is_new| {
            let root = Dir::open_ambient_dir(folder, ambient_authority())?;
            Ok((root, is_new))
        });
        let (root, is_new) = opened.map_err(|source| Error::Folder {
            folder: folder.display().to_string(),
            source,
        })?;
        let inner = Inner {
            root,
            limits,
            is_new,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Whether the folder was made when this project was opened.
    pub fn is_new(&self) -> bool {
        self.inner.is_new
    }

    /// Puts a short `WELCOME.md` into a folder that was made just now, and does nothing in any other.
    pub fn welcome(&self) -> Result<(), Error> {
        if self.is_new() {
            self.write(&ProjectPath::parse("WELCOME.md")?, WELCOME, None)?;
        }
        Ok(())
    }

    /// How much of everything there may be.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    fn root(&self) -> &Dir {
        &self.inner.root
    }

    /// The bytes of a file that is not too large.
    fn bytes(&self, path: &ProjectPath) -> Result<Vec<u8>, Error> {
        bytes(self.root(), path.as_path(), path, self.limits().file_bytes)
    }

    /// The text of a file that is not too large.
    fn text(&self, path: &ProjectPath) -> Result<String, Error> {
        String::from_utf8(self.bytes(path)?).map_err(|_| Error::NotText(path.clone()))
    }
}

/// Makes a folder for its owner; whether it was not there before.
fn make(folder: &Path) -> io::Result<bool> {
    if let Some(parent) = folder.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes of a file in a folder, which errors call `shown`. What is no file is not read, and one that grows
/// meanwhile is read up to the limit.
fn bytes(folder: &Dir, name: &Path, shown: &ProjectPath, limit: u64) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::io(shown, error);
    let too_large = |bytes| Error::TooLarge {
        path: shown.clone(),
        bytes,
        limit,
    };
    // Asked before it is opened, because devices do things when they are, and after, because by then it may be
    // another one.
    let found = folder.metadata(name).map_err(failed)?;
    if !found.is_file() {
        return Err(Error::kind(shown, Kind::of(found.file_type())));
    }
    let file = folder.open_with(name, &reading()).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(Error::kind(shown, Kind::of(found.file_type())));
    }
    if found.len() > limit {
        return Err(too_large(found.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    match read.map_err(failed)? as u64 {
        read if read > limit => Err(too_large(read)),
        _ => Ok(bytes),
    }
}

/// To read, without waiting for the other end where it turns out to be a pipe.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK.bits();
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.cast_signed());
    }
    options
}

/// What tells one content from another: the SHA-256 of its bytes, in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Debug for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Project")
            .field("is_new", &self.is_new())
            .finish_non_exhaustive()
    }
}
