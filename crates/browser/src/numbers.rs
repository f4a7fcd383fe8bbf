//! The numbers of elements: the same in text, in pictures and in clicks.
//!
//! An element keeps its number as long as its document is shown, so that a later list can say what has changed. Each list
//! has an id; a click that names another list than the newest is refused, since the page has moved on since.

use std::collections::HashMap;

use crate::error::Error;

/// Chromium's name for an element: the debugging session of its frame, and its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementId {
    pub(crate) session: String,
    pub(crate) node: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The id of the newest list; 0 if there was none.
    snapshot: u32,
    numbers: HashMap<ElementId, u32>,
    elements: HashMap<u32, ElementId>,
    /// The lines of the newest list, by number.
    lines: Vec<(u32, String)>,
}

impl Numbers {
    /// Another document is shown: its elements begin at 1.
    pub(crate) fn forget(&mut self) {
        *self = Self {
            snapshot: self.snapshot,
            ..Self::default()
        };
    }

    pub(crate) fn number(&mut self, element: &ElementId) -> u32 {
        if let Some(number) = self.numbers.get(element) {
            return *number;
        }
        let number = u32::try_from(self.numbers.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        self.numbers.insert(element.clone(), number);
        self.elements.insert(number, element.clone());
        number
    }

    /// A new list with these lines. Returns its id and the lines of the list before, if that was of the same document.
    pub(crate) fn list(&mut self, lines: Vec<(u32, String)>) -> (u32, Vec<(u32, String)>) {
        self.snapshot = self.snapshot.saturating_add(1);
        let before = std::mem::replace(&mut self.lines, lines);
        (self.snapshot, before)
    }

    /// The line of an element in the newest list.
    pub(crate) fn line(&self, number: u32) -> Option<&str> {
        let found = self.lines.iter().find(|(it, _)| *it == number);
        found.map(|(_, line)| line.as_str())
    }

    /// The element of a number, if the list that it was read from is the newest.
    pub(crate) fn find(
        &self,
        doing: &'static str,
        number: u32,
        snapshot: Option<u32>,
    ) -> Result<ElementId, Error> {
        let stale = |problem: String| Error::Stale {
            doing,
            element: number,
            problem,
        };
        if let Some(read) = snapshot.filter(|it| *it != self.snapshot) {
            let newest = self.snapshot;
            return Err(stale(format!(
                "it was read from list {read}, and the newest list is {newest}; use the numbers of the newest list"
            )));
        }
        let listed = self.lines.iter().any(|(it, _)| *it == number);
        match self.elements.get(&number).filter(|_| listed) {
            Some(element) => Ok(element.clone()),
            None => Err(stale(
                "the newest list of this page has no such number; use the numbers of the newest list".to_owned(),
            )),
        }
    }
}
