//! A token, as the token endpoint gives it.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long before its end a token counts as expired: a request under way must arrive with it.
const MARGIN: Duration = Duration::from_secs(30);

/// A token that was got, and how it is shown and renewed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub access_token: String,
    /// Shown with a proof of possession (`DPoP`) rather than alone (`Bearer`).
    #[serde(default)]
    pub needs_proof: bool,
    /// In seconds since 1970. Without it the token is used until it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// The scopes it has, if the server said them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl Token {
    /// Reads the answer of a token endpoint (RFC 6749 5.1).
    pub(crate) fn read(answer: &Value, now: SystemTime) -> Result<Self, &'static str> {
        let text = |name: &str| answer[name].as_str().filter(|text| !text.is_empty());
        let access_token = text("access_token").ok_or("no access_token")?;
        let visible = |byte: u8| (0x21..=0x7e).contains(&byte);
        if access_token.len() > 16 << 10 || !access_token.bytes().all(visible) {
            return Err("an access_token that is no header value");
        }
        let kind = text("token_type").unwrap_or("Bearer");
        let needs_proof = kind.eq_ignore_ascii_case("dpop");
        if !needs_proof && !kind.eq_ignore_ascii_case("bearer") {
            return Err("a token_type other than Bearer and DPoP");
        }
        // Some servers write the number as a text.
        let lifetime = &answer["expires_in"];
        let lifetime = lifetime
            .as_u64()
            .or_else(|| lifetime.as_str()?.parse().ok());
        let scopes = text("scope").unwrap_or_default().split_whitespace();
        Ok(Self {
            access_token: access_token.to_owned(),
            needs_proof,
            expires: lifetime.map(|lifetime| seconds(now).saturating_add(lifetime)),
            refresh_token: text("refresh_token").map(str::to_owned),
            scopes: scopes.map(str::to_owned).collect(),
        })
    }

    /// Whether it has expired, or does so in the next moment.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.expires
            .is_some_and(|expires| expires <= seconds(now + MARGIN))
    }
}

impl fmt::Debug for Token {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("expires", &self.expires)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
