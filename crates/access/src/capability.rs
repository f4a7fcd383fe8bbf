//! Capabilities: what a caller lends to other programs, narrower than its own rights and revocable at any moment.
//!
//! - `attenuation`: how much narrower
//! - `entry`: one capability: what is listed of it, and the row that is stored
//! - this file: all capabilities of a server: lending, restoring by token, listing, revoking

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::RwLock;
use store::{Batch, Store, Table};

use crate::door::CredentialFault;
use crate::own_token;
use crate::permission::{Permission, Role};
use crate::principal::{Known, Principal};
use crate::random::{self, NoRandom};
use crate::revocation::Revocations;
use crate::rows::{self, seconds};
use crate::scheme::Hash;
use crate::token::TokenFault;

mod attenuation;
mod entry;

pub use attenuation::{Attenuation, MAX_METHODS, MAX_NOTE};
pub use entry::{CAPABILITIES, Capability, Kind};

use entry::Entry;
pub(crate) use entry::Maker;

/// The scheme of callers with a capability. No configured scheme may have this name.
pub const SCHEME: &str = "capability";

/// The beginning of every token. It is found by searches for leaked secrets, and tells a door what it looks at.
pub const PREFIX: &str = "monas-cap-";

/// How many capabilities a caller may have lent at the same time, and how many a server holds.
const MAX_FOR_CALLER: usize = 1_000;
const MAX_FOR_SERVER: usize = 50_000;

/// How long a saved capability lasts for which nothing else is said, and at most, in seconds.
const DEFAULT_TIME: u64 = 24 * 60 * 60;
const MAX_TIME: u64 = 366 * 24 * 60 * 60;

/// Why a capability is not lent, saved or revoked. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of the attenuation is wrong.
    #[error("lend a capability: {field} {problem}")]
    Invalid {
        field: &'static str,
        problem: String,
    },
    #[error(
        "lend a capability: {0} are lent already, which is the limit; revoke one, or wait until one expires"
    )]
    TooMany(usize),
    /// No such capability, or it belongs to another caller; both are answered alike.
    #[error("find a capability with the id {0:?}")]
    Unknown(String),
    /// The credentials of the lender were revoked, or have expired.
    #[error("lend a capability: the credentials of the lender were revoked, or have expired")]
    LenderIsOver,
    /// There is no store: capabilities of sessions can be lent, and no others.
    #[error("save a capability: this server keeps no data")]
    NotKept,
    #[error("make a token: the system gave no random numbers")]
    Random,
    #[error("record a capability: {0}")]
    Store(#[from] store::Error),
}

impl From<NoRandom> for Error {
    fn from(_: NoRandom) -> Self {
        Self::Random
    }
}

/// All capabilities that callers of one server have lent. Clones share them.
///
/// There are two kinds. A *sturdy* one has a token of 256 random bits, which is shown once and stored as its hash; who
/// has the token is the caller that made it, with the narrower bounds, until it expires or is revoked, also after a
/// restart. A *session* one is an object that a caller holds in a Cap'n Web session; it ends when its [`Lent`] is
/// dropped. Both are listed, and both can be revoked by id.
///
/// Everything is held in memory, so that a token is checked without waiting; the rows of the store are read once, by
/// [`open`](Self::open). The order of changes is what makes revoking final:
///
/// - A new one is committed before its token is given out.
/// - To revoke marks the entries under the lock, queues their deletion under the same lock, and then waits for the
///   commit. The time of the last use is queued under the lock, too, and only for entries that are not marked; so no row
///   is written after its deletion, and none comes back after a restart.
/// - Where the commit fails the entries stay, marked: they admit no caller, and revoking can be tried again.
///
/// What was made with a capability (`parent`) is revoked with it, and so is what was made with a key or by a user, by
/// [`revoke_made_by`](Self::revoke_made_by).
#[derive(Clone, Default)]
pub struct Capabilities(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// `None` where only capabilities of sessions can be lent.
    store: Option<Store>,
    all: RwLock<All>,
}

/// The entries by id, and the ids of sturdy ones by the hash of their token. A hash cannot be chosen by the one who sends a
/// token, so that the time of a search tells nothing about other tokens.
#[derive(Default)]
struct All {
    by_id: HashMap<String, Arc<Entry>>,
    by_hash: HashMap<Hash, Arc<Entry>>,
}

