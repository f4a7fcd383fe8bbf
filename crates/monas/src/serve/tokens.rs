//! The server's own tokens: where their secret is, the owner's token, and the link that the owner opens.
//!
//! The secret in the data folder is made with the first server or the first token. `JWT_SECRET` is accepted beside it and not
//! instead of it, so that commands of the same account need no variable: what can read the data folder can do everything
//! with the data anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use access::own_token::LIFETIME;
use access::{Role, TokenSecret};
use workspace::api::session::IssueToken;

use crate::config::Data;
use crate::config::access::OwnTokens;
use crate::serve::door::world_readable;
use crate::serve::secret_file;

/// The file in the data folder with the secret.
pub(crate) const SECRET: &str = "tokens.key";

/// The user of the person at this machine: of the link that the server prints, and of the command line.
pub(crate) const OWNER: &str = "local";

/// Why there is no token. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read or made.
    #[error("use the secret {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Other users of the machine could sign tokens.
    #[error("use the secret {}: all users may read it; delete it, and a new one is made, which ends all tokens", path.display())]
    Open { path: PathBuf },
    #[error("use the secret {}: it is empty; delete it, and a new one is made", path.display())]
    Empty { path: PathBuf },
    /// It was cut off, or written by hand: it could be guessed from a token.
    #[error(
        "use the secret {}: it has {bytes} bytes instead of at least 32; restore it, or delete it, and a new one is made, \
         which ends all tokens", path.display()
    )]
    Short { path: PathBuf, bytes: usize },
    #[error(transparent)]
    Token(#[from] access::Error),
}

/// The secrets of a server: the one that signs the owner's tokens, and all that are accepted.
#[derive(Debug)]
pub(crate) struct TokenSecrets {
    pub(crate) own: TokenSecret,
    pub(crate) other: Option<TokenSecret>,
}

impl TokenSecrets {
    /// The secrets for a place of data; none where own tokens are not accepted. Data in memory has a secret that ends with
    /// the process.
    pub(crate) fn of(data: &Data, tokens: &OwnTokens) -> Result<Option<Self>, Error> {
        let OwnTokens::On { other } = tokens else {
            return Ok(None);
        };
        if other.as_ref().is_some_and(TokenSecret::is_short) {
            tracing::warn!(
                "JWT_SECRET has fewer than 32 bytes and could be guessed from a token: `openssl rand -hex 32` makes a better one"
            );
        }
        let own = match data {
            Data::Folder(folder) => in_folder(folder)?,
            Data::Memory => TokenSecret::generate()?,
        };
        let other = other.clone();
        Ok(Some(Self { own, other }))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &TokenSecret> {
        std::iter::once(&self.own).chain(&self.other)
    }
}

/// The secret in a data folder, which is made if there is none.
pub(crate) fn in_folder(folder: &Path) -> Result<TokenSecret, Error> {
    let path = folder.join(SECRET);
    let make = || {
        let secret = TokenSecret::generate().map_err(io::Error::other)?;
        Ok(secret.bytes().to_vec())
    };
    let read = secret_file::read_or_make(&path, make);
    match read.and_then(|bytes| Ok((bytes, world_readable(&path)?))) {
        Ok((_, true)) => Err(Error::Open { path }),
        Ok((bytes, false)) => {
            let bytes = bytes.trim_ascii();
            match TokenSecret::new(bytes) {
                None => Err(Error::Empty { path }),
                Some(secret) if secret.is_short() => Err(Error::Short {
                    path,
                    bytes: bytes.len(),
                }),
                Some(secret) => Ok(secret),
            }
        }
        Err(source) => Err(Error::File { path, source }),
    }
}

/// A token of the owner of a data folder; none if there is no secret, or not for this account.
pub(crate) fn of_owner(folder: &Path) -> Option<String> {
    let bytes = fs::read(folder.join(SECRET)).ok()?;
    let secret = TokenSecret::new(bytes.trim_ascii()).filter(|it| !it.is_short())?;
    for_owner(&secret, LIFETIME).ok()
}

/// A token of the owner, who may do everything.
pub(crate) fn for_owner(secret: &TokenSecret, lifetime: Duration) -> Result<String, access::Error> {
    secret.sign(OWNER, Some(Role::Admin), lifetime, SystemTime::now())
}

/// Signs tokens for users that sign in by a link. They have the role that the user has in the data when they are used.
pub(crate) fn for_users(secret: TokenSecret) -> IssueToken {
    Arc::new(move |user| {
        let now = SystemTime::now();
        let token = secret.sign(user, None, LIFETIME, now)?;
        let until = (now + LIFETIME).duration_since(UNIX_EPOCH);
        Ok((token, until.unwrap_or_default().as_secs()))
    })
}

/// The address of the page with a token in its fragment, which browsers do not send.
pub(crate) fn link(url: &str, token: &str) -> String {
    format!("{}/#token={token}", url.trim_end_matches('/'))
}
