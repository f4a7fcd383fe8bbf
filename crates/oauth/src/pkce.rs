//! Random values of a sign-in, and the proof that the code is ours (PKCE, RFC 7636).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::Error;

/// The secret of one authorization request, and what the authorization server sees of it first.
#[derive(Clone)]
pub struct Pkce {
    pub(crate) verifier: String,
    pub(crate) challenge: String,
}

impl Pkce {
    pub fn new() -> Result<Self, Error> {
        let verifier = random()?;
        Ok(Self {
            challenge: hashed(&verifier),
            verifier,
        })
    }
}

impl std::fmt::Debug for Pkce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pkce").finish_non_exhaustive()
    }
}

/// 256 random bits as text.
pub(crate) fn random() -> Result<String, Error> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Error::Random)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The SHA-256 of a text, as PKCE and DPoP write it.
pub(crate) fn hashed(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}