/// A sturdy capability that was just made.
#[derive(Debug)]
pub struct Saved {
    pub capability: Capability,
    token: String,
}

impl Saved {
    /// The token. It is not stored: this is the only time it can be read.
    pub fn token(&self) -> &str {
        &self.token
    }
}

/// A capability of a session. Dropping it revokes it.
pub struct Lent {
    principal: Principal,
    entry: Arc<Entry>,
    capabilities: Capabilities,
}

impl Lent {
    /// The caller that the holder of the capability is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    pub fn id(&self) -> &str {
        &self.entry.id
    }

    /// Ends it for all holders. What was made with it ends, too, except for what was saved.
    pub fn revoke(&self) {
        self.entry.revocation.revoke();
        self.capabilities.0.all.write().remove(&self.entry);
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.revoke();
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lent").field(&self.entry.id).finish()
    }
}

impl Capabilities {
    /// The capabilities in a store. Those that have expired are deleted.
    pub async fn open(store: Store, now: SystemTime) -> Result<Self, store::Error> {
        let rows = rows::all(&store, &CAPABILITIES).await?;
        let (now, mut all, mut batch) = (seconds(now), All::default(), Batch::new());
        for row in rows {
            match Entry::of_row(&row) {
                Some(entry) if !entry.is_over(now) => all.insert(Arc::new(entry)),
                Some(_) => batch = batch.delete(&CAPABILITIES, &row.key),
                None => tracing::warn!(
                    id = row.key,
                    "stored capability cannot be read: it admits no caller"
                ),
            }
        }
        if !batch.is_empty() {
            store.commit(batch).await?;
        }
        Ok(Self(Arc::new(Inner {
            store: Some(store),
            all: RwLock::new(all),
        })))
    }

    /// Lends a part of what a caller may do for as long as the result is held.
    pub fn lend(
        &self,
        lender: &Principal,
        attenuation: &Attenuation,
        now: SystemTime,
    ) -> Result<Lent, Error> {
        let narrower = self.narrower(lender, attenuation, now)?;
        let parent = lender.is_lent().then(|| lender.credential().to_owned());
        let entry = self.entry(lender, &narrower, attenuation, parent, now)?;
        let principal = narrower.lent_as(&entry.id);
        let entry = Arc::new(entry);
        let principal = principal.revocable(entry.revocation.clone());
        self.0.all.write().insert(entry.clone());
        // The lender was revoked while this entry was inserted: its revocation did not reach the entry.
        if lender.is_revoked() {
            self.0.all.write().remove(&entry);
            return Err(Error::LenderIsOver);
        }
        Ok(Lent {
            principal,
            entry,
            capabilities: self.clone(),
        })
    }

    /// Lends a part of what a caller may do by a token. It is committed when this returns.
    pub async fn save(
        &self,
        lender: &Principal,
        attenuation: &Attenuation,
        now: SystemTime,
    ) -> Result<Saved, Error> {
        let store = self.0.store.as_ref().ok_or(Error::NotKept)?;
        self.sweep(now).await?;
        let mut limited = attenuation.clone();
        let until = seconds(now).saturating_add(DEFAULT_TIME);
        limited.until.get_or_insert(until);
        let narrower = self.narrower(lender, &limited, now)?;
        let parent = self.sturdy_parent(lender);
        let mut entry = self.entry(lender, &narrower, attenuation, parent, now)?;
        let token = random::token(PREFIX)?;
        entry.hash = Some(Hash::of(&token));
        let entry = Arc::new(entry);
        let committed = store.commit(Batch::new().insert(&CAPABILITIES, entry.row()));
        committed.await?;
        self.0.all.write().insert(entry.clone());
        // The lender, or a capability on the way to it, may have been revoked while the commit was under way.
        if lender.is_revoked() {
            self.revoke_all(|it| it.id == entry.id).await?;
            return Err(Error::LenderIsOver);
        }
        Ok(Saved {
            capability: entry.shown(),
            token,
        })
    }

