//! Themes: named clusters of terms. A task that uses several terms of one is about it.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use serde::Deserialize;

/// The themes with their terms, as one automaton.
#[derive(Clone, Debug)]
pub(crate) struct Themes {
    names: Vec<String>,
    /// The theme of each term.
    terms: Vec<usize>,
    finder: AhoCorasick,
}

#[derive(Deserialize)]
struct File {
    themes: Vec<Theme>,
}

#[derive(Deserialize)]
struct Theme {
    name: String,
    terms: Vec<String>,
}

impl Themes {
    pub(crate) fn parse(text: &str) -> Result<Self, crate::Error> {
        let file: File =
            toml::from_str(text).map_err(|error| crate::Error::form("themes", &error))?;
        let mut names = Vec::new();
        let (mut terms, mut words) = (Vec::new(), Vec::new());
        for (number, theme) in file.themes.into_iter().enumerate() {
            names.push(theme.name);
            terms.extend(std::iter::repeat_n(number, theme.terms.len()));
            words.extend(theme.terms);
        }
        let finder = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(words);
        let finder = finder.map_err(|error| crate::Error::form("themes", &error))?;
        Ok(Self {
            names,
            terms,
            finder,
        })
    }

    /// The terms that a text has, by number.
    pub(crate) fn terms(&self, text: &str, mut found: impl FnMut(usize)) {
        for hit in self.finder.find_iter(text) {
            let before = text[..hit.start()].chars().next_back();
            let after = text[hit.end()..].chars().next();
            let inside = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
            if !inside(before) && !inside(after) {
                found(hit.pattern().as_usize());
            }
        }
    }

    /// The theme with most of these terms, with how many.
    pub(crate) fn best(&self, terms: &std::collections::BTreeSet<usize>) -> Option<(&str, usize)> {
        let mut counts = vec![0; self.names.len()];
        for term in terms {
            if let Some(count) = self.terms.get(*term).and_then(|it| counts.get_mut(*it)) {
                *count += 1;
            }
        }
        let (number, count) = counts.into_iter().enumerate().max_by_key(|it| it.1)?;
        let name = self.names.get(number)?;
        (count > 0).then_some((name.as_str(), count))
    }
}
