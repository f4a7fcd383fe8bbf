//! The header `Content-Digest` (RFC 9530).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use sfv::ListEntry;
use sha2::{Digest as _, Sha256, Sha512};
use subtle::ConstantTimeEq as _;

use super::{CONTENT_DIGEST, SignatureFault, dictionary};

/// The digests of a body that are known here: at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digests {
    sha256: Option<Vec<u8>>,
    sha512: Option<Vec<u8>>,
}

impl Digests {
    /// Reads the header. Digests of other kinds are left out, as RFC 9530 has it.
    pub(super) fn read(headers: &HeaderMap) -> Result<Self, SignatureFault> {
        let all = dictionary(headers, CONTENT_DIGEST).ok_or(SignatureFault::DigestForm)?;
        let bytes = |name: &str| match all.get(name) {
            None => Ok(None),
            Some(ListEntry::Item(item)) => {
                let bytes = item.bare_item.as_byte_sequence();
                bytes
                    .map(|it| Some(it.to_vec()))
                    .ok_or(SignatureFault::DigestForm)
            }
            Some(ListEntry::InnerList(_)) => Err(SignatureFault::DigestForm),
        };
        let digests = Self {
            sha256: bytes("sha-256")?,
            sha512: bytes("sha-512")?,
        };
        match digests.sha256.is_some() || digests.sha512.is_some() {
            true => Ok(digests),
            false => Err(SignatureFault::DigestForm),
        }
    }

    /// Whether the body has all of them.
    pub(super) fn check(&self, body: &[u8]) -> Result<(), SignatureFault> {
        let fits = |given: &Option<Vec<u8>>, digest: &dyn Fn() -> Vec<u8>| {
            let same = |given: &Vec<u8>| bool::from(given.ct_eq(&digest()));
            given.as_ref().is_none_or(same)
        };
        let right = fits(&self.sha256, &|| Sha256::digest(body).to_vec())
            && fits(&self.sha512, &|| Sha512::digest(body).to_vec());
        right.then_some(()).ok_or(SignatureFault::Digest)
    }
}

/// The value of the header for a body.
pub(super) fn header(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}
