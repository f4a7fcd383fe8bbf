//! Proofs of possession (DPoP, RFC 9449): a token that was got with a proof is of use to the holder of its key alone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::assertion::Signer;
use crate::pkce::{hashed, random};
use crate::token::seconds;
use crate::{Address, Error};

/// The header of a proof, and that of the value which a server wants in the next one.
pub(crate) const PROOF: &str = "dpop";
const NONCE: &str = "dpop-nonce";

/// The key of a client's proofs (ES256), with the nonces that servers gave.
pub struct ProofKey {
    encoded: String,
    signer: Signer,
    /// The public half, as each proof shows it.
    jwk: Value,
    /// The last nonce of each origin.
    nonces: Mutex<BTreeMap<String, String>>,
}

impl ProofKey {
    pub fn generate() -> Result<Self, Error> {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let made = made.map_err(|_| Error::Random)?;
        Self::read(&URL_SAFE_NO_PAD.encode(made))
    }

    /// Reads what [`encoded`](Self::encoded) gave.
    pub fn read(encoded: &str) -> Result<Self, Error> {
        let der = URL_SAFE_NO_PAD.decode(encoded);
        let signer = Signer::es256(&der.map_err(|_| Error::Key("not base64url"))?)?;
        let Signer::Es256(key) = &signer else {
            return Err(Error::Key("not a key for P-256"));
        };
        // An uncompressed point: 4, x, y.
        let (x, y) = key.public_key().as_ref()[1..].split_at(32);
        let jwk = json!({
            "kty": "EC",
            "crv": "P-256",
            "x": URL_SAFE_NO_PAD.encode(x),
            "y": URL_SAFE_NO_PAD.encode(y),
        });
        Ok(Self {
            encoded: encoded.to_owned(),
            signer,
            jwk,
            nonces: Mutex::default(),
        })
    }

    /// The private key as text, to be kept.
    pub fn encoded(&self) -> &str {
        &self.encoded
    }

    /// The proof for one request, with the token that it is sent with.
    pub fn proof(&self, method: &str, at: &Address, token: Option<&str>) -> Result<String, Error> {
        let mut claims = json!({
            "jti": random()?,
            "htm": method,
            // RFC 9449 4.2: without query and fragment.
            "htu": format!("{}{}", at.origin(), at.uri().path()),
            "iat": seconds(SystemTime::now()),
        });
        if let Some(token) = token {
            claims["ath"] = json!(hashed(token));
        }
        let nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nonce) = nonces.get(&at.origin()) {
            claims["nonce"] = json!(nonce);
        }
        drop(nonces);
        let header = json!({ "typ": "dpop+jwt", "jwk": self.jwk });
        self.signer.sign(header, &claims)
    }

    /// Keeps the nonce of an answer for the next proof. Whether there was a new one.
    pub fn remember(&self, from: &Address, headers: &HeaderMap) -> bool {
        let nonce = headers.get(NONCE).and_then(|it| it.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| nonce.len() <= 1024) else {
            return false;
        };
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let before = nonces.insert(from.origin(), nonce.to_owned());
        before.as_deref() != Some(nonce)
    }
}

impl fmt::Debug for ProofKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProofKey").finish_non_exhaustive()
    }
}
