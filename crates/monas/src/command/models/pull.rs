//! Fetches weights from where they are published, from another URL, from a folder or from an archive. Files that are there
//! are not fetched again, an interrupted transfer is resumed, and a file gets its name only if its hash is right.

use std::fs;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::RANGE;
use axum::http::{Request, StatusCode, Uri};
use dial::{HttpClient, Redirects};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use crate::serve::models::weights::{File, Weights};

/// How long a server may take to respond, and between two pieces of a file.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often an interrupted transfer is resumed without receiving anything.
const ATTEMPTS: u32 = 5;

/// The source of weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A URL; names of files are appended to it.
    Url(Uri),
    /// A folder or an archive (zip, or a Python wheel) that has the files, at any depth.
    Path(PathBuf),
}

/// Why weights could not be fetched. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be written.
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The source cannot be read.
    #[error("read {}: {problem}", path.display())]
    Read { path: PathBuf, problem: String },
    /// The folder or archive does not have the file.
    #[error("find {file} in {}", path.display())]
    Missing { file: String, path: PathBuf },
    /// The server refuses or cannot be reached.
    #[error("fetch {url}: {problem}")]
    Fetch { url: String, problem: String },
    /// The content is wrong; it was deleted.
    #[error("use {file}: its hash is {found}, not {expected}")]
    Hash {
        file: String,
        found: String,
        expected: &'static str,
    },
}

/// The progress of a transfer.
pub(super) trait Progress {
    /// This part of a file is there.
    fn at(&mut self, file: &str, bytes: u64, of: u64);
    /// A file is complete and its hash is right.
    fn done(&mut self, file: &str);
}

/// Fetches the missing files of weights into their folder in the data folder.
pub(super) async fn pull(
    weights: &Weights,
    source: &Source,
    data: &Path,
    client: &HttpClient,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let folder = weights.folder(data);
    fs::create_dir_all(&folder).map_err(|source| Error::Write {
        path: folder.clone(),
        source,
    })?;
    for file in weights.files {
        let whole = folder.join(file.name);
        if whole.is_file() {
            progress.done(file.name);
            continue;
        }
        let mut part = Part::open(file, &folder)?;
        match source {
            Source::Url(base) => fetch(client, base, &mut part, progress).await?,
            Source::Path(path) => copy(path, &mut part, progress)?,
        }
        part.keep(&whole)?;
        progress.done(file.name);
    }
    Ok(())
}

/// A file that is being fetched: its length so far and the hash of that part.
struct Part {
    file: File,
    path: PathBuf,
    out: fs::File,
    length: u64,
    hash: Sha256,
}

impl Part {
    /// Opens a partial file to continue it, or begins one.
    fn open(file: &File, folder: &Path) -> Result<Self, Error> {
        let path = folder.join(format!("{}.part", file.name));
        let open = || -> io::Result<_> {
            let mut options = fs::OpenOptions::new();
            let mut out = options
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            let mut hash = Sha256::new();
            let length = io::copy(&mut out, &mut HashWriter(&mut hash))?;
            Ok((out, hash, length))
        };
        let (out, hash, length) = open().map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?;
        let mut part = Self {
            file: *file,
            path,
            out,
            length,
            hash,
        };
        // A longer file is not a part of this one.
        if part.length > file.size {
            part.restart()?;
        }
        Ok(part)
    }

