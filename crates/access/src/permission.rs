//! The rights of a caller: permissions, the roles made of them, and the bounds of a credential that was lent.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// One thing that a caller may be allowed to do. Every operation, route, method and skill names the one it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Permission {
    ReadFiles,
    WriteFiles,
    ExecuteCommands,
    Browse,
    /// Change what an agent remembers.
    Remember,
    /// Answer approvals of the caller's own tasks.
    Approve,
    /// What concerns all callers: approvals and grants of all callers, the journal, the law, the audit.
    Operate,
    /// Users, keys, secrets and capabilities of others.
    Admin,
}

impl Permission {
    pub const ALL: [Self; 8] = [
        Self::ReadFiles,
        Self::WriteFiles,
        Self::ExecuteCommands,
        Self::Browse,
        Self::Remember,
        Self::Approve,
        Self::Operate,
        Self::Admin,
    ];

    /// Its name on every wire and in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadFiles => "read_files",
            Self::WriteFiles => "write_files",
            Self::ExecuteCommands => "execute_commands",
            Self::Browse => "browse",
            Self::Remember => "remember",
            Self::Approve => "approve",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Permission {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A name that is neither a role nor a permission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown name {0:?}: roles are viewer, user, operator and admin; permissions are read_files, write_files, \
     execute_commands, browse, remember, approve, operate and admin"
)]
pub struct UnknownName(pub String);

/// A set of permissions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Permissions(u8);

impl Permissions {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(u8::MAX);

    pub fn has(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    #[must_use]
    pub fn with(self, permission: Permission) -> Self {
        Self(self.0 | permission.bit())
    }

    /// The set as a number, to be stored. A permission keeps its bit.
    pub fn to_bits(self) -> u8 {
        self.0
    }

    /// The set that was stored as this number.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// What is in both sets.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |it| self.has(*it))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(all: I) -> Self {
        all.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Permission::name))
            .finish()
    }
}

/// A named set of permissions. Each role has everything that the one before it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    Viewer,
    #[default]
    User,
    Operator,
    Admin,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Viewer, Self::User, Self::Operator, Self::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::User => "user",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    pub fn permissions(self) -> Permissions {
        let highest = match self {
            Self::Viewer => Permission::ReadFiles,
            Self::User => Permission::Approve,
            Self::Operator => Permission::Operate,
            Self::Admin => return Permissions::ALL,
        };
        let all = Permission::ALL.into_iter();
        all.take_while(|permission| *permission <= highest)
            .collect()
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// How far a credential that was lent reaches, beside its permissions: an attenuated capability. Every restriction
/// only narrows; two bounds meet in [`Bounds::narrowed`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The only operations that may be called, by the names of the operation tables. `None` allows all.
    pub methods: Option<Arc<[String]>>,
    /// Only operations that change nothing.
    pub read_only: bool,
    /// The only task that may be named.
    pub task: Option<String>,
}

impl Bounds {
    /// What both allow.
    #[must_use]
    pub fn narrowed(&self, other: &Self) -> Self {
        let methods = match (&self.methods, &other.methods) {
            (Some(own), Some(others)) => {
                let both = own.iter().filter(|name| others.contains(name));
                Some(both.cloned().collect())
            }
            (own, others) => own.clone().or_else(|| others.clone()),
        };
        let (task, methods) = match (&self.task, &other.task) {
            // Restricted to two different tasks: no operation is allowed.
            (Some(own), Some(others)) if own != others => (Some(own.clone()), Some(Arc::default())),
            (own, others) => (own.clone().or_else(|| others.clone()), methods),
        };
        Self {
            methods,
            read_only: self.read_only || other.read_only,
            task,
        }
    }

    /// Whether an operation of this name may be called. `changes` says whether it changes anything; `task` is the task
    /// that the request names.
    pub fn allow(&self, method: &str, changes: bool, task: Option<&str>) -> bool {
        let named = self
            .methods
            .as_ref()
            .is_none_or(|methods| methods.iter().any(|it| it == method));
        let own = self.task.as_deref().is_none_or(|only| task == Some(only));
        named && own && !(changes && self.read_only)
    }

    /// Whether nothing is restricted.
    pub fn are_open(&self) -> bool {
        *self == Self::default()
    }
}
