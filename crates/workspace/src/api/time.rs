//! Times in requests and replies.

use std::time::Duration;

use memory::format_time;
use serde::Deserialize;

use super::{Failure, invalid};

/// How long something lasts: a number of seconds, or a text such as `10m`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Time {
    Seconds(u64),
    Text(String),
}

impl Time {
    pub(crate) const EXPECTED: &'static str =
        "expected a number of seconds, or a time such as 90s, 10m, 24h or 7d";

    /// The time that `90s`, `10m`, `24h` or `7d` says; the error names the field.
    pub(crate) fn duration(&self, field: &str) -> Result<Duration, Failure> {
        self.read().ok_or_else(|| invalid(field, Self::EXPECTED))
    }

    fn read(&self) -> Option<Duration> {
        let (number, unit) = match self {
            Self::Seconds(seconds) => return Some(Duration::from_secs(*seconds)),
            Self::Text(text) => text.split_at(text.find(|it: char| !it.is_ascii_digit())?),
        };
        let unit = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return None,
        };
        let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
        Some(Duration::from_secs(seconds))
    }
}

/// A time in seconds since 1970, as replies have it.
pub(crate) fn shown_time(seconds: u64) -> String {
    let millis = seconds.saturating_mul(1_000);
    format_time(i64::try_from(millis).unwrap_or(i64::MAX))
}
