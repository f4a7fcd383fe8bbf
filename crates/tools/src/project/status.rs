//! The state of a file as its folder knows it, without reading it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::Metadata;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;

/// Two changes within this time can leave the same time at a file: that is how often a system looks at its clock.
const TICK: Duration = Duration::from_millis(50);

/// The size of a file and when it was changed. While both are the same, the content is, unless the file was changed
/// [within the tick](Self::is_settled) of the clock in which this was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStatus {
    pub bytes: u64,
    /// In nanoseconds since 1970: when content or name were changed, where the system knows, else the content alone.
    pub changed: u64,
    /// The number of the file in its file system; 0 where there is none.
    pub number: u64,
}

impl FileStatus {
    pub(super) fn of(found: &Metadata) -> Self {
        #[cfg(unix)]
        let (changed, number) = {
            use cap_std::fs::MetadataExt as _;
            let nanoseconds =
                i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec());
            (u64::try_from(nanoseconds).unwrap_or_default(), found.ino())
        };
        #[cfg(not(unix))]
        let (changed, number) = {
            let at = found.modified().map(cap_std::time::SystemTime::into_std);
            (at.map_or(0, nanoseconds), 0)
        };
        Self {
            bytes: found.len(),
            changed,
            number,
        }
    }

    /// Whether a later change of the file is certain to show: the last one is older than a tick of the clock.
    pub fn is_settled(&self) -> bool {
        let now = nanoseconds(SystemTime::now());
        let tick = u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX);
        self.changed.saturating_add(tick) < now
    }
}

fn nanoseconds(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Project {
    /// The status of a file. None: there is no file at this path.
    pub fn status(&self, path: &ProjectPath) -> Result<Option<FileStatus>, Error> {
        match self.root().metadata(path.as_path()) {
            Ok(found) => Ok(found.is_file().then(|| FileStatus::of(&found))),
            Err(error) => match Error::io(path, error) {
                Error::NotFound(_) => Ok(None),
                error => Err(error),
            },
        }
    }
}
