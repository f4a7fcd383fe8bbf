//! `monas backup` and `monas restore`: all data of a server in one file, and a data folder from such a file.
//!
//! A running server makes the copy and sends it (`/operator/backup`); without one the data is opened here.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use a2a::types::Timestamp;
use axum::http::Method;
use clap::builder::PathBufValueParser;
use clap::{Arg, ArgMatches};
use serde_json::json;
use store::BackupFile;

use super::backend::{Backend, DataOptions};
use super::client::print::note;
use super::request::{self, RunningServer};
use crate::config::{Config, Data};
use crate::error::Error;
use crate::serve::backup::{BACKUP, keys};

/// A backup, or a restore from one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BackupCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// Into this file, or into a new one in this folder.
    Backup(PathBuf),
    /// From this file.
    Restore(PathBuf),
}

const CONTENTS: &str = "The file has the tasks and the journals, laws and memories of all agents, users, hashes of their \
    keys, sealed secrets, and the key mcp.key. It has not: secrets.key, without which the secrets stay sealed (keep a copy of it \
    elsewhere), project folders (workspace, workspaces), monas.toml, manifests and law files, the keys of TLS and of the card, \
    weights of models. Everything that was said can be read in it; it gets mode 0600.";

/// The command lines of `monas backup` and `monas restore`; `settings` are the flags of the server, which name the data.
pub(crate) fn definitions(settings: &[Arg]) -> [clap::Command; 2] {
    let path = |help: &'static str| {
        Arg::new("path")
            .value_name("PATH")
            .required(true)
            .value_parser(PathBufValueParser::new())
            .help(help)
    };
    let backup = clap::Command::new("backup")
        .about("Copy all data into one file, also while the server runs")
        .long_about(format!(
            "Copies all data, as they are at one moment, into one file. A running server goes on serving; behind [access] the \
             caller needs the scope operator. {CONTENTS}"
        ))
        .after_help("monas backup /backups\nmonas backup monas.backup --server https://agents.example --bearer TOKEN")
        .arg(path("The new file, or a folder in which one with the time in its name is made"));
    let restore = clap::Command::new("restore")
        .about("Make a data folder from a backup")
        .long_about(
            "Makes a data folder from a backup. Data that are there are never overwritten; a damaged file, one of a newer version, \
             and a folder that a server uses are refused.",
        )
        .after_help("monas restore monas.backup --data restored && monas --data restored")
        .arg(path("The file that `monas backup` made"));
    [backup, restore].map(|command| DataOptions::arguments(command, settings))
}

