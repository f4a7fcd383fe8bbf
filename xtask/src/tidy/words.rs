//! Counts comments and texts that do not say what they mean: riddle words, captions, and comments without a noun as their
//! subject.
//!
//! A riddle word stands in for a noun of the domain; it is counted in comments, and in the string literals of the program,
//! which users read. A caption is a doc comment of three words or fewer, which repeats the name of what it documents. A
//! comment that begins with *What*, *Who* or *Which* often hides its subject. A few of each do no harm, so the counts are
//! bounded and no single line is forbidden.

use std::fmt;

use super::strings;

/// Words that stand where a noun of the domain would say more.
const RIDDLE_WORDS: [&str; 9] = [
    "whoever",
    "whom",
    "somebody",
    "nobody",
    "everybody",
    "anybody",
    "whose",
    "any more",
    "no longer",
];

/// In 1,000 comment lines there are fewer lines with a riddle word than this.
const RIDDLES_IN_1000: usize = 10;

/// In all files together there are fewer captions than this.
const CAPTIONS: usize = 200;

/// With these words a comment begins that may have no noun as its subject.
const OPENINGS: [&str; 3] = ["What", "Who", "Which"];

/// In all files together fewer comments begin with one of [`OPENINGS`] than this. Lower it when the count has fallen.
const OPENED: usize = 1_240;

/// In the sources of all crates together there are fewer string literals with a riddle word than this. Those that are left
/// are sentences that the command grammar understands.
const STRINGS: usize = 20;

/// A caption has at most so many words.
const CAPTION_WORDS: usize = 3;

/// How many files a finding names.
const NAMED_FILES: usize = 5;

/// What was counted in one file, or in several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) comments: usize,
    pub(super) riddles: usize,
    pub(super) captions: usize,
    /// Comments that begin with one of [`OPENINGS`].
    pub(super) opened: usize,
    /// String literals with a riddle word, in the sources of crates.
    pub(super) strings: usize,
}

/// The counts of all files, each with its path from the root.
#[derive(Debug, Default)]
pub(super) struct Counts(Vec<(String, Count)>);

impl Counts {
    /// Counts one file, if it is source text.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        if name.ends_with(".rs") || name.ends_with(".ts") {
            let mut count = count(text);
            if is_program(name) {
                let literals = strings::literals(text).into_iter();
                count.strings = literals.filter(|it| has_riddle_word(it)).count();
            }
            self.0.push((name.to_owned(), count));
        }
    }

    pub(super) fn total(&self) -> Count {
        self.0.iter().fold(Count::default(), |sum, (_, one)| Count {
            comments: sum.comments + one.comments,
            riddles: sum.riddles + one.riddles,
            captions: sum.captions + one.captions,
            opened: sum.opened + one.opened,
            strings: sum.strings + one.strings,
        })
    }

    /// The counts above their limits, with the files that have most of it.
    pub(super) fn findings(&self) -> Vec<String> {
        let total = self.total();
        let mut findings = Vec::new();
        if total.riddles * 1000 >= RIDDLES_IN_1000 * total.comments.max(1) {
            let files = self.most(|count| count.riddles);
            let words = RIDDLE_WORDS.join(", ");
            findings.push(format!(
                "{total}: the limit is {RIDDLES_IN_1000} in 1,000 ({words}); most are in {files}"
            ));
        }
        if total.captions >= CAPTIONS {
            let files = self.most(|count| count.captions);
            findings.push(format!(
                "{total}: the limit is {CAPTIONS} captions; most are in {files}"
            ));
        }
        if total.opened >= OPENED {
            let files = self.most(|count| count.opened);
            let words = OPENINGS.join(", ");
            findings.push(format!(
                "{total}: the limit is {OPENED} comments that begin with {words}; most are in {files}"
            ));
        }
        if total.strings >= STRINGS {
            let files = self.most(|count| count.strings);
            findings.push(format!(
                "{total}: the limit is {STRINGS} strings; most are in {files}"
            ));
        }
        findings
    }

    fn most(&self, of: impl Fn(&Count) -> usize) -> String {
        let mut files: Vec<(usize, &str)> = self
            .0
            .iter()
            .map(|(name, count)| (of(count), name.as_str()))
            .collect();
        files.sort_by(|a, b| b.cmp(a));
        let named = files.iter().take(NAMED_FILES);
        let named: Vec<String> = named.map(|(of, name)| format!("{name} ({of})")).collect();
        named.join(", ")
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count {
            comments,
            riddles,
            captions,
            opened,
            strings,
        } = self;
        let tenths = riddles * 10_000 / (*comments).max(1);
        write!(
            f,
            "{comments} comment lines, {riddles} with a riddle word ({}.{} in 1,000), {captions} captions, {opened} that begin \
             with What, Who or Which; {strings} strings with a riddle word",
            tenths / 10,
            tenths % 10
        )
    }
}

fn count(text: &str) -> Count {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut count = Count::default();
    for (index, line) in lines.iter().enumerate() {
        if !is_comment(line) {
            continue;
        }
        count.comments += 1;
        count.riddles += usize::from(has_riddle_word(line));
        let before = index.checked_sub(1).map_or("", |before| lines[before]);
        let after = lines.get(index + 1).copied().unwrap_or_default();
        count.captions += usize::from(is_caption(before, line, after));
        count.opened += usize::from(!is_comment(before) && is_opened(line));
    }
    count
}

/// Whether a line is a comment and nothing else. The lines of a block begin with `*` by custom, and so does a
/// dereference in Rust, which no space follows.
fn is_comment(line: &str) -> bool {
    line.starts_with("//") || line.starts_with("/*") || line.starts_with("* ")
}

fn has_riddle_word(line: &str) -> bool {
    let line = line.to_lowercase();
    RIDDLE_WORDS.iter().any(|word| {
        line.match_indices(word).any(|(start, found)| {
            let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let rest = &line[start + found.len()..];
            ends(line[..start].chars().next_back()) && ends(rest.chars().next())
        })
    })
}

/// Whether the first word of a comment is one of [`OPENINGS`].
fn is_opened(line: &str) -> bool {
    let text = line.trim_start_matches(['/', '!', '*']).trim_start();
    let word = text.split(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| OPENINGS.contains(&word))
}

/// Whether a file is part of a program or library, and no test.
fn is_program(name: &str) -> bool {
    let is_source = name.starts_with("crates/") && name.contains("/src/");
    is_source && name.ends_with(".rs") && !name.ends_with("tests.rs")
}

/// Whether a line is a whole doc comment by itself, and a short one.
fn is_caption(before: &str, line: &str, after: &str) -> bool {
    let in_rust = || {
        let alone = !before.starts_with("///") && !after.starts_with("///");
        line.strip_prefix("///").filter(|_| alone)
    };
    let in_typescript = || line.strip_prefix("/**")?.strip_suffix("*/");
    let text = in_rust().or_else(in_typescript);
    text.is_some_and(|text| text.split_whitespace().count() <= CAPTION_WORDS)
}
