//! The types of values that settings have, read from a text or from `monas.toml`.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use toml::de::DeValue;

use crate::listen::{Origin, PublicUrl, TlsVersion};
use crate::log::Filter;

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;

/// A value before it is read. Flags and variables are texts; the file has types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raw<'a> {
    Text(&'a str),
    Toml(&'a DeValue<'a>),
}

/// A type of value.
pub(super) trait Kind: Sized {
    /// What a value looks like; completes "expected ...".
    const EXPECTED: &'static str;

    /// Whether a flag may be given several times.
    const IS_LIST: bool = false;

    /// Reads a flag or variable.
    fn from_text(text: &str) -> Option<Self>;

    /// Reads a value of the file: a string, unless a kind has a better form.
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().and_then(Self::from_text)
    }

    /// The value as `monas.toml` in this folder means it: a relative path begins there.
    fn in_folder(self, _: &Path) -> Self {
        self
    }

    fn read(raw: Raw<'_>) -> Option<Self> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::Toml(value) => Self::from_toml(value),
        }
    }
}

/// A part of a whole, in hundredths from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Percent(pub(super) u8);

impl Kind for Percent {
    const EXPECTED: &'static str = "a part from 1% to 100%, such as 50%";

    fn from_text(text: &str) -> Option<Self> {
        let part: u8 = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
        (1..=100).contains(&part).then_some(Self(part))
    }
}

impl Kind for SocketAddr {
    const EXPECTED: &'static str =
        "an address and a port, such as 127.0.0.1:8080, localhost:8080 or 8080";

    /// `localhost`, and a port alone, mean the loopback address: what is heard elsewhere is named by its address.
    fn from_text(text: &str) -> Option<Self> {
        let port = text.strip_prefix("localhost:").unwrap_or(text);
        match port.parse::<u16>() {
            Ok(port) => Some(Self::from((Ipv4Addr::LOCALHOST, port))),
            Err(_) => text.parse().ok(),
        }
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value.as_integer() {
            Some(port) => {
                let port = u16::from_str_radix(port.as_str(), port.radix()).ok()?;
                Some(Self::from((Ipv4Addr::LOCALHOST, port)))
            }
            None => value.as_str().and_then(Self::from_text),
        }
    }
}

impl Kind for PathBuf {
    const EXPECTED: &'static str = "a path";

    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn in_folder(self, folder: &Path) -> Self {
        folder.join(self)
    }
}

impl Kind for String {
    const EXPECTED: &'static str = "a text";

    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl Kind for Filter {
    const EXPECTED: &'static str =
        "error, warn, info, debug or trace, or a filter such as warn,monas=debug";

    fn from_text(text: &str) -> Option<Self> {
        Self::new(text)
    }
}

impl Kind for PublicUrl {
    const EXPECTED: &'static str =
        "a scheme, a host and a path if there is one, such as https://example.com/agent";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Kind for TlsVersion {
    const EXPECTED: &'static str = "\"1.3\" or \"1.2\"";

    fn from_text(text: &str) -> Option<Self> {
        match text {
            "1.2" => Some(Self::V1_2),
            "1.3" => Some(Self::V1_3),
            _ => None,
        }
    }
}

/// The origins of web pages that may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AllowedOrigins {
    /// `*` is among them.
    pub(crate) any: bool,
    pub(crate) listed: Vec<Origin>,
}

impl AllowedOrigins {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut allowed = Self::default();
        for text in texts {
            match text.trim() {
                "*" => allowed.any = true,
                text => allowed.listed.push(text.parse().ok()?),
            }
        }
        Some(allowed)
    }
}

impl Kind for AllowedOrigins {
    const EXPECTED: &'static str = "origins, such as https://example.com, or *";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Option<Self> {
        Self::of(text.split(','))
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let origins = value.as_array()?.iter();
        let texts: Option<Vec<&str>> = origins.map(|origin| origin.get_ref().as_str()).collect();
        Self::of(texts?.into_iter())
    }
}

/// Rules about hosts that pages may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostRules(pub(crate) Vec<browser::HostRule>);

impl HostRules {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let texts = texts.map(str::trim).filter(|it| !it.is_empty());
        let rules: Result<Vec<_>, _> = texts.map(str::parse).collect();
        rules.ok().map(Self)
    }
}

impl Kind for HostRules {
    const EXPECTED: &'static str = "hosts, such as example.com, *.example.com, 127.0.0.1:8080 or 10.0.0.0/8";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Option<Self> {
        Self::of(text.split(','))
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let hosts = value.as_array()?.iter();
        let texts: Option<Vec<&str>> = hosts.map(|host| host.get_ref().as_str()).collect();
        Self::of(texts?.into_iter())
    }
}

impl Kind for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        value.as_bool()
    }
}

impl Kind for NonZeroU64 {
    const EXPECTED: &'static str = "a number above 0";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let number = value.as_integer()?;
        let number = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
        Self::new(number)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(pub(super) u64);

/// Headers that are sent to another program. Their values are secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretHeaders(pub(super) HeaderMap);

impl Kind for SecretHeaders {
    const EXPECTED: &'static str =
        "names and values with commas between them, such as authorization=Bearer TOKEN";

    fn from_text(text: &str) -> Option<Self> {
        let mut headers = HeaderMap::new();
        for pair in text.split(',').filter(|it| !it.trim().is_empty()) {
            let (name, value) = pair.split_once('=')?;
            let name: HeaderName = name.trim().parse().ok()?;
            let mut value: HeaderValue = value.trim().parse().ok()?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        (!headers.is_empty()).then_some(Self(headers))
    }
}

impl Kind for Size {
    const EXPECTED: &'static str = "a size, such as 16MiB";

    fn from_text(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let unit = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        number.checked_mul(unit).filter(|size| *size > 0).map(Self)
    }
}

impl Kind for Duration {
    const EXPECTED: &'static str = "a time, such as 500ms, 30s, 5m, 12h or 30d";

    fn from_text(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        if unit == "ms" {
            return Some(Self::from_millis(number));
        }
        let unit = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return None,
        };
        number.checked_mul(unit).map(Self::from_secs)
    }
}

/// A number and the unit after it.
fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim_start()))
}

/// A kind that is one of a few words.
macro_rules! words {
    ($type:ty: $expected:literal { $($word:literal => $value:expr),* $(,)? }) => {
        impl $crate::config::value::Kind for $type {
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($word => Some($value),)*
                    _ => None,
                }
            }
        }
    };
}
pub(super) use words;
