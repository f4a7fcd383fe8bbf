//! Files between pages and the project: downloads into it, uploads out of it.
//!
//! Chromium reads and writes files in the profile folder alone. A download is moved into the project when it is whole, by the
//! project's own operations, which no name and no symlink leads out of; an upload is a copy of a file of the project.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tools::{Project, ProjectPath};

use super::Turn;
use crate::error::Error;
use crate::session::TransferState;

/// The folder of the project for downloads.
const FOLDER: &str = "downloads";

/// How many names are tried for a download.
const NAMES: usize = 100;

/// A download that has ended.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Download {
    /// The address that it came from.
    pub url: String,
    /// The name that the page gave it.
    pub name: String,
    /// The file in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub bytes: u64,
    /// Why there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Turn {
    /// Gives files of the project to a field for files.
    pub async fn upload(
        &self,
        project: &Project,
        element: u32,
        snapshot: Option<u32>,
        paths: &[String],
    ) -> Result<(), Error> {
        let (tab, id) = self.handle("give files to", element, snapshot).await?;
        let mut copies = Vec::new();
        for path in paths {
            copies.push(self.copy(project, path).await?);
        }
        let params = json!({ "files": copies, "backendNodeId": id.node });
        let given = tab
            .call_in(&id.session, "DOM.setFileInputFiles", params)
            .await;
        given.map_err(|error| match error {
            Error::Protocol { message, .. } => Error::Unfit {
                doing: format!("give files to element {element}"),
                problem: format!("it is no field for files ({message})"),
            },
            other => other,
        })?;
        self.note(format!("gave {} to element {element}", paths.join(", ")));
        Ok(())
    }

    /// A copy of a file of the project, where Chromium may read it.
    async fn copy(&self, project: &Project, path: &str) -> Result<String, Error> {
        let failed = |problem: String| Error::File {
            doing: "upload".to_owned(),
            problem,
        };
        let parsed = ProjectPath::parse(path).map_err(|error| failed(error.to_string()))?;
        let limit = self.session().options().limits.file_bytes;
        let project = project.clone();
        let folder = self
            .session()
            .uploads()
            .join(uuid::Uuid::new_v4().simple().to_string());
        let copied = tokio::task::spawn_blocking(move || {
            let bytes = project
                .read_bytes(&parsed, limit)
                .map_err(|error| error.to_string())?;
            std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            let name = parsed
                .as_str()
                .rsplit('/')
                .next()
                .unwrap_or("file")
                .to_owned();
            let copy = folder.join(name);
            std::fs::write(&copy, bytes).map_err(|error| error.to_string())?;
            Ok(copy.display().to_string())
        });
        let copied: Result<String, String> = copied
            .await
            .unwrap_or_else(|_| Err("the work was ended".to_owned()));
        copied.map_err(failed)
    }

    pub(super) fn has_ended_download(&self) -> bool {
        let transfers = self.session().transfers();
        transfers
            .values()
            .any(|it| it.state != TransferState::Begun)
    }

    /// Whether a download is under way.
    pub fn is_downloading(&self) -> bool {
        let transfers = self.session().transfers();
        transfers
            .values()
            .any(|it| it.state == TransferState::Begun)
    }

    /// Waits a moment for downloads that are almost there.
    pub async fn downloads_soon(&self, within: Duration) {
        let mut changes = self.session().changes();
        let waited = async {
            while self.is_downloading() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(within, waited).await;
    }

    /// Moves downloads that have ended into the project, and says what became of them.
    pub async fn downloads(&self, project: Option<&Project>) -> Vec<Download> {
        let ended: Vec<_> = {
            let mut transfers = self.session().transfers();
            transfers
                .extract_if(|_, it| it.state != TransferState::Begun)
                .collect()
        };
        let mut downloads = Vec::new();
        for (guid, transfer) in ended {
            let file = self.session().downloads().join(&guid);
            let kept = match (&transfer.state, project) {
                (TransferState::Failed(why), _) => Err(why.clone()),
                (_, None) => Err("there is no project to keep it in".to_owned()),
                (_, Some(project)) => {
                    let project = project.clone();
                    let (name, file) = (transfer.name.clone(), file.clone());
                    let limit = self.session().options().limits.file_bytes;
                    let kept =
                        tokio::task::spawn_blocking(move || keep(&project, &name, &file, limit));
                    kept.await
                        .unwrap_or_else(|_| Err("the work was ended".to_owned()))
                }
            };
            let _ = tokio::fs::remove_file(&file).await;
            let mut download = Download {
                url: self.session().redact(&transfer.url),
                name: transfer.name,
                path: None,
                bytes: 0,
                failed: None,
            };
            match kept {
                Ok((path, bytes)) => {
                    self.note(format!("downloaded {path} ({bytes} bytes)"));
                    download.path = Some(path);
                    download.bytes = bytes;
                }
                Err(why) => download.failed = Some(why),
            }
            downloads.push(download);
        }
        downloads
    }
}

/// Puts a file into the project under a free name.
fn keep(
    project: &Project,
    name: &str,
    file: &std::path::Path,
    limit: u64,
) -> Result<(String, u64), String> {
    let size = std::fs::metadata(file)
        .map_err(|error| error.to_string())?
        .len();
    if size > limit {
        return Err(format!("it is larger than {limit} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let name = safe(name);
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem.to_owned(), format!(".{ending}")),
        _ => (name, String::new()),
    };
    for count in 1..=NAMES {
        let number = if count == 1 {
            String::new()
        } else {
            format!("-{count}")
        };
        let path = format!("{FOLDER}/{stem}{number}{ending}");
        let path = ProjectPath::parse(&path).map_err(|error| error.to_string())?;
        match project.create(&path, &bytes) {
            Ok(()) => return Ok((path.to_string(), size)),
            Err(tools::Error::Exists(_)) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err(format!("{NAMES} files have this name already"))
}

/// A name that a page chose, as a name of one file that is not hidden.
fn safe(name: &str) -> String {
    let fits = |it: char| {
        !it.is_control() && !matches!(it, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
    };
    let name: String = name
        .chars()
        .map(|it| if fits(it) { it } else { '_' })
        .take(100)
        .collect();
    let name = name.trim_matches(['.', ' ']).to_owned();
    match name.is_empty() {
        true => "download".to_owned(),
        false => name,
    }
}
