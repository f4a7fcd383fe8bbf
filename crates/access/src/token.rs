//! Signed tokens (JWT, RFC 7519): which issuers are trusted, and which of their tokens are for this server.
//!
//! Verification is our own, about a hundred lines over `ring`, which also signs agent cards. The crate `jsonwebtoken`
//! was not taken: it would bring either a second C library for cryptography or the `rsa` crate with its known timing
//! leak, for four algorithms that `ring` has already. What is easy to get wrong is kept small and in one order: the
//! signature is verified before any claim is read; the algorithm is the one of the key, never chosen by the token
//! alone (so `none` and a public key used as an HMAC secret do not exist here); a header that names critical
//! extensions is refused; `iss`, `aud` and `exp` are required. `crates/access/src/token_tests.rs` forges each of these.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::key_set::KeySet;
use crate::principal::is_name;

/// How far the clocks of issuer and server may differ, in seconds.
const LEEWAY: u64 = 30;

/// An issuer of tokens: an authorization server, or a provider of OpenID Connect.
///
/// A token is valid if it is signed by one of the keys with the algorithm that the key is for, names this issuer and
/// this audience, has not expired, and has all scopes that are required.
#[derive(Debug)]
pub struct Issuer {
    name: String,
    audience: Vec<String>,
    keys: KeySet,
    scopes: Vec<String>,
}

impl Issuer {
    /// The issuer of this name (`iss`), with its keys; tokens must be meant for this audience (`aud`).
    pub fn new(
        name: impl Into<String>,
        audience: impl Into<String>,
        keys: impl Into<KeySet>,
    ) -> Self {
        Self {
            name: name.into(),
            audience: vec![audience.into()],
            keys: keys.into(),
            scopes: Vec::new(),
        }
    }

    /// Accepts tokens for these audiences, too: a server can have several names.
    #[must_use]
    pub fn also_for(mut self, audience: impl IntoIterator<Item = String>) -> Self {
        self.audience.extend(audience);
        self
    }

    /// Whether this token, which is not verified, seems to be one of this issuer that names a key which the set lacks.
    pub(crate) fn lacks_key_of(&self, token: &str) -> bool {
        let Some((header, rest)) = token.split_once('.') else {
            return false;
        };
        let Ok(header) = json(header) else {
            return false;
        };
        let is_own = || {
            let payload = rest.split('.').next().map(json);
            payload.is_some_and(|it| it.is_ok_and(|it| it["iss"].as_str() == Some(&*self.name)))
        };
        self.keys.lacks(header["kid"].as_str()) && is_own()
    }

    /// Requires these scopes of every token.
    #[must_use]
    pub fn requiring(self, scopes: Vec<String>) -> Self {
        Self { scopes, ..self }
    }

    /// Changes whenever the keys are replaced.
    pub(crate) fn generation(&self) -> u64 {
        self.keys.generation()
    }

    /// The scopes that are required of every token.
    pub(crate) fn scopes(&self) -> &[String] {
        &self.scopes
    }

    pub(crate) fn verify(&self, token: &str, now: SystemTime) -> Result<Claims, TokenFault> {
        let claims = signed(token, |algorithm, key, message, signature| {
            self.keys.verify(algorithm, key, message, signature)
        });
        let claims = claims.inspect_err(|fault| {
            if *fault == TokenFault::Key && self.lacks_key_of(token) {
                self.keys.miss();
            }
        })?;
        if claims["iss"].as_str() != Some(&*self.name) {
            return Err(TokenFault::Issuer);
        }
        let own = |audience: &Value| self.audience.iter().any(|own| *audience == **own);
        let meant = match &claims["aud"] {
            Value::Array(all) => all.iter().any(own),
            audience => own(audience),
        };
        if !meant {
            return Err(TokenFault::Audience);
        }
        let validity = Validity::of(&claims)?;
        validity.check(now)?;
        let subject = claims["sub"].as_str().filter(|subject| is_name(subject));
        let subject = subject.ok_or(TokenFault::Subject)?.to_owned();
        let scopes = scopes(&claims);
        if let Some(missing) = self.scopes.iter().find(|scope| !scopes.contains(scope)) {
            return Err(TokenFault::Scope(missing.clone()));
        }
        Ok(Claims {
            subject,
            scopes,
            validity,
        })
    }
}