    /// Deletes the part that is there.
    fn restart(&mut self) -> Result<(), Error> {
        let cut = self
            .out
            .set_len(0)
            .and_then(|()| self.out.seek(SeekFrom::Start(0)));
        cut.map_err(|source| self.unwritten(source))?;
        self.length = 0;
        self.hash = Sha256::new();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.out.write_all(bytes);
        written.map_err(|source| self.unwritten(source))?;
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Renames the file if its hash is right; otherwise deletes it.
    fn keep(mut self, whole: &Path) -> Result<(), Error> {
        let found: String = self
            .hash
            .finalize_reset()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if found != self.file.sha256 {
            let _ = fs::remove_file(&self.path);
            return Err(Error::Hash {
                file: self.file.name.to_owned(),
                found,
                expected: self.file.sha256,
            });
        }
        let kept = self
            .out
            .sync_all()
            .and_then(|()| fs::rename(&self.path, whole));
        kept.map_err(|source| self.unwritten(source))
    }

    fn unwritten(&self, source: io::Error) -> Error {
        Error::Write {
            path: self.path.clone(),
            source,
        }
    }
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fetches the rest of a file. A broken connection is made again, as long as each one brings something.
async fn fetch(
    client: &HttpClient,
    base: &Uri,
    part: &mut Part,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let name = part.file.name;
    let url = format!("{}/{name}", base.to_string().trim_end_matches('/'));
    let address: Uri = url.parse().map_err(|_| Error::Fetch {
        url: url.clone(),
        problem: "not a URL".to_owned(),
    })?;
    let mut left = ATTEMPTS;
    while part.length < part.file.size {
        let before = part.length;
        let Err(problem) = transfer(client, &address, part, progress).await? else {
            continue;
        };
        left = match part.length > before {
            true => ATTEMPTS,
            false => left - 1,
        };
        if left == 0 || matches!(problem, Broken::Refused(_)) {
            let problem = problem.to_string();
            return Err(Error::Fetch { url, problem });
        }
        tracing::debug!(url, %problem, at = part.length, "resuming an interrupted transfer");
    }
    Ok(())
}

/// Why a transfer ended before the end of the file.
#[derive(Debug, thiserror::Error)]
enum Broken {
    /// The server refuses; there is no retry.
    #[error("{0}")]
    Refused(String),
    /// It can be resumed.
    #[error("{0}")]
    Interrupted(String),
}

/// Sends one request and stores its response. The outer error is a local one and final.
async fn transfer(
    client: &HttpClient,
    url: &Uri,
    part: &mut Part,
    progress: &mut dyn Progress,
) -> Result<Result<(), Broken>, Error> {
    let slow = || Broken::Interrupted(format!("no data within {PATIENCE:?}"));
    let range = format!("bytes={}-", part.length);
    let request = Request::get(url.clone()).header(RANGE, range);
    let request = match request.body(Bytes::new()) {
        Ok(request) => request,
        Err(error) => return Ok(Err(Broken::Refused(error.to_string()))),
    };
    let asked = client.send(request, Redirects::Any);
    let response = match timeout(PATIENCE, asked).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) if error.is_unsent() || matches!(error, dial::Error::Interrupted(_)) => {
            return Ok(Err(Broken::Interrupted(error.to_string())));
        }
        Ok(Err(error)) => return Ok(Err(Broken::Refused(error.to_string()))),
        Err(_) => return Ok(Err(slow())),
    };
    match response.status() {
        StatusCode::PARTIAL_CONTENT => {}
        // A server without range requests sends the whole file again.
        StatusCode::OK => part.restart()?,
        status if status.is_server_error() => {
            return Ok(Err(Broken::Interrupted(status.to_string())));
        }
        status => return Ok(Err(Broken::Refused(status.to_string()))),
    }
    let (name, size) = (part.file.name, part.file.size);
    let mut body = response.into_body();
    loop {
        let piece = match timeout(PATIENCE, body.chunk()).await {
            Ok(None) => break,
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => return Ok(Err(Broken::Interrupted(error.to_string()))),
            Err(_) => return Ok(Err(slow())),
        };
        if part.length + piece.len() as u64 > size {
            let why = format!("longer than {size} bytes");
            return Ok(Err(Broken::Refused(why)));
        }
        part.write(&piece)?;
        progress.at(name, part.length, size);
    }
    match part.length == size {
        true => Ok(Ok(())),
        false => Ok(Err(Broken::Interrupted("the connection ended".to_owned()))),
    }
}

/// Copies a file from a folder or an archive, always from its beginning.
fn copy(from: &Path, part: &mut Part, progress: &mut dyn Progress) -> Result<(), Error> {
    let unread = |problem: String| Error::Read {
        path: from.to_owned(),
        problem,
    };
    part.restart()?;
    if from.is_dir() {
        let path = from.join(part.file.name);
        let file = fs::File::open(&path).map_err(|_| missing(from, part))?;
        return take(file, part, progress, &unread);
    }
    unpack(from, part, progress, &unread)
}

fn missing(from: &Path, part: &Part) -> Error {
    Error::Missing {
        file: part.file.name.to_owned(),
        path: from.to_owned(),
    }
}

/// Copies one file out of an archive.
#[cfg(any(feature = "local", test))]
fn unpack(
    from: &Path,
    part: &mut Part,
    progress: &mut dyn Progress,
    unread: &dyn Fn(String) -> Error,
) -> Result<(), Error> {
    let file = fs::File::open(from).map_err(|error| unread(error.to_string()))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| unread(error.to_string()))?;
    // An archive can have other files of this name in its folders; the size tells them apart.
    let wanted = (0..archive.len()).find(|&index| {
        archive.by_index_raw(index).is_ok_and(|it| {
            let named = |name: &str| name.rsplit('/').next() == Some(part.file.name);
            it.name().is_ok_and(|name| named(&name)) && it.size() == part.file.size
        })
    });
    let index = wanted.ok_or_else(|| missing(from, part))?;
    let entry = archive
        .by_index(index)
        .map_err(|error| unread(error.to_string()))?;
    take(entry, part, progress, unread)
}

/// Weights are of use to a program with the feature `local` only, so a program without it reads no archives.
#[cfg(not(any(feature = "local", test)))]
fn unpack(
    _from: &Path,
    _part: &mut Part,
    _progress: &mut dyn Progress,
    unread: &dyn Fn(String) -> Error,
) -> Result<(), Error> {
    Err(unread(
        "not a folder, and reading an archive needs a program built with --features local"
            .to_owned(),
    ))
}

/// Reads to the end, at most the expected size.
fn take(
    from: impl Read,
    part: &mut Part,
    progress: &mut dyn Progress,
    unread: &dyn Fn(String) -> Error,
) -> Result<(), Error> {
    let (name, size) = (part.file.name, part.file.size);
    let mut from = from.take(size.saturating_add(1));
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = from
            .read(&mut buffer)
            .map_err(|error| unread(error.to_string()))?;
        if count == 0 {
            return Ok(());
        }
        part.write(&buffer[..count])?;
        progress.at(name, part.length, size);
    }
}
