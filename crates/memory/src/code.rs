//! The files of a project in graph memory: their outlines, and the tasks that read or wrote them.
//!
//! A file is not a record. Records are what was said and concluded: each has its reason, and to forget one leaves a mark.
//! The outline of a file is derived from the file, replaced with it, and gone with it, so that it stands beside the records:
//! it takes no part in ranking, promotion and contradiction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ::code::Outline;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::graph::{EntityKind, Node};
use crate::limits::{MAX_CODE_FILES, MAX_CODE_PATH, MAX_TOUCHES};
use crate::recall::Relation;
use crate::record::RecordId;
use crate::text;
use crate::text::date::Millis;
use crate::viewer::Viewer;

/// A file of a project, as it was when a tool last read or wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFile {
    /// Relative to the project.
    pub path: String,
    /// The hash of its content.
    pub hash: String,
    /// Its size and when it was changed, in nanoseconds since 1970: while both are the same, the file is not read again.
    pub size: u64,
    pub modified: u64,
    /// When it was taken in.
    pub at: Millis,
    pub outline: Outline,
    /// The tasks that read or wrote it, the last one at the end.
    #[serde(default)]
    pub touches: Vec<Touch>,
}

/// A task that read or wrote a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    pub task: String,
    /// The name of the caller that the task is for; the anonymous caller has an empty one.
    pub by: String,
    pub wrote: bool,
    pub at: Millis,
}

impl CodeFile {
    /// The id under which it is shown, and forgotten.
    pub fn id(&self) -> RecordId {
        id_of(&self.path)
    }

    /// Whether it fits into memory.
    fn fits(&self) -> bool {
        !self.path.is_empty() && self.path.len() <= MAX_CODE_PATH
    }

    /// The task that touched it last, of those that a caller sees.
    pub fn last_touch(&self, viewer: &Viewer) -> Option<&Touch> {
        self.touches.iter().rev().find(|it| is_seen(it, viewer))
    }

    /// Its outline in words, as a record would say it.
    pub fn text(&self) -> String {
        let outline = &self.outline;
        let mut text = match outline.language.as_str() {
            "" => self.path.clone(),
            language => format!("{} ({language})", self.path),
        };
        for symbol in &outline.symbols {
            let inside = symbol.inside.as_deref();
            let inside = inside.map(|it| format!("{it}::")).unwrap_or_default();
            let line = format!(
                "\n{}: {} {inside}{}",
                symbol.line,
                symbol.kind.name(),
                symbol.name
            );
            text.push_str(&line);
        }
        text
    }
}

/// A caller sees the touches of its own tasks; those who see all records see all of them.
fn is_seen(touch: &Touch, viewer: &Viewer) -> bool {
    viewer.sees_all() || viewer.name() == Some(&touch.by)
}

const PREFIX: &str = "code:";

fn id_of(path: &str) -> RecordId {
    RecordId::new(format!("{PREFIX}{path}"))
}

/// The path of a file, if an id is that of a file.
pub(crate) fn path_of(id: &RecordId) -> Option<&str> {
    id.as_str().strip_prefix(PREFIX)
}

/// A change of the files in graph memory.
#[derive(Clone, Debug, PartialEq)]
pub enum CodeChange {
    /// A file with its present outline. Its touches are added to those that are known.
    Put(Box<CodeFile>),
    /// A file that is not there any longer.
    Remove(String),
}

/// The files of a space.
#[derive(Debug, Default)]
pub(crate) struct CodeGraph {
    files: BTreeMap<String, Arc<CodeFile>>,
    /// The files that define a symbol of this name.
    defined: FxHashMap<String, BTreeSet<String>>,
    /// The files that a task touched.
    tasks: FxHashMap<String, BTreeSet<String>>,
}

impl CodeGraph {
    /// The outcome of changes: the files that are put, with their touches, and the paths of those that go. Nothing is
    /// put that is known already, and the oldest files go if there are too many.
    pub(crate) fn decide(&self, changes: Vec<CodeChange>) -> Vec<CodeChange> {
        let mut decided = Vec::new();
        let mut new = 0;
        for change in changes {
            match change {
                CodeChange::Remove(path) if self.files.contains_key(&path) => {
                    decided.push(CodeChange::Remove(path));
                }
                CodeChange::Remove(_) => {}
                CodeChange::Put(file) => {
                    let known = self.files.get(&file.path);
                    let whole = merged(known.map(|it| &**it), *file);
                    if known.is_some_and(|it| **it == whole) || !whole.fits() {
                        continue;
                    }
                    new += usize::from(known.is_none());
                    decided.push(CodeChange::Put(Box::new(whole)));
                }
            }
        }
        let over = (self.files.len() + new).saturating_sub(MAX_CODE_FILES);
        if over > 0 {
            let mut oldest: Vec<_> = self.files.values().map(|it| (it.at, &it.path)).collect();
            oldest.sort_unstable();
            let oldest = oldest.into_iter().take(over);
            let gone = oldest.map(|(_, path)| CodeChange::Remove(path.clone()));
            // In front, so that a file that is put again in the same group stays.
            decided.splice(0..0, gone);
        }
        decided
    }

