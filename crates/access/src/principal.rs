//! Who is calling.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest name.
const MAX_NAME: usize = 512;

/// Who is calling: a name that is stable across connections and restarts, how it was proven, and what it was
/// proven for.
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
    /// The caller that showed no credentials.
    pub fn anonymous() -> Self {
        Self(Arc::default())
    }

    /// The caller of this name, whoever has found that out. An empty name is the anonymous caller.
    pub fn named(name: &str) -> Self {
        Self::known(Known {
            name: name.to_owned(),
            ..Known::default()
        })
    }

    pub(crate) fn known(known: Known) -> Self {
        Self(Arc::new(known))
    }

    /// The name, empty for the anonymous caller: what tasks are kept under.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The scheme that proved it, as the card names it. Empty when nobody asked.
    pub fn scheme(&self) -> &str {
        &self.0.scheme
    }

    /// What the credentials are for.
    pub fn scopes(&self) -> &[String] {
        &self.0.scopes
    }

    /// Whether the credentials are for this.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.iter().any(|it| it == scope)
    }

    /// Whether it is nobody in particular.
    pub fn is_anonymous(&self) -> bool {
        self.0.name.is_empty()
    }

    /// When the credentials cease to hold. Whoever keeps a principal longer than a request asks
    /// [`Self::is_over`] before each use.
    pub fn until(&self) -> Option<SystemTime> {
        self.0
            .until
            .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
    }

    /// Whether the credentials have ceased to hold.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.until().is_some_and(|until| until <= now)
    }
}

/// Whether a name can be one: what it is shown in, and stored under, has lines.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME && !text.chars().any(char::is_control)
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_anonymous() {
            "anonymous"
        } else {
            self.name()
        })
    }
}
