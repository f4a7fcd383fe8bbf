//! Signed tokens (JWT, RFC 7519): whose are believed, and which of them are for us.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::key::Keys;
use crate::principal::is_name;

/// How far the clocks of two machines may be apart, in seconds.
const LEEWAY: u64 = 30;

/// Somebody who knows callers and gives them tokens: an authorization server, or a provider of OpenID Connect.
///
/// A token counts if it is signed by one of the keys with the algorithm that the key is for, names this issuer and
/// this audience, has not expired, and has all scopes that are required.
#[derive(Debug)]
pub struct Issuer {
    name: String,
    audience: String,
    keys: Keys,
    scopes: Vec<String>,
}

impl Issuer {
    /// The issuer of this name (`iss`), with its keys; tokens must be meant for this audience (`aud`).
    pub fn new(name: impl Into<String>, audience: impl Into<String>, keys: Keys) -> Self {
        Self {
            name: name.into(),
            audience: audience.into(),
            keys,
            scopes: Vec::new(),
        }
    }

    /// The same; tokens must have these scopes.
    #[must_use]
    pub fn requiring(self, scopes: Vec<String>) -> Self {
        Self { scopes, ..self }
    }

    pub(crate) fn verify(&self, token: &str, now: SystemTime) -> Result<Claims, Wrong> {
        let claims = self.signed(token)?;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if claims["iss"].as_str() != Some(&*self.name) {
            return Err(Wrong::Issuer);
        }
        let meant = match &claims["aud"] {
            Value::String(audience) => *audience == self.audience,
            Value::Array(all) => all.iter().any(|it| *it == *self.audience),
            _ => false,
        };
        if !meant {
            return Err(Wrong::Audience);
        }
        let until = time(&claims["exp"]).ok_or(Wrong::Form)?;
        let until = until.saturating_add(LEEWAY);
        if until <= now {
            return Err(Wrong::Expired);
        }
        let since = match &claims["nbf"] {
            Value::Null => 0,
            since => time(since).ok_or(Wrong::Form)?,
        };
        if since > now.saturating_add(LEEWAY) {
            return Err(Wrong::Early);
        }
        let subject = claims["sub"].as_str().filter(|subject| is_name(subject));
        let subject = subject.ok_or(Wrong::Subject)?.to_owned();
        let scopes = scopes(&claims);
        if let Some(missing) = self.scopes.iter().find(|scope| !scopes.contains(scope)) {
            return Err(Wrong::Scope(missing.clone()));
        }
        Ok(Claims {
            subject,
            scopes,
            until,
        })
    }

    /// What a token says, if its signature holds. Nothing of it is looked at before.
    fn signed(&self, token: &str) -> Result<Value, Wrong> {
        let (message, signature) = token.rsplit_once('.').ok_or(Wrong::Form)?;
        let (header, payload) = message.split_once('.').ok_or(Wrong::Form)?;
        let header = json(header)?;
        // RFC 7515 4.1.11: what must be understood and is not.
        if !header["crit"].is_null() {
            return Err(Wrong::Form);
        }
        let algorithm = header["alg"].as_str().ok_or(Wrong::Form)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Wrong::Form)?;
        let key = header["kid"].as_str();
        if !self
            .keys
            .verify(algorithm, key, message.as_bytes(), &signature)
        {
            return Err(Wrong::Key);
        }
        json(payload)
    }
}

/// What a token says that counts.
#[derive(Debug)]
pub(crate) struct Claims {
    pub(crate) subject: String,
    pub(crate) scopes: Vec<String>,
    /// In seconds since 1970.
    pub(crate) until: u64,
}

/// What is wrong with a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("the token is none")]
    Form,
    #[error("the token is not signed by a key that is trusted")]
    Key,
    #[error("the token is of another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token has expired")]
    Expired,
    #[error("the token does not hold yet")]
    Early,
    #[error("the token does not say whose it is")]
    Subject,
    #[error("the scope {0:?} is missing")]
    Scope(String),
}

fn json(part: &str) -> Result<Value, Wrong> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| Wrong::Form)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| Wrong::Form)?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(Wrong::Form),
    }
}

/// RFC 7519: a number of seconds, which may have a fraction.
fn time(value: &Value) -> Option<u64> {
    let seconds = value.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not negative, and a fraction or a year beyond all counting does not matter"
    )]
    (seconds >= 0.0).then_some(seconds as u64)
}

/// RFC 8693: a text with spaces between; some write `scp`, or a list.
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
