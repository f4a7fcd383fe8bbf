//! The folder that an agent works in, as a capability.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Kind};
use crate::limits::Limits;
use crate::observer::Observed;
use crate::path::ProjectPath;

mod cache;
mod diff;
mod list;
mod patch;
mod read;
mod rename;
mod search;
mod status;
mod walk;
mod whole;
mod write;

pub use cache::{FileCache, FileCacheCounts};
pub use list::{Listed, Listing, ListingKind};
pub(crate) use patch::apply_exactly;
pub use patch::{Accepted, Hunk, PatchProblem, Patched, apply};
pub use read::{Lines, Text};
pub use search::{Case, Hit, Query, SearchResult, Syntax};
pub use status::FileStatus;
pub use walk::Incomplete;
pub use whole::WholeFile;
pub(crate) use write::TEMPORARY;
pub use write::{ABSENT, Written};

/// The text of `WELCOME.md` in a new project.
const WELCOME: &str = include_str!("project/welcome.md");

/// The folder that an agent works in, held as a capability. Clones share the same open folder.
///
/// It owns one open directory handle (cap-std's `Dir`) and the [`Limits`]. [`open`](Self::open) takes the only path from
/// outside, the one an operator configured, and follows symlinks in it. From then on the handle counts and the path does
/// not: if the folder is renamed or its path is replaced by a symlink, the project stays the folder that was opened.
///
/// Each operation goes through the same three steps, in this order:
///
/// 1. [`ProjectPath::parse`] refuses a text that could lead out by itself: `..`, absolute paths that are not below
///    `/project`, backslashes, control characters. Nothing on disk is looked at.
/// 2. The path is resolved beneath the handle: on Linux by one `openat2` call with `RESOLVE_BENEATH`, elsewhere by
///    cap-std component by component. A symlink that stays inside is followed, one that leads out is an error
///    ([`Error::Outside`]).
/// 3. What was opened is checked (a regular file, within the limits) through the open handle and not through its
///    path, so that the checked file and the used file are the same one.
///
/// The obvious way, `canonicalize` and then `starts_with(root)`, has a race: between the check and the use another
/// process, often the agent's own build or a command it runs, can replace a folder of the path by a symlink, and the
/// check has then approved a path to somewhere else. `tests/it/race.rs` replaces folders in a loop for this reason.
/// Skipping step 1 would not open a hole, but a path would then have several spellings, and approvals, rules and
/// `.gitignore` patterns compare texts.
///
/// A writer keeps the folder handle of its file from the lookup to the final rename (`project/write.rs`), so that the
/// file ends up in the folder that was looked at. The one race that remains is between two writers of the same file:
/// the hash in `seen` is compared before the rename, not in the same system call.
///
/// All methods block on the disk. Async code calls them with `spawn_blocking` (`files::on_disk`).
#[derive(Clone)]
pub struct Project {
    inner: Arc<Inner>,
    observed: Observed,
    /// None: every read goes to the disk.
    cache: Option<FileCache>,
}

struct Inner {
    root: Dir,
    limits: Limits,
    is_new: bool,
    /// Where the folder was when it was opened. Commands and watchers need a path; files are never reached by it.
    location: PathBuf,
}