/// The claims of a token with a valid signature. `verify` gets the algorithm and the id of the key that the token names, what
/// was signed, and the signature. No claim is read before the signature is verified.
pub(crate) fn signed(
    token: &str,
    verify: impl FnOnce(&str, Option<&str>, &[u8], &[u8]) -> bool,
) -> Result<Value, TokenFault> {
    let (message, signature) = token.rsplit_once('.').ok_or(TokenFault::Form)?;
    let (header, payload) = message.split_once('.').ok_or(TokenFault::Form)?;
    let header = json(header)?;
    // RFC 7515 4.1.11: an extension that must be understood, and none is here.
    if !header["crit"].is_null() {
        return Err(TokenFault::Form);
    }
    let algorithm = header["alg"].as_str().ok_or(TokenFault::Form)?;
    let signature = URL_SAFE_NO_PAD
        .decode(signature)
        .map_err(|_| TokenFault::Form)?;
    let key = header["kid"].as_str();
    if !verify(algorithm, key, message.as_bytes(), &signature) {
        return Err(TokenFault::Key);
    }
    json(payload)
}

/// When a token is valid, in seconds since 1970. What clocks may differ by is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    since: u64,
    pub(crate) until: u64,
}

impl Validity {
    /// As the claims say it.
    pub(crate) fn of(claims: &Value) -> Result<Self, TokenFault> {
        let until = time(&claims["exp"]).ok_or(TokenFault::Form)?;
        let since = match &claims["nbf"] {
            Value::Null => 0,
            since => time(since).ok_or(TokenFault::Form)?,
        };
        Ok(Self {
            since: since.saturating_sub(LEEWAY),
            until: until.saturating_add(LEEWAY),
        })
    }

    pub(crate) fn check(self, now: SystemTime) -> Result<(), TokenFault> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        match (self.until <= now, self.since > now) {
            (true, _) => Err(TokenFault::Expired),
            (false, true) => Err(TokenFault::Early),
            (false, false) => Ok(()),
        }
    }
}

/// The claims of a valid token.
#[derive(Debug)]
pub(crate) struct Claims {
    pub(crate) subject: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) validity: Validity,
}

/// Why a token is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenFault {
    #[error("malformed token")]
    Form,
    #[error("token is not signed by a trusted key")]
    Key,
    #[error("token is from another issuer (iss)")]
    Issuer,
    #[error("token is for another audience (aud)")]
    Audience,
    #[error("token has expired (exp)")]
    Expired,
    #[error("token not valid yet (nbf)")]
    Early,
    #[error("token was issued in the future (iat)")]
    Future,
    #[error("token names no caller (sub)")]
    Subject,
    #[error("token names no user (user_id), or one with a colon")]
    User,
    #[error("token has an unknown role (monas_role): expected viewer, user, operator or admin")]
    Role,
    #[error("credentials lack the scope {0:?}")]
    Scope(String),
}

fn json(part: &str) -> Result<Value, TokenFault> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenFault::Form)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| TokenFault::Form)?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(TokenFault::Form),
    }
}

/// Whether what was issued then was issued by now, by a clock that may be a little ahead.
pub(crate) fn begun(issued: u64, now: SystemTime) -> Result<(), TokenFault> {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match issued.saturating_sub(LEEWAY) > now {
        true => Err(TokenFault::Future),
        false => Ok(()),
    }
}

/// RFC 7519: a number of seconds, which may have a fraction.
pub(crate) fn time(value: &Value) -> Option<u64> {
    let seconds = value.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not negative, and a fraction or a year beyond all counting does not matter"
    )]
    (seconds >= 0.0).then_some(seconds as u64)
}

/// RFC 8693 4.2: `scope` is words separated by spaces; some issuers write `scp`, or a list.
fn scopes(claims: &Value) -> Vec<String> {
    let given = [&claims["scope"], &claims["scp"]];
    let words = given.into_iter().flat_map(|value| match value {
        Value::String(text) => text.split(' ').map(str::to_owned).collect(),
        Value::Array(all) => {
            let texts = all.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    });
    words.filter(|word| !word.is_empty()).collect()
}
