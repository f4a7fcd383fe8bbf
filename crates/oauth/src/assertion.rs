//! Signed statements of ours: how a client with a private key authenticates (RFC 7523 2.2), and what DPoP signs.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use crate::Error;
use crate::pkce::random;
use crate::token::seconds;

/// How long a statement is valid, in seconds.
const LIFETIME: u64 = 60;

/// A private key that signs: ES256, EdDSA (Ed25519) or RS256.
pub(crate) enum Signer {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

impl Signer {
    /// Reads a key of PKCS #8 in PEM.
    pub(crate) fn from_pem(pem: &str) -> Result<Self, Error> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Error::Key("not in PEM form (PKCS #8, \"BEGIN PRIVATE KEY\")"))?;
        let der = der.secret_pkcs8_der();
        if let Ok(key) = Self::es256(der) {
            return Ok(key);
        }
        if let Ok(key) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            return Ok(Self::EdDsa(key));
        }
        let key = RsaKeyPair::from_pkcs8(der);
        key.map(Self::Rs256)
            .map_err(|_| Error::Key("neither P-256 nor Ed25519 nor RSA of 2048 bits or more"))
    }

    pub(crate) fn es256(der: &[u8]) -> Result<Self, Error> {
        let random = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
            .map(Self::Es256)
            .map_err(|_| Error::Key("not a key for P-256"))
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::EdDsa(_) => "EdDSA",
            Self::Rs256(_) => "RS256",
        }
    }

    /// A JWT with these claims; `header` gets the algorithm.
    pub(crate) fn sign(&self, mut header: Value, claims: &Value) -> Result<String, Error> {
        header["alg"] = json!(self.algorithm());
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", encoded(&header), encoded(claims));
        let random = SystemRandom::new();
        let signature = match self {
            Self::Es256(key) => {
                let signature = key.sign(&random, message.as_bytes());
                signature.map_err(|_| Error::Random)?.as_ref().to_vec()
            }
            Self::EdDsa(key) => key.sign(message.as_bytes()).as_ref().to_vec(),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let bytes = message.as_bytes();
                key.sign(&RSA_PKCS1_SHA256, &random, bytes, &mut signature)
                    .map_err(|_| Error::Random)?;
                signature
            }
        };
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// The statement by which a client authenticates at an issuer.
pub(crate) fn client_assertion(pem: &str, client: &str, issuer: &str) -> Result<String, Error> {
    let now = seconds(SystemTime::now());
    let claims = json!({
        "iss": client,
        "sub": client,
        "aud": issuer,
        "jti": random()?,
        "iat": now,
        "exp": now + LIFETIME,
    });
    Signer::from_pem(pem)?.sign(json!({ "typ": "JWT" }), &claims)
}
