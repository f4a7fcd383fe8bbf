//! The key that signs the card.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use a2a::signature::{self, SigningKey};

use crate::serve::door::world_readable;

/// Why a key cannot be used. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not exist or may not be read.
    #[error("read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// Other users of the machine could sign in the agent's name.
    #[error("use {}: all users may read it; chmod 600 it, and make a new key if it was shared", path.display())]
    Open { path: PathBuf },
    /// The file holds no usable key.
    #[error("use {}: could not {source}", path.display())]
    Content {
        path: PathBuf,
        source: signature::Error,
    },
    /// The system has no random numbers.
    #[error(transparent)]
    Make(signature::Error),
}

/// Reads a private key. The file must not be readable for all users; its group may, which is how secrets are mounted.
pub(crate) fn read(path: &Path) -> Result<SigningKey, Error> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let text = fs::read_to_string(path).map_err(failed)?;
    if world_readable(path).map_err(failed)? {
        let path = path.to_owned();
        return Err(Error::Open { path });
    }
    SigningKey::from_pem(&text).map_err(|source| Error::Content {
        path: path.to_owned(),
        source,
    })
}
