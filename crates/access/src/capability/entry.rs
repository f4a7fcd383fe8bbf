//! One capability: what is listed of it, and its row in the store.

use serde::{Deserialize, Serialize};
use store::{Column, Row, Rule, Table, Value};

use crate::permission::{Bounds, Permissions};
use crate::principal::Principal;
use crate::revocation::Revocation;
use crate::rows::{LastUse, until_column, until_of};
use crate::scheme::Hash;

/// The sturdy capabilities, by id. The token itself is not stored.
pub static CAPABILITIES: Table = Table {
    name: "capabilities",
    columns: &[
        Column::text("hash").with(Rule::Filled),
        Column::text("maker"),
        Column::integer("until"),
    ],
    indexes: &[],
};

/// How a capability is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By a token, which restores it.
    Sturdy,
    /// By an object of a Cap'n Web session.
    Session,
}

/// What may be known of a capability. It has no token: that is shown once, when the capability is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capability {
    pub id: String,
    pub kind: Kind,
    /// The name of the caller that lent it. The holder acts in this name.
    pub maker: String,
    /// The capability that it was made with.
    pub parent: Option<String>,
    pub permissions: Permissions,
    pub bounds: Bounds,
    /// In seconds since 1970, as `created` and `used`.
    pub until: Option<u64>,
    pub created: u64,
    /// `None` if it was never used, or is of a session.
    pub used: Option<u64>,
    pub note: String,
}

/// The caller that lent a capability, and the credentials it had then. With those the capability ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Maker {
    pub(crate) name: String,
    pub(crate) scheme: String,
    /// The id of its key, where its scheme has ids.
    pub(crate) credential: String,
}

impl Maker {
    pub(super) fn of(lender: &Principal) -> Self {
        Self {
            name: lender.name().to_owned(),
            scheme: lender.scheme().to_owned(),
            credential: lender.credential().to_owned(),
        }
    }
}

/// A capability with all that belongs to it.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) id: String,
    /// Of the token; `None` for a capability of a session.
    pub(super) hash: Option<Hash>,
    pub(super) maker: Maker,
    pub(super) parent: Option<String>,
    pub(super) permissions: Permissions,
    pub(super) scopes: Vec<String>,
    pub(super) bounds: Bounds,
    pub(super) until: Option<u64>,
    pub(super) created: u64,
    pub(super) note: String,
    pub(super) revocation: Revocation,
    pub(super) used: LastUse,
}

/// The body of a row.
#[derive(Serialize, Deserialize)]
struct Stored {
    maker: Maker,
    parent: Option<String>,
    permissions: Vec<String>,
    scopes: Vec<String>,
    methods: Option<Vec<String>>,
    read_only: bool,
    task: Option<String>,
    created: u64,
    used: u64,
    note: String,
}

impl Entry {
    pub(super) fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    pub(super) fn shown(&self) -> Capability {
        Capability {
            id: self.id.clone(),
            kind: match self.hash {
                Some(_) => Kind::Sturdy,
                None => Kind::Session,
            },
            maker: self.maker.name.clone(),
            parent: self.parent.clone(),
            permissions: self.permissions,
            bounds: self.bounds.clone(),
            until: self.until,
            created: self.created,
            used: self.used.shown(),
            note: self.note.clone(),
        }
    }

    pub(super) fn row(&self) -> Row {
        let names = self.permissions.iter().map(|it| it.name().to_owned());
        let stored = Stored {
            maker: self.maker.clone(),
            parent: self.parent.clone(),
            permissions: names.collect(),
            scopes: self.scopes.clone(),
            methods: self.bounds.methods.as_ref().map(|it| it.to_vec()),
            read_only: self.bounds.read_only,
            task: self.bounds.task.clone(),
            created: self.created,
            used: self.used.time(),
            note: self.note.clone(),
        };
        let hash = self.hash.map(|it| it.to_string()).unwrap_or_default();
        Row {
            key: self.id.clone(),
            columns: vec![
                hash.into(),
                self.maker.name.clone().into(),
                until_column(self.until).into(),
            ],
            body: serde_json::to_vec(&stored).unwrap_or_default().into(),
        }
    }

    /// The capability of a row; `None` if it cannot be read, which then admits no caller.
    pub(super) fn of_row(row: &Row) -> Option<Self> {
        let [Value::Text(hash), Value::Text(_), Value::Integer(until)] = &row.columns[..] else {
            return None;
        };
        let stored: Stored = serde_json::from_slice(&row.body).ok()?;
        let permissions = stored.permissions.iter();
        let permissions = permissions
            .map(|name| name.parse().ok())
            .collect::<Option<_>>()?;
        Some(Self {
            id: row.key.clone(),
            hash: Some(hash.parse().ok()?),
            maker: stored.maker,
            parent: stored.parent,
            permissions,
            scopes: stored.scopes,
            bounds: Bounds {
                methods: stored.methods.map(Into::into),
                read_only: stored.read_only,
                task: stored.task,
            },
            until: until_of(*until)?,
            created: stored.created,
            note: stored.note,
            revocation: Revocation::new(),
            used: LastUse::at(stored.used),
        })
    }
}
