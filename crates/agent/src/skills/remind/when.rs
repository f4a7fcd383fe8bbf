//! A moment in words: `in 10 minutes`, `tomorrow at 9`, `2026-11-20 09:00`. Pure: the present is an argument.

use chrono::{
    DateTime, Datelike as _, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Weekday,
};

/// A moment that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// So much later.
    After(TimeDelta),
    /// By the clock on the wall.
    At(NaiveDateTime),
    /// In milliseconds since 1970.
    Exact(i64),
}

/// The most words of a moment.
const WORDS: usize = 6;

/// The longest that a reminder can be away, in days.
const LONGEST: i64 = 3_660;

/// The hour for a day without a time, and for an evening.
const MORNING: (u32, u32) = (9, 0);
const EVENING: (u32, u32) = (20, 0);

/// What to be reminded of, and the moment, which stands at the beginning or at the end of a text.
pub(super) fn split(text: &str, now: NaiveDateTime) -> (String, Option<When>) {
    let text = text.trim().trim_end_matches(['.', '!', '?']);
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.first().is_some_and(|it| matches!(*it, "me" | "us")) {
        words.remove(0);
    }
    for count in (1..=words.len().min(WORDS)).rev() {
        let (head, tail) = words.split_at(count);
        if let Some(when) = parse(&head.join(" "), now) {
            return (bare(tail), Some(when));
        }
        let (head, tail) = words.split_at(words.len() - count);
        if let Some(when) = parse(&tail.join(" "), now) {
            return (bare(head), Some(when));
        }
    }
    (bare(&words), None)
}

/// The words without those that only connect them.
fn bare(words: &[&str]) -> String {
    let connects = |it: &&&str| {
        matches!(
            **it,
            "to" | "that" | "about" | "of" | "," | "for" | "-" | ":"
        )
    };
    let skipped = words.iter().take_while(connects).count();
    words[skipped..]
        .join(" ")
        .trim_matches([',', ' '])
        .to_owned()
}

/// The moment that a text names, if all of it does.
pub(super) fn parse(text: &str, now: NaiveDateTime) -> Option<When> {
    let lower = text.trim().to_lowercase();
    let lower = lower.trim_end_matches([',', '.', ':']);
    if let Ok(exact) = DateTime::parse_from_rfc3339(text.trim()) {
        return Some(When::Exact(exact.timestamp_millis()));
    }
    let words: Vec<&str> = lower.split_whitespace().collect();
    let when = span(&words)
        .map(When::After)
        .or_else(|| clock(&words, now).map(When::At))?;
    let far = match when {
        When::After(span) => span,
        When::At(at) => at - now,
        When::Exact(_) => TimeDelta::zero(),
    };
    (far <= TimeDelta::days(LONGEST)).then_some(when)
}

/// `in 10 minutes`, `for an hour`, `2 days`, `half an hour`.
fn span(words: &[&str]) -> Option<TimeDelta> {
    let words = match words {
        ["in" | "for" | "after", rest @ ..] => rest,
        rest => rest,
    };
    let (count, unit) = match words {
        ["half", "an", "hour"] => return Some(TimeDelta::minutes(30)),
        ["a" | "an" | "one", unit] => (1, *unit),
        ["a", "couple", "of", unit] => (2, *unit),
        ["a", "few", unit] => (3, *unit),
        [count, unit] => (number(count)?, *unit),
        // `10min`, `5m`
        [both] => {
            let digits = both.find(|it: char| !it.is_ascii_digit())?;
            (both[..digits].parse().ok()?, &both[digits..])
        }
        _ => return None,
    };
    let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
        "second" | "sec" => 1,
        "minute" | "min" | "m" => 60,
        "hour" | "hr" | "h" => 3_600,
        "day" | "d" => 86_400,
        "week" | "w" => 604_800,
        "month" => 2_592_000,
        "year" => 31_536_000,
        _ => return None,
    };
    TimeDelta::try_seconds(i64::from(count).checked_mul(seconds)?)
}

