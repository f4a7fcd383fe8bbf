//! Sign-in links: how a user gets its first token. A link is used once, within a day.

use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use store::{Batch, Column, Row, Rule, Table, Value};

use super::{Error, Users, no_user};
use crate::door::CredentialFault;
use crate::permission::{Bounds, Permissions};
use crate::principal::{Known, Principal};
use crate::random;
use crate::rows::seconds;
use crate::scheme::Hash;
use crate::token::TokenFault;

/// The links that were not used yet, by the hash of their secret.
pub static LINKS: Table = Table {
    name: "sign_in_links",
    columns: &[
        Column::text("user").with(Rule::Filled),
        Column::integer("until"),
    ],
    indexes: &[],
};

/// The scheme of callers with a link. No configured scheme may have this name.
pub const SCHEME: &str = "sign-in-link";

/// The beginning of the secret of every link.
pub(crate) const PREFIX: &str = "monas-link-";

/// The only operation that a link reaches: the one that redeems it.
pub const SESSION_METHOD: &str = "POST /api/session";

/// How long a link can be used, in seconds.
const TIME: u64 = 24 * 60 * 60;

/// A link that was just made.
#[derive(Clone, PartialEq, Eq)]
pub struct SignInLink {
    pub user: String,
    /// In seconds since 1970.
    pub until: u64,
    secret: String,
}

impl SignInLink {
    /// The secret. It is not stored: this is the only time it can be read.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

impl std::fmt::Debug for SignInLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SignInLink").field(&self.user).finish()
    }
}

/// A link with all that belongs to it.
#[derive(Debug)]
pub(super) struct LinkEntry {
    pub(super) hash: Hash,
    pub(super) user: String,
    pub(super) until: u64,
}

/// The body of a row, for what may be added later.
#[derive(Default, Serialize, Deserialize)]
struct Stored {}

impl LinkEntry {
    fn row(&self) -> Row {
        Row {
            key: self.hash.to_string(),
            columns: vec![
                self.user.clone().into(),
                i64::try_from(self.until).unwrap_or(i64::MAX).into(),
            ],
            body: serde_json::to_vec(&Stored::default())
                .unwrap_or_default()
                .into(),
        }
    }

    /// The link of a row; `None` if it cannot be read, which then admits no caller.
    pub(super) fn of_row(row: &Row) -> Option<Self> {
        let [Value::Text(user), Value::Integer(until)] = &row.columns[..] else {
            return None;
        };
        Some(Self {
            hash: row.key.parse().ok()?,
            user: user.clone(),
            until: u64::try_from(*until).ok()?,
        })
    }
}

impl Users {
    /// Makes a link for a user. It is committed when this returns. Earlier links of the user end.
    pub async fn link(&self, user: &str, now: SystemTime) -> Result<SignInLink, Error> {
        let store = self.store()?;
        let secret = random::token(PREFIX)?;
        let entry = Arc::new(LinkEntry {
            hash: Hash::of(&secret),
            user: user.to_owned(),
            until: seconds(now).saturating_add(TIME),
        });
        let commit = {
            let mut all = self.0.all.write();
            all.active(user).ok_or_else(|| no_user(user))?;
            let mut batch = Batch::new().insert(&LINKS, entry.row());
            for link in all.links.values().filter(|link| link.user == user) {
                batch = batch.delete(&LINKS, &link.hash.to_string());
            }
            all.links.retain(|_, link| link.user != user);
            all.links.insert(entry.hash, entry.clone());
            store.commit(batch)
        };
        if let Err(error) = commit.await {
            self.0.all.write().links.remove(&entry.hash);
            return Err(error.into());
        }
        Ok(SignInLink {
            user: entry.user.clone(),
            until: entry.until,
            secret,
        })
    }

    /// Redeems the link that a caller showed; gives the name of its user. A second attempt fails, also one at the same
    /// moment. Where the commit fails no token is given out, so that the link is not used twice.
    pub async fn redeem(&self, caller: &Principal) -> Result<String, Error> {
        if caller.scheme() != SCHEME {
            return Err(Error::NoLink);
        }
        let store = self.store()?;
        let hash: Hash = caller.credential().parse().map_err(|_| Error::NoLink)?;
        let (link, commit) = {
            let mut all = self.0.all.write();
            let link = all.links.remove(&hash).ok_or(Error::NoLink)?;
            let batch = Batch::new().delete(&LINKS, &link.hash.to_string());
            (link, store.commit(batch))
        };
        commit.await?;
        // The user may have been removed while the commit was under way.
        match self.role_of(&link.user) {
            Some(_) => Ok(link.user.clone()),
            None => Err(Error::NoLink),
        }
    }

    /// The caller with this link, which may redeem it and nothing else.
    pub(crate) fn link_holder(
        &self,
        secret: &str,
        now: SystemTime,
    ) -> Result<Principal, CredentialFault> {
        let hash = Hash::of(secret);
        let all = self.0.all.read();
        let link = all.links.get(&hash).ok_or(CredentialFault::Unknown)?;
        if link.until <= seconds(now) {
            return Err(CredentialFault::Token(TokenFault::Expired));
        }
        Ok(Principal::known(Known {
            name: link.user.clone(),
            scheme: SCHEME.to_owned(),
            until: Some(link.until),
            permissions: Permissions::NONE,
            bounds: Bounds {
                methods: Some([SESSION_METHOD.to_owned()].into()),
                ..Bounds::default()
            },
            credential: hash.to_string(),
            ..Known::default()
        }))
    }
}
