//! The authenticated caller.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::capability;
use crate::permission::{Bounds, Permission, Permissions, Role};
use crate::revocation::{Revocation, Revocations};

/// What the caller without a name is shown as. No caller of the configuration can be called so.
pub(crate) const ANONYMOUS: &str = "anonymous";

/// The longest name of a caller, in bytes.
const MAX_NAME: usize = 512;

/// The caller of a request: a name that is stable across connections and restarts, the scheme that authenticated it, its
/// scopes, and when its credentials expire. Tasks and memories are kept under the name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<Known>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) scheme: String,
    pub(crate) scopes: Vec<String>,
    /// In seconds since 1970.
    pub(crate) until: Option<u64>,
    /// When the token was issued, in seconds since 1970.
    pub(crate) issued: Option<u64>,
    /// The role that the credential itself gives, whatever is known of the caller beside it.
    pub(crate) role: Option<Role>,
    pub(crate) permissions: Permissions,
    pub(crate) bounds: Bounds,
    /// Which of the credentials that a scheme has in its data: the id of a key or of a capability.
    pub(crate) credential: String,
    /// The name of the person that the caller acts for, if that is another than the caller.
    pub(crate) person: Option<String>,
    pub(crate) revocations: Revocations,
}

impl Principal {
    /// The caller without credentials, as the program around the server makes it: with every permission, like that of an
    /// open server. A door gives the anonymous caller what its configuration says.
    pub fn anonymous() -> Self {
        Self::known(Known {
            permissions: Permissions::ALL,
            ..Known::default()
        })
    }

    /// A caller that the program around the server has authenticated itself: a user, unless
    /// [`permitted`](Self::permitted) says otherwise. An empty name is the anonymous caller.
    pub fn named(name: &str) -> Self {
        if name.is_empty() {
            return Self::anonymous();
        }
        Self::known(Known {
            name: name.to_owned(),
            permissions: Role::User.permissions(),
            ..Known::default()
        })
    }

    pub(crate) fn known(known: Known) -> Self {
        Self(Arc::new(known))
    }

    /// Empty for the anonymous caller.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The scheme that authenticated it, by its name in the agent card; empty without one.
    pub fn scheme(&self) -> &str {
        &self.0.scheme
    }

