//! Keys: private ones to sign with, public ones to trust.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use dial::jwk;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Error;

/// How a card is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// `ES256`: ECDSA on the curve P-256, with SHA-256.
    Es256,
    /// `EdDSA`: Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Its name in the header of a signature.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// What stands before the key in its DER form (SubjectPublicKeyInfo), which has a fixed length.
    fn public_prefix(self) -> &'static [u8] {
        match self {
            Self::Es256 => {
                b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"
            }
            Self::EdDsa => b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00",
        }
    }

    /// The algorithm of keys for it.
    fn of_keys(self) -> jwk::Algorithm {
        match self {
            Self::Es256 => jwk::Algorithm::Es256,
            Self::EdDsa => jwk::Algorithm::EdDsa,
        }
    }
}

/// What stands before the seed of an Ed25519 key in PKCS #8. The older form without the public key is the
/// one that every tool reads.
const ED25519_PRIVATE: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// A private key that signs cards.
pub struct SigningKey {
    pair: Pair,
    id: String,
}

enum Pair {
    Es256(Box<EcdsaKeyPair>),
    EdDsa(Box<Ed25519KeyPair>),
}

impl SigningKey {
    /// A new private key, as PEM. It is as secret as what it signs is trusted.
    pub fn generate(algorithm: Algorithm) -> Result<String, Error> {
        let random = SystemRandom::new();
        let der = match algorithm {
            Algorithm::Es256 => {
                let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
                made.map_err(|_| Error::Random)?.as_ref().to_vec()
            }
            Algorithm::EdDsa => {
                let mut seed = [0; 32];
                random.fill(&mut seed).map_err(|_| Error::Random)?;
                [ED25519_PRIVATE, &seed].concat()
            }
        };
        Ok(pem("PRIVATE KEY", &der))
    }

    /// Reads a private key in PEM (PKCS #8, not encrypted). Its id is its thumbprint (RFC 7638).
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes());
        let der = der.map_err(|_| Error::PrivateKey)?;
        let der = der.secret_pkcs8_der();
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
            .map(|pair| Pair::Es256(Box::new(pair)));
        let pair = pair.or_else(|_| {
            Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(|pair| Pair::EdDsa(Box::new(pair)))
        });
        let pair = pair.map_err(|_| Error::PrivateKey)?;
        let mut key = Self {
            pair,
            id: String::new(),
        };
        key.id = key.public().thumbprint();
        Ok(key)
    }

    /// The key under another id: the `kid` of its signatures.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        let id = id.into();
        Self { id, ..self }
    }

    /// Its id, which signatures name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How it signs.
    pub fn algorithm(&self) -> Algorithm {
        self.public().algorithm
    }

    /// A signer of requests (RFC 9421) with this key, under the same id.
    pub fn into_signer(self) -> access::Signer {
        let algorithm = match self.algorithm() {
            Algorithm::Es256 => "ecdsa-p256-sha256",
            Algorithm::EdDsa => "ed25519",
        };
        let id = self.id.clone();
        access::Signer::new(&id, algorithm, move |text| self.sign(text).ok())
    }

    /// Its public half, for those who are to trust it: a JSON Web Key.
    pub fn public_jwk(&self) -> Value {
        let mut jwk = self.public().jwk();
        jwk["kid"] = self.id.clone().into();
        jwk["alg"] = self.algorithm().name().into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// Its public half as PEM, which has no room for an id.
    pub fn public_pem(&self) -> String {
        let public = self.public();
        let der = [public.algorithm.public_prefix(), &public.bytes].concat();
        pem("PUBLIC KEY", &der)
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        match &self.pair {
            Pair::Es256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), message);
                Ok(signature.map_err(|_| Error::Random)?.as_ref().to_vec())
            }
            Pair::EdDsa(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }

    fn public(&self) -> PublicKey {
        let (algorithm, bytes) = match &self.pair {
            Pair::Es256(pair) => (Algorithm::Es256, pair.public_key().as_ref()),
            Pair::EdDsa(pair) => (Algorithm::EdDsa, pair.public_key().as_ref()),
        };
        PublicKey {
            algorithm,
            bytes: bytes.to_vec(),
            id: None,
        }
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey")
            .field("id", &self.id)
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

/// A public key that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublicKey {
    pub(super) algorithm: Algorithm,
    bytes: Vec<u8>,
    /// One with an id holds for signatures that name it, one without for all.
    pub(super) id: Option<String>,
}

