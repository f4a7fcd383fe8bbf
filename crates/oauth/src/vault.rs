//! Where tokens are kept: a file for each resource, readable by its owner alone; or memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::pkce::hashed;
use crate::{Error, OAuthClient, Token};

/// What is kept of a sign-in at one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The address of the resource. Its tokens are shown to nothing else.
    pub resource: String,
    /// The issuer of the tokens, and the only one that the client is shown to.
    pub issuer: String,
    pub client: OAuthClient,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// The scopes that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The key of proofs, if the tokens are bound to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_key: Option<String>,
    /// The identifier that requests for tokens name (RFC 8707).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
}

/// Keeps tokens. Clones share them.
#[derive(Clone, Debug)]
pub struct Vault(Arc<VaultStorage>);

#[derive(Debug)]
enum VaultStorage {
    Memory(Mutex<BTreeMap<String, Kept>>),
    Folder(PathBuf),
}

impl Vault {
    /// Tokens are forgotten with the process.
    pub fn memory() -> Self {
        Self(Arc::new(VaultStorage::Memory(Mutex::default())))
    }

    /// Tokens are kept in files of this folder, which is made when the first is kept.
    pub fn folder(folder: impl Into<PathBuf>) -> Self {
        Self(Arc::new(VaultStorage::Folder(folder.into())))
    }

    pub fn load(&self, resource: &str) -> Result<Option<Kept>, Error> {
        let folder = match &*self.0 {
            VaultStorage::Memory(kept) => {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(kept.get(resource).cloned());
            }
            VaultStorage::Folder(folder) => folder,
        };
        let path = file(folder, resource);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| failed(&path, error.to_string()))?,
        };
        if is_shared(&path) {
            let problem = "other users may read it; chmod 600 it, and sign in again";
            return Err(failed(&path, problem.to_owned()));
        }
        let kept: Kept = serde_json::from_slice(&text)
            .map_err(|error| failed(&path, format!("{error}; delete it, and sign in again")))?;
        Ok((kept.resource == resource).then_some(kept))
    }

    /// Keeps a sign-in in place of an earlier one of the same resource. The file is written beside it and renamed, so that
    /// it is whole or the old one.
    pub fn save(&self, kept: &Kept) -> Result<(), Error> {
        let folder = match &*self.0 {
            VaultStorage::Memory(all) => {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(kept.resource.clone(), kept.clone());
                return Ok(());
            }
            VaultStorage::Folder(folder) => folder,
        };
        let path = file(folder, &kept.resource);
        let text = serde_json::to_vec_pretty(kept).expect("what is kept is always JSON");
        write(folder, &path, &text).map_err(|error| failed(&path, error.to_string()))
    }

    /// Forgets a sign-in. Whether there was one.
    pub fn remove(&self, resource: &str) -> Result<bool, Error> {
        match &*self.0 {
            VaultStorage::Memory(kept) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(kept.remove(resource).is_some())
            }
            VaultStorage::Folder(folder) => {
                let path = file(folder, resource);
                match fs::remove_file(&path) {
                    Ok(()) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                    Err(error) => Err(failed(&path, error.to_string())),
                }
            }
        }
    }
}

/// The file of a resource. Its name is a hash: an address has characters that a name of a file has not.
fn file(folder: &Path, resource: &str) -> PathBuf {
    folder.join(format!("{}.json", &hashed(resource)[..32]))
}

fn write(folder: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.create(folder)?;
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    // One that a process of this number left behind may have another mode.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = options.open(&beside)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(unix)]
fn is_shared(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|file| file.mode() & 0o077 != 0)
}

/// Other systems have other permissions, which are not checked.
#[cfg(not(unix))]
fn is_shared(_: &Path) -> bool {
    false
}

fn failed(path: &Path, problem: String) -> Error {
    Error::Vault {
        place: path.display().to_string(),
        problem,
    }
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
