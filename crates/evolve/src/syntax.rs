//! Source texts as syntax trees: what operators edit, and what a candidate is known by.

use std::ops::Range;

use sha2::{Digest as _, Sha256};
use tree_sitter::{Language as Grammar, Node, Parser, Tree, TreeCursor};

mod tables;

pub(crate) use tables::Tables;

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    Rust,
    Python,
    TypeScript,
    JavaScript,
    Go,
}

impl Language {
    /// The language of a path, by its ending.
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "rs" => Self::Rust,
            "py" => Self::Python,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "js" | "mjs" | "cjs" | "jsx" | "tsx" => Self::JavaScript,
            "go" => Self::Go,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::JavaScript => "javascript",
            Self::Go => "go",
        }
    }

    fn grammar(self) -> Grammar {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::JavaScript => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }

    pub(crate) fn tables(self) -> &'static Tables {
        tables::of(self)
    }
}

/// A file of a candidate, parsed.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) text: String,
    /// Where the blocks are in the text.
    pub(crate) blocks: Vec<Range<usize>>,
    /// None where there is no grammar.
    pub(crate) tree: Option<(Tree, &'static Tables)>,
}

impl Parsed {
    pub(crate) fn new(language: Option<Language>, text: String, blocks: Vec<Range<usize>>) -> Self {
        let tree = language.and_then(|it| {
            let mut parser = Parser::new();
            parser.set_language(&it.grammar()).ok()?;
            Some((parser.parse(&text, None)?, it.tables()))
        });
        Self { text, blocks, tree }
    }

    /// Which block holds a range of the text, and the range in that block.
    pub(crate) fn place(&self, range: Range<usize>) -> Option<(usize, Range<usize>)> {
        let holds = |it: &Range<usize>| it.start <= range.start && range.end <= it.end;
        let block = self.blocks.iter().position(holds)?;
        let begin = self.blocks.get(block)?.start;
        Some((block, range.start - begin..range.end - begin))
    }

    /// How many nodes are faults of syntax.
    pub(crate) fn faults(&self) -> usize {
        let Some((tree, _)) = &self.tree else {
            return 0;
        };
        if !tree.root_node().has_error() {
            return 0;
        }
        self.nodes()
            .filter(|it| it.is_error() || it.is_missing())
            .count()
            .max(1)
    }

    /// All nodes in the order of the text.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        let cursor = self.tree.as_ref().map(|(tree, _)| tree.walk());
        Nodes { cursor }
    }

    pub(crate) fn words(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Adds what the file means to a hash: the words of the tree with its shape, without comments and layout. Without a
    /// grammar: its lines without the space at their ends.
    fn digest(&self, hash: &mut Sha256) {
        let Some((tree, tables)) = &self.tree else {
            self.text.lines().for_each(|line| {
                hash.update(line.trim_end());
                hash.update(b"\n");
            });
            return;
        };
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let is_comment = (tables.is_comment)(node.kind());
            if !is_comment {
                hash.update(node.kind_id().to_le_bytes());
                if node.child_count() == 0 || (tables.is_text)(node.kind()) {
                    hash.update(self.words(node));
                }
            }
            if !is_comment && !(tables.is_text)(node.kind()) && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                hash.update(b")");
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }
}

/// The hash of files: equal for texts that differ in comments and layout alone.
pub(crate) fn fingerprint<'a>(files: impl Iterator<Item = &'a Parsed>, values: &str) -> String {
    let mut hash = Sha256::new();
    for file in files {
        file.digest(&mut hash);
        hash.update(b"\0");
    }
    hash.update(values);
    hex(&hash.finalize())
}

/// The first 20 digits of a hash: enough for the candidates of a run, and short enough to be shown.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .take(10)
        .map(|it| format!("{it:02x}"))
        .collect()
}

struct Nodes<'a> {
    cursor: Option<TreeCursor<'a>>,
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let cursor = self.cursor.as_mut()?;
        let node = cursor.node();
        let mut more = cursor.goto_first_child();
        while !more {
            if cursor.goto_next_sibling() {
                more = true;
            } else if !cursor.goto_parent() {
                self.cursor = None;
                break;
            }
        }
        Some(node)
    }
}
