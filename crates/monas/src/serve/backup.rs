//! `/operator/backup`: one file with all data of the server, made while it runs.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::get;
use futures_util::stream;
use store::{BackupFile, Store};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::serve::mcp;

/// Gives a backup as the body of the reply.
pub(crate) const BACKUP: &str = "/operator/backup";

/// How much of the file is sent at once.
const PIECE: usize = 256 << 10;

/// The route, for data in a folder. Callers need the permission `operate`.
pub(crate) fn routes(store: Store, folder: PathBuf) -> Router {
    Router::new().route(BACKUP, get(give)).with_state(Backups {
        store,
        folder,
        one: Arc::new(Semaphore::new(1)),
    })
}

#[derive(Clone)]
struct Backups {
    store: Store,
    folder: PathBuf,
    /// A backup needs as much space as the data, so one is made at a time.
    one: Arc<Semaphore>,
}

/// Makes a copy in the data folder, and sends it. The copy has no name while it is sent, so that nothing is left of it
/// however the transfer ends.
async fn give(State(backups): State<Backups>) -> Response<Body> {
    let failed =
        |status: StatusCode, problem: String| workspace::api::refusal(status, "failed", &problem);
    let Ok(permit) = Arc::clone(&backups.one).try_acquire_owned() else {
        let problem = "another backup is being made; try again when it has ended";
        return failed(StatusCode::CONFLICT, problem.to_owned());
    };
    match copy(&backups).await {
        Ok(file) => {
            let mut response = Response::new(Body::from_stream(pieces(file, permit)));
            let headers = response.headers_mut();
            let kind = HeaderValue::from_static("application/vnd.sqlite3");
            headers.insert(CONTENT_TYPE, kind);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(problem) => {
            tracing::error!("backup failed: could not {problem}");
            let problem = format!("could not {problem}");
            failed(StatusCode::INTERNAL_SERVER_ERROR, problem)
        }
    }
}

async fn copy(backups: &Backups) -> Result<File, store::Error> {
    let Backups { store, folder, .. } = backups;
    let path = folder.join(format!("backup-{}.tmp", uuid::Uuid::new_v4()));
    store.back_up(&path, keys(folder)).await?;
    let opened = File::open(&path);
    let removed = fs::remove_file(&path);
    opened
        .and_then(|file| removed.map(|()| file))
        .map_err(|source| store::Error::Io {
            what: "open",
            path,
            source: Arc::new(source),
        })
}

/// The keys in a data folder, which belong to its data.
pub(crate) fn keys(folder: &Path) -> Vec<BackupFile> {
    let key = fs::read(folder.join(mcp::KEY)).ok();
    let key = key.map(|content| BackupFile {
        name: mcp::KEY.to_owned(),
        content,
    });
    key.into_iter().collect()
}

fn pieces(
    file: File,
    permit: OwnedSemaphorePermit,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    stream::unfold(Some((file, permit)), async |sending| {
        let (mut file, permit) = sending?;
        let reading = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let read = file.read(&mut piece)?;
            piece.truncate(read);
            Ok::<_, io::Error>((file, piece))
        });
        match reading.await.map_err(io::Error::other).flatten() {
            Ok((_, piece)) if piece.is_empty() => None,
            Ok((file, piece)) => Some((Ok(piece.into()), Some((file, permit)))),
            Err(error) => Some((Err(error), None)),
        }
    })
}
