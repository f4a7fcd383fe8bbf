//! Signs requests, for clients.

use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::Value;
use sfv::StringRef;

use super::base::{Target, base};
use super::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT, digest, seconds};

/// How long a signature of ours is accepted, in seconds. A request is signed when it is sent.
const LASTS: u64 = 60;

/// The label of our signature.
const LABEL: &str = "sig";

/// The shortest secret that may sign, in bytes, as in `dial::jwk`.
const MIN_SECRET: usize = 32;

type Sign = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

/// A key that signs requests. Clones share it.
#[derive(Clone)]
pub struct Signer {
    id: String,
    /// The name of its algorithm in `alg`.
    algorithm: &'static str,
    sign: Arc<Sign>,
}

/// Why a request was not signed. Each completes "could not ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignFailure {
    #[error("sign the request: its address has no host")]
    Address,
    #[error("sign the request: {0:?} cannot be the id of a key")]
    Id(String),
    #[error("sign the request: a header of it cannot be signed")]
    Header,
    #[error("sign the request: the system gave no random numbers")]
    Random,
    #[error("read a key: not a JSON Web Key of the type oct, with a kid and a secret of 32 bytes")]
    Key,
}

impl Signer {
    /// A signer with the id of its key, the name of its algorithm in RFC 9421, and what signs.
    pub fn new(
        id: &str,
        algorithm: &'static str,
        sign: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: id.to_owned(),
            algorithm,
            sign: Arc::new(sign),
        }
    }

    /// A secret that the server has, too: a JSON Web Key of the type `oct`.
    pub fn from_secret_jwk(text: &str) -> Result<Self, SignFailure> {
        let jwk: Value = serde_json::from_str(text).map_err(|_| SignFailure::Key)?;
        let field = |name: &str| jwk[name].as_str();
        let secret = field("k").and_then(|it| URL_SAFE_NO_PAD.decode(it).ok());
        let secret = secret.filter(|it| it.len() >= MIN_SECRET);
        let (Some("oct"), Some(id), Some(secret)) = (field("kty"), field("kid"), secret) else {
            return Err(SignFailure::Key);
        };
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        let sign = move |text: &[u8]| Some(hmac::sign(&key, text).as_ref().to_vec());
        Ok(Self::new(id, "hmac-sha256", sign))
    }

    /// The id of its key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Signs a request to a whole address: adds the headers of the signature, and the digest of a body that is not empty. What
    /// the signature covers must not be changed afterwards: method, address, body, `Authorization` and `Content-Type`.
    pub fn sign(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &mut HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Result<(), SignFailure> {
        let target = Target::of(uri).ok_or(SignFailure::Address)?;
        let mut names = vec!["@method".to_owned(), "@target-uri".to_owned()];
        headers.remove(CONTENT_DIGEST);
        if !body.is_empty() {
            headers.insert(CONTENT_DIGEST, value(&digest::header(body))?);
            names.push(CONTENT_DIGEST.to_owned());
        }
        for header in [AUTHORIZATION, CONTENT_TYPE] {
            if headers.contains_key(&header) {
                names.push(header.to_string());
            }
        }
        let parameters = self.parameters(&names, now)?;
        let text = base(&names, &parameters, method, headers, &target);
        let text = text.map_err(|_| SignFailure::Header)?;
        let signature = (self.sign)(text.as_bytes()).ok_or(SignFailure::Random)?;
        let signature = STANDARD.encode(signature);
        let lines = [
            (SIGNATURE_INPUT, format!("{LABEL}={parameters}")),
            (SIGNATURE, format!("{LABEL}=:{signature}:")),
        ];
        for (name, line) in lines {
            headers.insert(HeaderName::from_static(name), value(&line)?);
        }
        Ok(())
    }

    /// The list of what is covered, with the parameters of a signature that is made now.
    fn parameters(&self, names: &[String], now: SystemTime) -> Result<String, SignFailure> {
        let created = seconds(now);
        let mut nonce = [0; 16];
        let filled = SystemRandom::new().fill(&mut nonce);
        filled.map_err(|_| SignFailure::Random)?;
        let id = StringRef::from_str(&self.id).map_err(|_| SignFailure::Id(self.id.clone()))?;
        // Within a text of RFC 9651, these two are written with a backslash.
        let id = id.as_str().replace('\\', "\\\\").replace('"', "\\\"");
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        Ok(format!(
            "({});created={created};expires={};keyid=\"{id}\";alg=\"{}\";nonce=\"{}\"",
            names.join(" "),
            created + LASTS,
            self.algorithm,
            URL_SAFE_NO_PAD.encode(nonce),
        ))
    }
}

fn value(text: &str) -> Result<HeaderValue, SignFailure> {
    HeaderValue::from_str(text).map_err(|_| SignFailure::Header)
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("id", &self.id)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