    pub fn scopes(&self) -> &[String] {
        &self.0.scopes
    }

    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.iter().any(|it| it == scope)
    }

    /// Whether it has a token that was issued at this second or before; in seconds since 1970.
    pub(crate) fn has_token_of(&self, second: u64) -> bool {
        self.0.issued.is_some_and(|issued| issued <= second)
    }

    /// The role that its credential gives.
    pub(crate) fn role(&self) -> Option<Role> {
        self.0.role
    }

    /// What its role allows.
    pub fn permissions(&self) -> Permissions {
        self.0.permissions
    }

    pub fn may(&self, permission: Permission) -> bool {
        self.0.permissions.has(permission)
    }

    /// How far its credential reaches, if it was lent.
    pub fn bounds(&self) -> &Bounds {
        &self.0.bounds
    }

    /// The same caller with these permissions.
    #[must_use]
    pub fn permitted(&self, permissions: Permissions) -> Self {
        Self::known(Known {
            permissions,
            ..self.0.as_ref().clone()
        })
    }

    /// The same caller with these permissions, which this revocation ends, too.
    pub(crate) fn admitted(&self, permissions: Permissions, ends: Option<Revocation>) -> Self {
        let before = &self.0.revocations;
        Self::known(Known {
            permissions,
            revocations: ends.map_or_else(|| before.clone(), |it| before.and(it)),
            ..self.0.as_ref().clone()
        })
    }

    /// The same caller with these scopes.
    #[must_use]
    pub fn scoped(&self, scopes: Vec<String>) -> Self {
        Self::known(Known {
            scopes,
            ..self.0.as_ref().clone()
        })
    }

    /// The same caller with less: only what both bounds allow, until the earlier end (in seconds since 1970).
    #[must_use]
    pub fn attenuated(&self, bounds: &Bounds, until: Option<u64>) -> Self {
        Self::known(Known {
            bounds: self.0.bounds.narrowed(bounds),
            until: match (self.0.until, until) {
                (Some(own), Some(other)) => Some(own.min(other)),
                (own, other) => own.or(other),
            },
            ..self.0.as_ref().clone()
        })
    }

    /// The same caller, which acts for the person of this name. The anonymous person has an empty name.
    #[must_use]
    pub fn acting_for(&self, person: &str) -> Self {
        Self::known(Known {
            person: (person != self.name()).then(|| person.to_owned()),
            ..self.0.as_ref().clone()
        })
    }

    /// The name of the person that the caller acts for, if that is another than the caller.
    pub fn acts_for(&self) -> Option<&str> {
        self.0.person.as_deref()
    }

    /// The person that a call is made for, with the permissions of the call. Agents ask each other in their own names; what
    /// is said and found in such a chain belongs to the person at its start, who sees it and whose shares it takes. A caller
    /// that acts for itself is this person.
    #[must_use]
    pub fn person(&self) -> Self {
        let Some(person) = self.acts_for() else {
            return self.clone();
        };
        Self::known(Known {
            name: person.to_owned(),
            person: None,
            ..self.0.as_ref().clone()
        })
    }

    /// The id of the key or the capability that authenticated it; empty where its scheme has no ids.
    pub fn credential(&self) -> &str {
        &self.0.credential
    }

    /// The same caller, authenticated by the key or the capability with this id.
    #[must_use]
    pub fn by_credential(&self, id: &str) -> Self {
        Self::known(Known {
            credential: id.to_owned(),
            ..self.0.as_ref().clone()
        })
    }

    /// The same caller as the holder of the capability with this id.
    pub(crate) fn lent_as(&self, id: &str) -> Self {
        Self::known(Known {
            scheme: capability::SCHEME.to_owned(),
            credential: id.to_owned(),
            ..self.0.as_ref().clone()
        })
    }

    /// Whether it is the holder of a capability: it has the name of the caller that lent it, and may do less.
    pub fn is_lent(&self) -> bool {
        self.0.scheme == capability::SCHEME
    }

    /// The same caller, which this revocation ends, too.
    #[must_use]
    pub fn revocable(&self, revocation: Revocation) -> Self {
        Self::known(Known {
            revocations: self.0.revocations.and(revocation),
            ..self.0.as_ref().clone()
        })
    }

    /// Whether it can be revoked at all. Where not, [`Self::revoked`] never ends.
    pub fn is_revocable(&self) -> bool {
        !self.0.revocations.are_none()
    }

    /// Whether its user, its key or its capability was taken back since it was authenticated. Code that keeps a principal
    /// longer than one request asks before each use.
    pub fn is_revoked(&self) -> bool {
        self.0.revocations.is_revoked()
    }

    /// Ends when the caller is revoked. Streams and calls that wait end with it.
    pub fn revoked(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.revocations.revoked()
    }

    pub fn is_anonymous(&self) -> bool {
        self.0.name.is_empty()
    }

    /// When the credentials expire. Code that keeps a principal longer than one request asks [`Self::is_over`] before
    /// each use.
    pub fn until(&self) -> Option<SystemTime> {
        self.0
            .until
            .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
    }

    pub fn is_over(&self, now: SystemTime) -> bool {
        self.until().is_some_and(|until| until <= now)
    }
}

/// Whether a text can be a name: short, and without control characters, which would break log lines and listings.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME && !text.chars().any(char::is_control)
}

impl fmt::Display for Principal {
    /// The name, under which things are kept. The alternate form (`{:#}`), for logs and for people, says where it is the
    /// holder of a capability: `ada (capability cap-…)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_anonymous() {
            ANONYMOUS
        } else {
            self.name()
        })?;
        match f.alternate() && self.is_lent() {
            true => write!(f, " (capability {})", self.credential()),
            false => Ok(()),
        }
    }
}
