//! The rule of an operation for its caller, and the one check that decides it.

use crate::door::Refusal;
use crate::permission::Permission;
use crate::principal::Principal;

/// What an operation needs of its caller: a column of every table of operations, routes and methods, and of every skill.
///
/// All wires ask this type and nothing else, so a permission means the same on each of them. A rule is a constant of the
/// table, and the check compares a bit and, for a lent credential, its bounds; an allowed call allocates nothing.
///
/// A wire checks in two steps. [`check`](Self::check) needs the caller alone and comes before the request is decoded, so
/// that a caller without the permission costs nothing and learns nothing. [`check_task`](Self::check_task) needs the task
/// that the request names; it matters for a credential that was lent for one task.
///
/// A rule says nothing about the owner of a task. A task of another caller does not exist for this one, whatever its
/// permissions, and is answered like one that never existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name in the table, by which [`Bounds::methods`](crate::Bounds::methods) lists it. A part of a call whose bounds
    /// were checked, such as a skill that an agent calls, has none.
    method: Option<&'static str>,
    changes: bool,
    permission: Option<Permission>,
    named: bool,
}

impl Rule {
    /// The rule of an operation that changes nothing: every caller that was admitted may call it.
    pub const fn reads(method: &'static str) -> Self {
        Self {
            method: Some(method),
            changes: false,
            permission: None,
            named: false,
        }
    }

    /// The rule of an operation that changes something: every caller that was admitted may call it, except with a
    /// credential that was lent to read.
    pub const fn changes(method: &'static str) -> Self {
        Self {
            changes: true,
            ..Self::reads(method)
        }
    }

    /// The rule of a part of a call, such as a skill that an agent calls for its caller.
    pub const fn part() -> Self {
        Self {
            method: None,
            changes: false,
            permission: None,
            named: false,
        }
    }

    /// The same for callers with this permission.
    #[must_use]
    pub const fn needs(self, permission: Permission) -> Self {
        Self {
            permission: Some(permission),
            ..self
        }
    }

    /// The same for callers with a name. The anonymous caller has one only where it may operate the server, as that of an
    /// open server does.
    #[must_use]
    pub const fn named(self) -> Self {
        Self {
            named: true,
            ..self
        }
    }

    /// Its name in the table; empty for a part of a call.
    pub const fn method(&self) -> &'static str {
        match self.method {
            Some(method) => method,
            None => "",
        }
    }

    /// The permission that it needs, if it needs one.
    pub const fn permission(&self) -> Option<Permission> {
        self.permission
    }

    pub const fn is_change(&self) -> bool {
        self.changes
    }

    /// Whether the caller needs a name.
    pub const fn is_named(&self) -> bool {
        self.named
    }

    /// Whether the caller may, as far as can be said before the request is read.
    pub fn check(&self, caller: &Principal) -> Result<(), Refusal> {
        if self.named && caller.is_anonymous() && !caller.may(Permission::Operate) {
            return Err(Refusal::anonymous());
        }
        if let Some(permission) = self.permission
            && !caller.may(permission)
        {
            return Err(Refusal::permission(permission));
        }
        self.within(caller, caller.bounds().task.as_deref())
    }

    /// Whether the caller may, for a request that names this task, or none.
    pub fn check_task(&self, caller: &Principal, task: Option<&str>) -> Result<(), Refusal> {
        self.within(caller, task)
    }

    /// Whether the caller may, and has every one of these scopes.
    pub fn check_scopes(&self, caller: &Principal, scopes: &[String]) -> Result<(), Refusal> {
        self.check(caller)?;
        match scopes.iter().find(|scope| !caller.has_scope(scope)) {
            Some(missing) => Err(Refusal::lacks(missing)),
            None => Ok(()),
        }
    }

    fn within(&self, caller: &Principal, task: Option<&str>) -> Result<(), Refusal> {
        let (Some(method), bounds) = (self.method, caller.bounds()) else {
            return Ok(());
        };
        match bounds.are_open() || bounds.allow(method, self.changes, task) {
            true => Ok(()),
            false => Err(Refusal::out_of_bounds()),
        }
    }
}

/// The rule of one route: a row of a list that [`route_rules!`](crate::route_rules) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteRule {
    /// The method of HTTP.
    pub verb: &'static str,
    /// The path as the router has it, with its parameters in braces.
    pub path: &'static str,
    pub rule: Rule,
}

impl RouteRule {
    /// The rule of a request with this path. `None`: no row has the path. A row of the path for another method says nothing
    /// about this one, which has no handler.
    pub fn find<'a>(
        rows: impl Iterator<Item = &'a Self>,
        verb: &str,
        path: &str,
    ) -> Option<FoundRule> {
        let verb = if verb == "HEAD" { "GET" } else { verb };
        let mut found = None;
        for row in rows.filter(|row| row.is_at(path)) {
            if row.verb == verb {
                return Some(FoundRule::Rule(row.rule));
            }
            found = Some(FoundRule::OtherVerb);
        }
        found
    }

    /// Whether its route takes a path: a parameter in braces stands for one segment that is not empty.
    fn is_at(&self, path: &str) -> bool {
        let (mut own, mut given) = (self.path.split('/'), path.split('/'));
        loop {
            match (own.next(), given.next()) {
                (None, None) => return true,
                (Some(own), Some(given)) if own == given => {}
                (Some(own), Some(given)) if own.starts_with('{') && !given.is_empty() => {}
                _ => return false,
            }
        }
    }
}

/// What a list of routes says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundRule {
    Rule(Rule),
    /// The path is known, and has no such method.
    OtherVerb,
}

/// Writes a list of [`RouteRule`]s. The name of each, by which the bounds of a lent credential list it, is the method and
/// the path.
///
/// ```
/// use access::{RouteRule, route_rules};
///
/// static RULES: &[RouteRule] = route_rules! {
///     "GET" "/api/agents": reads;
///     "POST" "/api/memory/store": changes needs Remember for named;
/// };
/// assert_eq!(RULES[0].rule.method(), "GET /api/agents");
/// ```
#[macro_export]
macro_rules! route_rules {
    ($($verb:literal $path:literal: $kind:ident $(needs $permission:ident)? $(for $callers:ident)?;)*) => {
        &[$($crate::RouteRule {
            verb: $verb,
            path: $path,
            rule: $crate::Rule::$kind(concat!($verb, " ", $path))
                $(.needs($crate::Permission::$permission))?
                $(.$callers())?,
        }),*]
    };
}