    pub(crate) fn apply(&mut self, change: CodeChange) {
        match change {
            CodeChange::Put(file) => {
                self.remove(&file.path);
                for symbol in &file.outline.symbols {
                    let files = self.defined.entry(symbol.name.clone()).or_default();
                    files.insert(file.path.clone());
                }
                for touch in &file.touches {
                    let files = self.tasks.entry(touch.task.clone()).or_default();
                    files.insert(file.path.clone());
                }
                self.files.insert(file.path.clone(), Arc::from(file));
            }
            CodeChange::Remove(path) => self.remove(&path),
        }
    }

    fn remove(&mut self, path: &str) {
        let Some(file) = self.files.remove(path) else {
            return;
        };
        let names = file.outline.symbols.iter().map(|it| &it.name);
        take_out(&mut self.defined, names, path);
        let tasks = file.touches.iter().map(|it| &it.task);
        take_out(&mut self.tasks, tasks, path);
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<CodeFile>> {
        self.files.values()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Arc<CodeFile>> {
        self.files.get(path)
    }

    /// Whether a known file defines this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    /// The files that a task touched, the last one first, if the caller sees the task.
    pub(crate) fn of_task(&self, viewer: &Viewer, task: &str, limit: usize) -> Vec<Arc<CodeFile>> {
        let paths = self.tasks.get(task).into_iter().flatten();
        let touched = |file: &CodeFile| {
            let mut touches = file.touches.iter().rev();
            let touch = touches.find(|it| it.task == task && is_seen(it, viewer))?;
            Some(touch.at)
        };
        let mut files: Vec<_> = paths
            .filter_map(|path| self.files.get(path))
            .filter_map(|file| Some((touched(file)?, Arc::clone(file))))
            .collect();
        files.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.path.cmp(&other.1.path)));
        files.into_iter().take(limit).map(|it| it.1).collect()
    }

    /// The files and symbols that a text names, those named by a longer word first. A path is named by its end, too.
    pub(crate) fn named_in(&self, question: &str, limit: usize) -> Vec<Node> {
        let words = question.split(|c: char| !is_part_of_name(c));
        let words: BTreeSet<&str> = words.filter(|it| it.len() > 2).collect();
        let mut words: Vec<&str> = words.into_iter().collect();
        words.sort_by_key(|it| (std::cmp::Reverse(it.len()), *it));
        let mut nodes: Vec<Node> = Vec::new();
        for word in words {
            if nodes.len() >= limit {
                break;
            }
            let word = word.trim_matches(['.', '/', ':']);
            if let Some(node) = self.symbol(word) {
                nodes.push(node);
            } else if word.contains(['.', '/']) {
                let named = |path: &&String| {
                    let above = path.strip_suffix(word);
                    above.is_some_and(|it| it.is_empty() || it.ends_with('/'))
                };
                let paths = self.files.keys().filter(named);
                nodes.extend(paths.filter_map(|path| self.file_node(path)));
            }
        }
        nodes.truncate(limit);
        nodes
    }

    /// A symbol, unless its name is a common word, which a sentence has without meaning it.
    fn symbol(&self, name: &str) -> Option<Node> {
        let files = self.defined.get(name)?;
        (!text::is_common(name)).then(|| Node {
            name: name.to_owned(),
            kind: EntityKind::Symbol,
            mentions: files.len(),
        })
    }

    /// The node of this name: a file, or else a symbol, also one that no known file defines.
    pub(crate) fn node(&self, name: &str) -> Node {
        let symbol = || Node {
            name: name.to_owned(),
            kind: EntityKind::Symbol,
            mentions: self.defined.get(name).map_or(1, BTreeSet::len),
        };
        self.file_node(name).unwrap_or_else(symbol)
    }

    fn file_node(&self, path: &str) -> Option<Node> {
        let file = self.files.get(path)?;
        Some(Node {
            name: path.to_owned(),
            kind: EntityKind::File,
            mentions: file.touches.len().max(1),
        })
    }

