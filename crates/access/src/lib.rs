//! Who is calling.
//!
//! Today there is one caller, the anonymous one. Tasks are kept by owner all the same, so that
//! schemes and permissions can move in without a change to what is stored.

use std::fmt;
use std::sync::Arc;

/// Who is calling: a name that is stable across connections and restarts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The caller that showed no credentials.
    pub fn anonymous() -> Self {
        Self("".into())
    }

    /// The caller of this name. An empty name is the anonymous caller.
    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// The name, empty for the anonymous caller: what tasks are kept under.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() {
            "anonymous"
        } else {
            &self.0
        })
    }
}
