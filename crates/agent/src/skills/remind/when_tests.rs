//! Moments in the words that people use.

use chrono::{NaiveDate, NaiveDateTime};

use super::when::{When, split};

/// A Wednesday.
fn now() -> NaiveDateTime {
    let day = NaiveDate::from_ymd_opt(2026, 11, 18).unwrap_or_default();
    day.and_hms_opt(14, 30, 0).unwrap_or_default()
}

/// What to be reminded of, and when by the clock.
fn check(text: &str, what: &str, at: &str) {
    let (said, when) = split(text, now());
    let at_clock = match when {
        Some(When::After(span)) => (now() + span).format("%m-%d %H:%M").to_string(),
        Some(When::At(at)) => at.format("%m-%d %H:%M").to_string(),
        Some(When::Exact(millis)) => millis.to_string(),
        None => "never".to_owned(),
    };
    assert_eq!((said.as_str(), at_clock.as_str()), (what, at), "{text}");
}

#[test]
fn a_moment_is_found_before_or_behind_what_to_be_reminded_of() {
    check(
        "me in 10 minutes to drink water",
        "drink water",
        "11-18 14:40",
    );
    check(
        "me to drink water in 10 minutes.",
        "drink water",
        "11-18 14:40",
    );
    check("me to call mum tomorrow at 9", "call mum", "11-19 09:00");
    check("me tomorrow at 9:15 to call mum", "call mum", "11-19 09:15");
    check("to call mum at 9 tomorrow", "call mum", "11-19 09:00");
    check("me about the meeting at 3pm", "the meeting", "11-18 15:00");
    check("me at 9 am to stretch", "stretch", "11-19 09:00");
    check(
        "me in an hour that the oven is on",
        "the oven is on",
        "11-18 15:30",
    );
    check("in half an hour to leave", "leave", "11-18 15:00");
    check("me on friday to pay rent", "pay rent", "11-20 09:00");
    check(
        "me tonight to lock the door",
        "lock the door",
        "11-18 20:00",
    );
    check("stand up at noon", "stand up", "11-19 12:00");
    check(
        "in two days to water the plants",
        "water the plants",
        "11-20 14:30",
    );
    check("for 5 minutes", "", "11-18 14:35");
    check("5m", "", "11-18 14:35");
    check("pay on 2026-12-01 at 8:00", "pay", "12-01 08:00");
}

#[test]
fn a_text_without_a_moment_has_none() {
    check("me to buy bread", "buy bread", "never");
    check("me to call room 9", "call room 9", "never");
    check("buy 3 apples", "buy 3 apples", "never");
    check("me at 25:00 to sleep", "at 25:00 to sleep", "never");
    check(
        "in 99999999999 weeks to celebrate",
        "in 99999999999 weeks to celebrate",
        "never",
    );
}
