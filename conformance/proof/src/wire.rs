//! The ten wires: five bindings, each in both versions of the protocol.

use std::fmt;
use std::str::FromStr;

use a2a::binding::{BINDINGS, Binding};
use a2a::client::{Settings, Version};

/// A binding and a version.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub binding: &'static Binding,
    pub version: Version,
}

impl Wire {
    /// All of them: those of 1.0, then those of 0.3.
    pub fn all() -> Vec<Self> {
        let of = |version| {
            BINDINGS
                .iter()
                .map(move |binding| Self { binding, version })
        };
        let old = of(Version::V0_3).filter(|wire| wire.binding.old.is_some());
        of(Version::V1_0).chain(old).collect()
    }

    /// The one that the others are compared with.
    pub fn reference() -> Self {
        Self::all()[0]
    }

    /// A client's settings to use this wire and no other.
    pub fn settings(self) -> Settings {
        let mut settings = Settings::default();
        settings.bindings = vec![self.binding.key.to_owned()];
        settings.version = Some(self.version);
        settings
    }
}

impl PartialEq for Wire {
    fn eq(&self, other: &Self) -> bool {
        (self.binding.key, self.version) == (other.binding.key, other.version)
    }
}

impl Eq for Wire {}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.binding.key, self.version)
    }
}

impl FromStr for Wire {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = Self::all();
        let found = all.iter().find(|wire| wire.to_string() == name);
        found.copied().ok_or_else(|| {
            let all: Vec<_> = all.iter().map(Self::to_string).collect();
            format!("no wire is called {name:?}: try {}", all.join(", "))
        })
    }
}
