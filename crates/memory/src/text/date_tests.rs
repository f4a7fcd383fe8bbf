//! Times in ISO 8601, and dates that texts name.

use proptest::prelude::*;

use super::date::{Partial, civil, format, midnight, named, parse};

fn partial(year: i32, month: u8, day: u8) -> Partial {
    Partial {
        year: (year > 0).then_some(year),
        month: (month > 0).then_some(month),
        day: (day > 0).then_some(day),
    }
}

#[test]
fn times_are_read_as_they_are_written() {
    assert_eq!(parse("1970-01-01"), Some(0));
    assert_eq!(parse("2023-05-08T13:56:00Z"), Some(1_683_554_160_000));
    assert_eq!(
        parse("2023-05-08T15:56:00+02:00"),
        parse("2023-05-08T13:56:00Z")
    );
    assert_eq!(parse("2023-05-08 13:56"), parse("2023-05-08T13:56:00.000Z"));
    for bad in [
        "",
        "yesterday",
        "2023-13-01",
        "2023-02-30",
        "2023-05-08T25:00:00Z",
        "2023-05",
    ] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}

#[test]
fn dates_are_found_in_texts() {
    for (text, expected) in [
        ("What happened on 9 June 2024?", vec![partial(2024, 6, 9)]),
        ("the fifth of April", vec![partial(0, 4, 5)]),
        (
            "on June 9th, 2024 and in 1998",
            vec![partial(2024, 6, 9), partial(1998, 0, 0)],
        ),
        (
            "between 2024-03-01 and Aug 2025",
            vec![partial(2024, 3, 1), partial(2025, 8, 0)],
        ),
        ("It may rain. In May 2023 it did", vec![partial(2023, 5, 0)]),
        ("port 8080, 42 people", vec![]),
    ] {
        assert_eq!(named(text), expected, "{text}");
    }
}

#[test]
fn what_is_said_of_a_date_agrees_in_all_parts_or_not_at_all() {
    let day = (2024, 6, 9);
    assert!(partial(2024, 6, 9).agrees(day) > partial(2024, 6, 0).agrees(day));
    assert!(partial(2024, 6, 0).agrees(day) > 0.0);
    assert_eq!(partial(2024, 7, 0).agrees(day), 0.0);
    assert_eq!(partial(0, 0, 0).agrees(day), 0.0);
}

proptest! {
    #[test]
    fn every_day_has_one_number(days in -700_000_i64..2_900_000) {
        let millis = days * super::date::DAY;
        let (year, month, day) = civil(millis);
        prop_assert_eq!(midnight(year, month, day), Some(millis));
        if (0..=9999).contains(&year) {
            prop_assert_eq!(parse(&format(millis)), Some(millis));
        }
    }
}
