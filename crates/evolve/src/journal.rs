//! Where the events of a run are kept.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::event::Event;

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

/// A stream of events that a run owns. A server has one in its store, a run of a folder has a file.
pub trait Journal: Send {
    /// All events so far, in their order.
    fn read(&mut self) -> Result<Vec<Event>, Error>;

    /// Adds an event. When this returns, the end of the process does not lose it.
    fn append(&mut self, event: &Event) -> Result<(), Error>;
}

/// A file with an event in each line.
///
/// A process that is killed while it writes leaves a line without an end, which is dropped when the file is read. One process at a
/// time works on a file: it holds a lock, which the system releases however the process ends.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    file: File,
}

impl FileJournal {
    /// Opens the file of a run, or begins one.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        }
        let opened = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path);
        let file = opened.map_err(Error::file("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(Error::Busy(path.to_owned())),
            Err(fs::TryLockError::Error(source)) => return Err(Error::file("lock", path)(source)),
        }
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// The events of a file that another process may be working on.
    pub fn look(path: &Path) -> Result<Vec<Event>, Error> {
        let text = fs::read(path).map_err(Error::file("read", path))?;
        parse(path, &text).map(|it| it.0)
    }
}

impl Journal for FileJournal {
    fn read(&mut self) -> Result<Vec<Event>, Error> {
        let mut text = Vec::new();
        let read = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.read_to_end(&mut text));
        read.map_err(Error::file("read", &self.path))?;
        let (events, whole) = parse(&self.path, &text)?;
        if whole < text.len() {
            self.file
                .set_len(whole as u64)
                .map_err(Error::file("mend", &self.path))?;
        }
        Ok(events)
    }

    fn append(&mut self, event: &Event) -> Result<(), Error> {
        let unwritable = |it: serde_json::Error| Error::file("write", &self.path)(it.into());
        let mut line = serde_json::to_vec(event).map_err(unwritable)?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(Error::file("write", &self.path))
    }
}

/// The events of a text, and how many bytes of it are whole lines.
fn parse(path: &Path, text: &[u8]) -> Result<(Vec<Event>, usize), Error> {
    let mut events = Vec::new();
    let mut whole = 0;
    for (number, line) in text.split_inclusive(|it| *it == b'\n').enumerate() {
        if !line.ends_with(b"\n") {
            break;
        }
        whole += line.len();
        let event = serde_json::from_slice(line).map_err(|it| Error::Record {
            path: path.to_owned(),
            line: number + 1,
            problem: it.to_string(),
        })?;
        events.push(event);
    }
    Ok((events, whole))
}
