//! Ids of requests and effects as types, so that one cannot be handed over for another. They are stored as the string and
//! the number that they hold.

use std::borrow::Borrow;
use std::fmt;
use std::num::ParseIntError;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names a request: the id of the task that it is. It reads as `str`, so that maps can be searched with what a caller sent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TurnId(Arc<str>);

impl TurnId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TurnId {
    fn default() -> Self {
        Self("".into())
    }
}

impl Deref for TurnId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for TurnId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for TurnId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl From<String> for TurnId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl From<&str> for TurnId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<TurnId> for String {
    fn from(id: TurnId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl PartialEq<str> for TurnId {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for TurnId {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl PartialEq<String> for TurnId {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

/// Numbers what an agent wants and waits for. An agent never uses a number twice. An approval has the number of the call that
/// it is about.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EffectId(u64);

impl EffectId {
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number after this one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for EffectId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}
