//! Which element fits a description or a goal: by its text, by its kind, and by where it is said to be.

use serde::{Deserialize, Serialize};

use crate::element::{Element, Kind};

/// The alternatives that are told beside the best.
const ALTERNATIVES: usize = 4;
/// Below this, an element does not fit.
const LEAST: f32 = 0.25;

/// An element and how well it fits, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The number of the element.
    pub index: u32,
    /// How well it fits.
    pub score: f32,
}

/// The element that fits best, and others that fit, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// None if no element fits.
    pub best: Option<Fit>,
    /// The next best.
    pub alternatives: Vec<Fit>,
}

/// Words that say what a person wants, and nothing of the element.
const FILLERS: &[&str] = &[
    "a", "an", "and", "at", "button", "checkbox", "click", "field", "find", "for", "go", "i", "in",
    "input", "into", "is", "it", "link", "looking", "my", "need", "of", "on", "open", "page",
    "please", "press", "radio", "select", "some", "that", "the", "this", "to", "type", "want",
    "where", "with",
];

/// Words that mean nearly the same on controls.
const SAME: &[&[&str]] = &[
    &["login", "signin", "log", "sign"],
    &["register", "signup", "account", "join"],
    &["search", "find", "query", "lookup"],
    &["cart", "basket", "bag"],
    &["submit", "send", "save", "apply", "confirm"],
    &["remove", "delete", "erase"],
    &["next", "continue", "forward"],
    &["previous", "back"],
    &["settings", "preferences", "options"],
    &["email", "mail"],
    &["photo", "picture", "image"],
    &["buy", "checkout", "order", "purchase"],
];

/// Ranks elements by how well they fit a description such as "the search box" or "Add to basket button".
pub fn find(elements: &[Element], description: &str) -> Finding {
    let all = words(description);
    let kinds = kinds(&all);
    let wanted: Vec<&String> = all
        .iter()
        .filter(|it| !FILLERS.contains(&it.as_str()))
        .collect();
    let mut fits: Vec<Fit> = elements
        .iter()
        .map(|element| Fit {
            index: element.index,
            score: (score(element, &wanted, &kinds) * 100.0).round() / 100.0,
        })
        .filter(|fit| fit.score >= LEAST)
        .collect();
    // Elements keep their order where they fit equally well.
    fits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut fits = fits.into_iter();
    Finding {
        best: fits.next(),
        alternatives: fits.take(ALTERNATIVES).collect(),
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|it: char| !it.is_alphanumeric());
    words
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The kinds that a description names.
fn kinds(words: &[String]) -> Vec<Kind> {
    let named = words.iter().flat_map(|word| -> &[Kind] {
        match word.as_str() {
            "button" | "press" | "icon" => &[Kind::Button],
            "link" => &[Kind::Link],
            "box" | "field" | "input" | "type" | "enter" | "write" | "search" => &[Kind::Input],
            "checkbox" | "check" | "tick" | "switch" | "toggle" => &[Kind::Checkbox],
            "radio" => &[Kind::Radio],
            "select" | "dropdown" | "menu" | "list" => &[Kind::Select],
            _ => &[],
        }
    });
    named.copied().collect()
}

fn score(element: &Element, wanted: &[&String], kinds: &[Kind]) -> f32 {
    let own = words(element.text.as_deref().unwrap_or(""));
    let best = |word: &str| {
        own.iter()
            .map(|it| likeness(it, word))
            .fold(0.0_f32, f32::max)
    };
    let matched: f32 = wanted.iter().map(|word| best(word)).sum();
    let covered = matched / wanted.len().max(1) as f32;
    // A long text that has the words by chance fits less than one that has little else.
    let exact = matched / own.len().max(wanted.len()).max(1) as f32;
    let kind = match (kinds.is_empty(), kinds.contains(&element.kind)) {
        (true, _) => 0.5,
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    let text = 0.5 * covered + 0.25 * exact;
    if wanted.is_empty() {
        return if kinds.is_empty() { 0.0 } else { kind * 0.6 };
    }
    text + 0.25 * kind * if text > 0.0 { 1.0 } else { 0.6 }
        + if text == 0.0 && kind == 1.0 {
            0.12
        } else {
            0.0
        }
}

/// How alike two words are: equal, of one meaning, one the beginning of the other, or misread in a letter.
fn likeness(own: &str, wanted: &str) -> f32 {
    if own == wanted {
        return 1.0;
    }
    if SAME
        .iter()
        .any(|group| group.contains(&own) && group.contains(&wanted))
    {
        return 0.8;
    }
    let (short, long) = if own.len() < wanted.len() {
        (own, wanted)
    } else {
        (wanted, own)
    };
    if short.len() >= 3 && long.starts_with(short) {
        return 0.75;
    }
    let longest = long.chars().count();
    let wrong = distance(own, wanted);
    if longest >= 4 && wrong * 4 <= longest {
        0.7
    } else {
        0.0
    }
}

/// Levenshtein's distance.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (y, letter) in one.chars().take(64).enumerate() {
        let mut corner = row[0];
        row[0] = y + 1;
        for (x, wanted) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *wanted);
            corner = row[x + 1];
            row[x + 1] = changed.min(row[x] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
