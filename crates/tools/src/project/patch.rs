//! Changing a file by a unified diff: each hunk is found in the file, also where it moved; then all are applied, or none.

use std::fmt;

use diffy::{Line, Patch};

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::{Project, Written, hash};

/// How many lines of context at either end of a hunk may differ from the file, as in `patch`.
const FUZZ: usize = 2;

/// A diff applied to a text, without writing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// The text after it.
    pub content: String,
    /// What became of each hunk, in their order.
    pub hunks: Vec<Hunk>,
    pub lines_added: usize,
    pub lines_removed: usize,
}

/// What became of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hunk {
    Applied {
        /// The first line in the file before, counted from 1.
        line: usize,
        /// How many lines further down than the diff says it was found; negative is further up.
        offset: isize,
        /// How many lines of context at either end were left out to find it.
        fuzz: usize,
    },
    /// It was not chosen.
    LeftOut,
}

/// Which hunks of a diff are applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Accepted {
    #[default]
    All,
    /// Those with these numbers, counted from 1.
    Only(Vec<usize>),
}

impl Accepted {
    fn has(&self, number: usize) -> bool {
        match self {
            Self::All => true,
            Self::Only(numbers) => numbers.contains(&number),
        }
    }
}

/// Why a diff cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchProblem {
    /// The text is not a unified diff.
    NotADiff(String),
    /// The diff is about more than one file.
    SeveralFiles,
    /// No lines of the file are those of these hunks, counted from 1.
    NoPlace(Vec<usize>),
    /// The diff has so many hunks, and this number was chosen.
    NoSuchHunk { number: usize, hunks: usize },
}

impl fmt::Display for PatchProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADiff(problem) => write!(f, "not a unified diff: {problem}"),
            Self::SeveralFiles => {
                f.write_str("the diff is about more than one file: send one for each")
            }
            Self::NoPlace(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                let hunks = if numbers.len() == 1 { "hunk" } else { "hunks" };
                write!(
                    f,
                    "{hunks} {} of the diff do not fit: the file has other lines there; nothing was changed. Read the file again",
                    numbers.join(", ")
                )
            }
            Self::NoSuchHunk { number, hunks } => {
                write!(f, "there is no hunk {number}: the diff has {hunks}")
            }
        }
    }
}

/// Applies a unified diff to a text. Hunks that do not fit are all named, and nothing is applied then.
pub fn apply(text: &str, diff: &str, accepted: &Accepted) -> Result<Patched, PatchProblem> {
    apply_with(text, diff, accepted, FUZZ)
}

/// The same, where all lines of context must be in the file.
pub(crate) fn apply_exactly(
    text: &str,
    diff: &str,
    accepted: &Accepted,
) -> Result<Patched, PatchProblem> {
    apply_with(text, diff, accepted, 0)
}

fn apply_with(
    text: &str,
    diff: &str,
    accepted: &Accepted,
    fuzz: usize,
) -> Result<Patched, PatchProblem> {
    let headers = diff.lines().filter(|it| it.starts_with("--- ")).count();
    let patch = Patch::from_str(diff).map_err(|error| match headers > 1 {
        true => PatchProblem::SeveralFiles,
        false => PatchProblem::NotADiff(error.to_string()),
    })?;
    let hunks = patch.hunks();
    if hunks.is_empty() {
        return Err(PatchProblem::NotADiff("it has no hunks".to_owned()));
    }
    if let Accepted::Only(numbers) = accepted
        && let Some(&number) = numbers.iter().find(|it| **it == 0 || **it > hunks.len())
    {
        return Err(PatchProblem::NoSuchHunk {
            number,
            hunks: hunks.len(),
        });
    }
    let mut work = Work::new(text, fuzz);
    let mut lost = Vec::new();
    for (number, hunk) in (1..).zip(hunks) {
        if !accepted.has(number) {
            work.outcome.push(Hunk::LeftOut);
        } else if work.hunk(hunk.old_range().start(), hunk.lines()).is_none() {
            lost.push(number);
        }
    }
    match lost.is_empty() {
        true => Ok(work.finish()),
        false => Err(PatchProblem::NoPlace(lost)),
    }
}

/// The lines of a text while hunks are applied to it, from the top down.
struct Work<'a> {
    /// How many lines of context at either end of a hunk may differ.
    fuzz: usize,
    lines: Vec<&'a str>,
    /// The text so far, and how many lines of the old one it stands for.
    done: String,
    taken: usize,
    /// How far the last hunk was from its place: the next is looked for there first.
    offset: isize,
    outcome: Vec<Hunk>,
    added: usize,
    removed: usize,
}

impl<'a> Work<'a> {
    fn new(text: &'a str, fuzz: usize) -> Self {
        Self {
            fuzz,
            lines: text.split_inclusive('\n').collect(),
            done: String::with_capacity(text.len()),
            taken: 0,
            offset: 0,
            outcome: Vec::new(),
            added: 0,
            removed: 0,
        }
    }

