//! API keys: made, listed and revoked, and the callers that have one.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use store::Batch;

use super::key::{API_KEYS, ApiKey, KeyEntry, KeyScopes};
use super::{All, Error, Users, administers, no_user};
use crate::door::CredentialFault;
use crate::permission::{Permissions, Role};
use crate::principal::{Known, Principal};
use crate::random;
use crate::revocation::{Revocation, Revocations};
use crate::rows::{LastUse, seconds};
use crate::scheme::Hash;
use crate::token::TokenFault;

/// The scheme of callers with a key. No configured scheme may have this name.
pub const SCHEME: &str = "monas-key";

/// The beginning of every key.
pub(crate) const PREFIX: &str = "monas-key-";

/// How many keys a user may have, and how many a server holds.
const MAX_FOR_USER: usize = 100;
const MAX_FOR_SERVER: usize = 50_000;

/// How long a key lasts for which nothing else is said, and at most.
const DEFAULT_TIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);
const MAX_DAYS: u64 = 366;

/// The longest label, in bytes.
const MAX_LABEL: usize = 200;

/// What is wanted of a key.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    pub label: String,
    pub scopes: KeyScopes,
    /// How long it lasts; 90 days if nothing is said.
    pub lasts: Option<Duration>,
}

/// A key that was just made.
#[derive(Debug)]
pub struct SavedKey {
    pub key: ApiKey,
    secret: String,
}

impl SavedKey {
    /// The secret. It is not stored: this is the only time it can be read.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

impl Users {
    /// Makes a key of a user. It is committed when this returns. Users make their own, which reach no further than the
    /// credential that made them and end with it; an administrator makes those of all.
    pub async fn create_key(
        &self,
        by: &Principal,
        user: &str,
        wanted: NewKey,
        now: SystemTime,
    ) -> Result<SavedKey, Error> {
        let store = self.store()?;
        self.sweep_keys(now).await?;
        let secret = random::token(PREFIX)?;
        let (entry, commit) = {
            let mut all = self.0.all.write();
            let entry = Arc::new(all.new_key(by, user, wanted, &secret, now)?);
            let commit = store.commit(Batch::new().insert(&API_KEYS, entry.row()));
            all.insert_key(entry.clone());
            (entry, commit)
        };
        if let Err(error) = commit.await {
            self.0.all.write().remove_key(&entry);
            return Err(error.into());
        }
        Ok(SavedKey {
            key: entry.shown(),
            secret,
        })
    }

    /// The keys that a caller may see: an administrator all, others their own. The newest is first.
    pub fn list_keys(&self, viewer: &Principal, now: SystemTime) -> Vec<ApiKey> {
        let now = seconds(now);
        let all = self.0.all.read();
        let seen = all.keys.values();
        let seen = seen.filter(|key| !key.is_over(now) && is_for(viewer, key));
        let mut seen: Vec<ApiKey> = seen.map(|key| key.shown()).collect();
        seen.sort_by(|a, b| (b.created, &b.id).cmp(&(a.created, &a.id)));
        seen
    }

    /// Revokes a key at once, with the keys and what was lent by it. Calls and streams under way end. Users revoke their
    /// own; an administrator revokes any.
    pub async fn revoke_key(&self, by: &Principal, id: &str) -> Result<ApiKey, Error> {
        let shown = {
            let all = self.0.all.read();
            let found = all.keys.get(id).filter(|key| is_for(by, key));
            found.ok_or_else(|| Error::NoKey(id.to_owned()))?.shown()
        };
        let revoked = self.revoke_keys(|key| key.id == id).await?;
        for key in revoked {
            let lent = &self.0.capabilities;
            lent.revoke_made_by(&key.user, Some(&key.id)).await?;
        }
        Ok(shown)
    }

    /// Deletes the keys that have expired.
    async fn sweep_keys(&self, now: SystemTime) -> Result<(), Error> {
        let now = seconds(now);
        let is_any = self.0.all.read().keys.values().any(|key| key.is_over(now));
        if is_any {
            self.revoke_keys(|key| key.is_over(now)).await?;
        }
        Ok(())
    }

    /// Revokes the chosen keys and those that were made with them.
    async fn revoke_keys(
        &self,
        chosen: impl Fn(&KeyEntry) -> bool,
    ) -> Result<Vec<Arc<KeyEntry>>, Error> {
        let store = self.store()?;
        let (revoked, commit) = {
            let all = self.0.all.write();
            let revoked = all.with_children(chosen);
            let mut batch = Batch::new();
            for key in &revoked {
                key.revocation.revoke();
                batch = batch.delete(&API_KEYS, &key.id);
            }
            (revoked, store.commit(batch))
        };
        commit.await?;
        let mut all = self.0.all.write();
        revoked.iter().for_each(|key| all.remove_key(key));
        Ok(revoked)
    }

