//! The body of a webhook, its words, and the proof of its sender.
//!
//! Each delivery has an id that stays the same when it is tried again, so that a receiver can tell what it
//! has seen. Where a webhook was registered with a secret, a delivery is signed as [Standard Webhooks] lays
//! down: `webhook-id`, `webhook-timestamp` and `webhook-signature`, an HMAC-SHA256 over the two and the body.
//! A receiver in Rust verifies with [`Secret::verify`]; in other languages there are libraries that do.
//!
//! ```
//! use a2a::webhook::{self, Secret};
//! use std::time::SystemTime;
//!
//! let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
//! let body = br#"{"statusUpdate":{}}"#;
//! let headers = secret.headers("task-1/hook/7", SystemTime::now(), body);
//! assert!(secret.verify(&headers, body, SystemTime::now()).is_ok());
//! assert!(secret.verify(&headers, b"{}", SystemTime::now()).is_err());
//! ```
//!
//! [Standard Webhooks]: https://www.standardwebhooks.com

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use ring::hmac;

use crate::types::Task;

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;

/// The authentication scheme of a webhook that gives a signing secret as its credentials.
pub const SCHEME: &str = "HMAC-SHA256";

/// Names a delivery; one that is tried again has the same.
pub const ID: HeaderName = HeaderName::from_static("webhook-id");
/// When it was sent, in seconds since 1970.
pub const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
/// Signatures of it, with spaces between.
pub const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How old a delivery may be, and how far ahead of the receiver's clock. A delivery outside this window may
/// be a replay.
pub const WINDOW: Duration = Duration::from_secs(5 * 60);

/// The shortest secret, in bytes.
const SHORTEST: usize = 16;

/// How webhooks of callers are told who do not speak the protocol's current version.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// A word that is kept with the webhook.
    pub name: &'static str,
    /// The media type of what it writes.
    pub media_type: &'static str,
    /// Writes a task as it is after what happened to it.
    pub write: fn(&Task) -> Bytes,
}

/// What sender and receiver of a webhook both know.
pub struct Secret(hmac::Key);

/// Why a delivery is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// It lacks its id, its time or its signature.
    #[error("verify a webhook: header {0} is missing or not text")]
    Missing(&'static str),
    /// It was sent too long ago, or comes from the future.
    #[error("verify a webhook: it was sent too long ago, or the clocks differ")]
    Stale,
    /// The signature does not match: another sender, or a changed body.
    #[error("verify a webhook: wrong signature")]
    Forged,
}

impl Secret {
    /// A secret of 16 bytes or more: the bytes of the text, or what base64 behind `whsec_` says.
    pub fn new(text: &str) -> Option<Self> {
        let bytes = match text.strip_prefix("whsec_") {
            Some(encoded) => STANDARD.decode(encoded).ok()?,
            None => text.as_bytes().to_vec(),
        };
        (bytes.len() >= SHORTEST).then(|| Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The headers of a delivery that is sent now.
    pub fn headers(&self, id: &str, now: SystemTime, body: &[u8]) -> HeaderMap {
        let timestamp = seconds(now).to_string();
        let tag = hmac::sign(&self.0, &signed(id, &timestamp, body));
        let signature = format!("v1,{}", STANDARD.encode(tag));
        let values = [(ID, id), (TIMESTAMP, &timestamp), (SIGNATURE, &signature)];
        // An id that no header can hold is none that a delivery has.
        let values = values.into_iter().filter_map(|(name, value)| {
            let value = HeaderValue::from_str(value).ok()?;
            Some((name, value))
        });
        values.collect()
    }

    /// Whether a delivery was sent by who knows the secret, not long ago. `body` is what came, byte for byte.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Result<(), Rejected> {
        let text = |name: HeaderName, called: &'static str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.ok_or(Rejected::Missing(called))
        };
        let id = text(ID, "webhook-id")?;
        let timestamp = text(TIMESTAMP, "webhook-timestamp")?;
        let signatures = text(SIGNATURE, "webhook-signature")?;
        let sent: u64 = timestamp
            .parse()
            .map_err(|_| Rejected::Missing("webhook-timestamp"))?;
        if seconds(now).abs_diff(sent) > WINDOW.as_secs() {
            return Err(Rejected::Stale);
        }
        let message = signed(id, timestamp, body);
        let mut tags = signatures.split(' ').filter_map(|signature| {
            let tag = signature.strip_prefix("v1,")?;
            STANDARD.decode(tag).ok()
        });
        // Compared in constant time.
        if tags.any(|tag| hmac::verify(&self.0, &message, &tag).is_ok()) {
            Ok(())
        } else {
            Err(Rejected::Forged)
        }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The bytes under the signature, as Standard Webhooks defines them.
fn signed(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}
