//! Users, their API keys and their sign-in links: data that is changed while the server runs.
//!
//! - `entry`: one user: what is listed of it, and the row that is stored
//! - `key`: one API key, and how far it reaches
//! - `keys`: making, listing and revoking keys, and the callers that have one
//! - `links`: sign-in links, each of which is used once
//! - this file: all of them, and the users themselves

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use store::{Batch, Store, Table};

use crate::capability::{self, Capabilities};
use crate::permission::Role;
use crate::principal::{ANONYMOUS, Principal, is_name};
use crate::random::NoRandom;
use crate::revocation::Revocation;
use crate::rows::{self, seconds};
use crate::scheme::Hash;

mod entry;
mod key;
mod keys;
mod links;

pub use entry::{USERS, User};
pub use key::{API_KEYS, ApiKey, KeyScopes};
pub use keys::{NewKey, SCHEME as KEY_SCHEME, SavedKey};
pub use links::{LINKS, SCHEME as LINK_SCHEME, SESSION_METHOD, SignInLink};

use entry::UserEntry;
use key::KeyEntry;
pub(crate) use keys::PREFIX as KEY_PREFIX;
use links::LinkEntry;
pub(crate) use links::PREFIX as LINK_PREFIX;

/// How many users a server has at most; removed ones count, because they stay known.
const MAX_USERS: usize = 10_000;

/// How many names of callers that are no users have a revocation of their own; further ones share one.
const MAX_STRANGERS: usize = 10_000;

/// The longest name of a user, in bytes.
const MAX_NAME: usize = 128;