    /// The caller with this key. What its user may do is not known here: its permissions are those that the key leaves.
    pub(crate) fn key_holder(
        &self,
        secret: &str,
        now: SystemTime,
    ) -> Result<Principal, CredentialFault> {
        let (hash, now) = (Hash::of(secret), seconds(now));
        let all = self.0.all.read();
        let key = all.key_hashes.get(&hash).ok_or(CredentialFault::Unknown)?;
        if key.revocation.is_revoked() || all.active(&key.user).is_none() {
            return Err(CredentialFault::Unknown);
        }
        if key.is_over(now) {
            return Err(CredentialFault::Token(TokenFault::Expired));
        }
        if key.used.note(now)
            && let Some(store) = &self.0.store
        {
            // Queued under the lock; whether it is committed does not matter to this caller.
            drop(store.commit(Batch::new().put(&API_KEYS, key.row())));
        }
        Ok(Principal::known(Known {
            name: key.user.clone(),
            scheme: SCHEME.to_owned(),
            scopes: key.scopes.scopes.clone(),
            until: key.until,
            permissions: key.scopes.permissions.unwrap_or(Permissions::ALL),
            bounds: key.scopes.bounds.clone(),
            credential: key.id.clone(),
            revocations: Revocations::of(key.revocation.clone()),
            ..Known::default()
        }))
    }

    /// Whether a user has the key with this id.
    pub(crate) fn has_key(&self, user: &str, id: &str) -> bool {
        let all = self.0.all.read();
        let key = all.keys.get(id);
        key.is_some_and(|key| key.user == user && !key.revocation.is_revoked())
    }
}

/// Whether a caller may see and revoke a key. The holder of a capability has no keys.
fn is_for(caller: &Principal, key: &KeyEntry) -> bool {
    administers(caller) || (key.user == caller.name() && !caller.is_lent())
}

impl All {
    /// A key as it is wanted, narrowed to what the one who makes it has.
    fn new_key(
        &self,
        by: &Principal,
        user: &str,
        wanted: NewKey,
        secret: &str,
        now: SystemTime,
    ) -> Result<KeyEntry, Error> {
        let is_admin = administers(by);
        if by.is_lent() {
            return Err(Error::Denied(
                "what was lent makes no keys; lend a capability instead",
            ));
        }
        if by.name() != user && !is_admin {
            return Err(Error::Denied(
                "the key of another user needs the permission admin",
            ));
        }
        if !wanted.scopes.scopes.is_empty() && !is_admin {
            return Err(Error::Denied(
                "scope:NAME is given by an administrator alone",
            ));
        }
        // The name of another user is not confirmed to a caller that may not make its keys.
        let role = self.active(user).ok_or_else(|| no_user(user))?.role;
        check_label(&wanted.label)?;
        let own = self.keys_of(user).count();
        if own >= MAX_FOR_USER {
            return Err(Error::TooMany(own, "keys of the user"));
        }
        if self.keys.len() >= MAX_FOR_SERVER {
            return Err(Error::TooMany(self.keys.len(), "keys"));
        }
        let until = seconds(now).saturating_add(lasting(wanted.lasts)?);
        let parent = self.keys.get(by.credential());
        let parent = parent.filter(|key| key.user == user).map(|key| &*key.id);
        let (scopes, until) = match is_admin {
            true => (wanted.scopes, until),
            false => narrowed(&wanted.scopes, by, role, until),
        };
        Ok(KeyEntry {
            id: random::id("key-", |id| self.keys.contains_key(id))?,
            hash: Hash::of(secret),
            user: user.to_owned(),
            label: wanted.label,
            scopes,
            parent: parent.map(str::to_owned),
            until: Some(until),
            created: seconds(now),
            revocation: Revocation::new(),
            used: LastUse::default(),
        })
    }

    /// The chosen keys, and all that were made with them.
    fn with_children(&self, chosen: impl Fn(&KeyEntry) -> bool) -> Vec<Arc<KeyEntry>> {
        let made = |key: &&Arc<KeyEntry>| {
            let mut next = Some(*key);
            while let Some(key) = next {
                if chosen(key) {
                    return true;
                }
                let parent = key.parent.as_ref();
                next = parent.and_then(|id| self.keys.get(id));
            }
            false
        };
        self.keys.values().filter(made).cloned().collect()
    }
}

/// The scopes and the end of a key that a caller makes for itself: no more than it has now. That a token of the caller ends
/// sooner does not matter, but a key does not outlive the one that made it.
fn narrowed(wanted: &KeyScopes, by: &Principal, role: Role, until: u64) -> (KeyScopes, u64) {
    let left = match wanted.permissions {
        // All that the user may: also what a later role gives it.
        wanted if by.permissions() == role.permissions() => wanted,
        Some(wanted) => Some(wanted.intersect(by.permissions())),
        None => Some(by.permissions()),
    };
    let scopes = KeyScopes {
        permissions: left,
        bounds: by.bounds().narrowed(&wanted.bounds),
        // What skills ask for is passed on as far as the caller has it.
        scopes: by.scopes().to_vec(),
    };
    let end = by.until().filter(|_| by.scheme() == SCHEME).map(seconds);
    (scopes, end.map_or(until, |end| end.min(until)))
}

fn check_label(label: &str) -> Result<(), Error> {
    if label.len() <= MAX_LABEL && !label.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::Invalid {
        field: "name",
        problem: format!("has control characters or more than {MAX_LABEL} bytes"),
    })
}

/// How many seconds a key lasts.
fn lasting(wanted: Option<Duration>) -> Result<u64, Error> {
    let seconds = wanted.unwrap_or(DEFAULT_TIME).as_secs();
    let invalid = |problem: String| {
        Err(Error::Invalid {
            field: "for",
            problem,
        })
    };
    match seconds {
        0 => invalid("is no time".to_owned()),
        seconds if seconds > MAX_DAYS * 24 * 60 * 60 => {
            invalid(format!("is more than {MAX_DAYS} days"))
        }
        seconds => Ok(seconds),
    }
}
