//! The versions of the protocol that bindings and clients speak.

use std::fmt;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V1_0,
    V0_3,
}

impl Version {
    /// The version of a text such as `1.0` or `0.3.0`; only major and minor count.
    pub fn named(text: &str) -> Option<Self> {
        let mut numbers = text.trim().trim_start_matches('v').split('.');
        match (numbers.next(), numbers.next()) {
            (Some("1"), Some("0") | None) => Some(Self::V1_0),
            (Some("0"), Some("3")) => Some(Self::V0_3),
            _ => None,
        }
    }

    /// As cards and the parameter `A2A-Version` write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V0_3 => "0.3",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
