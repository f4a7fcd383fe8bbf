//! Signed requests: HTTP Message Signatures (RFC 9421), with a digest of the body (RFC 9530).
//!
//! A caller that has a key signs what a request is: its method, its target and the digest of its body. The server knows
//! the public half of the key, so nothing that is sent can be used to make another request, and a request that was
//! recorded cannot be sent again.
//!
//! Layout:
//! - `base`: the covered components of a request, and the text that is signed
//! - `digest`: the header `Content-Digest`
//! - `replay`: the memory of requests that were seen
//! - `signer`: signs requests; this file verifies them

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use dial::jwk::{self, Algorithm, Key};
use http::HeaderMap;
use http::request::Parts;
use serde_json::Value;
use sfv::{BareItem, Dictionary, InnerList, ListEntry, Parser};

use crate::Error;
use crate::principal::{ANONYMOUS, is_name};

mod base;
mod digest;
mod replay;
mod signer;
#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;

pub use base::Target;
pub use signer::{SignFailure, Signer};

use base::Covered;
use digest::Digests;
use replay::Seen;

pub(crate) const SIGNATURE_INPUT: &str = "signature-input";
pub(crate) const SIGNATURE: &str = "signature";
pub(crate) const CONTENT_DIGEST: &str = "content-digest";

/// The longest value of each header of a signature, in bytes.
const MAX_HEADER: usize = 8 << 10;

/// How many signatures of a request are looked at. Proxies may add their own.
const MAX_SIGNATURES: usize = 8;

/// How old a signature may be, in seconds. For as long a request is remembered.
const MAX_AGE: u64 = 300;

/// How far the clock of a caller may be ahead, in seconds.
const MAX_AHEAD: u64 = 60;

/// Whether callers have to sign their requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureRule {
    /// A signature that is there must be right; a request needs none, except of the callers that have to sign.
    #[default]
    Optional,
    /// Every request behind the door needs one.
    Required,
}

/// A caller with keys, as the configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningCaller {
    pub name: String,
    /// The ids of its keys.
    pub keys: Vec<String>,
    pub scopes: Vec<String>,
    /// Whether requests of this caller without a signature are refused, also with other credentials that are right.
    pub required: bool,
}

/// The keys of callers that sign, and the memory of their requests. Clones share both.
///
/// `verify` is the one way in, and must be asked once for each request: it remembers what it has
/// accepted. In this order it
///
/// 1. reads the headers, and finds the signature of a key that is known; two are refused, since they might be of two
///    callers;
/// 2. checks that the signature covers what makes the request: the method, and the target as a whole or in its parts;
/// 3. checks the times: `created` must be there, not older than `MAX_AGE`, not before this memory began, not ahead of
///    the clock; `expires` must not have passed;
/// 4. verifies the signature, with the algorithm of the key, never with one that the request chooses;
/// 5. looks whether the request was seen before, and remembers it until its signature is too old.
///
/// The memory comes last, so only holders of keys can fill it, each its own part. What is compared is the nonce,
/// or the signed text where there is none; not the signature, of which ECDSA has two for each text.
///
/// The body is checked by [`Signed::check_body`] when it has arrived.
#[derive(Clone, Debug)]
pub struct Signatures(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    keys: Vec<OwnedKey>,
    callers: Vec<SigningCaller>,
    /// When the memory began, in seconds since 1970: what was signed earlier may have been seen before it.
    began: u64,
}

#[derive(Debug)]
struct OwnedKey {
    id: String,
    key: Key,
    /// The place of its caller in the list.
    caller: usize,
    seen: Seen,
}

/// A request with a right signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    pub(crate) caller: String,
    pub(crate) scopes: Vec<String>,
    /// The id of the key.
    pub(crate) key: String,
    /// The digests that the signature covers.
    digests: Option<Digests>,
}

/// What came of checking the signature of a request. The listener puts it into the extensions of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureCheck(pub Result<Signed, SignatureFault>);

