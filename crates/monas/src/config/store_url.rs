//! The address of a database, which has a password in it.

use std::fmt;

use super::value::Kind;

/// The address of a PostgreSQL database. Its texts leave out the password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// None unless it begins as such an address does; the rest is checked when the store is opened.
    pub fn new(url: &str) -> Option<Self> {
        let known = ["postgres://", "postgresql://"];
        let is_known = known.iter().any(|scheme| url.starts_with(scheme));
        is_known.then(|| Self(url.to_owned()))
    }

    /// The address with its password.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&store::Remote::new(&self.0).shown())
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Kind for StoreUrl {
    const EXPECTED: &'static str = "an address such as postgres://USER@HOST/DATABASE";

    fn from_text(text: &str) -> Option<Self> {
        Self::new(text)
    }
}
