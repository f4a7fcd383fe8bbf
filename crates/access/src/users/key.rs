//! One API key: how far it reaches, what is listed of it, and its row in the store.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use store::{Column, Row, Rule, Table, Value};

use super::Error;
use crate::permission::{Bounds, Permission, Permissions};
use crate::revocation::Revocation;
use crate::rows::{LastUse, until_column, until_of};
use crate::scheme::Hash;

/// The API keys, by id. The secret itself is not stored.
pub static API_KEYS: Table = Table {
    name: "api_keys",
    columns: &[
        Column::text("hash").with(Rule::Filled),
        Column::text("user"),
        Column::integer("until"),
    ],
    indexes: &[],
};

/// How many scopes a key may have, and how long one may be.
const MAX_SCOPES: usize = 64;
const MAX_SCOPE: usize = 200;

/// What a key may be used for. Without any scope it is as good as its user.
///
/// A scope is a text: the name of a permission (`read_files`) leaves that one and the others that are named; `read-only`
/// leaves the operations that change nothing; `method:NAME` leaves the operation of this name and the others that are named;
/// `task:ID` leaves one task; `scope:NAME` is a scope that skills ask for, which only an administrator gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyScopes {
    /// The only permissions that are left; `None` leaves those of the user.
    pub permissions: Option<Permissions>,
    pub bounds: Bounds,
    /// What skills ask for by `scopes`.
    pub scopes: Vec<String>,
}

impl KeyScopes {
    /// Reads scopes. `find` gives the name of an operation in its table.
    pub fn read(texts: &[String], find: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let invalid = |problem: String| Error::Invalid {
            field: "scopes",
            problem,
        };
        if texts.len() > MAX_SCOPES {
            return Err(invalid(format!("has more than {MAX_SCOPES} entries")));
        }
        let mut read = Self::default();
        let mut methods = Vec::new();
        for text in texts {
            if text.len() > MAX_SCOPE || text.chars().any(char::is_control) {
                return Err(invalid(format!(
                    "has an entry with control characters or more than {MAX_SCOPE} bytes"
                )));
            }
            if let Ok(permission) = text.parse::<Permission>() {
                let before = read.permissions.unwrap_or(Permissions::NONE);
                read.permissions = Some(before.with(permission));
                continue;
            }
            match text.split_once(':') {
                None if text == "read-only" => read.bounds.read_only = true,
                Some(("method", name)) => {
                    let unknown = || invalid(format!("has {text:?}: there is no such operation"));
                    methods.push(find(name).ok_or_else(unknown)?);
                }
                Some(("task", id)) if !id.is_empty() => {
                    let task = Some(id.to_owned());
                    if read.bounds.task.is_some() && read.bounds.task != task {
                        return Err(invalid("has two tasks: a key reaches one".to_owned()));
                    }
                    read.bounds.task = task;
                }
                Some(("scope", name)) if !name.is_empty() => read.scopes.push(name.to_owned()),
                _ => return Err(invalid(unknown_scope(text))),
            }
        }
        if !methods.is_empty() {
            read.bounds.methods = Some(Arc::from(methods));
        }
        Ok(read)
    }
}

fn unknown_scope(text: &str) -> String {
    let permissions = Permission::ALL.map(Permission::name).join(", ");
    format!(
        "has {text:?}: expected a permission ({permissions}), read-only, method:NAME, task:ID or scope:NAME"
    )
}

impl fmt::Display for KeyScopes {
    /// As it was written, with commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().join(", "))
    }
}

impl KeyScopes {
    /// As they are written.
    pub fn texts(&self) -> Vec<String> {
        let permissions = self.permissions.into_iter().flat_map(Permissions::iter);
        let mut texts: Vec<String> = permissions.map(|it| it.name().to_owned()).collect();
        if self.permissions == Some(Permissions::NONE) {
            // Of a key that was made with one that had no permission in common.
            texts.push("no permission".to_owned());
        }
        if self.bounds.read_only {
            texts.push("read-only".to_owned());
        }
        let methods = self.bounds.methods.iter().flat_map(|it| it.iter());
        texts.extend(methods.map(|name| format!("method:{name}")));
        texts.extend(self.bounds.task.iter().map(|id| format!("task:{id}")));
        texts.extend(self.scopes.iter().map(|name| format!("scope:{name}")));
        texts
    }
}