impl PublicKey {
    /// Whether the signature is this key's, of this message.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = jwk::Key::from_point(self.algorithm.of_keys(), &self.bytes);
        key.is_some_and(|key| key.verify(message, signature))
    }

    /// The public keys of a PEM file, of which there is at least one.
    pub(super) fn from_pem(text: &str) -> Result<Vec<Self>, Error> {
        let keys = SubjectPublicKeyInfoDer::pem_slice_iter(text.as_bytes());
        let keys = keys.map(|der| Self::from_der(der.map_err(|_| Error::PublicKey)?.as_ref()));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            return Err(Error::PublicKey);
        }
        Ok(keys)
    }

    fn from_der(der: &[u8]) -> Result<Self, Error> {
        let read = |algorithm: Algorithm| {
            let bytes = der.strip_prefix(algorithm.public_prefix())?;
            Self::checked(algorithm, bytes.to_vec(), None)
        };
        let key = read(Algorithm::Es256).or_else(|| read(Algorithm::EdDsa));
        key.ok_or(Error::PublicKey)
    }

    /// The keys of a JSON Web Key, or of a set of them. A set may hold keys of kinds that are not known
    /// here, or of other uses; one that is meant for this and cannot be read is an error.
    pub(super) fn from_jwk(value: &Value) -> Result<Vec<Self>, Error> {
        let keys = jwk::members(value).ok_or(Error::PublicKey)?;
        let known = keys.into_iter().filter(|key| {
            let curve = matches!(key["crv"].as_str(), Some("P-256" | "Ed25519"));
            curve && key.get("use").is_none_or(|it| it == "sig")
        });
        let known = known.map(|key| Self::from_one_jwk(key).ok_or(Error::PublicKey));
        let known = known.collect::<Result<Vec<_>, _>>()?;
        if known.is_empty() {
            return Err(Error::PublicKey);
        }
        Ok(known)
    }

    fn from_one_jwk(jwk: &Value) -> Option<Self> {
        let key = jwk::Key::from_jwk(jwk)?;
        let algorithm = match key.algorithm() {
            jwk::Algorithm::Es256 => Algorithm::Es256,
            jwk::Algorithm::EdDsa => Algorithm::EdDsa,
            _ => return None,
        };
        let id = key.id().map(str::to_owned);
        Self::checked(algorithm, key.point()?.to_vec(), id)
    }

    fn checked(algorithm: Algorithm, bytes: Vec<u8>, id: Option<String>) -> Option<Self> {
        jwk::Key::from_point(algorithm.of_keys(), &bytes)?;
        Some(Self {
            algorithm,
            bytes,
            id,
        })
    }

    /// The members that make the key what it is.
    fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self.algorithm {
            Algorithm::Es256 => {
                let (x, y) = self.bytes[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "x": text(x), "y": text(y) })
            }
            Algorithm::EdDsa => json!({ "kty": "OKP", "crv": "Ed25519", "x": text(&self.bytes) }),
        }
    }

    /// RFC 7638: the digest of exactly those members, in canonical form.
    fn thumbprint(&self) -> String {
        let members = super::canonical::canonical(&self.jwk());
        URL_SAFE_NO_PAD.encode(Sha256::digest(members))
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(64) {
        out.extend(line.iter().map(|&byte| char::from(byte)));
        out.push('\n');
    }
    out + &format!("-----END {label}-----\n")
}
