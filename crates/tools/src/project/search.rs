//! Searching the files of a project for a text or a regular expression.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};

use crate::error::{Error, Kind};
use crate::path::ProjectPath;
use crate::project::walk::{Incomplete, Stop, Walk};
use crate::project::{Project, bytes};

/// Largest compiled regular expression.
const EXPRESSION_BYTES: usize = 1 << 20;

/// How much of a long line is shown before the hit.
const BEFORE_BYTES: usize = 80;

/// A search: the text, and the files to look in.
#[derive(Clone, Debug)]
pub struct Query {
    pub text: String,
    pub syntax: Syntax,
    pub case: Case,
    /// A file, or a folder that is searched with all its subfolders.
    pub path: ProjectPath,
    /// Pattern of the files to search. With a `/` it is matched against paths in the project, without one against
    /// file names.
    pub glob: Option<String>,
    /// Stop after this many lines.
    pub hits: usize,
}

/// How the text of a query is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    Text,
    /// A regular expression, in which `^` and `$` match at the ends of lines.
    Regex,
}

/// Whether a search distinguishes upper and lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Matters,
    Ignored,
}

/// The result of [`Project::search`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The lines, sorted by path and line number.
    pub hits: Vec<Hit>,
    pub files: usize,
    /// Files that were not searched because they are too large, not text, or unreadable.
    pub skipped: usize,
    /// Set when the search ended early: why there may be more hits.
    pub incomplete: Option<Incomplete>,
}

/// A line with a hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub path: ProjectPath,
    /// Line number, counted from 1.
    pub line: usize,
    /// The line; of a long one the part around the hit.
    pub text: String,
}

impl Query {
    /// A case-sensitive search for this literal text in the whole project.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            syntax: Syntax::Text,
            case: Case::Matters,
            path: ProjectPath::root(),
            glob: None,
            hits: 100,
        }
    }
}

impl Project {
    /// Searches files. `stop` is called before each file; the search ends when it returns true.
    ///
    /// Files that `.gitignore` excludes, files in `.git` and files that are not UTF-8 are not searched. Symlinks are
    /// not followed, except when the path of the query is one.
    pub fn search(&self, query: &Query, stop: &dyn Fn() -> bool) -> Result<SearchResult, Error> {
        let limits = self.limits();
        let mut search = Search {
            expression: expression(query, limits.query_bytes)?,
            glob: query
                .glob
                .as_deref()
                .map(|it| glob(it, limits.query_bytes))
                .transpose()?,
            project: self,
            most: query.hits.clamp(1, limits.hits),
            began: Instant::now(),
            stop,
            bytes_left: limits.searched_bytes,
            found: SearchResult::default(),
        };
        let failed = |error| Error::io(&query.path, error);
        let there = self.root().metadata(query.path.as_path()).map_err(failed)?;
        if there.is_dir() {
            let folder = self.root().open_dir(query.path.as_path()).map_err(failed)?;
            let mut visit = |file: &Stop<'_>| search.file(file);
            let walk = Walk::new(limits, self.root(), &query.path, &mut visit);
            let incomplete = walk.run(&folder, &query.path);
            search.found.incomplete = incomplete;
        } else if there.is_file() {
            let only = Stop {
                folder: self.root(),
                name: query.path.as_str(),
                path: query.path.clone(),
            };
            search.glob = None;
            if let ControlFlow::Break(why) = search.file(&only) {
                search.found.incomplete = Some(why);
            }
        } else {
            return Err(Error::kind(&query.path, Kind::of(there.file_type())));
        }
        Ok(search.found)
    }
}

struct Search<'a> {
    project: &'a Project,
    expression: Regex,
    glob: Option<Glob>,
    most: usize,
    began: Instant,
    stop: &'a dyn Fn() -> bool,
    bytes_left: u64,
    found: SearchResult,
}

