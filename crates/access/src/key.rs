//! Keys that verify tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::Value;

use crate::Error;

/// The shortest secret that tokens may be signed with, in bytes (RFC 7518 3.2).
const MIN_SECRET: usize = 32;

/// The keys of an issuer.
#[derive(Clone, Debug)]
pub struct Keys(Vec<Key>);

#[derive(Clone, Debug)]
struct Key {
    /// One with an id holds for tokens that name it, and for those that name none.
    id: Option<String>,
    material: Material,
}

/// A key for one algorithm. That is what keeps a public key from being taken for a secret.
#[derive(Clone)]
enum Material {
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
    Rs256 { n: Vec<u8>, e: Vec<u8> },
    Hs256(hmac::Key),
}

impl Keys {
    /// Reads a JSON Web Key (RFC 7517), or a set of them: ES256, EdDSA (Ed25519), RS256 and HS256. A set may hold
    /// keys of other kinds or uses, which are left out.
    pub fn read(text: &str) -> Result<Self, Error> {
        let value: Value = serde_json::from_str(text).map_err(|_| Error::Keys("not JSON"))?;
        let keys: Vec<Key> = match value.get("keys") {
            None => Key::of_jwk(&value).into_iter().collect(),
            Some(Value::Array(all)) => all.iter().filter_map(Key::of_jwk).collect(),
            Some(_) => Vec::new(),
        };
        if keys.is_empty() {
            let none = "no JSON Web Key for ES256, EdDSA, RS256 or HS256 is among them";
            return Err(Error::Keys(none));
        }
        Ok(Self(keys))
    }

    /// Whether one of them is a secret, so that who may read it can write tokens.
    pub fn has_secret(&self) -> bool {
        let secret = |key: &Key| matches!(key.material, Material::Hs256(_));
        self.0.iter().any(secret)
    }

    /// Whether one of them, of this id if there is one, signed the message with this algorithm.
    pub(crate) fn verify(
        &self,
        algorithm: &str,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let meant = |key: &&Key| match (id, &key.id) {
            (Some(id), Some(own)) => id == own,
            _ => true,
        };
        let mut keys = self.0.iter().filter(meant).map(|key| &key.material);
        keys.any(|key| key.algorithm() == algorithm && key.verify(message, signature))
    }
}

impl Key {
    fn of_jwk(jwk: &Value) -> Option<Self> {
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
        // A key that says what it is for is for nothing else.
        let fits = |named: &Value| *named == material.algorithm();
        jwk.get("alg").is_none_or(fits).then(|| Self {
            id: jwk["kid"].as_str().map(str::to_owned),
            material,
        })
    }
}

impl Material {
    fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::EdDsa(_) => "EdDSA",
            Self::Rs256 { .. } => "RS256",
            Self::Hs256(_) => "HS256",
        }
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::Es256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Self::EdDsa(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            Self::Rs256 { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            Self::Hs256(key) => hmac::verify(key, message, signature),
        };
        verified.is_ok()
    }
}

impl std::fmt::Debug for Material {
    /// Nothing secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.algorithm())
    }
}