/// What may be known of a key. It has no secret: that is shown once, when the key is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiKey {
    pub id: String,
    pub user: String,
    /// What it is for, in the words of the one who made it.
    pub label: String,
    pub scopes: KeyScopes,
    /// The key of the same user that it was made with.
    pub parent: Option<String>,
    /// In seconds since 1970, as `created` and `used`.
    pub until: Option<u64>,
    pub created: u64,
    /// `None` if it was never used.
    pub used: Option<u64>,
}

/// A key with all that belongs to it.
#[derive(Debug)]
pub(super) struct KeyEntry {
    pub(super) id: String,
    pub(super) hash: Hash,
    pub(super) user: String,
    pub(super) label: String,
    pub(super) scopes: KeyScopes,
    pub(super) parent: Option<String>,
    pub(super) until: Option<u64>,
    pub(super) created: u64,
    pub(super) revocation: Revocation,
    pub(super) used: LastUse,
}

/// The body of a row.
#[derive(Serialize, Deserialize)]
struct Stored {
    label: String,
    permissions: Option<Vec<String>>,
    methods: Option<Vec<String>>,
    read_only: bool,
    task: Option<String>,
    scopes: Vec<String>,
    parent: Option<String>,
    created: u64,
    used: u64,
}

impl KeyEntry {
    pub(super) fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    pub(super) fn shown(&self) -> ApiKey {
        ApiKey {
            id: self.id.clone(),
            user: self.user.clone(),
            label: self.label.clone(),
            scopes: self.scopes.clone(),
            parent: self.parent.clone(),
            until: self.until,
            created: self.created,
            used: self.used.shown(),
        }
    }

    pub(super) fn row(&self) -> Row {
        let names = |set: Permissions| set.iter().map(|it| it.name().to_owned()).collect();
        let stored = Stored {
            label: self.label.clone(),
            permissions: self.scopes.permissions.map(names),
            methods: self.scopes.bounds.methods.as_ref().map(|it| it.to_vec()),
            read_only: self.scopes.bounds.read_only,
            task: self.scopes.bounds.task.clone(),
            scopes: self.scopes.scopes.clone(),
            parent: self.parent.clone(),
            created: self.created,
            used: self.used.time(),
        };
        Row {
            key: self.id.clone(),
            columns: vec![
                self.hash.to_string().into(),
                self.user.clone().into(),
                until_column(self.until).into(),
            ],
            body: serde_json::to_vec(&stored).unwrap_or_default().into(),
        }
    }

    /// The key of a row; `None` if it cannot be read, which then admits no caller.
    pub(super) fn of_row(row: &Row) -> Option<Self> {
        let [Value::Text(hash), Value::Text(user), Value::Integer(until)] = &row.columns[..] else {
            return None;
        };
        let stored: Stored = serde_json::from_slice(&row.body).ok()?;
        let permissions = stored.permissions.map(|names| {
            let all = names.iter().map(|name| name.parse::<Permission>().ok());
            all.collect::<Option<Permissions>>()
        });
        Some(Self {
            id: row.key.clone(),
            hash: hash.parse().ok()?,
            user: user.clone(),
            label: stored.label,
            scopes: KeyScopes {
                permissions: match permissions {
                    Some(read) => Some(read?),
                    None => None,
                },
                bounds: Bounds {
                    methods: stored.methods.map(Into::into),
                    read_only: stored.read_only,
                    task: stored.task,
                },
                scopes: stored.scopes,
            },
            parent: stored.parent,
            until: until_of(*until)?,
            created: stored.created,
            revocation: Revocation::new(),
            used: LastUse::at(stored.used),
        })
    }
}
