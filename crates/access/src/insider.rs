//! Callers inside this process: agents of this server that call it, authenticated by a token only it can make.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::{hmac, rand};

use crate::principal::is_name;

/// The scheme of callers inside this process, and the first part of their names. No configured scheme may have it.
pub(crate) const SCHEME: &str = "agent";

/// The beginning of their tokens.
const PREFIX: &str = "monas-insider.";

/// Makes and recognises tokens of callers inside this process. The key is random and never leaves the process, so a
/// token is worth nothing after a restart or elsewhere. Clones share the key.
#[derive(Clone)]
pub struct Insiders(Arc<hmac::Key>);

impl Insiders {
    pub fn new() -> Result<Self, crate::Error> {
        let random = rand::SystemRandom::new();
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &random);
        let key = key.map_err(|_| crate::Error::Random)?;
        Ok(Self(Arc::new(key)))
    }

    /// The bearer token that makes an agent the caller `agent:NAME`.
    pub fn token(&self, agent: &str) -> String {
        let tag = hmac::sign(&self.0, agent.as_bytes());
        let tag = URL_SAFE_NO_PAD.encode(tag.as_ref());
        format!("{PREFIX}{agent}.{tag}")
    }

    /// The name of the caller that the token was made for.
    pub(crate) fn holder(&self, token: &str) -> Option<String> {
        let (agent, tag) = token.strip_prefix(PREFIX)?.rsplit_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.0, agent.as_bytes(), &tag).ok()?;
        is_name(agent).then(|| format!("{SCHEME}:{agent}"))
    }
}

impl fmt::Debug for Insiders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Insiders(not shown)")
    }
}
