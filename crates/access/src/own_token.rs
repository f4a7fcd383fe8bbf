//! Our own tokens: JWT (RFC 7519) with HS256, signed with a secret that the server shares with the programs it trusts.
//!
//! A token has the claims `user_id`, `iat` and `exp`, and needs no others: any program with the secret can make one, with
//! any library. `nbf` is respected. The claim `monas_role` is optional and names the role of the caller; it can be
//! believed because only a holder of the secret can write it, and its name is ours so that a claim `role`, which means
//! something else to another program, gives no rights here.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use crate::Error;
use crate::permission::Role;
use crate::principal::{ANONYMOUS, is_name};
use crate::token::{self, TokenFault, Validity};

/// The scheme of our own tokens, by its name in the agent card. No configured scheme may have it.
pub const SCHEME: &str = "monas";

/// The only algorithm that is accepted.
const ALGORITHM: &str = "HS256";

/// The claim with the role that a token was made with.
const ROLE: &str = "monas_role";

/// How many bytes a secret has that is made here: as many as the hash (RFC 7518 3.2).
const LENGTH: usize = 32;

/// How long a token is valid, unless its maker says otherwise.
pub const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The secret that signs our own tokens. A holder of it can be any user, in any role.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(Vec<u8>);

impl TokenSecret {
    /// The secret with these bytes; `None` without any.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        (!bytes.is_empty()).then_some(Self(bytes))
    }

    /// A new secret, of random bytes in hexadecimal digits, so that it can be copied as a text.
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = [0; LENGTH];
        let random = SystemRandom::new();
        random.fill(&mut bytes).map_err(|_| Error::Random)?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Ok(Self(digits.collect::<String>().into_bytes()))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it has fewer bytes than RFC 7518 asks for, so that it may be guessed from a token.
    pub fn is_short(&self) -> bool {
        self.0.len() < LENGTH
    }

    /// Makes a token for a user. Without a role it has the one of the user, or the default one.
    pub fn sign(
        &self,
        user: &str,
        role: Option<Role>,
        lifetime: Duration,
        now: SystemTime,
    ) -> Result<String, Error> {
        let user = user_name(user).ok_or_else(|| Error::Name(user.to_owned()))?;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut claims = json!({
            "user_id": user,
            "iat": now,
            "exp": now.saturating_add(lifetime.as_secs()),
        });
        if let Some(role) = role {
            claims[ROLE] = role.name().into();
        }
        let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let header = json!({ "alg": ALGORITHM, "typ": "JWT" });
        let message = format!("{}.{}", part(&header), part(&claims));
        let signature = hmac::sign(&self.key(), message.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(format!("{message}.{signature}"))
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(not shown)")
    }
}

/// Verifies our own tokens: each of the secrets may have signed them.
#[derive(Debug)]
pub struct OwnTokens(Vec<hmac::Key>);

impl OwnTokens {
    pub fn signed_with<'a>(secrets: impl IntoIterator<Item = &'a TokenSecret>) -> Self {
        Self(secrets.into_iter().map(TokenSecret::key).collect())
    }

    pub(crate) fn verify(&self, token: &str, now: SystemTime) -> Result<OwnClaims, TokenFault> {
        let claims = token::signed(token, |algorithm, _, message, signature| {
            let signed = |key| hmac::verify(key, message, signature).is_ok();
            algorithm == ALGORITHM && self.0.iter().any(signed)
        })?;
        let validity = Validity::of(&claims)?;
        validity.check(now)?;
        let issued = token::time(&claims["iat"]).unwrap_or_default();
        // A user that is removed is refused whatever was issued before. A token of a later time would outlive that.
        token::begun(issued, now)?;
        let user = match &claims["user_id"] {
            Value::String(text) => user_name(text).map(str::to_owned),
            Value::Number(number) if !number.is_f64() => Some(number.to_string()),
            _ => None,
        };
        let role = match &claims[ROLE] {
            Value::Null => None,
            Value::String(name) => Some(name.parse().map_err(|_| TokenFault::Role)?),
            _ => return Err(TokenFault::Role),
        };
        Ok(OwnClaims {
            issued,
            user: user.ok_or(TokenFault::User)?,
            role,
            validity,
        })
    }
}

/// The claims of a valid token.
#[derive(Debug)]
pub(crate) struct OwnClaims {
    pub(crate) user: String,
    pub(crate) role: Option<Role>,
    /// In seconds since 1970; 0 where the token does not say it.
    pub(crate) issued: u64,
    pub(crate) validity: Validity,
}

/// A text that can be the name of a user: like those of configured callers, it has no colon, because names with one come
/// from issuers, certificates and agents.
fn user_name(text: &str) -> Option<&str> {
    let is_user = is_name(text) && !text.contains(':') && !text.eq_ignore_ascii_case(ANONYMOUS);
    is_user.then_some(text)
}