/// What is wrong with the signature of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFault {
    #[error("the headers Signature-Input and Signature are not those of RFC 9421")]
    Form,
    #[error("more than one signature of a known key")]
    Several,
    #[error("signature of an unknown key")]
    Key,
    #[error("signature has no {0}")]
    Parameter(&'static str),
    #[error("signature does not cover {0}")]
    Uncovered(&'static str),
    #[error("signature covers {0}, which the request does not have or this server does not read")]
    Component(String),
    #[error("signature names an algorithm that its key is not for")]
    Algorithm,
    #[error("signature is too old; sign each request when it is sent")]
    Old,
    #[error("signature was made before this server started; sign the request again")]
    Early,
    #[error("signature is of the future; compare the clocks")]
    Future,
    #[error("signature has expired")]
    Expired,
    #[error("signature does not fit the request")]
    Wrong,
    #[error("signed request was sent before; each needs a nonce of its own")]
    Replayed,
    #[error("too many signed requests of this key within five minutes")]
    Full,
    #[error("body does not have the digest in Content-Digest")]
    Digest,
    #[error("Content-Digest has no sha-256 and no sha-512")]
    DigestForm,
}

impl Signatures {
    /// Reads the keys, a JSON Web Key Set (RFC 7517), for callers that name them by their ids.
    pub fn new(keys: &str, callers: Vec<SigningCaller>, now: SystemTime) -> Result<Self, Error> {
        let value: Value = serde_json::from_str(keys).map_err(|_| Error::Keys("not JSON"))?;
        let members = jwk::members(&value).unwrap_or_default();
        let known: Vec<Key> = members.into_iter().filter_map(Key::from_jwk).collect();
        let mut keys: Vec<OwnedKey> = Vec::new();
        for (caller, it) in callers.iter().enumerate() {
            if !is_name(&it.name) || it.name.eq_ignore_ascii_case(ANONYMOUS) {
                return Err(Error::Name(it.name.clone()));
            }
            for id in &it.keys {
                let mut named = known.iter().filter(|key| key.id() == Some(id));
                let (Some(key), None) = (named.next(), named.next()) else {
                    return Err(Error::SigningKey(id.clone()));
                };
                if keys.iter().any(|other| other.id == *id) {
                    return Err(Error::SharedKey(id.clone()));
                }
                keys.push(OwnedKey {
                    id: id.clone(),
                    key: key.clone(),
                    caller,
                    seen: Seen::default(),
                });
            }
        }
        Ok(Self(Arc::new(Inner {
            keys,
            callers,
            began: seconds(now),
        })))
    }

    /// Whether one of the keys is a secret (HMAC). A reader of that file can sign, so its mode matters.
    pub fn has_secret(&self) -> bool {
        let secret = |it: &OwnedKey| it.key.algorithm() == Algorithm::Hs256;
        self.0.keys.iter().any(secret)
    }

    /// Whether there is a caller of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.callers.iter().any(|it| it.name == name)
    }

    /// Whether the caller of this name has to sign.
    pub(crate) fn requires(&self, name: &str) -> bool {
        let mut callers = self.0.callers.iter();
        callers.any(|it| it.name == name && it.required)
    }

    /// Whether a request has a signature, right or wrong.
    pub(crate) fn is_in(headers: &HeaderMap) -> bool {
        headers.contains_key(SIGNATURE_INPUT) || headers.contains_key(SIGNATURE)
    }

    /// Verifies the signature of a request, which may have been made for any of these targets: behind a proxy, a client
    /// calls another address than the server sees.
    pub(crate) fn verify(
        &self,
        request: &Parts,
        targets: &[Target],
        now: SystemTime,
    ) -> Result<Signed, SignatureFault> {
        let (input, signature) = self.find(&request.headers)?;
        let (key, now) = (input.key, seconds(now));
        let until = self.check_times(&input, now)?;
        if let Some(named) = &input.algorithm
            && named != name_of(key.key.algorithm())
        {
            return Err(SignatureFault::Algorithm);
        }
        let mut failed = SignatureFault::Wrong;
        for target in targets {
            input.covered.check(target)?;
            let text = match input.covered.base(request, target) {
                Ok(text) => text,
                Err(fault) => {
                    failed = fault;
                    continue;
                }
            };
            if !key.key.verify(text.as_bytes(), &signature) {
                continue;
            }
            let digests = match input.covered.has(CONTENT_DIGEST) {
                true => Some(Digests::read(&request.headers)?),
                false => None,
            };
            let unique = input.nonce.as_deref().unwrap_or(&text);
            key.seen
                .remember(unique, input.nonce.is_some(), until, now)?;
            let caller = &self.0.callers[key.caller];
            return Ok(Signed {
                caller: caller.name.clone(),
                scopes: caller.scopes.clone(),
                key: key.id.clone(),
                digests,
            });
        }
        Err(failed)
    }

    /// The signature of a key that is known, and what it says of itself.
    fn find(&self, headers: &HeaderMap) -> Result<(Input<'_>, Vec<u8>), SignatureFault> {
        let inputs = dictionary(headers, SIGNATURE_INPUT).ok_or(SignatureFault::Form)?;
        let signatures = dictionary(headers, SIGNATURE).ok_or(SignatureFault::Form)?;
        if inputs.len() > MAX_SIGNATURES || signatures.len() > MAX_SIGNATURES {
            return Err(SignatureFault::Form);
        }
        let mut found = None;
        for (label, entry) in &inputs {
            let ListEntry::InnerList(list) = entry else {
                return Err(SignatureFault::Form);
            };
            let Some(input) = self.input(list)? else {
                continue;
            };
            let Some(ListEntry::Item(item)) = signatures.get(label) else {
                return Err(SignatureFault::Form);
            };
            let bytes = item.bare_item.as_byte_sequence();
            let bytes = bytes.ok_or(SignatureFault::Form)?.to_vec();
            if found.replace((input, bytes)).is_some() {
                return Err(SignatureFault::Several);
            }
        }
        found.ok_or(SignatureFault::Key)
    }

    /// What a signature says of itself; `None` where its key is not known.
    fn input(&self, list: &InnerList) -> Result<Option<Input<'_>>, SignatureFault> {
        let text = |name: &str| match list.params.get(name) {
            None => Ok(None),
            Some(BareItem::String(text)) => Ok(Some(text.as_str().to_owned())),
            Some(_) => Err(SignatureFault::Form),
        };
        let time = |name: &str| match list.params.get(name) {
            None => Ok(None),
            Some(BareItem::Integer(time)) => {
                let time = u64::try_from(i64::from(*time));
                time.map(Some).map_err(|_| SignatureFault::Form)
            }
            Some(_) => Err(SignatureFault::Form),
        };
        let id = text("keyid")?;
        let Some(key) = self.0.keys.iter().find(|key| Some(&key.id) == id.as_ref()) else {
            return Ok(None);
        };
        Ok(Some(Input {
            key,
            created: time("created")?.ok_or(SignatureFault::Parameter("created"))?,
            expires: time("expires")?,
            nonce: text("nonce")?,
            algorithm: text("alg")?,
            covered: Covered::read(list)?,
        }))
    }

    /// Checks the times of a signature; gives the last second at which it is accepted.
    fn check_times(&self, input: &Input<'_>, now: u64) -> Result<u64, SignatureFault> {
        let created = input.created;
        if created > now.saturating_add(MAX_AHEAD) {
            return Err(SignatureFault::Future);
        }
        let last = created.saturating_add(MAX_AGE);
        if last < now {
            return Err(SignatureFault::Old);
        }
        if created < self.0.began {
            return Err(SignatureFault::Early);
        }
        match input.expires {
            Some(expires) if expires < now => Err(SignatureFault::Expired),
            Some(expires) => Ok(last.min(expires)),
            None => Ok(last),
        }
    }
}

