//! Known requests: understood without an example, for any tool that fits.

use serde_json::Value;

use super::fields;
use super::pattern::{Filled, Pattern};
use super::text::{Words, unmarked, unquoted};
use crate::request::Tool;

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;

struct Known {
    /// The action, as it follows "I can not".
    what: &'static str,
    /// Patterns of the request.
    patterns: &'static [&'static str],
    /// A tool that does it has one of these words in its name or title...
    names: &'static [&'static str],
    /// ...and a field for each slot, of one of these names.
    fields: &'static [(&'static str, &'static [&'static str])],
}

const PATH: &[&str] = &["path", "file", "file_path", "filename", "target"];
const TEXT: &[&str] = &[
    "content", "contents", "text", "fact", "note", "body", "what", "memory",
];
const QUERY: &[&str] = &[
    "query", "question", "pattern", "q", "topic", "about", "text",
];

const KNOWN: &[Known] = &[
    Known {
        what: "create or change a file",
        patterns: &[
            "(create|write|make|add|save) [a] [new] [the] [file] [named|called] {path} (with|containing) [the] [content|contents|text] {text}",
            "(write|save|put) {text} (to|into|in) [the] [file] {path}",
            "(create|make|touch) [a|an] [new] [empty] [file] [named|called] {path}",
        ],
        names: &["write", "create", "edit", "save", "put"],
        fields: &[("path", PATH), ("text", TEXT)],
    },
    Known {
        what: "list a folder",
        patterns: &[
            "(list|ls|show) [me] [the] [all] (files|folder|directory|folders) [in|of] [the] [folder|directory] {path}",
            "ls {path}",
        ],
        names: &["list", "ls", "tree", "directory", "dir"],
        fields: &[("path", &["path", "folder", "directory", "dir", "root"])],
    },
    Known {
        what: "remember something",
        patterns: &[
            "(remember|memorize|memorise) [that] {text}",
            "(note|keep) [in] [mind] that {text}",
            "(do|don't|dont) [not] forget [that] {text}",
        ],
        names: &["remember", "memory", "memorize", "note", "store"],
        fields: &[("text", TEXT)],
    },
    Known {
        what: "look into a memory",
        patterns: &[
            "what do you (know|remember) (about|of) {query}?",
            "what did (i|we) (say|tell) [you] about {query}?",
            "recall {query}?",
            "do you (know|remember) [anything] (about|of) {query}?",
        ],
        names: &["recall", "memory", "query", "knowledge"],
        fields: &[("query", QUERY)],
    },
    Known {
        what: "search",
        patterns: &[
            "(search|grep|find|look) [for] [all] {query} (in|under|within) [the] [file|folder|directory] {path}",
            "(search|grep|find|look) [for] {query}",
            "where is {query}?",
        ],
        names: &["search", "grep", "find"],
        fields: &[("query", QUERY), ("path", PATH)],
    },
    Known {
        what: "read a file",
        patterns: &[
            "(read|open|cat|view|print|show|display) [me] [the] [file] [contents|content] [of] {path}",
            "what is in [the] [file] {path}?",
        ],
        names: &["read", "cat", "view", "open"],
        fields: &[("path", PATH)],
    },
    Known {
        what: "run a command",
        patterns: &["(run|execute|exec) [the] [command] {command}"],
        names: &["run", "execute", "exec", "terminal", "shell", "command"],
        fields: &[("command", &["command", "cmd", "line", "script"])],
    },
    Known {
        what: "open a web page",
        patterns: &["(browse|visit|open|fetch|go) [to] [the] [page] {url}"],
        names: &["browse", "browser", "browsing", "navigate", "fetch", "web"],
        fields: &[("url", &["url", "uri", "address", "href"])],
    },
];

/// The known request that a text is.
pub(super) enum Found<'a> {
    /// A tool can do it, called once for each of these arguments.
    Possible(&'a Tool, Vec<Value>),
    /// No tool can do it.
    Impossible(&'static str),
}

/// Finds the known request that a text is: the first that a tool can do, else the first that matches.
pub(super) fn find<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<Found<'a>> {
    let mut impossible = None;
    for known in KNOWN {
        let patterns = known.patterns.iter().filter_map(|it| Pattern::read(it));
        for filled in patterns.filter_map(|pattern| pattern.fill(words)) {
            if !filled.iter().all(is_likely) {
                continue;
            }
            match known.tool(&filled, tools) {
                Some((tool, arguments)) => return Some(Found::Possible(tool, arguments)),
                None => impossible = impossible.or(Some(Found::Impossible(known.what))),
            }
        }
    }
    impossible
}