    /// The capabilities that a caller may see: an administrator all, a holder of a capability those that were made with
    /// it, others their own. The newest is first.
    pub fn list(&self, viewer: &Principal, now: SystemTime) -> Vec<Capability> {
        let now = seconds(now);
        let all = self.0.all.read();
        let seen = all.by_id.values();
        let seen = seen.filter(|entry| !entry.is_over(now) && all.is_for(viewer, entry));
        let mut seen: Vec<Capability> = seen.map(|entry| entry.shown()).collect();
        seen.sort_by(|a, b| (b.created, &b.id).cmp(&(a.created, &a.id)));
        seen
    }

    /// Revokes a capability and all that was made with it, at once. Callers revoke their own; an administrator revokes any.
    pub async fn revoke(&self, by: &Principal, id: &str) -> Result<Capability, Error> {
        let unknown = || Error::Unknown(id.to_owned());
        let shown = {
            let all = self.0.all.read();
            let found = all.by_id.get(id).filter(|entry| all.is_for(by, entry));
            found.ok_or_else(unknown)?.shown()
        };
        self.revoke_all(|entry| entry.id == id).await?;
        Ok(shown)
    }

    /// Revokes everything that a user has lent, or only what it lent by one of its keys. To be called after the user or
    /// the key was removed.
    pub async fn revoke_made_by(&self, user: &str, key: Option<&str>) -> Result<usize, Error> {
        let made = |entry: &Entry| {
            entry.maker.name == user && key.is_none_or(|key| entry.maker.credential == key)
        };
        self.revoke_all(made).await
    }

    /// The caller that has this token. `is_known` says whether the maker would still be admitted.
    pub(crate) fn holder(
        &self,
        token: &str,
        now: SystemTime,
        is_known: impl Fn(&Maker) -> bool,
    ) -> Result<Principal, CredentialFault> {
        let (hash, now) = (Hash::of(token), seconds(now));
        let all = self.0.all.read();
        let entry = all.by_hash.get(&hash).ok_or(CredentialFault::Unknown)?;
        if entry.revocation.is_revoked() || !is_known(&entry.maker) {
            return Err(CredentialFault::Unknown);
        }
        if entry.is_over(now) {
            return Err(CredentialFault::Token(TokenFault::Expired));
        }
        if entry.used.note(now)
            && let Some(store) = &self.0.store
        {
            // Queued under the lock; whether it is committed does not matter to this caller.
            drop(store.commit(Batch::new().put(&CAPABILITIES, entry.row())));
        }
        Ok(Principal::known(Known {
            name: entry.maker.name.clone(),
            scheme: SCHEME.to_owned(),
            scopes: entry.scopes.clone(),
            until: entry.until,
            // The token of the lender had a role that is written nowhere else; what was lent of it is the limit.
            role: (entry.maker.scheme == own_token::SCHEME).then_some(Role::Admin),
            permissions: entry.permissions,
            bounds: entry.bounds.clone(),
            credential: entry.id.clone(),
            revocations: Revocations::of(entry.revocation.clone()),
            ..Known::default()
        }))
    }

    /// The lender with less; fails if what is wanted is not possible.
    fn narrower(
        &self,
        lender: &Principal,
        attenuation: &Attenuation,
        now: SystemTime,
    ) -> Result<Principal, Error> {
        if lender.is_revoked() || lender.is_over(now) {
            return Err(Error::LenderIsOver);
        }
        attenuation.check(seconds(now), MAX_TIME)?;
        let all = self.0.all.read();
        let over = seconds(now);
        let is_theirs = |it: &&Arc<Entry>| it.maker.name == lender.name() && !it.is_over(over);
        let own = all.by_id.values().filter(is_theirs).count();
        if own >= MAX_FOR_CALLER {
            return Err(Error::TooMany(own));
        }
        if all.by_id.len() >= MAX_FOR_SERVER {
            return Err(Error::TooMany(all.by_id.len()));
        }
        let permissions = match attenuation.permissions {
            Some(wanted) => lender.permissions().intersect(wanted),
            None => lender.permissions(),
        };
        let narrower = lender.attenuated(&attenuation.bounds, attenuation.until);
        Ok(narrower.permitted(permissions))
    }