/// Why a user, a key or a link is not made, changed or removed. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "use {0:?} as the name of a user: it has up to {MAX_NAME} letters, digits and characters of -_.@+:, and is not \
         \"anonymous\" or one of an agent"
    )]
    Name(String),
    #[error("add the user {0:?}: it exists")]
    Exists(String),
    #[error("find the user {0:?}; an administrator adds one: monas user add NAME")]
    NoUser(String),
    /// A field of a key is wrong.
    #[error("make a key: {field} {problem}")]
    Invalid {
        field: &'static str,
        problem: String,
    },
    /// No such key, or it belongs to another user; both are answered alike.
    #[error("find a key with the id {0:?}")]
    NoKey(String),
    /// The caller may not make this key: it would reach further than the caller, or is for another user.
    #[error("make a key: {0}")]
    Denied(&'static str),
    #[error("add to {0} {1}, which is the limit; remove some")]
    TooMany(usize, &'static str),
    /// The caller has no sign-in link, or it was used meanwhile.
    #[error("sign in: it needs a sign-in link that was not used; ask an administrator for one")]
    NoLink,
    /// There is no store.
    #[error("keep users: this server keeps no data")]
    NotKept,
    #[error("make a secret: the system gave no random numbers")]
    Random,
    #[error("record users: {0}")]
    Store(#[from] store::Error),
    /// What the user or the key had lent is not taken back.
    #[error("revoke what was lent: {0}")]
    Lent(#[from] capability::Error),
}

impl From<NoRandom> for Error {
    fn from(_: NoRandom) -> Self {
        Self::Random
    }
}

/// What a server knows about the name of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStatus {
    /// There never was a user of this name.
    Unknown,
    /// There was one: its credentials are refused, whichever they are.
    Removed,
    Active {
        role: Role,
        /// Tokens that were issued at this second or before are refused, because the user was removed in between; in seconds
        /// since 1970, 0 if it never was.
        tokens_after: u64,
    },
}

/// All users of one server with their keys and links. Clones share them.
///
/// A user is a name with a role. It has no password: it signs in with a link that is used once, and its programs have API
/// keys. The role counts for every credential that proves the name, also for configured ones and for tokens; a key
/// narrows it by its scopes. Secrets are 256 random bits, shown once and stored as hashes.
///
/// Everything is held in memory, so that a credential is checked without waiting; the rows of the store are read once, by
/// [`open`](Self::open). The order of changes is that of [`Capabilities`]: a new entry is committed before its secret is
/// given out; to remove marks the entries under the lock, queues their deletion under the same lock, and then waits for the
/// commit. Where the commit fails the entries stay, marked: they admit no caller, and removing can be tried again.
///
/// A removed user stays known as removed, so that tokens which were issued for it are refused until they expire. When it is
/// added again, tokens from before stay refused. A name that never was a user can be removed, too: a token or an issuer proves
/// such a name, and its calls and streams end as those of a user do.
#[derive(Clone, Default)]
pub struct Users(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// `None` where no users can be added.
    store: Option<Store>,
    /// What users have lent ends with them.
    capabilities: Capabilities,
    all: RwLock<All>,
}

/// Users by name, keys by id and by the hash of their secret, links by hash. A hash cannot be chosen by the one who sends a
/// secret, so that the time of a search tells nothing about other secrets.
#[derive(Default)]
struct All {
    users: HashMap<String, Arc<UserEntry>>,
    keys: HashMap<String, Arc<KeyEntry>>,
    key_hashes: HashMap<Hash, Arc<KeyEntry>>,
    links: HashMap<Hash, Arc<LinkEntry>>,
    strangers: Mutex<Strangers>,
}

/// What ends callers whose names are in no row: those of tokens, of issuers and of the configuration.
#[derive(Default)]
struct Strangers {
    each: HashMap<String, Revocation>,
    /// Of those beyond [`MAX_STRANGERS`]. Removing one of them ends what all of them have under way; the others are
    /// authenticated again with their next call.
    others: Option<Revocation>,
}

impl Users {
    /// The users in a store. Keys and links that have expired are deleted.
    pub async fn open(
        store: Store,
        capabilities: Capabilities,
        now: SystemTime,
    ) -> Result<Self, store::Error> {
        let (now, mut all, mut batch) = (seconds(now), All::default(), Batch::new());
        let unread = |kind: &str, key: &str| {
            tracing::warn!(
                id = key,
                "stored {kind} cannot be read: it admits no caller"
            );
        };
        for row in rows::all(&store, &USERS).await? {
            match UserEntry::of_row(&row) {
                Some(user) => drop(all.users.insert(user.name.clone(), Arc::new(user))),
                None => unread("user", &row.key),
            }
        }
        for row in rows::all(&store, &API_KEYS).await? {
            match KeyEntry::of_row(&row) {
                Some(key) if !key.is_over(now) => all.insert_key(Arc::new(key)),
                Some(_) => batch = batch.delete(&API_KEYS, &row.key),
                None => unread("key", &row.key),
            }
        }
        for row in rows::all(&store, &LINKS).await? {
            match LinkEntry::of_row(&row) {
                Some(link) if link.until > now => drop(all.links.insert(link.hash, Arc::new(link))),
                Some(_) => batch = batch.delete(&LINKS, &row.key),
                None => unread("sign-in link", &row.key),
            }
        }
        if !batch.is_empty() {
            store.commit(batch).await?;
        }
        Ok(Self(Arc::new(Inner {
            store: Some(store),
            capabilities,
            all: RwLock::new(all),
        })))
    }

    /// Adds a user. It is committed when this returns.
    pub async fn add(&self, name: &str, role: Role, now: SystemTime) -> Result<User, Error> {
        if !is_user_name(name) {
            return Err(Error::Name(name.to_owned()));
        }
        let store = self.store()?;
        let (entry, commit) = {
            let mut all = self.0.all.write();
            let before = all.users.get(name);
            if before.is_some_and(|user| user.removed.is_none()) {
                return Err(Error::Exists(name.to_owned()));
            }
            if before.is_none() && all.users.len() >= MAX_USERS {
                return Err(Error::TooMany(all.users.len(), "users"));
            }
            let entry = Arc::new(UserEntry {
                name: name.to_owned(),
                role,
                created: seconds(now),
                tokens_after: before.and_then(|user| user.removed).unwrap_or(0),
                ..UserEntry::default()
            });
            let commit = store.commit(Batch::new().put(&USERS, entry.row()));
            all.users.insert(name.to_owned(), entry.clone());
            // A caller of this name that is under way may have more than its role from now on.
            all.strangers.get_mut().taken(name).revoke();
            (entry, commit)
        };
        if let Err(error) = commit.await {
            // As it was: unknown, or removed.
            let mut all = self.0.all.write();
            match entry.tokens_after {
                0 => drop(all.users.remove(name)),
                removed => {
                    let before = UserEntry {
                        removed: Some(removed),
                        ..entry.again()
                    };
                    all.users.insert(name.to_owned(), Arc::new(before));
                }
            }
            return Err(error.into());
        }
        Ok(entry.shown(0))
    }

    /// Changes the role of a user at once. Where that takes something from it, its calls and streams under way end.
    pub async fn set_role(&self, name: &str, role: Role) -> Result<User, Error> {
        let store = self.store()?;
        let (user, commit) = {
            let mut all = self.0.all.write();
            let before = all.active(name).ok_or_else(|| no_user(name))?.clone();
            let keys = all.keys_of(name).count();
            let mut entry = UserEntry {
                role,
                ..before.again()
            };
            if role >= before.role {
                entry.revocation = before.revocation.clone();
            }
            let commit = store.commit(Batch::new().put(&USERS, entry.row()));
            let user = entry.shown(keys);
            all.users.insert(name.to_owned(), Arc::new(entry));
            if role < before.role {
                before.revocation.revoke();
            }
            (user, commit)
        };
        commit.await?;
        Ok(user)
    }

    /// Removes a user at once, with its keys, its links and what it has lent. Its calls and streams under way end. A name that
    /// is no user is recorded as removed: credentials that prove it are refused from now on.
    pub async fn remove(&self, name: &str, now: SystemTime) -> Result<User, Error> {
        let store = self.store()?;
        let (user, removed, keys, commit) = {
            let mut all = self.0.all.write();
            if !all.users.contains_key(name) {
                all.insert_stranger(name, now)?;
            }
            let present = all.users.get(name);
            let present = present.filter(|user| user.removed.is_none());
            let user = present.ok_or_else(|| no_user(name))?;
            user.revocation.revoke();
            let removed = UserEntry {
                removed: Some(seconds(now)),
                ..user.again()
            };
            let mut batch = Batch::new().put(&USERS, removed.row());
            let keys: Vec<_> = all.keys_of(name).cloned().collect();
            for key in &keys {
                key.revocation.revoke();
                batch = batch.delete(&API_KEYS, &key.id);
            }
            for link in all.links.values().filter(|link| link.user == name) {
                batch = batch.delete(&LINKS, &link.hash.to_string());
            }
            let shown = user.shown(keys.len());
            (shown, removed, keys, store.commit(batch))
        };
        commit.await?;
        {
            let mut all = self.0.all.write();
            all.users.insert(name.to_owned(), Arc::new(removed));
            keys.iter().for_each(|key| all.remove_key(key));
            all.links.retain(|_, link| link.user != name);
        }
        self.0.capabilities.revoke_made_by(name, None).await?;
        Ok(user)
    }

    /// The users that are not removed, by name.
    pub fn list(&self) -> Vec<User> {
        let all = self.0.all.read();
        let present = all.users.values();
        let present = present.filter(|user| user.is_active());
        let mut users: Vec<User> = present
            .map(|user| user.shown(all.keys_of(&user.name).count()))
            .collect();
        users.sort_by(|a, b| a.name.cmp(&b.name));
        users
    }

    /// The role of a user; `None` if there is no such user, or if it was removed.
    pub fn role_of(&self, name: &str) -> Option<Role> {
        match self.status(name) {
            UserStatus::Active { role, .. } => Some(role),
            UserStatus::Unknown | UserStatus::Removed => None,
        }
    }

    /// What is known about a name.
    pub fn status(&self, name: &str) -> UserStatus {
        self.known(name).0
    }

    /// What is known about a name, and what ends the callers that have it.
    pub(crate) fn known(&self, name: &str) -> (UserStatus, Option<Revocation>) {
        let all = self.0.all.read();
        match all.users.get(name) {
            None => (UserStatus::Unknown, Some(all.strangers.lock().of(name))),
            Some(user) if !user.is_active() => (UserStatus::Removed, None),
            Some(user) => {
                let standing = UserStatus::Active {
                    role: user.role,
                    tokens_after: user.tokens_after,
                };
                (standing, Some(user.revocation.clone()))
            }
        }
    }

    fn store(&self) -> Result<&Store, Error> {
        self.0.store.as_ref().ok_or(Error::NotKept)
    }
}

fn no_user(name: &str) -> Error {
    Error::NoUser(name.to_owned())
}

/// Whether a text can be the name of a user. Each can be a segment of a path and a word in a log. A colon is allowed, so
/// that a caller that an issuer has named, such as `sso:ada`, can be given a role.
fn is_user_name(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+' | ':');
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.chars().all(plain)
        && !text.starts_with("agent:")
        && !text.starts_with('.')
        && !text.eq_ignore_ascii_case(ANONYMOUS)
}

impl All {
    /// The user of this name, if it is not removed and not being removed.
    fn active(&self, name: &str) -> Option<&Arc<UserEntry>> {
        self.users.get(name).filter(|user| user.is_active())
    }

    fn keys_of(&self, user: &str) -> impl Iterator<Item = &Arc<KeyEntry>> {
        self.keys.values().filter(move |key| key.user == user)
    }

    fn insert_key(&mut self, key: Arc<KeyEntry>) {
        self.key_hashes.insert(key.hash, key.clone());
        self.keys.insert(key.id.clone(), key);
    }

    fn remove_key(&mut self, key: &KeyEntry) {
        self.keys.remove(&key.id);
        self.key_hashes.remove(&key.hash);
    }

    /// Makes a user of a name that is about to be removed. Credentials can prove names that no user may be given.
    fn insert_stranger(&mut self, name: &str, now: SystemTime) -> Result<(), Error> {
        if !is_name(name) || name.starts_with("agent:") || name.eq_ignore_ascii_case(ANONYMOUS) {
            return Err(no_user(name));
        }
        if self.users.len() >= MAX_USERS {
            return Err(Error::TooMany(self.users.len(), "users"));
        }
        let entry = UserEntry {
            name: name.to_owned(),
            created: seconds(now),
            revocation: self.strangers.get_mut().taken(name),
            ..UserEntry::default()
        };
        self.users.insert(name.to_owned(), Arc::new(entry));
        Ok(())
    }
}

impl Strangers {
    /// What ends the callers of this name.
    fn of(&mut self, name: &str) -> Revocation {
        if let Some(own) = self.each.get(name) {
            return own.clone();
        }
        if self.each.len() >= MAX_STRANGERS {
            return self.others.get_or_insert_default().clone();
        }
        let own = Revocation::new();
        self.each.insert(name.to_owned(), own.clone());
        own
    }

    /// The same, for a name that is a user from now on.
    fn taken(&mut self, name: &str) -> Revocation {
        match self.each.remove(name) {
            Some(own) => own,
            None => self.others.take().unwrap_or_default(),
        }
    }
}

/// Whether a caller administers users with all of its credentials: with those that were lent or narrowed it does not.
fn administers(caller: &Principal) -> bool {
    caller.may(crate::Permission::Admin) && !caller.is_lent() && caller.bounds().are_open()
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.all.read().users.len();
        f.debug_tuple("Users").field(&count).finish()
    }
}

/// The tables of this module.
pub static TABLES: &[&Table] = &[&USERS, &API_KEYS, &LINKS];