/// Whether a value fits a slot.
fn is_likely(filled: &Filled) -> bool {
    let value = &filled.value;
    match filled.slot.as_str() {
        "path" => is_quoted(filled) || !value.is_empty() && paths(filled).into_iter().all(is_path),
        "url" => value.contains("://") || value.contains('.') && is_path(value),
        _ => !value.trim().is_empty(),
    }
}

/// Whether the whole text is quoted, and therefore taken literally.
fn is_quoted(filled: &Filled) -> bool {
    filled.value.len() < filled.raw.trim().len()
}

/// A path is one word that is not a bare one: `main.rs`, `src/`, `Makefile`.
fn is_path(path: &str) -> bool {
    let looks = |c: char| "./\\_~".contains(c) || c.is_uppercase() || c.is_numeric();
    !path.is_empty() && !path.contains(char::is_whitespace) && path.contains(looks)
}

/// The paths of a list such as `a.rs, b.rs and c.rs`; a quoted text is one path.
fn paths(filled: &Filled) -> Vec<&str> {
    if is_quoted(filled) {
        return vec![&filled.value];
    }
    let parts = filled
        .raw
        .split([',', '\n'])
        .flat_map(|it| it.split(" and "));
    let parts = parts.map(|it| unquoted(unmarked(it.trim())));
    parts.filter(|it| !it.is_empty()).collect()
}

impl Known {
    /// The tool for it: of those that can, the first with the most matching words in its name.
    fn tool<'a>(&self, filled: &[Filled], tools: &'a [Tool]) -> Option<(&'a Tool, Vec<Value>)> {
        let mut best: Option<(usize, &Tool, Vec<Value>)> = None;
        for tool in tools {
            let words = name_words(tool);
            let count = self
                .names
                .iter()
                .filter(|name| words.iter().any(|it| it == *name))
                .count();
            if count == 0 || best.as_ref().is_some_and(|(most, ..)| *most >= count) {
                continue;
            }
            if let Some(arguments) = self.arguments(tool, filled) {
                best = Some((count, tool, arguments));
            }
        }
        best.map(|(_, tool, arguments)| (tool, arguments))
    }

    /// The arguments, if the tool has a field for each slot. A list of files gives a call for each.
    fn arguments(&self, tool: &Tool, filled: &[Filled]) -> Option<Vec<Value>> {
        let named = |slot: &str| {
            let (_, names) = self.fields.iter().find(|(name, _)| *name == slot)?;
            names
                .iter()
                .copied()
                .find(|name| fields::field(tool, name).is_some())
        };
        let mut values: Vec<(&str, &str)> = Vec::new();
        let mut files = Vec::new();
        for it in filled {
            let field = named(&it.slot)?;
            match it.slot.as_str() {
                "path" => files.extend(paths(it).into_iter().map(|path| (field, path))),
                _ => values.push((field, it.value.as_str())),
            }
        }
        // A file created without content is empty.
        if self.fields.iter().any(|(slot, _)| *slot == "text")
            && !filled.iter().any(|it| it.slot == "text")
        {
            values.push((named("text")?, ""));
        }
        let each: Vec<Option<(&str, &str)>> = match files.is_empty() {
            true => vec![None],
            false => files.into_iter().map(Some).collect(),
        };
        let arguments = each.into_iter().map(|file| {
            let values = values.iter().copied().chain(file);
            fields::from_fields(tool, values).ok()
        });
        arguments.collect()
    }
}

/// The words of a tool's name and title.
fn name_words(tool: &Tool) -> Vec<String> {
    let words = [&tool.name, &tool.title].into_iter();
    let words = words.flat_map(|name| name.split(|c: char| !c.is_alphanumeric()));
    words.map(str::to_lowercase).collect()
}
