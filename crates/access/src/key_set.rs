//! The keys of an issuer as they are now: replaced from outside while tokens are verified.

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::key::Keys;

/// The keys of an issuer that may change while a server runs. Clones share them.
///
/// A door verifies with what is in the set and fetches nothing. Keys of a file are put in once. Keys that an issuer
/// publishes are put in by a task of the server, which asks the issuer from time to time, and when a token names a key that
/// is not in the set ([`Door::wanted_key`](crate::Door::wanted_key)).
#[derive(Clone, Default)]
pub struct KeySet {
    keys: Arc<RwLock<Held>>,
    /// Called when a token names a key that is not in the set, if the issuer publishes its keys.
    on_missing: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// The keys, and how often they were replaced.
#[derive(Debug, Default)]
struct Held {
    keys: Option<Arc<Keys>>,
    generation: u64,
}

impl KeySet {
    /// A set without keys yet, for those that an issuer publishes. `on_missing` is called while a token is verified that
    /// seems to be of the issuer and names a key which is not in the set; it must not wait.
    pub fn published(on_missing: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            keys: Arc::default(),
            on_missing: Some(Arc::new(on_missing)),
        }
    }

    /// Replaces all keys: a token of a key that the issuer has withdrawn is refused from now on. `None` takes all away.
    pub fn replace(&self, keys: Option<Keys>) {
        let mut held = self.keys.write();
        held.keys = keys.map(Arc::new);
        held.generation += 1;
    }

    /// How often the keys were replaced: what was verified with those of an earlier generation is verified again.
    pub(crate) fn generation(&self) -> u64 {
        self.keys.read().generation
    }

    /// Whether a token that names this key has to wait for the keys of the issuer.
    pub(crate) fn lacks(&self, id: Option<&str>) -> bool {
        if self.on_missing.is_none() {
            return false;
        }
        let keys = self.keys.read().keys.clone();
        match (keys, id) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(keys), Some(id)) => !keys.knows(id),
        }
    }

    /// Says that a key is missing.
    pub(crate) fn miss(&self) {
        if let Some(on_missing) = &self.on_missing {
            on_missing();
        }
    }

    /// Whether one of the keys signed the message with this algorithm.
    pub(crate) fn verify(
        &self,
        algorithm: &str,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let keys = self.keys.read().keys.clone();
        keys.is_some_and(|keys| keys.verify(algorithm, id, message, signature))
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet")
            .field("keys", &self.keys.read().keys)
            .finish_non_exhaustive()
    }
}

impl From<Keys> for KeySet {
    /// Keys that do not change.
    fn from(keys: Keys) -> Self {
        let set = Self::default();
        set.replace(Some(keys));
        set
    }
}
