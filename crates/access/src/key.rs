//! Keys that verify tokens.

use dial::jwk::{self, Algorithm, Key};
use serde_json::Value;

use crate::Error;

/// How many keys an issuer may publish: each token without the id of a key is verified with all of them.
const MAX_KEYS: usize = 100;

/// The keys of an issuer.
#[derive(Clone, Debug)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Reads a JSON Web Key (RFC 7517), or a set of them: ES256, EdDSA (Ed25519), RS256 and HS256. A set may hold
    /// keys of other kinds or uses, which are left out.
    pub fn read(text: &str) -> Result<Self, Error> {
        let value: Value = serde_json::from_str(text).map_err(|_| Error::Keys("not JSON"))?;
        let members = jwk::members(&value).unwrap_or_default();
        let keys: Vec<Key> = members.into_iter().filter_map(Key::from_jwk).collect();
        if keys.is_empty() {
            return Err(Error::Keys(
                "no JSON Web Key for ES256, EdDSA, RS256 or HS256 among them",
            ));
        }
        Ok(Self(keys))
    }

    /// Reads the keys that an issuer publishes. A secret among them is left out: a reader of the document could sign with it.
    pub fn read_published(text: &str) -> Result<Self, Error> {
        let mut keys = Self::read(text)?;
        keys.0.retain(|key| key.algorithm() != Algorithm::Hs256);
        if keys.0.is_empty() || keys.0.len() > MAX_KEYS {
            return Err(Error::Keys(
                "no JSON Web Key for ES256, EdDSA or RS256 among them, or more than 100",
            ));
        }
        Ok(keys)
    }

    /// Whether a token that names this key could be verified: one of the keys has the id, or has none.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let mut keys = self.0.iter();
        keys.any(|key| key.id().is_none_or(|own| own == id))
    }

    /// Whether one of them is a secret (HS256). A reader of that file can write tokens, so its mode matters.
    pub fn has_secret(&self) -> bool {
        let secret = |key: &Key| key.algorithm() == Algorithm::Hs256;
        self.0.iter().any(secret)
    }

    /// Whether one of the keys signed the message with this algorithm. Where both the token and a key have an id,
    /// only the key of that id is asked.
    pub(crate) fn verify(
        &self,
        algorithm: &str,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let meant = |key: &&Key| match (id, key.id()) {
            (Some(id), Some(own)) => id == own,
            _ => true,
        };
        let mut keys = self.0.iter().filter(meant);
        keys.any(|key| key.algorithm().name() == algorithm && key.verify(message, signature))
    }
}