impl Search<'_> {
    fn file(&mut self, file: &Stop<'_>) -> ControlFlow<Incomplete> {
        let limits = self.project.limits();
        if (self.stop)() {
            return ControlFlow::Break(Incomplete::Stopped);
        }
        if self.began.elapsed() > limits.search_time {
            return ControlFlow::Break(Incomplete::Time);
        }
        if self.glob.as_ref().is_some_and(|it| !it.matches(&file.path)) {
            return ControlFlow::Continue(());
        }
        let limit = limits.searched_file_bytes;
        let read = bytes(file.folder, Path::new(file.name), &file.path, limit);
        let text = read.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = text.filter(|text| !text.contains('\0')) else {
            self.found.skipped += 1;
            return ControlFlow::Continue(());
        };
        let Some(left) = self.bytes_left.checked_sub(text.len() as u64) else {
            return ControlFlow::Break(Incomplete::Bytes);
        };
        self.bytes_left = left;
        self.found.files += 1;
        self.lines(&file.path, &text)
    }

    /// Collects the lines with a hit, each line once.
    fn lines(&mut self, path: &ProjectPath, text: &str) -> ControlFlow<Incomplete> {
        let mut line = 1;
        let mut counted = 0;
        let mut from = 0;
        while let Some(hit) = self.expression.find_at(text, from) {
            if self.found.hits.len() == self.most {
                return ControlFlow::Break(Incomplete::Hits);
            }
            let begin = text[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
            let end = text[hit.start()..]
                .find('\n')
                .map_or(text.len(), |at| hit.start() + at);
            // An empty match after the final line end is not on a line.
            if begin == text.len() && begin > 0 {
                break;
            }
            line += text[counted..begin].matches('\n').count();
            counted = begin;
            self.found.hits.push(Hit {
                path: path.clone(),
                line,
                text: around(
                    &text[begin..end],
                    hit.start() - begin,
                    self.project.limits().hit_bytes,
                ),
            });
            if end == text.len() {
                break;
            }
            from = end + 1;
        }
        ControlFlow::Continue(())
    }
}

/// The line, or the part around the hit if it is longer than `limit`.
fn around(line: &str, hit: usize, limit: usize) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.len() <= limit {
        return line.to_owned();
    }
    let begin = line.floor_char_boundary(hit.saturating_sub(BEFORE_BYTES).min(line.len()));
    let end = line.floor_char_boundary(line.len().min(begin + limit));
    let before = if begin > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    format!("{before}{}{after}", &line[begin..end])
}

fn expression(query: &Query, limit: usize) -> Result<Regex, Error> {
    let wrong = |problem: String| Error::Query {
        what: "query",
        problem,
    };
    if query.text.is_empty() {
        return Err(wrong("empty".to_owned()));
    }
    if query.text.len() > limit {
        return Err(wrong(format!("longer than {limit} bytes")));
    }
    let text = match query.syntax {
        Syntax::Text => regex::escape(&query.text),
        Syntax::Regex => query.text.clone(),
    };
    RegexBuilder::new(&text)
        .case_insensitive(query.case == Case::Ignored)
        .multi_line(true)
        .crlf(true)
        .size_limit(EXPRESSION_BYTES)
        .build()
        .map_err(|error| wrong(error.to_string()))
}

/// A glob that is matched against file names, or against paths if it contains a `/`.
pub(super) struct Glob {
    matcher: GlobMatcher,
    of_paths: bool,
}

impl Glob {
    pub(super) fn matches(&self, path: &ProjectPath) -> bool {
        match (self.of_paths, path.split()) {
            (false, Some((_, name))) => self.matcher.is_match(name),
            _ => self.matcher.is_match(path.as_path()),
        }
    }
}

pub(super) fn glob(text: &str, limit: usize) -> Result<Glob, Error> {
    let wrong = |problem: String| Error::Query {
        what: "glob",
        problem,
    };
    if text.len() > limit {
        return Err(wrong(format!("longer than {limit} bytes")));
    }
    let beneath = text.strip_prefix("/project/").unwrap_or(text);
    let beneath = beneath.strip_prefix("./").unwrap_or(beneath);
    let glob = GlobBuilder::new(beneath).literal_separator(true).build();
    let matcher = glob
        .map_err(|error| wrong(error.to_string()))?
        .compile_matcher();
    Ok(Glob {
        matcher,
        of_paths: text.contains('/'),
    })
}
