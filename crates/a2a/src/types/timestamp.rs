//! A moment, as RFC 3339 in JSON.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike as _, NaiveDate};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::wire::{
    DecodeError, Element, Fault, Field, FieldDescription, Kind, Listed, MessageDescription, Reader,
    Wire, block_size, fault, put_block,
};

/// A moment between the years 1 and 9999, in UTC.
///
/// Printed as RFC 3339 with `Z` and as many digits as it needs, in groups of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    seconds: i64,
    /// Below a second, counted forward also before 1970.
    nanos: i32,
}

/// The first and the last second that RFC 3339 can write with four digits for the year.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

const DAY: i64 = 24 * 60 * 60;
const NANOS: i32 = 1_000_000_000;

impl Timestamp {
    /// The moment so many seconds and nanoseconds after the start of 1970, if it is in range.
    pub fn new(seconds: i64, nanos: i32) -> Option<Self> {
        let valid = (FIRST..=LAST).contains(&seconds) && (0..NANOS).contains(&nanos);
        valid.then_some(Self { seconds, nanos })
    }

    /// The moment so many milliseconds after the start of 1970, or the nearest in range.
    pub fn from_millis(millis: i64) -> Self {
        let seconds = millis.div_euclid(1000);
        let nanos = millis.rem_euclid(1000) as i32 * 1_000_000;
        let last = Self {
            seconds: LAST,
            nanos: NANOS - 1,
        };
        let nearest = if seconds < FIRST {
            Self {
                seconds: FIRST,
                nanos: 0,
            }
        } else {
            last
        };
        Self::new(seconds, nanos).unwrap_or(nearest)
    }

    /// Milliseconds since the start of 1970; what is below one is cut off.
    pub fn millis(self) -> i64 {
        self.seconds * 1000 + i64::from(self.nanos / 1_000_000)
    }

    /// Seconds since the start of 1970.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds since that second.
    pub fn nanos(self) -> i32 {
        self.nanos
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"0000-00-00T00:00:00.000000000Z";
        let (year, month, day) = date(self.seconds.div_euclid(DAY));
        let time = self.seconds.rem_euclid(DAY);
        put_digits(&mut text[..4], year);
        put_digits(&mut text[5..7], month);
        put_digits(&mut text[8..10], day);
        put_digits(&mut text[11..13], time / 3600);
        put_digits(&mut text[14..16], time / 60 % 60);
        put_digits(&mut text[17..19], time % 60);
        put_digits(&mut text[20..29], self.nanos.into());
        let end = match self.nanos {
            0 => 19,
            nanos if nanos % 1_000_000 == 0 => 23,
            nanos if nanos % 1000 == 0 => 26,
            _ => 29,
        };
        text[end] = b'Z';
        f.write_str(str::from_utf8(&text[..=end]).expect("digits and signs are text"))
    }
}

/// Writes a number into its places, with zeros before it.
fn put_digits(places: &mut [u8], mut number: i64) {
    for place in places.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

impl FromStr for Timestamp {
    type Err = DecodeError;

    fn from_str(text: &str) -> Result<Self, DecodeError> {
        let bad = || DecodeError::new(format!("{text:?} is not an RFC 3339 time"));
        parse(text.as_bytes()).ok_or_else(bad)
    }
}

/// Reads `2026-01-31T23:59:59.123456789+01:00`: a date that exists, up to nine digits, and an offset or `Z`.
fn parse(text: &[u8]) -> Option<Timestamp> {
    let (head, rest) = text.split_at_checked(19)?;
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    let separated = separators.iter().all(|&(index, byte)| head[index] == byte);
    if !separated || !matches!(head[10], b'T' | b't') {
        return None;
    }
    let part = |from: usize, to: usize| digits(&head[from..to]);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days(year, month, day)?;
    let (nanos, rest) = match rest {
        [b'.', rest @ ..] => {
            let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
            let (fraction, rest) = rest.split_at(end);
            let missing = 9usize.checked_sub(end)?;
            (digits(fraction)? * 10i64.pow(missing as u32), rest)
        }
        _ => (0, rest),
    };
    let offset = match rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), hours @ .., b':', _, _] if hours.len() == 2 => {
            let (hours, minutes) = (digits(hours)?, digits(&rest[4..])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            if *sign == b'-' { -offset } else { offset }
        }
        _ => return None,
    };
    let time = hour * 3600 + minute * 60 + second;
    Timestamp::new(days * DAY + time - offset, nanos as i32)
}

/// A number written in digits alone, and in at least one.
fn digits(text: &[u8]) -> Option<i64> {
    let valid = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let value = |number, digit: &u8| number * 10 + i64::from(digit - b'0');
    valid.then(|| text.iter().fold(0, value))
}

/// Days since the start of 1970, if the month has this day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = NaiveDate::from_ymd_opt(year as i32, month as u32, day as u32)?;
    Some(date.to_epoch_days().into())
}

/// Year, month and day of a number of days since the start of 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let date =
        NaiveDate::from_epoch_days(days as i32).expect("a timestamp has a year of four digits");
    (date.year().into(), date.month().into(), date.day().into())
}

static DESCRIPTION: MessageDescription = MessageDescription {
    name: "Timestamp",
    full_name: "google.protobuf.Timestamp",
    about: "",
    plain: &[
        FieldDescription::plain("seconds", "seconds", 1, Kind::Int64),
        FieldDescription::plain("nanos", "nanos", 2, Kind::Int32),
    ],
    oneof: None,
};

impl Timestamp {
    fn size_fields(self) -> usize {
        Field::size(&self.seconds, 1) + Field::size(&self.nanos, 2)
    }
}

impl Listed for Timestamp {}

impl Element for Timestamp {
    const KIND: Kind = Kind::Message(&DESCRIPTION);

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, self.size_fields(), out);
        Field::put(&self.seconds, 1, out);
        Field::put(&self.nanos, 2, out);
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, self.size_fields())
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        let Self {
            mut seconds,
            mut nanos,
        } = *self;
        let mut input = input.message(wire)?;
        while let Some((tag, wire)) = input.member()? {
            match tag {
                1 => Element::take(&mut seconds, wire, &mut input)?,
                2 => Element::take(&mut nanos, wire, &mut input)?,
                _ => input.skip(tag, wire)?,
            }
        }
        let valid = Self::new(seconds, nanos);
        *self = valid.ok_or_else(|| fault("not a time of the years 1 to 9999"))?;
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rfc3339;

        impl Visitor<'_> for Rfc3339 {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an RFC 3339 time")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
                let time = parse(text.as_bytes());
                time.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(Rfc3339)
    }

    fn parse(text: &str) -> Result<Self, DecodeError> {
        text.parse()
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

#[cfg(test)]
#[path = "timestamp_tests.rs"]
mod tests;
