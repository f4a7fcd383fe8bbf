//! Times in and out of text.

use proptest::prelude::*;

use super::*;

fn printed(text: &str) -> Option<String> {
    text.parse().ok().map(|time: Timestamp| time.to_string())
}

#[test]
fn prints_as_many_digits_as_are_needed_in_groups_of_three() {
    for (given, expected) in [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00.000Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00.1Z", "2026-01-31T12:00:00.100Z"),
        ("2026-01-31T12:00:00.0001Z", "2026-01-31T12:00:00.000100Z"),
        (
            "2026-01-31T12:00:00.000000001Z",
            "2026-01-31T12:00:00.000000001Z",
        ),
        ("2026-01-01T00:15:00+00:30", "2025-12-31T23:45:00Z"),
        ("2026-12-31T23:45:00-00:30", "2027-01-01T00:15:00Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0001-01-01t00:00:00z", "0001-01-01T00:00:00Z"),
    ] {
        assert_eq!(printed(given).as_deref(), Some(expected));
    }
}

#[test]
fn refuses_what_is_no_time() {
    for text in [
        "",
        "2026",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31 12:00:00Z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00.1234567890Z",
        "2026-01-31T12:00:00,5Z",
        "2026-01-31T12:00:00+1:00",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+00:60",
        "2026-01-31T12:00:00+0100",
        "2026-01-31T12:00:00ZZ",
        "2026-01-31T12:00:00.5",
        "2026-1-31T12:00:00Z",
        "2026-01-31T12:60:00Z",
        "2026-01-31T12:00:60Z",
        "2026-00-31T12:00:00Z",
        "2026-04-31T12:00:00Z",
        "2026-01-00T12:00:00Z",
        "1900-02-29T12:00:00Z",
        "+026-01-31T12:00:00Z",
        "0000-12-31T23:59:59Z",
        "9999-12-31T23:59:59-00:01",
        "2026-01-31T12:00:00\u{661}Z",
    ] {
        assert_eq!(printed(text), None, "{text:?}");
    }
}

#[test]
fn counts_milliseconds_forward_also_before_1970() {
    for (millis, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00Z"),
        (i64::MAX, "9999-12-31T23:59:59.999999999Z"),
        (i64::MIN, "0001-01-01T00:00:00Z"),
    ] {
        assert_eq!(Timestamp::from_millis(millis).to_string(), text);
    }
    assert_eq!(Timestamp::from_millis(-1).millis(), -1);
}

/// The calendar from its definition: day by day, month by month.
#[test]
fn every_day_has_its_date() {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut month, mut day) = (1, 1, 1);
    for number in FIRST / DAY..=LAST / DAY {
        assert_eq!(date(number), (year, month, day));
        assert_eq!(days(year, month, day), Some(number));
        let length = match month {
            2 if leap(year) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        day += 1;
        if day > length {
            (day, month) = (1, month + 1);
        }
        if month > 12 {
            (month, year) = (1, year + 1);
        }
    }
    assert_eq!((year, month, day), (10000, 1, 1));
}

proptest! {
    #[test]
    fn comes_back_from_its_text(seconds in FIRST..=LAST, nanos in 0..NANOS) {
        let time = Timestamp::new(seconds, nanos).unwrap();
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[0-9T:.Zz+\\-é]{0,40}") {
        let _ = text.parse::<Timestamp>();
    }
}
