//! Times as ISO 8601 writes them, and dates that a text names. The calendar's arithmetic is chrono's.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};

/// Milliseconds since the start of 1970, UTC.
pub type Millis = i64;

pub(crate) const DAY: Millis = 24 * 60 * 60 * 1000;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// A date as a text names it: any part may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Partial {
    pub(crate) year: Option<i32>,
    pub(crate) month: Option<u8>,
    pub(crate) day: Option<u8>,
}

impl Partial {
    /// The share of the three parts that are named, if all of them agree with the day; otherwise 0.
    pub(crate) fn agrees(&self, (year, month, day): (i32, u8, u8)) -> f32 {
        let parts = [
            self.year.map(|it| it == year),
            self.month.map(|it| it == month),
            self.day.map(|it| it == day),
        ];
        if parts.contains(&Some(false)) {
            return 0.0;
        }
        let said = parts.iter().flatten().count();
        said as f32 / 3.0
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The year, month and day of a time. Times outside of chrono's range, some 262,000 years, count as its ends.
pub(crate) fn civil(millis: Millis) -> (i32, u8, u8) {
    let (first, last) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
    let nearest = if millis < 0 { first } else { last };
    let time = DateTime::from_timestamp_millis(millis).unwrap_or(nearest);
    (time.year(), time.month() as u8, time.day() as u8)
}

/// The beginning of a day, if there is one.
pub(crate) fn midnight(year: i32, month: u8, day: u8) -> Option<Millis> {
    let date = NaiveDate::from_ymd_opt(year, month.into(), day.into())?;
    Some(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis())
}

/// Parses a time in ISO 8601. A date alone is the beginning of that day in UTC; without an offset it is UTC.
pub fn parse(text: &str) -> Option<Millis> {
    let text = text.trim();
    let (day, rest) = match text.split_once(['T', 't', ' ']) {
        Some((day, rest)) => (day, Some(rest)),
        None => (text, None),
    };
    let mut parts = day.splitn(3, '-');
    let year: i32 = parts.next()?.parse().ok()?;
    let month: u8 = parts.next()?.parse().ok()?;
    let date: u8 = parts.next()?.parse().ok()?;
    if !(0..=9999).contains(&year) {
        return None;
    }
    let begin = midnight(year, month, date)?;
    match rest {
        None => Some(begin),
        Some(rest) => Some(begin + time_of_day(rest)?),
    }
}

fn time_of_day(text: &str) -> Option<Millis> {
    let text = text.trim_end_matches(['Z', 'z']);
    let (clock, offset) = match text.rfind(['+', '-']) {
        Some(place) => {
            let (hours, minutes) = text[place + 1..]
                .split_once(':')
                .unwrap_or((&text[place + 1..], "0"));
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            let sign = if text.as_bytes()[place] == b'+' {
                1
            } else {
                -1
            };
            (&text[..place], sign * minutes * 60_000)
        }
        None => (text, 0),
    };
    let mut parts = clock.split(':');
    let hours: i64 = parts.next()?.parse().ok()?;
    let minutes: i64 = parts.next()?.parse().ok()?;
    let seconds: f64 = parts.next().unwrap_or("0").parse().ok()?;
    if parts.next().is_some()
        || !(0..24).contains(&hours)
        || !(0..60).contains(&minutes)
        || !(0.0..61.0).contains(&seconds)
    {
        return None;
    }
    Some((hours * 60 + minutes) * 60_000 + (seconds * 1000.0) as i64 - offset)
}

/// Writes a time in ISO 8601, in UTC, to the second.
pub fn format(millis: Millis) -> String {
    let (year, month, day) = civil(millis);
    let second = millis.div_euclid(1000).rem_euclid(24 * 60 * 60);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The number of a month from its name, or the first three letters of it, in lower case.
pub(crate) fn month(word: &str) -> Option<u8> {
    let found = MONTHS.iter().position(|&name| {
        name == word
            || word.len() == 3 && name.starts_with(word)
            || word == "sept" && name == "september"
    });
    found.map(|place| place as u8 + 1)
}

/// The number of a weekday from its name in lower case; Monday is 0.
pub(crate) fn weekday(word: &str) -> Option<u8> {
    let found = WEEKDAYS.iter().position(|&name| name == word);
    found.map(|place| place as u8)
}

/// The dates that a text names: "9 June 2024", "June 2024", "2024-06-09", "in 2024", "the fifth of April".
pub(crate) fn named(text: &str) -> Vec<Partial> {
    let words: Vec<String> = super::words(text).collect();
    let mut found = Vec::new();
    let mut place = 0;
    while place < words.len() {
        let (date, taken) = at(&words[place..]);
        if !date.is_empty() {
            found.push(date);
        }
        place += taken.max(1);
    }
    found
}

/// The date at the beginning of these words, and the number of words it has.
fn at(words: &[String]) -> (Partial, usize) {
    let word = |place: usize| words.get(place).map_or("", String::as_str);
    // 2024-06-09
    if let (Some(year), Ok(month @ 1..=12), Some(day)) =
        (year(word(0)), word(1).parse::<u8>(), day(word(2)))
        && word(1).len() == 2
    {
        let (year, month, day) = (Some(year), Some(month), Some(day));
        return (Partial { year, month, day }, 3);
    }
    // 9 June 2024, fifth of April
    if let Some(day) = day(word(0)) {
        let skipped = usize::from(word(1) == "of");
        if let Some(month) = month(word(1 + skipped)) {
            let year = year(word(2 + skipped));
            let taken = 2 + skipped + usize::from(year.is_some());
            let (month, day) = (Some(month), Some(day));
            return (Partial { year, month, day }, taken);
        }
    }
    // June 9 2024, June 2024, June. A lone "may" is a verb more often than not.
    if let Some(month) = month(word(0)) {
        let day = day(word(1)).filter(|_| year(word(1)).is_none());
        let after = 1 + usize::from(day.is_some());
        let year = year(word(after));
        if month != 5 || day.is_some() || year.is_some() || word(0) != "may" {
            let month = Some(month);
            return (
                Partial { year, month, day },
                after + usize::from(year.is_some()),
            );
        }
    }
    let year = year(word(0));
    (
        Partial {
            year,
            ..Partial::default()
        },
        1,
    )
}

fn year(word: &str) -> Option<i32> {
    let year = word.parse().ok()?;
    (word.len() == 4 && (1900..2100).contains(&year)).then_some(year)
}

fn day(word: &str) -> Option<u8> {
    const ORDINALS: [&str; 20] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
    ];
    if let Some(place) = ORDINALS.iter().position(|&ordinal| ordinal == word) {
        return Some(place as u8 + 1);
    }
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| word.strip_suffix(end))
        .unwrap_or(word);
    let day: u8 = digits.parse().ok()?;
    (digits.len() <= 2 && (1..=31).contains(&day)).then_some(day)
}