impl BackupCommand {
    /// Reads the matches of the command `name` of [`definitions`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let path = matches.get_one::<PathBuf>("path").cloned();
        let path = path.unwrap_or_default();
        let options = DataOptions::read(matches, config, environment)?;
        let action = match name {
            "restore" => Action::Restore(path),
            _ => Action::Backup(path),
        };
        let named = options.asking.named().filter(|target| target.is_flag());
        if let (Action::Restore(_), Some(_)) = (&action, named) {
            let why = "a backup is restored into a folder of this machine: name it with --data\n";
            let kind = clap::error::ErrorKind::ArgumentConflict;
            return Err(clap::Error::raw(kind, why));
        }
        Ok(Self { action, options })
    }

    /// Makes the backup or the folder, and prints where it is.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        if let Some(database) = &self.options.config.store.url {
            return Err(Error::Database {
                database: database.to_string(),
                instead: match &self.action {
                    Action::Backup(_) => {
                        "back it up with PostgreSQL's own tools (pg_dump, pg_basebackup), and keep mcp.key and secrets.key of the data folder beside"
                    }
                    Action::Restore(_) => {
                        "restore it with PostgreSQL's own tools, or restore the file into a folder without --store and copy that with `monas import`"
                    }
                },
            });
        }
        match &self.action {
            Action::Backup(path) => {
                let file = new_file(path)?;
                let backend = Backend::open(&self.options).await?;
                let made = self.back_up(&backend, &file).await;
                backend.close().await;
                self.report(&file, made?, say);
                Ok(())
            }
            Action::Restore(file) => self.restore(file, say).await,
        }
    }

    async fn back_up(&self, backend: &Backend, file: &Path) -> Result<u64, Error> {
        // A file that is not whole has another name.
        let part = file.with_extension("part");
        let made = async {
            drop(private(&part).map_err(|error| failed(&part, error))?);
            match (backend, &self.options.config.data) {
                (Backend::RunningServer(server), _) => download(server, &part).await?,
                (Backend::OpenedStore { store, .. }, Data::Folder(folder)) => {
                    store.back_up(&part, keys(folder)).await?;
                }
                (Backend::OpenedStore { store, .. }, Data::Memory) => {
                    store.back_up(&part, Vec::new()).await?;
                }
            }
            let checked = part.clone();
            blocking(move || Ok(store::check_backup(&checked)?)).await?;
            finish(&part, file)
        };
        let made = made.await;
        if made.is_err() {
            let _ = fs::remove_file(&part);
        }
        made
    }

    fn report(&self, file: &Path, bytes: u64, say: impl Fn(&str) -> bool) {
        if self.options.json {
            say(&json!({ "file": file, "bytes": bytes }).to_string());
            return;
        }
        say(&file.display().to_string());
        note(&format!("{bytes} bytes, checked. {CONTENTS}"));
    }

    async fn restore(&self, file: &Path, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let Data::Folder(folder) = &self.options.config.data else {
            return Ok(());
        };
        let (source, target) = (file.to_owned(), folder.clone());
        blocking(move || {
            let files = store::restore(&source, &target)?;
            files.iter().try_for_each(|file| write_key(&target, file))
        })
        .await?;
        match self.options.json {
            true => say(&json!({ "data": folder }).to_string()),
            false => say(&folder.display().to_string()),
        };
        let folder = folder.display();
        if !self.options.json {
            note(&format!("restored; `monas --data {folder}` serves it"));
        }
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.expect("reading a file does not panic")
}

/// The file to write: in a folder, one with the time in its name. An existing one is refused before anything is asked.
fn new_file(path: &Path) -> Result<PathBuf, Error> {
    let file = match path.is_dir() {
        true => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let now = now.map(|it| it.as_millis()).unwrap_or_default();
            let now = Timestamp::from_millis(i64::try_from(now).unwrap_or_default()).to_string();
            let now: String = now.chars().take(19).collect();
            path.join(format!("monas-{}.backup", now.replace(':', "")))
        }
        false => path.to_owned(),
    };
    match file.exists() {
        true => Err(failed(&file, std::io::ErrorKind::AlreadyExists.into())),
        false => Ok(file),
    }
}

/// Reads the backup of a running server into a file.
async fn download(server: &RunningServer, part: &Path) -> Result<(), Error> {
    let mut body = request::open(server, Method::GET, BACKUP, String::new()).await?;
    let file = OpenOptions::new().write(true).open(part);
    let mut file = file.map_err(|error| failed(part, error))?;
    while let Some(piece) = body.chunk().await {
        let piece = piece.map_err(|error| request::Failure::Unreachable {
            server: server.address.clone(),
            problem: error.to_string(),
        })?;
        file.write_all(&piece)
            .map_err(|error| failed(part, error))?;
    }
    Ok(())
}

/// Gives a file that is whole its name; gives its length.
fn finish(part: &Path, file: &Path) -> Result<u64, Error> {
    let done = || {
        let open = File::open(part)?;
        open.sync_all()?;
        fs::rename(part, file)?;
        Ok(open.metadata()?.len())
    };
    done().map_err(|error| failed(file, error))
}

fn write_key(folder: &Path, file: &BackupFile) -> Result<(), Error> {
    let path = folder.join(&file.name);
    let write = |mut open: File| {
        open.write_all(&file.content)?;
        open.sync_all()
    };
    private(&path)
        .and_then(write)
        .map_err(|error| failed(&path, error))
}

/// A new file for its owner alone.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Store(store::Error::Io {
        what: "write",
        path: path.to_owned(),
        source: source.into(),
    })
}