/// What a signature says of itself.
struct Input<'a> {
    key: &'a OwnedKey,
    created: u64,
    expires: Option<u64>,
    nonce: Option<String>,
    algorithm: Option<String>,
    covered: Covered,
}

impl Signed {
    /// Checks the body, when all of it has arrived: one that is not empty must be covered by its digest.
    pub fn check_body(&self, body: &[u8]) -> Result<(), SignatureFault> {
        match &self.digests {
            Some(digests) => digests.check(body),
            None if body.is_empty() => Ok(()),
            None => Err(SignatureFault::Uncovered(CONTENT_DIGEST)),
        }
    }
}

/// The name of an algorithm in `alg` (RFC 9421 3.3).
fn name_of(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Es256 => "ecdsa-p256-sha256",
        Algorithm::EdDsa => "ed25519",
        Algorithm::Rs256 => "rsa-v1_5-sha256",
        Algorithm::Ps512 => "rsa-pss-sha512",
        Algorithm::Hs256 => "hmac-sha256",
    }
}

/// A header that is a dictionary (RFC 9651), in one line or in several. `None` if it is missing, too long or another thing.
fn dictionary(headers: &HeaderMap, name: &str) -> Option<Dictionary> {
    let mut whole: Vec<u8> = Vec::new();
    for value in headers.get_all(name) {
        if !whole.is_empty() {
            whole.extend_from_slice(b", ");
        }
        whole.extend_from_slice(value.as_bytes());
        if whole.len() > MAX_HEADER {
            return None;
        }
    }
    let read: Option<Dictionary> = Parser::new(&whole).parse().ok();
    read.filter(|dictionary| !dictionary.is_empty())
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}