    /// An entry for what a lender lends; without a token.
    fn entry(
        &self,
        lender: &Principal,
        narrower: &Principal,
        attenuation: &Attenuation,
        parent: Option<String>,
        now: SystemTime,
    ) -> Result<Entry, Error> {
        let all = self.0.all.read();
        // A capability that is derived from another keeps the first lender and the credentials of that lender.
        let maker = match all.by_id.get(lender.credential()) {
            Some(entry) if lender.is_lent() => entry.maker.clone(),
            _ => Maker::of(lender),
        };
        Ok(Entry {
            id: random::id("cap-", |id| all.by_id.contains_key(id))?,
            hash: None,
            maker,
            parent,
            permissions: narrower.permissions(),
            scopes: narrower.scopes().to_vec(),
            bounds: narrower.bounds().clone(),
            until: narrower.until().map(seconds),
            created: seconds(now),
            note: attenuation.note.clone(),
            ..Entry::default()
        })
    }

    /// The nearest capability on the way to a caller that is saved: what the caller saves is revoked with it.
    fn sturdy_parent(&self, lender: &Principal) -> Option<String> {
        let all = self.0.all.read();
        let mut next = lender.is_lent().then(|| lender.credential().to_owned());
        while let Some(entry) = next.and_then(|id| all.by_id.get(&id)) {
            if entry.hash.is_some() {
                return Some(entry.id.clone());
            }
            next = entry.parent.clone();
        }
        None
    }

    /// Revokes what is chosen and all that was made with it; says how many these are.
    async fn revoke_all(&self, chosen: impl Fn(&Entry) -> bool) -> Result<usize, Error> {
        let (revoked, commit) = {
            let all = self.0.all.write();
            let revoked = all.with_children(chosen);
            let mut batch = Batch::new();
            for entry in &revoked {
                entry.revocation.revoke();
                if entry.hash.is_some() {
                    batch = batch.delete(&CAPABILITIES, &entry.id);
                }
            }
            let store = self.0.store.as_ref().filter(|_| !batch.is_empty());
            (revoked, store.map(|store| store.commit(batch)))
        };
        if let Some(commit) = commit {
            commit.await?;
        }
        let mut all = self.0.all.write();
        for entry in &revoked {
            all.remove(entry);
        }
        Ok(revoked.len())
    }

    /// Deletes what has expired.
    pub async fn sweep(&self, now: SystemTime) -> Result<usize, Error> {
        let now = seconds(now);
        self.revoke_all(|entry| entry.is_over(now)).await
    }
}

impl All {
    fn insert(&mut self, entry: Arc<Entry>) {
        if let Some(hash) = entry.hash {
            self.by_hash.insert(hash, entry.clone());
        }
        self.by_id.insert(entry.id.clone(), entry);
    }

    fn remove(&mut self, entry: &Entry) {
        self.by_id.remove(&entry.id);
        if let Some(hash) = &entry.hash {
            self.by_hash.remove(hash);
        }
    }

    /// Whether a caller may see and revoke an entry.
    fn is_for(&self, caller: &Principal, entry: &Entry) -> bool {
        if caller.is_lent() {
            return self.descends(entry, caller.credential());
        }
        entry.maker.name == caller.name() || caller.may(Permission::Admin)
    }

    /// Whether an entry was made with a capability, directly or by way of others.
    fn descends(&self, entry: &Entry, ancestor: &str) -> bool {
        let mut parent = entry.parent.as_deref();
        while let Some(id) = parent {
            if id == ancestor {
                return true;
            }
            parent = self.by_id.get(id).and_then(|it| it.parent.as_deref());
        }
        false
    }

    /// What is chosen, and all that was made with it.
    fn with_children(&self, chosen: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        let is_chosen = |id: &str| self.by_id.get(id).is_some_and(|entry| chosen(entry));
        let made = |entry: &&Arc<Entry>| {
            let mut next = Some(&*entry.id);
            while let Some(id) = next {
                if is_chosen(id) {
                    return true;
                }
                next = self.by_id.get(id).and_then(|it| it.parent.as_deref());
            }
            false
        };
        self.by_id.values().filter(made).cloned().collect()
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.all.read().by_id.len();
        f.debug_tuple("Capabilities").field(&count).finish()
    }
}

/// The tables of this module.
pub static TABLES: &[&Table] = &[&CAPABILITIES];
