//! The options of a bench: `--flag value` or `--flag=value`.

use std::str::FromStr;

use crate::error::{Error, Result};

/// The words of a command line that are still to be read.
#[derive(Debug)]
pub(crate) struct Flags<'a> {
    words: std::slice::Iter<'a, &'a str>,
    flag: &'a str,
    /// What stood behind the equals sign of the current flag, until it is taken.
    given: Option<&'a str>,
}

impl<'a> Flags<'a> {
    pub(crate) fn new(words: &'a [&'a str]) -> Flags<'a> {
        Flags {
            words: words.iter(),
            flag: "",
            given: None,
        }
    }

    /// Goes on to the next flag.
    pub(crate) fn advance(&mut self) -> Option<&'a str> {
        let word = *self.words.next()?;
        (self.flag, self.given) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
        Some(self.flag)
    }

    /// The value of the current flag.
    pub(crate) fn value(&mut self) -> Result<&'a str> {
        let value = self.given.take().or_else(|| self.words.next().copied());
        value.ok_or_else(|| Error::Usage(format!("{} needs a value", self.flag)))
    }

    /// The value of the current flag, which must be a number.
    pub(crate) fn number<T: FromStr>(&mut self) -> Result<T> {
        let text = self.value()?;
        text.parse()
            .map_err(|_| Error::Usage(format!("{} {text}: not a number", self.flag)))
    }

    /// The value of the current flag: some of the known names, with commas between them.
    pub(crate) fn names(&mut self, known: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let text = self.value()?;
        text.split(',')
            .map(|name| match known(name) {
                true => Ok(name.to_owned()),
                false => Err(Error::Usage(format!("{} {name}: not known", self.flag))),
            })
            .collect()
    }

    /// The error for a flag that does not exist.
    pub(crate) fn unknown(&self) -> Error {
        Error::Usage(format!("{} is not an option", self.flag))
    }
}
