//! Known requests: understood without an example, for any tool that fits.

use std::sync::LazyLock;

use serde_json::Value;

use super::fields;
use super::pattern::{Filled, Pattern};
use super::text::{Words, unmarked, unquoted};
use crate::request::Tool;

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;

struct Known {
    /// The action, as it follows "I cannot".
    what: &'static str,
    /// Patterns of the request.
    patterns: &'static [&'static str],
    /// A tool that does it has one of these words in its name or title...
    names: &'static [&'static str],
    /// ...and a field for each slot, of one of these names...
    fields: &'static [(&'static str, &'static [&'static str])],
    /// ...and these fields, which have these values.
    given: &'static [(&'static str, &'static str)],
}

const PATH: &[&str] = &["path", "file", "file_path", "filename", "target"];
const FOLDER: &[&str] = &["path", "folder", "directory", "dir", "root"];
const FROM: &[&str] = &["from", "source", "old", "path"];
const TO: &[&str] = &["to", "destination", "new", "target"];
const TEXT: &[&str] = &[
    "content", "contents", "text", "fact", "note", "body", "what", "memory",
];
const QUERY: &[&str] = &[
    "query", "question", "pattern", "q", "topic", "about", "text",
];

const KNOWN: &[Known] = &[
    Known {
        what: "open a web page",
        patterns: &[
            "(browse|visit|open|fetch|go|load|read|show) [me] [to] [the] [page|site|website] {url}",
        ],
        names: &["browse", "browser", "browsing", "navigate", "fetch", "web"],
        fields: &[("url", &["url", "uri", "address", "href"])],
        given: &[],
    },
    Known {
        what: "add to a file",
        patterns: &[
            "(append|add) [a|the|this] [new] (line|item|entry|text|words) [saying|with|that] [says] {text} to [the|my] [end] [of] [the|my] [file|list] {path}",
            "(append|add) {text} to [the|my] [end] [of] [the|my] [file|list] {path}",
        ],
        names: &["write", "append"],
        fields: &[("path", PATH), ("text", TEXT)],
        given: &[("append", "true")],
    },
    Known {
        what: "make an empty folder (a folder comes with the first file in it)",
        patterns: &[
            "(make|create|mkdir|add) [me] [a|an|the] [new] [empty] (folder|directory) [named|called] {folder}",
            "mkdir {folder}",
        ],
        names: &["mkdir"],
        fields: &[("folder", FOLDER)],
        given: &[],
    },
    Known {
        what: "create or change a file",
        patterns: &[
            "(create|write|make|add|save) [me] [a] [new] [the] [text] [file] [named|called] {path} (with|containing|saying) [the] [content|contents|text|line] {text}",
            "(write|save|put) {text} (to|into|in) [the|a] [new] [file] {path}",
            "save [this|it|the] [text] as {path} {text}",
            "(create|make|touch) [me] [a|an] [new] [empty] [text] [file] [named|called] {path}",
        ],
        names: &["write", "create", "edit", "save", "put"],
        fields: &[("path", PATH), ("text", TEXT)],
        given: &[],
    },
    Known {
        what: "list a folder",
        patterns: &[
            "(list|show|display|see|get|give) [me] [all] [of] [the|my|your|our] (files|folders|documents|directory|folder|workspace|project) [here|there]",
            "(list|show|display) [me] [all] [of] [the|my|your] (files|folders|contents|content) [and] [folders] [here|that|in|of] [are|in|of] [the|my|your|this] (workspace|project|folder|directory|root|here)",
            "(ls|dir|ll|tree) [la|l|a|al|lah|lh]",
            "(what|which) (files|folders|documents) (are|do|can|have) [there|i|you|we] [have|see|got|read|in|here] [in|here] [the|my|your|this] [workspace|project|folder|directory]",
            "what is (in|inside) [the|my|your|this] [current] (workspace|project|folder|directory) [folder]",
            "how many (files|folders|documents) (are|do|have) [there|i|you|we] [have|in|see|got] [in|here|the|my] [the|my] [workspace|project|folder]",
            "(files|folders|list)",
        ],
        names: &["list", "ls", "tree", "directory", "dir"],
        fields: &[],
        given: &[],
    },
    Known {
        what: "list a folder",
        patterns: &[
            "(list|ls|show) [me] [all] [the|my] [all] (files|folder|directory|folders|contents|content|everything) [that] [are] [in|of|inside|under|from] [the|my] [folder|directory] {folder}",
            "(ls|dir|tree) [la|l|a|al] {folder}",
            "(what|which) (files|folders) are [there] (in|inside|under) [the|my] [folder|directory] {folder}",
            "what is (in|inside|under) [the|my] [folder|directory] {folder}",
        ],
        names: &["list", "ls", "tree", "directory", "dir"],
        fields: &[("folder", FOLDER)],
        given: &[],
    },
    Known {
        what: "find a file by its name",
        patterns: &[
            "(find|locate) [me] [the|my|a] [file|files] [named|called] {glob}",
            "where is [the|my|a] [file] [named|called] {glob}",
            "(is|are) there (a|an|any) [file|files] [named|called] {glob}",
            "do (i|we|you) have [a|an|any|the] [file|files] [named|called] {glob}",
            "how (big|large) is [the|my] [file] {glob}?",
            "does [the|a] [file] [named|called] {glob} exist",
            "(list|show) [me] [all] [the|my] {glob} files",
        ],
        names: &["list", "find"],
        fields: &[("glob", &["glob", "name", "pattern"])],
        given: &[],
    },
    Known {
        what: "move a file",
        patterns: &[
            "(move|rename|mv|relocate) [the|my] [file|folder] {from} (to|into|as|in) [the] [folder|directory] {to}",
            "(mv|rename|move) {from} {to}",
        ],
        names: &["move", "rename", "mv"],
        fields: &[("from", FROM), ("to", TO)],
        given: &[],
    },
    Known {
        what: "copy a file",
        patterns: &[
            "(copy|cp|duplicate|clone) [the|my] [file|folder] {from} (to|into|as|in) [the] [folder|directory] {to}",
            "(cp|copy) {from} {to}",
        ],
        names: &["copy", "cp", "duplicate"],
        fields: &[("from", FROM), ("to", TO)],
        given: &[],
    },
    Known {
        what: "delete a file",
        patterns: &[
            "(delete|remove|rm|erase|unlink|trash) [rf|r|f] [the|my] [file|files|folder|directory] [named|called] {path}",
            "get rid of [the|my] [file] {path}",
        ],
        names: &["delete", "remove", "rm"],
        fields: &[("path", PATH)],
        given: &[],
    },
    Known {
        what: "delete a folder",
        patterns: &[
            "(delete|remove|rm|rmdir|erase|trash) [the|my] [empty] (folder|directory) [named|called] {folder}",
            "rmdir {folder}",
        ],
        names: &["delete", "remove", "rm"],
        fields: &[("folder", FOLDER)],
        given: &[],
    },
    Known {
        what: "list reminders",
        patterns: &[
            "(what|which) (reminders|timers|alarms) (do|are|have) [i|there|you|we] [have|set|for] [me|set]",
            "(list|show) [me] [my|the|all] [my] (reminders|timers|alarms)",
            "(reminders|timers|alarms)",
            "(do|are) (i|there) [have] [any] (reminders|timers|alarms)",
            "(any|my) reminders",
            "when (is|are) (my|the) [next] (reminder|reminders|timer|timers|alarm|alarms)",
            "when (do|will) you remind me",
        ],
        names: &["reminders"],
        fields: &[],
        given: &[],
    },
    Known {
        what: "cancel reminders",
        patterns: &[
            "(cancel|delete|remove|stop|clear|drop|forget) [the|my|that|this|all] [last|my] (reminder|reminders|timer|timers|alarm|alarms)",
            "(cancel|delete|remove|stop|clear|drop|forget) [the|my|that|this] [last] (reminder|timer|alarm) [to|about|for] {text}",
            "do not remind me [to] {text}",
        ],
        names: &["reminders"],
        fields: &[("text", &["text"])],
        given: &[("cancel", "true")],
    },
    Known {
        what: "remind you",
        patterns: &[
            "remind me {text}",
            "(set|start|create|make|add) [up] [me] [a|an|the] (timer|alarm|reminder|countdown) {text}",
            "(wake|alert|notify|nudge) me [up] {text}",
        ],
        names: &["remind"],
        fields: &[("text", TEXT)],
        given: &[],
    },
    Known {
        what: "forget something",
        patterns: &[
            "(forget|unlearn) [about] [that] {text}",
            "(delete|remove|erase) {text} from [your|the] memory",
            "do not remember [that] {text}",
        ],
        names: &["forget"],
        fields: &[("text", TEXT)],
        given: &[],
    },
    Known {
        what: "remember something",
        patterns: &[
            "(remember|memorize|memorise) [that] {text}",
            "(note|keep) [in] [mind] that {text}",
            "(do|don't|dont) [not] forget [that] {text}",
            "{told} [please|and|so] (remember|memorize|memorise) (that|this|it)",
        ],
        names: &["remember", "memory", "memorize", "note", "store"],
        fields: &[("text", TEXT), ("told", TEXT)],
        given: &[],
    },
    Known {
        what: "look into a memory",
        patterns: &[
            "what do you (know|remember) [so|now|already] [far]",
            "what (did|have) (i|we) (tell|told|say|said) [you] [so|before|yesterday|earlier] [far]",
            "what is in your memory",
            "(show|list) [me] [your|all|the] (memory|memories|facts|knowledge)",
            "tell me (everything|all|what) you (know|remember)",
            "(list|show) [me] (everything|all|what) [that] you (know|remember)",
        ],
        names: &["recall"],
        fields: &[],
        given: &[("question", "everything")],
    },
    Known {
        what: "look into a memory",
        patterns: &[
            "who am i",
            "do you (know|remember) (me|who) [i] [am]",
            "what do you (know|remember) (about|of) (me|myself)",
            "tell me [something] [everything|what] [you] [know] about (me|myself)",
        ],
        names: &["recall"],
        fields: &[],
        given: &[("question", "me")],
    },
    Known {
        what: "look into a memory",
        patterns: &[
            "what do you (know|remember) (about|of) {query}?",
            "what (did|have) (i|we) (say|tell|told|said) [you] about {query}?",
            "recall {query}?",
            "do you (know|remember) [anything|something] (about|of) {query}?",
            "tell me [something|everything|all|more|what] [you] [know] about {query}?",
        ],
        names: &["recall", "memory", "query", "knowledge"],
        fields: &[("query", QUERY)],
        given: &[],
    },
    Known {
        what: "search the web",
        patterns: &[
            "(search|look) [on|in|through] [the] (web|internet|google|online) for {words}?",
            "(search|look) for {words} (on|in) the (web|internet)",
        ],
        names: &["web", "internet", "google"],
        fields: &[("words", QUERY)],
        given: &[],
    },
    Known {
        what: "search",
        patterns: &[
            "(search|grep|find|look) [for] [all] [the] [word|words|text|string|phrase] {query} (in|under|within|inside) [the] [file|folder|directory] {path}",
            "(search|grep|find|look) [for] [all] [the] [word|words|text|string|phrase] {query} (in|within|across|inside|through) [all] [of] [my|the|your|our|these] [all] (files|file|notes|project|workspace|folder|folders|code|documents|everything|here)",
            "search [in|through] [all] [my|the] (files|notes|project|workspace|code|documents) for [the] [word|text] {query}",
            "(search|grep|find|look) [for] [all] [the] [word|words|text|string|phrase] {query}",
            "(which|what) (file|files|document|documents|note|notes) (mention|mentions|contain|contains|have|has|include|includes|say|says|use|uses) [the] [word|text] {query}?",
            "where is [the] (word|text|string|phrase|function) {query}? [used|defined|mentioned|written]",
            "where do i (mention|use|write) {query}?",
            "where is {code}?",
        ],
        names: &["search", "grep", "find"],
        fields: &[("query", QUERY), ("code", QUERY), ("path", PATH)],
        given: &[],
    },
    Known {
        what: "read a file",
        patterns: &[
            "(read|open|cat|view|print|show|display|see|less|head|tail) [me] [the|my] [whole|first|last] [file|lines] [contents|content|text] [of] [the|my] [file] {path}",
            "what is in [the|my] [file] {path}?",
            "what does [the|my] [file] {path} (say|contain|have|include|tell) [in|inside] [it]",
            "(what|tell) (is|are|me) the (contents|content|text) of [the|my] [file] {path}?",
            "let me (see|read) [the|my] [file] {path}",
            "(can|may|could) i (see|read) [the|my] [file] {path}?",
        ],
        names: &["read", "cat", "view", "open"],
        fields: &[("path", PATH)],
        given: &[],
    },
    Known {
        what: "undo a change",
        patterns: &[
            "undo [that|it|this] [please]",
            "undo (the|your|my|that|this) [last|latest] (change|edit|write|file)",
            "(revert|reverse) (that|it|this|the|your|my) [last|latest] [change|edit]",
            "take (that|it|this) back",
        ],
        names: &["undo"],
        fields: &[],
        given: &[],
    },
    Known {
        what: "run a command",
        patterns: &["(run|execute|exec) [the] [command] {command}"],
        names: &["run", "execute", "exec", "terminal", "shell", "command"],
        fields: &[("command", &["command", "cmd", "line", "script"])],
        given: &[],
    },
];