    /// Applies a hunk that begins at this line, counted from 1. None: it is nowhere.
    fn hunk(&mut self, start: usize, lines: &[Line<'_, str>]) -> Option<()> {
        let leading = lines.iter().take_while(|it| is_context(it)).count();
        let trailing = lines.iter().rev().take_while(|it| is_context(it)).count();
        let most = self.fuzz.min(leading.max(trailing));
        // A hunk without old lines names the line that it follows.
        let first = match lines.iter().any(|it| old(it).is_some()) {
            true => start.saturating_sub(1),
            false => start,
        };
        for fuzz in 0..=most {
            let (before, after) = (fuzz.min(leading), fuzz.min(trailing));
            let inner = &lines[before..lines.len() - after];
            let old: Vec<&str> = inner.iter().filter_map(old).collect();
            // An addition without any of its context would fit everywhere.
            if fuzz > 0 && old.is_empty() {
                return None;
            }
            let expected = (first + before).saturating_add_signed(self.offset);
            if let Some(place) = self.find(&old, expected) {
                self.offset = place.cast_signed() - (first + before).cast_signed();
                self.replace(place, inner, &old);
                self.outcome.push(Hunk::Applied {
                    line: place + 1 - before.min(place),
                    offset: self.offset,
                    fuzz,
                });
                return Some(());
            }
        }
        None
    }

    /// The place of these lines that is nearest to the expected one, below all hunks before.
    fn find(&self, old: &[&str], expected: usize) -> Option<usize> {
        let last = self.lines.len().checked_sub(old.len())?;
        if self.taken > last {
            return None;
        }
        let fits = |at: usize| (self.taken..=last).contains(&at) && self.is_at(old, at);
        let expected = expected.clamp(self.taken, last);
        // A hunk without old lines fits everywhere: it is where it says.
        if old.is_empty() {
            return Some(expected);
        }
        let distances = 0..=last.max(expected);
        distances
            .flat_map(|it| [expected.checked_add(it), expected.checked_sub(it)])
            .flatten()
            .find(|at| fits(*at))
    }

    fn is_at(&self, old: &[&str], at: usize) -> bool {
        let lines = &self.lines[at..at + old.len()];
        lines.iter().zip(old).all(|(line, old)| same(line, old))
    }

    fn replace(&mut self, place: usize, hunk: &[Line<'_, str>], old: &[&str]) {
        self.done
            .extend(self.lines[self.taken..place].iter().copied());
        let mut at = place;
        let crlf = self.lines.get(place).is_some_and(|it| it.ends_with("\r\n"));
        for line in hunk {
            match line {
                // The line of the file stays, also where it differs in its end.
                Line::Context(_) => {
                    self.done.push_str(self.lines[at]);
                    at += 1;
                }
                Line::Delete(_) => {
                    at += 1;
                    self.removed += 1;
                }
                Line::Insert(text) => {
                    self.added += 1;
                    match text
                        .strip_suffix('\n')
                        .filter(|it| crlf && !it.ends_with('\r'))
                    {
                        Some(bare) => self.done.extend([bare, "\r\n"]),
                        None => self.done.push_str(text),
                    }
                }
            }
        }
        self.taken = place + old.len();
    }

    fn finish(mut self) -> Patched {
        self.done.extend(self.lines[self.taken..].iter().copied());
        Patched {
            content: self.done,
            hunks: self.outcome,
            lines_added: self.added,
            lines_removed: self.removed,
        }
    }
}

fn is_context(line: &Line<'_, str>) -> bool {
    matches!(line, Line::Context(_))
}

fn old<'a>(line: &Line<'a, str>) -> Option<&'a str> {
    match line {
        Line::Context(text) | Line::Delete(text) => Some(text),
        Line::Insert(_) => None,
    }
}

/// Whether two lines are the same but for blanks at their ends.
fn same(one: &str, other: &str) -> bool {
    one.trim_end() == other.trim_end()
}

impl Project {
    /// Applies a unified diff to a file, without writing it. A missing file is an empty one. The hash is that of the file
    /// before, or [`ABSENT`](crate::ABSENT).
    pub fn patched(
        &self,
        path: &ProjectPath,
        diff: &str,
        accepted: &Accepted,
    ) -> Result<(Patched, String), Error> {
        let (text, seen) = match self.text(path) {
            Ok(text) => {
                let seen = hash(text.as_bytes());
                (text, seen)
            }
            Err(Error::NotFound(_)) => (String::new(), crate::ABSENT.to_owned()),
            Err(error) => return Err(error),
        };
        let patched = apply(&text, diff, accepted).map_err(|problem| Error::Patch {
            path: path.clone(),
            problem,
        })?;
        Ok((patched, seen))
    }

    /// Applies a unified diff to a file, all of its accepted hunks or none. With `seen` a file that has another content is
    /// an error.
    pub fn patch(
        &self,
        path: &ProjectPath,
        diff: &str,
        accepted: &Accepted,
        seen: Option<&str>,
    ) -> Result<(Patched, Written), Error> {
        let (patched, now) = self.patched(path, diff, accepted)?;
        if seen.is_some_and(|it| it != now) {
            return Err(Error::Changed(path.clone()));
        }
        let written = self.write(path, &patched.content, Some(&now))?;
        Ok((patched, written))
    }
}
