//! The secrets that agents use: where their key is, and that no log shows them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use access::Secrets;
use access::secrets::{FindSealingKey, KEY_BYTES, KeyFile, NoSealingKey, new_key};
use store::Store;

use crate::config::{Config, Data};
use crate::log;
use crate::serve::door::world_readable;
use crate::serve::secret_file;

/// The file in the data folder with the key that seals secrets. It is made with the first secret.
pub(crate) const KEY: &str = "secrets.key";

/// The secrets in a store. Data in memory has a key that ends with the process.
pub(crate) async fn open(config: &Config, store: &Store) -> Result<Secrets, store::Error> {
    let find: FindSealingKey = match &config.data {
        Data::Folder(folder) => {
            let path = folder.join(KEY);
            Arc::new(move |file| in_file(&path, file))
        }
        Data::Memory => {
            let key = new_key().map_err(|error| NoSealingKey(format!("could not {error}")));
            Arc::new(move |_| key.clone())
        }
    };
    Secrets::open(store.clone(), find, Arc::new(log::hide)).await
}

fn in_file(path: &Path, file: KeyFile) -> Result<[u8; KEY_BYTES], NoSealingKey> {
    let named = |problem: String| NoSealingKey(format!("{}: {problem}", path.display()));
    let read = match file {
        KeyFile::Expected => std::fs::read(path),
        KeyFile::MadeIfMissing => secret_file::read_or_make(path, made),
    };
    let key = read.map_err(|error| named(format!("{error}; restore it from where it was kept")))?;
    if world_readable(path).map_err(|error| named(error.to_string()))? {
        return Err(named("all users may read it; chmod 600 it".to_owned()));
    }
    let length = key.len();
    key.try_into().map_err(|_| {
        named(format!(
            "it has {length} bytes instead of {KEY_BYTES}: it is damaged"
        ))
    })
}

fn made() -> io::Result<Vec<u8>> {
    Ok(new_key().map_err(io::Error::other)?.to_vec())
}
