//! The authenticated caller.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the caller without a name is shown as. No caller of the configuration can be called so.
pub(crate) const ANONYMOUS: &str = "anonymous";

/// The longest name of a caller, in bytes.
const MAX_NAME: usize = 512;

/// The caller of a request: a name that is stable across connections and restarts, the scheme that authenticated it, its
/// scopes, and when its credentials expire. Tasks and memories are kept under the name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<Known>);

#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) scheme: String,
    pub(crate) scopes: Vec<String>,
    /// In seconds since 1970.
    pub(crate) until: Option<u64>,
}

impl Principal {
    /// The caller without credentials.
    pub fn anonymous() -> Self {
        Self(Arc::default())
    }

    /// A caller that was authenticated elsewhere. An empty name is the anonymous caller.
    pub fn named(name: &str) -> Self {
        Self::known(Known {
            name: name.to_owned(),
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_anonymous() {
            ANONYMOUS
        } else {
            self.name()
        })
    }
}
