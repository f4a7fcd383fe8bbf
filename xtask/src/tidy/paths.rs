//! Every path that a document names exists.
//!
//! Read are links, words between backticks, and code blocks. In a document of the code's structure a path may begin
//! with the name of a crate (`a2a/server/send`): it is then looked for below the crate's `src`, with or without `.rs`.

use std::collections::{BTreeSet, HashSet};

/// Documents that name modules as `crate/module`. In the others such a word can be a method of a protocol.
const OF_STRUCTURE: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Everything that is in the repository, by its path from the root.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Files, and the folders they are in.
    entries: HashSet<String>,
    /// The folders of the root.
    top: BTreeSet<String>,
    crates: BTreeSet<String>,
}

impl Tree {
    pub(super) fn new<'a>(files: impl Iterator<Item = &'a str>) -> Tree {
        let mut tree = Tree::default();
        for file in files {
            let mut path = file;
            tree.entries.insert(path.to_owned());
            while let Some((folder, _)) = path.rsplit_once('/') {
                tree.entries.insert(folder.to_owned());
                path = folder;
            }
            let mut parts = file.split('/');
            if let (Some(top), Some(second)) = (parts.next(), parts.next()) {
                tree.top.insert(top.to_owned());
                if top == "crates" {
                    tree.crates.insert(second.to_owned());
                }
            }
        }
        tree
    }

    fn has(&self, path: &str) -> bool {
        self.entries.contains(path)
    }

    fn has_name(&self, name: &str) -> bool {
        let ending = format!("/{name}");
        self.entries.iter().any(|entry| entry.ends_with(&ending))
    }
}

/// Whether the paths that a file names are checked.
pub(super) fn is_document(name: &str) -> bool {
    let of_crate = name.starts_with("crates/") && name.ends_with("/README.md");
    let of_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&name);
    of_root || of_crate || (name.starts_with("docs/") && name.ends_with(".md"))
}

/// The paths in a document that do not exist, each with its line, counted from one.
pub(super) fn missing(tree: &Tree, document: &str, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let links = links(line).filter(|link| !tree.has(&resolve(document, link)));
        found.extend(links.map(|link| (index + 1, link.to_owned())));
        let code: Vec<&str> = match in_block {
            true => vec![line],
            false => line.split('`').skip(1).step_by(2).collect(),
        };
        let words = code.iter().flat_map(|code| code.split(ends_word));
        let words = words.map(|word| word.trim_end_matches(['.', ':', '/']));
        let words = words.filter(|word| is_path(word) && !exists(tree, document, word));
        found.extend(words.map(|word| (index + 1, word.to_owned())));
    }
    found
}

/// The addresses of links to files of the repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let addresses = line.split("](").skip(1);
    let addresses = addresses.filter_map(|rest| rest.split([')', '#', ' ']).next());
    addresses.filter(|address| !address.is_empty() && !address.contains("://"))
}

/// A link's path from the root.
fn resolve(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || [',', ';', '(', ')', '"', '\''].contains(&c)
}

/// Whether a word has the form of a path of ours. Capitals stand for names that a reader chooses, and what begins with
/// a dot is made by a command.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c);
    let name = word.rsplit('/').next().unwrap_or(word);
    let shouted = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Cargo.toml"].contains(&name);
    let folders = &word[..word.len() - name.len()];
    let hidden = word.split('/').any(|part| part.starts_with('.'));
    !word.is_empty()
        && !hidden
        && folders.chars().all(plain)
        && (shouted || name.chars().all(plain))
}

fn exists(tree: &Tree, document: &str, word: &str) -> bool {
    let Some((first, rest)) = word.split_once('/') else {
        return !word.ends_with(".rs") || tree.has_name(word);
    };
    if tree.crates.contains(first) && OF_STRUCTURE.contains(&document) {
        let path = format!("crates/{first}/src/{rest}");
        return tree.has(&path) || tree.has(&format!("{path}.rs"));
    }
    if tree.top.contains(first) {
        return tree.has(word);
    }
    !word.ends_with(".rs") || tree.has_name(word)
}