impl Project {
    /// Opens the folder as a project. A missing folder is created with mode 0700, and its parents with the default
    /// mode. Symlinks in `folder` are followed.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::with_limits(folder, Limits::default())
    }

    /// Like [`open`](Self::open), with other limits than the default ones.
    pub fn with_limits(folder: &Path, limits: Limits) -> Result<Self, Error> {
        let opened = make(folder).and_then(|is_new| {
            let root = Dir::open_ambient_dir(folder, ambient_authority())?;
            Ok((root, is_new, folder.canonicalize()?))
        });
        let (root, is_new, location) = opened.map_err(|source| Error::Folder {
            folder: folder.display().to_string(),
            source,
        })?;
        let inner = Inner {
            root,
            limits,
            is_new,
            location,
        };
        Ok(Self {
            inner: Arc::new(inner),
            observed: Observed::default(),
            cache: None,
        })
    }

    fn cache(&self) -> Option<&FileCache> {
        self.cache.as_ref()
    }

    fn with_cache(self, cache: FileCache) -> Self {
        Self {
            cache: Some(cache),
            ..self
        }
    }

    /// Where the folder was when it was opened.
    fn opened_at(&self) -> &Path {
        &self.inner.location
    }

    pub(crate) fn observed(&self) -> &Observed {
        &self.observed
    }

    pub(crate) fn with_observer(self, observed: Observed) -> Self {
        Self { observed, ..self }
    }

    /// Whether the folder was created when this project was opened.
    pub fn is_new(&self) -> bool {
        self.inner.is_new
    }

    /// Writes a short `WELCOME.md` if this project's folder was created when it was opened; does nothing otherwise.
    pub fn welcome(&self) -> Result<(), Error> {
        if self.is_new() {
            self.write(&ProjectPath::parse("WELCOME.md")?, WELCOME, None)?;
        }
        Ok(())
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// The path of the folder, for programs that are started in it. An error if the folder is not there any longer.
    pub(crate) fn location(&self) -> Result<PathBuf, Error> {
        let place = &self.inner.location;
        let is_same = || -> io::Result<bool> {
            let (there, here) = (std::fs::metadata(place)?, self.root().dir_metadata()?);
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt as _;
                let here = (
                    cap_std::fs::MetadataExt::dev(&here),
                    cap_std::fs::MetadataExt::ino(&here),
                );
                Ok((there.dev(), there.ino()) == here)
            }
            #[cfg(not(unix))]
            Ok(there.is_dir() && here.is_dir())
        };
        match is_same() {
            Ok(true) => Ok(place.clone()),
            _ => Err(Error::Moved(place.display().to_string())),
        }
    }

    /// A folder beneath the project after all symlinks, relative to it.
    #[cfg(target_os = "linux")]
    pub(crate) fn folder_beneath(&self, path: &ProjectPath) -> Result<PathBuf, Error> {
        let failed = |error| Error::io(path, error);
        let found = self.root().metadata(path.as_path()).map_err(failed)?;
        if !found.is_dir() {
            return Err(Error::kind(path, Kind::NotFolder));
        }
        self.root().canonicalize(path.as_path()).map_err(failed)
    }

    fn root(&self) -> &Dir {
        &self.inner.root
    }

    /// The content of a file, whatever it is, up to a size.
    pub fn read_bytes(&self, path: &ProjectPath, limit: u64) -> Result<Vec<u8>, Error> {
        bytes(self.root(), path.as_path(), path, limit)
    }

    fn bytes(&self, path: &ProjectPath) -> Result<Vec<u8>, Error> {
        bytes(self.root(), path.as_path(), path, self.limits().file_bytes)
    }

    pub(crate) fn text(&self, path: &ProjectPath) -> Result<String, Error> {
        String::from_utf8(self.bytes(path)?).map_err(|_| Error::NotText(path.clone()))
    }
}

/// Creates a folder with mode 0700 and returns true, or false if it exists.
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

/// Reads the file `name` in `folder`; errors name it as `shown`. Only regular files are read, and never more than
/// `limit` bytes, even if the file grows meanwhile.
fn bytes(folder: &Dir, name: &Path, shown: &ProjectPath, limit: u64) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::io(shown, error);
    let too_large = |bytes| Error::TooLarge {
        path: shown.clone(),
        bytes,
        limit,
    };
    // The kind is checked before opening, because opening a device can have effects, and again on the open handle,
    // because the name may refer to another file by then.
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

/// Options for reading. `O_NONBLOCK`: opening a pipe without a writer must not block the thread.
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

/// The SHA-256 of the bytes, in hexadecimal digits. Callers pass it back as `seen`.
pub(crate) fn hash(bytes: &[u8]) -> String {
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