fn number(word: &str) -> Option<i32> {
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let named = NUMBERS.iter().position(|it| *it == word);
    match (word, named) {
        (_, Some(place)) => i32::try_from(place).ok(),
        ("fifteen", _) => Some(15),
        ("twenty", _) => Some(20),
        ("thirty", _) => Some(30),
        _ => word.parse().ok(),
    }
}

/// `at 9`, `tomorrow at 9:30`, `tonight`, `on friday`, `2026-11-20 at 9`, `noon`.
fn clock(words: &[&str], now: NaiveDateTime) -> Option<NaiveDateTime> {
    let (day, rest) = match words {
        ["on" | "next" | "this", rest @ ..] => (day(rest.first()?, now)?, &rest[1..]),
        [first, rest @ ..] => match day(first, now) {
            Some(day) => (day, rest),
            None => {
                return later(
                    time_after(words, day(words.last()?, now).is_some())?,
                    words,
                    now,
                );
            }
        },
        [] => return None,
    };
    let (hour, minute) = match rest {
        [] if words[0] == "tonight" => EVENING,
        [] if words[0] == "today" => return None,
        [] => MORNING,
        ["morning"] => MORNING,
        ["afternoon"] => (15, 0),
        ["evening" | "night"] => EVENING,
        rest => time_after(rest, false)?,
    };
    Some(day.and_time(NaiveTime::from_hms_opt(hour, minute, 0)?))
}

/// A time without a day is the next one; a day may follow it: `at 9 tomorrow`.
fn later((hour, minute): (u32, u32), words: &[&str], now: NaiveDateTime) -> Option<NaiveDateTime> {
    let time = NaiveTime::from_hms_opt(hour, minute, 0)?;
    if let Some(day) = words.last().and_then(|it| day(it, now)) {
        return Some(day.and_time(time));
    }
    let today = now.date().and_time(time);
    match today > now {
        true => Some(today),
        false => today.checked_add_days(Days::new(1)),
    }
}

/// The date that a word names.
fn day(word: &str, now: NaiveDateTime) -> Option<NaiveDate> {
    let today = now.date();
    match word {
        "today" | "tonight" => return Some(today),
        "tomorrow" => return today.succ_opt(),
        _ => {}
    }
    if let Ok(date) = NaiveDate::parse_from_str(word, "%Y-%m-%d") {
        return Some(date);
    }
    // `sun` and `mon` alone may be other words; whole names are not.
    let weekday: Weekday = word.strip_suffix("day").and_then(|_| word.parse().ok())?;
    let ahead = i64::from(weekday.num_days_from_monday())
        - i64::from(today.weekday().num_days_from_monday());
    let ahead = if ahead <= 0 { ahead + 7 } else { ahead };
    today.checked_add_days(Days::new(u64::try_from(ahead).ok()?))
}

/// A time of day: `at 9`, `9:30`, `9pm`, `at 9 pm`, `noon`. A bare number needs its `at`.
fn time_after(words: &[&str], day_behind: bool) -> Option<(u32, u32)> {
    let words = match day_behind {
        true => &words[..words.len() - 1],
        false => words,
    };
    let words = match words {
        [rest @ .., "on"] => rest,
        rest => rest,
    };
    let (at, words) = match words {
        ["at" | "by" | "for" | "@", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (text, half) = match words {
        ["noon" | "midday"] => return Some((12, 0)),
        ["midnight"] => return Some((0, 0)),
        [time, half @ ("am" | "pm")] => (*time, Some(*half)),
        [time, "o'clock"] => (*time, None),
        [time] => match time.strip_suffix("am").or_else(|| time.strip_suffix("pm")) {
            Some(bare) => (bare, Some(&time[bare.len()..])),
            None => (*time, None),
        },
        _ => return None,
    };
    let (hour, minute) = match text.split_once([':', '.']) {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse().ok()?, minute.parse().ok()?),
        Some(_) => return None,
        None if at || half.is_some() || words.len() > 1 => (text.parse::<u32>().ok()?, 0),
        None => return None,
    };
    let hour = match (hour, half) {
        (13.., Some(_)) | (0, Some(_)) => return None,
        (12, Some("am")) => 0,
        (hour @ 1..12, Some("pm")) => hour + 12,
        (hour, _) => hour,
    };
    (hour < 24 && minute < 60).then_some((hour, minute))
}
