//! JSON Web Keys (RFC 7517): public keys of others, and the signatures they verify.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA512,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

#[cfg(test)]
#[path = "jwk_tests.rs"]
mod tests;

/// The shortest secret that may sign, in bytes (RFC 7518 3.2).
const MIN_SECRET: usize = 32;

/// How something is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA on the curve P-256, with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// RSA with PKCS #1 v1.5 padding, with SHA-256.
    Rs256,
    /// RSA with PSS padding, with SHA-512. A key is for it if its `alg` says so.
    Ps512,
    /// HMAC with SHA-256. The key is a secret: its holder can sign, too.
    Hs256,
}

impl Algorithm {
    /// Its name in the header of a signature (RFC 7518 3.1).
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
            Self::Ps512 => "PS512",
            Self::Hs256 => "HS256",
        }
    }
}

/// A key for one algorithm. A key never serves two: otherwise a public key could be taken for the secret of HS256, and
/// anyone could sign with it.
#[derive(Clone)]
pub struct Key {
    id: Option<String>,
    material: Material,
}

#[derive(Clone)]
enum Material {
    /// An uncompressed point: 4, x, y.
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
    Rs256 {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    Ps512 {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    Hs256(hmac::Key),
}

impl Key {
    /// Reads one key. `None` for a kind that is not listed in [`Algorithm`], for parts that are missing or of a wrong
    /// length, for another use than signatures, and for an `alg` that is not the key's.
    pub fn from_jwk(jwk: &Value) -> Option<Self> {
        if jwk.get("use").is_some_and(|usage| usage != "sig") {
            return None;
        }
        let field = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str()?).ok();
        let material = match (jwk["kty"].as_str()?, jwk["crv"].as_str()) {
            ("EC", Some("P-256")) => {
                let (x, y) = (field("x")?, field("y")?);
                (x.len() == 32 && y.len() == 32).then_some(())?;
                Material::Es256([&[4], &*x, &*y].concat())
            }
            ("OKP", Some("Ed25519")) => Material::EdDsa(field("x").filter(|x| x.len() == 32)?),
            ("RSA", _) if jwk["alg"] == Algorithm::Ps512.name() => Material::Ps512 {
                n: field("n")?,
                e: field("e")?,
            },
            ("RSA", _) => Material::Rs256 {
                n: field("n")?,
                e: field("e")?,
            },
            ("oct", _) => {
                let secret = field("k").filter(|secret| secret.len() >= MIN_SECRET)?;
                Material::Hs256(hmac::Key::new(hmac::HMAC_SHA256, &secret))
            }
            _ => return None,
        };
        let key = Self {
            id: jwk["kid"].as_str().map(str::to_owned),
            material,
        };
        let fits = |named: &Value| *named == key.algorithm().name();
        jwk.get("alg").is_none_or(fits).then_some(key)
    }

    /// A key from the bytes of its point, as a certificate or a PEM file has them. `None` when they are no such point.
    pub fn from_point(algorithm: Algorithm, point: &[u8]) -> Option<Self> {
        let material = match algorithm {
            Algorithm::Es256 if point.len() == 65 && point[0] == 4 => {
                Material::Es256(point.to_vec())
            }
            Algorithm::EdDsa if point.len() == 32 => Material::EdDsa(point.to_vec()),
            _ => return None,
        };
        Some(Self { id: None, material })
    }

    /// The id that signatures may name (`kid`).
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Es256(_) => Algorithm::Es256,
            Material::EdDsa(_) => Algorithm::EdDsa,
            Material::Rs256 { .. } => Algorithm::Rs256,
            Material::Ps512 { .. } => Algorithm::Ps512,
            Material::Hs256(_) => Algorithm::Hs256,
        }
    }

    /// The bytes of its point, for the two kinds of key that are one.
    pub fn point(&self) -> Option<&[u8]> {
        match &self.material {
            Material::Es256(point) | Material::EdDsa(point) => Some(point),
            Material::Rs256 { .. } | Material::Ps512 { .. } | Material::Hs256(_) => None,
        }
    }

    /// Whether this key made the signature of the message.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::Es256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Material::EdDsa(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            Material::Rs256 { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            Material::Ps512 { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PSS_2048_8192_SHA512, message, signature)
            }
            Material::Hs256(key) => hmac::verify(key, message, signature),
        };
        verified.is_ok()
    }
}

/// The members of a JWK set (an object with `keys`), or the one key that `value` is. `None` when `keys` is no list.
pub fn members(value: &Value) -> Option<Vec<&Value>> {
    match value.get("keys") {
        None => Some(vec![value]),
        Some(keys) => Some(keys.as_array()?.iter().collect()),
    }
}

impl std::fmt::Debug for Key {
    /// Without the material, which may be a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .field("algorithm", &self.algorithm().name())
            .finish_non_exhaustive()
    }
}
