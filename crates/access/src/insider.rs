//! Callers of the same process: they prove who they are with a token that only this process can have made.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::{hmac, rand};

use crate::principal::is_name;

/// What the names of insiders begin with. No other caller has such a name.
pub(crate) const SCHEME: &str = "agent";

/// What the tokens of insiders begin with.
const PREFIX: &str = "monas-insider.";

/// Makes tokens for callers of this process, and knows them again. Clones are the same; another process has another.
#[derive(Clone)]
pub struct Insiders(Arc<hmac::Key>);

impl Insiders {
    /// With a secret that is nowhere else.
    pub fn new() -> Result<Self, crate::Error> {
        let random = rand::SystemRandom::new();
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &random);
        let key = key.map_err(|_| crate::Error::Random)?;
        Ok(Self(Arc::new(key)))
    }

    /// What an agent shows, as `Authorization: Bearer …`, to be the caller `agent:NAME`.
    pub fn token(&self, agent: &str) -> String {
        let tag = hmac::sign(&self.0, agent.as_bytes());
        let tag = URL_SAFE_NO_PAD.encode(tag.as_ref());
        format!("{PREFIX}{agent}.{tag}")
    }

    /// Whose token it is: the name of a caller.
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
