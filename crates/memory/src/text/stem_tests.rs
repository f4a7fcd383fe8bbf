//! Words, and the stems that their forms share.

use super::stem;
use crate::text::{terms, words};

#[test]
fn forms_of_a_word_have_one_stem() {
    for forms in [
        &[
            "connect",
            "connected",
            "connecting",
            "connection",
            "connections",
        ][..],
        &["plan", "planned", "planning", "plans"],
        &["happy", "happiness"],
        &["relate", "related", "relating"],
        &["agree", "agreed", "agreeing", "agrees"],
        &["city", "cities"],
        &["hope", "hoped", "hoping", "hopeful", "hopes"],
    ] {
        let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
        assert!(
            stems.windows(2).all(|pair| pair[0] == pair[1]),
            "{forms:?}: {stems:?}"
        );
    }
}

#[test]
fn other_words_stay_apart() {
    for (one, other) in [("sing", "sin"), ("news", "newt"), ("caress", "care")] {
        assert_ne!(stem(one), stem(other));
    }
}

#[test]
fn what_is_not_a_word_of_ascii_letters_is_left_as_it_is() {
    for word in ["as", "x86s", "größen", "4.18", ""] {
        assert_eq!(stem(word), word);
    }
}

#[test]
fn words_are_runs_of_letters_and_digits() {
    let found: Vec<_> = words("Ada’s *first* PAY-2291 isn't done; the café's open").collect();
    let expected = [
        "ada", "first", "pay", "2291", "isn", "t", "done", "the", "café", "open",
    ];
    assert_eq!(found, expected);
}

#[test]
fn terms_are_what_a_text_is_about() {
    assert_eq!(terms("What did the children buy?"), terms("Kids bought!"));
}