    /// The relations of a file or a symbol: what it defines, contains, imports and calls. Of calls only those of names
    /// that a known file defines.
    pub(crate) fn relations(&self, node: &Node, limit: usize) -> Vec<Relation> {
        let mut relations = Relations::default();
        match self.files.get(&node.name) {
            Some(file) => self.relations_of(file, None, limit, &mut relations),
            None => {
                let definers = self.defined.get(&node.name).into_iter().flatten();
                for file in definers.filter_map(|path| self.files.get(path)) {
                    self.relations_of(file, Some(&node.name), limit, &mut relations);
                }
                // Callers elsewhere.
                for file in self.files.values() {
                    if relations.0.len() >= limit {
                        break;
                    }
                    let calls = file.outline.calls.iter();
                    for call in calls.filter(|it| it.to == node.name) {
                        let from = call.from.as_deref().unwrap_or(&file.path);
                        relations.add(from, &call.to, "CALLS", &file.path);
                    }
                }
            }
        }
        let mut relations: Vec<Relation> = relations.0.into_values().collect();
        relations.truncate(limit);
        relations
    }

    /// The relations that one file supports, all or those of one of its symbols.
    fn relations_of(
        &self,
        file: &CodeFile,
        only: Option<&str>,
        limit: usize,
        relations: &mut Relations,
    ) {
        let wanted = |name: &str| only.is_none_or(|only| only == name);
        for symbol in &file.outline.symbols {
            if relations.0.len() >= limit {
                return;
            }
            let inside = symbol.inside.as_deref();
            if wanted(&symbol.name) {
                relations.add(&file.path, &symbol.name, "DEFINES", &file.path);
            }
            if let Some(inside) = inside.filter(|it| wanted(it) || wanted(&symbol.name)) {
                relations.add(inside, &symbol.name, "CONTAINS", &file.path);
            }
        }
        for import in file.outline.imports.iter().filter(|_| only.is_none()) {
            relations.add(&file.path, import, "IMPORTS", &file.path);
        }
        for call in &file.outline.calls {
            let from = call.from.as_deref().unwrap_or(&file.path);
            if self.defined.contains_key(&call.to) && wanted(from) {
                relations.add(from, &call.to, "CALLS", &file.path);
            }
        }
    }

    /// Every relation of every file, for an export.
    pub(crate) fn all_relations(&self) -> Vec<Relation> {
        let mut relations = Relations::default();
        for file in self.files.values() {
            self.relations_of(file, None, usize::MAX, &mut relations);
        }
        relations.0.into_values().collect()
    }

    /// The files that were touched last.
    pub(crate) fn newest(&self, limit: usize) -> Vec<Node> {
        let mut files: Vec<&Arc<CodeFile>> = self.files.values().collect();
        files.sort_by(|one, other| other.at.cmp(&one.at).then(one.path.cmp(&other.path)));
        let newest = files.into_iter().take(limit);
        newest.filter_map(|it| self.file_node(&it.path)).collect()
    }
}

/// Relations by their ends and type, each with the files that support it.
#[derive(Default)]
struct Relations(BTreeMap<(String, String, &'static str), Relation>);

impl Relations {
    fn add(&mut self, from: &str, to: &str, kind: &'static str, path: &str) {
        if from == to {
            return;
        }
        let key = (from.to_owned(), to.to_owned(), kind);
        let relation = self.0.entry(key).or_insert_with(|| Relation {
            from: from.to_owned(),
            to: to.to_owned(),
            kind: kind.to_owned(),
            weight: 0,
            sources: Vec::new(),
        });
        let source = id_of(path);
        if !relation.sources.contains(&source) {
            relation.weight += 1;
            relation.sources.push(source);
        }
    }
}

/// A file with the touches of the known one before its own, the last of each task.
fn merged(known: Option<&CodeFile>, file: CodeFile) -> CodeFile {
    let before = known.map(|it| it.touches.clone()).unwrap_or_default();
    let mut touches: Vec<Touch> = before;
    for touch in file.touches {
        let earlier = touches.iter().position(|it| it.task == touch.task);
        let wrote = earlier
            .map(|it| touches.remove(it))
            .is_some_and(|it| it.wrote);
        touches.push(Touch {
            wrote: wrote || touch.wrote,
            ..touch
        });
    }
    let over = touches.len().saturating_sub(MAX_TOUCHES);
    touches.drain(..over);
    // A file that is the same was taken in before.
    let at = match known {
        Some(known) if known.hash == file.hash && known.touches == touches => known.at,
        _ => file.at,
    };
    CodeFile {
        touches,
        at,
        ..file
    }
}

fn take_out<'a>(
    places: &mut FxHashMap<String, BTreeSet<String>>,
    names: impl Iterator<Item = &'a String>,
    path: &str,
) {
    for name in names {
        if let Some(files) = places.get_mut(name) {
            files.remove(path);
            if files.is_empty() {
                places.remove(name);
            }
        }
    }
}

/// Whether a character can stand in the name of a file or of a symbol.
fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || ['_', '.', '/', '-', ':', '$'].contains(&c)
}