static READ: LazyLock<Vec<(&Known, Vec<Pattern>)>> = LazyLock::new(|| {
    let read = KNOWN.iter().map(|known| {
        let patterns = known.patterns.iter();
        (
            known,
            patterns.filter_map(|it| Pattern::phrase(it)).collect(),
        )
    });
    read.collect()
});

/// The known request that a text is.
pub(super) enum KnownRequest<'a> {
    /// A tool can do it, called once for each of these arguments.
    Possible(&'a Tool, Vec<Value>),
    /// No tool can do it.
    Impossible(&'static str),
}

/// Finds the known request that a text is: the first that a tool can do, else the first that matches.
pub(super) fn find<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<KnownRequest<'a>> {
    let mut impossible = None;
    for (known, patterns) in &*READ {
        for filled in patterns.iter().filter_map(|pattern| pattern.fill(words)) {
            if !filled.iter().all(is_likely) {
                continue;
            }
            match known.tool(&filled, tools) {
                Some((tool, arguments)) => return Some(KnownRequest::Possible(tool, arguments)),
                // An address is not the path of a file.
                None if filled.iter().any(|it| it.slot == "url") => {
                    return Some(KnownRequest::Impossible(known.what));
                }
                None => impossible = impossible.or(Some(KnownRequest::Impossible(known.what))),
            }
        }
    }
    impossible
}

