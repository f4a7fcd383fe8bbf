//! One user: what is listed of it, and its row in the store.

use serde::{Deserialize, Serialize};
use store::{Column, Row, Table, Value};

use crate::permission::Role;
use crate::revocation::Revocation;

/// The users, by name; removed ones stay.
pub static USERS: Table = Table {
    name: "users",
    columns: &[Column::text("role"), Column::integer("removed")],
    indexes: &[],
};

/// What may be known of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct User {
    pub name: String,
    pub role: Role,
    /// In seconds since 1970.
    pub created: u64,
    /// How many API keys it has.
    pub keys: usize,
}

/// A user with all that belongs to it.
#[derive(Debug, Default)]
pub(super) struct UserEntry {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) created: u64,
    /// When it was removed; `None` while it is a user.
    pub(super) removed: Option<u64>,
    /// Tokens that were issued at this time or before are of the user that was removed then.
    pub(super) tokens_after: u64,
    pub(super) revocation: Revocation,
}

/// The body of a row.
#[derive(Serialize, Deserialize)]
struct Stored {
    created: u64,
    tokens_after: u64,
}

impl UserEntry {
    /// Whether it is a user, and is not being removed.
    pub(super) fn is_active(&self) -> bool {
        self.removed.is_none() && !self.revocation.is_revoked()
    }

    /// The same user with a revocation of its own.
    pub(super) fn again(&self) -> Self {
        Self {
            name: self.name.clone(),
            revocation: Revocation::new(),
            ..*self
        }
    }

    pub(super) fn shown(&self, keys: usize) -> User {
        User {
            name: self.name.clone(),
            role: self.role,
            created: self.created,
            keys,
        }
    }

    pub(super) fn row(&self) -> Row {
        let stored = Stored {
            created: self.created,
            tokens_after: self.tokens_after,
        };
        let removed = i64::try_from(self.removed.unwrap_or(0));
        Row {
            key: self.name.clone(),
            columns: vec![
                self.role.name().to_owned().into(),
                removed.unwrap_or(i64::MAX).into(),
            ],
            body: serde_json::to_vec(&stored).unwrap_or_default().into(),
        }
    }

    /// The user of a row; `None` if it cannot be read.
    pub(super) fn of_row(row: &Row) -> Option<Self> {
        let [Value::Text(role), Value::Integer(removed)] = &row.columns[..] else {
            return None;
        };
        let stored: Stored = serde_json::from_slice(&row.body).ok()?;
        let removed = u64::try_from(*removed).ok()?;
        Some(Self {
            name: row.key.clone(),
            role: role.parse().ok()?,
            created: stored.created,
            removed: (removed > 0).then_some(removed),
            tokens_after: stored.tokens_after,
            revocation: Revocation::new(),
        })
    }
}
