//! Signed tokens that were verified lately, so that a caller that shows one with every call pays for its signature once.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::principal::Principal;
use crate::scheme::Hash;
use crate::token::Validity;

/// How many tokens are remembered in each of the two halves.
const HALF: usize = 2_048;

/// What verifying a token found.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    /// The caller as the claims have it. Its role in the data and its revocation are looked up anew in each call.
    pub(crate) caller: Principal,
    pub(crate) validity: Validity,
    /// The scheme that verified it, by its place in the list of the door.
    pub(crate) scheme: usize,
    /// Which keys that scheme had. With others the token is verified again.
    pub(crate) generation: u64,
}

/// The tokens that were verified lately, by their hashes. Clones share them.
///
/// It holds nothing but the outcome of a signature check, which is the same as long as the keys are the same: the secrets of our
/// own tokens do not change while a door exists, and the keys of an issuer have a generation. So it can only save time: whether a
/// token has expired, whether its user was removed, and which role it has is decided after it, in every call.
///
/// Tokens that are refused are not remembered; a flood of them evicts nothing. A token is found by its SHA-256, which the sender
/// cannot choose. The map has two halves. New tokens come into the first; when that is full it becomes the second, and the second
/// is forgotten. A token that is found in the second moves to the first, so that those in use stay.
#[derive(Clone, Default)]
pub(crate) struct VerifiedTokens(Arc<RwLock<Halves>>);

#[derive(Default)]
struct Halves {
    recent: HashMap<Hash, Verified>,
    older: HashMap<Hash, Verified>,
}

impl VerifiedTokens {
    pub(crate) fn find(&self, token: &Hash) -> Option<Verified> {
        let found = {
            let halves = self.0.read();
            if let Some(found) = halves.recent.get(token) {
                return Some(found.clone());
            }
            halves.older.get(token)?.clone()
        };
        self.insert(*token, found.clone());
        Some(found)
    }

    pub(crate) fn insert(&self, token: Hash, verified: Verified) {
        let mut halves = self.0.write();
        if halves.recent.len() >= HALF {
            halves.older = std::mem::take(&mut halves.recent);
        }
        halves.recent.insert(token, verified);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let halves = self.0.read();
        halves.recent.len() + halves.older.len()
    }
}

impl fmt::Debug for VerifiedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recent = self.0.read().recent.len();
        f.debug_tuple("VerifiedTokens").field(&recent).finish()
    }
}