/// Whether a value fits a slot.
fn is_likely(filled: &Filled) -> bool {
    let value = unmarked(&filled.value);
    match filled.slot.as_str() {
        "path" | "from" => {
            is_quoted(filled) || !value.is_empty() && paths(filled).into_iter().all(is_path)
        }
        "to" => is_quoted(filled) || !value.is_empty() && !value.contains(char::is_whitespace),
        "folder" => is_quoted(filled) || is_folder(value),
        "glob" => is_quoted(filled) || is_path(value) && value.contains(['.', '*']),
        "code" => is_quoted(filled) || is_path(value) || value.contains("::"),
        "url" => is_url(value),
        "query" => !is_web(value),
        // A sentence of its own: not the `do you` of "do you remember that?".
        "told" => filled.raw.ends_with([',', '.', ';', '!', ':']) && value.contains(' '),
        _ => !value.trim().is_empty(),
    }
}

/// Whether what is looked for is looked for on the web: `the web for rust`.
fn is_web(value: &str) -> bool {
    let value = value.to_lowercase();
    let rest = value.strip_prefix("the ").unwrap_or(&value);
    let rest = rest.strip_prefix("on the ").unwrap_or(rest);
    let mut words = rest.split_whitespace();
    let web = matches!(words.next(), Some("web" | "internet" | "google"));
    value.trim().is_empty() || web && words.next() == Some("for")
}

