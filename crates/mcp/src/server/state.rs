//! The `requestState` of revision 2026-07-28: what a client holds for us between two calls, sealed so that it cannot be
//! changed or used elsewhere.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac::{self, Key};

use super::question::CallDigest;
use super::rpc::RpcError;

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;

/// What is signed begins with this, so that no other use of the key gives the same bytes.
const DOMAIN: &[u8] = b"monas mcp request state 1";

/// The bytes of the time at which a state expires, and those of the signature.
const TIME: usize = 8;
const SIGNATURE: usize = 32;

/// Seals and opens the id of the task that asks. The client sends it back with the answer, so the server keeps nothing
/// between the two calls. A state is `time | task | signature`, in base64; the signature also covers the call it was made
/// for.
pub(super) struct StateSeal {
    key: Key,
    time: Duration,
}

impl StateSeal {
    pub(super) fn new(key: &[u8], time: Duration) -> Self {
        Self {
            key: Key::new(hmac::HMAC_SHA256, key),
            time,
        }
    }

    /// The state of a call that waits for an answer to its task.
    pub(super) fn seal(&self, task: &str, digest: &CallDigest) -> String {
        let until = now().saturating_add(self.time);
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        let mut state = until.to_be_bytes().to_vec();
        state.extend_from_slice(task.as_bytes());
        let signature = hmac::sign(&self.key, &signed(digest, &state));
        state.extend_from_slice(signature.as_ref());
        URL_SAFE_NO_PAD.encode(state)
    }

    /// The id of the task in a state. The error does not say whether the state was forged, expired or made for another
    /// call.
    pub(super) fn open(
        &self,
        state: &str,
        digest: Option<&CallDigest>,
    ) -> Result<String, RpcError> {
        let wrong = "requestState is invalid for this call, or has expired";
        let task = digest.and_then(|digest| self.task(state, digest));
        task.ok_or_else(|| RpcError::invalid_params(wrong))
    }

    fn task(&self, state: &str, digest: &CallDigest) -> Option<String> {
        let state = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (state, signature) = state.split_at_checked(state.len().checked_sub(SIGNATURE)?)?;
        hmac::verify(&self.key, &signed(digest, state), signature).ok()?;
        let (until, task) = state.split_first_chunk::<TIME>()?;
        let until = Duration::from_millis(u64::from_be_bytes(*until));
        (now() < until).then(|| String::from_utf8(task.to_vec()).ok())?
    }
}

impl std::fmt::Debug for StateSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateSeal").finish_non_exhaustive()
    }
}

/// The digest has one length, so the border to the state needs no mark.
fn signed(digest: &CallDigest, state: &[u8]) -> Vec<u8> {
    [DOMAIN, &digest.0, state].concat()
}

fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}