/// The ends of the names of web sites that no file ends in.
const SITES: &[&str] = &[
    ".com", ".org", ".net", ".edu", ".gov", ".de", ".io", ".dev", ".info",
];

/// Whether a word is the address of a web page.
fn is_url(word: &str) -> bool {
    let host = word
        .split(['/', ':'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let site = host.starts_with("www.") || SITES.iter().any(|end| host.ends_with(end));
    word.contains("://") || !word.contains(char::is_whitespace) && site
}

/// Whether a word names a folder: `src`, `src/`, not `main.rs`.
fn is_folder(word: &str) -> bool {
    const NO_FOLDER: &[&str] = &[
        "it", "this", "that", "there", "here", "memory", "mind", "store", "stock", "them", "me",
        "you",
    ];
    let last = word
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let named = word.ends_with('/') || !last.contains('.') || word == ".";
    let one = !word.is_empty() && !word.contains(char::is_whitespace);
    one && named && !NO_FOLDER.contains(&word.to_lowercase().as_str())
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
                "from" | "to" | "folder" | "glob" | "url" | "told" => {
                    values.push((field, unmarked(&it.value)));
                }
                _ => values.push((field, it.value.as_str())),
            }
        }
        for &(field, value) in self.given {
            fields::field(tool, field)?;
            values.push((field, value));
        }
        // A file created without content is empty.
        let slot = |name: &str| self.fields.iter().any(|(slot, _)| *slot == name);
        if slot("text") && slot("path") && !filled.iter().any(|it| it.slot == "text") {
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
