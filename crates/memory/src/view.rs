//! Views of a space: its graph for drawing, and the records of a task.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::code::CodeFile;
use crate::graph::{Edge, Node, Seen};
use crate::index::Slot;
use crate::recall::Relation;
use crate::record::Record;
use crate::space::Space;
use crate::viewer::Viewer;

/// Entities and relations, for drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    pub nodes: Vec<Node>,
    pub edges: Vec<Relation>,
}

/// The records of a task.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Entities that the task's records are about, the most mentioned first.
    pub concepts: Vec<String>,
    /// The task's records except those about code, the newest first.
    pub conversations: Vec<Arc<Record>>,
    /// The task's records about code, the newest first.
    pub code: Vec<Arc<Record>>,
    /// The files that the task read or wrote, the last one first; empty for a handle that shows no files.
    pub files: Vec<Arc<CodeFile>>,
}

impl Context {
    /// About how many bytes it holds, with its records and files.
    pub(crate) fn weight(&self) -> usize {
        let records = self.conversations.iter().chain(&self.code);
        let records = records.map(|it| 512 + it.content.text.len());
        let files = self.files.iter();
        let files = files.map(|it| 512 + 96 * (it.outline.symbols.len() + it.outline.calls.len()));
        let concepts = self.concepts.iter().map(String::len);
        records.chain(files).chain(concepts).sum()
    }
}

/// Most supporting records that a relation names.
const NAMED: usize = 8;

/// A relation as far as records that are `seen` support it. None without one.
pub(crate) fn relation(space: &Space, edge: Edge, seen: Seen<'_>) -> Option<Relation> {
    let support: Vec<Slot> = edge
        .support
        .into_iter()
        .filter(|&it| seen.sees(it))
        .collect();
    let named = support.iter().rev().take(NAMED);
    let sources = named
        .filter_map(|&slot| space.at(slot))
        .map(|record| record.id.clone());
    (!support.is_empty()).then(|| Relation {
        sources: sources.collect(),
        weight: support.len(),
        from: edge.from,
        to: edge.to,
        kind: edge.kind,
    })
}

/// The entities that a topic names and their neighbours. Without a topic, the entities with most mentions.
pub(crate) fn picture(
    space: &Space,
    viewer: &Viewer,
    topic: Option<&str>,
    limit: usize,
) -> Picture {
    let graph = space.graph();
    let by_record = |slot| space.at(slot).is_some_and(|record| viewer.sees(record));
    let seen = Seen::by(viewer, &by_record);
    let mut names: Vec<String> = match topic {
        Some(topic) => {
            let mut named = graph.named_in(topic);
            named.retain(|name| graph.is_seen(name, seen));
            named
        }
        None => {
            let mut nodes: Vec<Node> = graph.nodes(seen).collect();
            nodes.sort_by(|a, b| {
                b.mentions
                    .cmp(&a.mentions)
                    .then_with(|| a.name.cmp(&b.name))
            });
            nodes
                .into_iter()
                .take(limit / 4 + 1)
                .map(|node| node.name)
                .collect()
        }
    };
    let mut edges: Vec<Relation> = Vec::new();
    for name in names.clone() {
        for edge in graph.edges(&name, limit) {
            if !edge.support.iter().any(|&slot| seen.sees(slot)) {
                continue;
            }
            for end in [&edge.from, &edge.to] {
                if names.len() < limit && !names.contains(end) {
                    names.push(end.clone());
                }
            }
            let shown = names.contains(&edge.from) && names.contains(&edge.to);
            let relation = relation(space, edge, seen).filter(|_| shown);
            edges.extend(relation.filter(|it| !edges.contains(it)));
        }
    }
    Picture {
        nodes: names
            .iter()
            .filter_map(|name| graph.node(name, seen))
            .collect(),
        edges,
    }
}

/// Adds the files and symbols that a topic names, or the files that were touched last, with their relations, as far as
/// there is room.
pub(crate) fn with_files(picture: &mut Picture, space: &Space, topic: Option<&str>, limit: usize) {
    let code = space.code();
    let room = limit.saturating_sub(picture.nodes.len());
    let named = match topic {
        Some(topic) => code.named_in(topic, room),
        None => code.newest(room.min(limit / 4 + 1)),
    };
    for node in named {
        let relations = code.relations(&node, limit);
        for name in relations.iter().flat_map(|it| [&it.from, &it.to]) {
            let known = picture.nodes.iter().any(|it| it.name == *name);
            if !known && *name != node.name && picture.nodes.len() + 1 < limit {
                picture.nodes.push(code.node(name));
            }
        }
        if picture.nodes.len() < limit && !picture.nodes.iter().any(|it| it.name == node.name) {
            picture.nodes.push(node);
        }
        for relation in relations {
            let shown = |name: &String| picture.nodes.iter().any(|it| it.name == *name);
            let is_whole = shown(&relation.from) && shown(&relation.to);
            if is_whole && !picture.edges.contains(&relation) {
                picture.edges.push(relation);
            }
        }
    }
}

pub(crate) fn context(space: &Space, viewer: &Viewer, task: &str, limit: usize) -> Context {
    let mut context = Context::default();
    let mut mentions: FxHashMap<String, usize> = FxHashMap::default();
    let mut records: Vec<&Arc<Record>> = space
        .records()
        .filter(|record| record.content.task.as_deref() == Some(task) && record.echo.is_none())
        .filter(|record| viewer.sees(record))
        .collect();
    records.reverse();
    for record in records {
        for name in space
            .slot(&record.id)
            .into_iter()
            .flat_map(|slot| space.graph().of(slot))
        {
            *mentions.entry(name.to_owned()).or_default() += 1;
        }
        let list = if record.content.kind == "code" {
            &mut context.code
        } else {
            &mut context.conversations
        };
        if list.len() < limit {
            list.push(Arc::clone(record));
        }
    }
    let mut concepts: Vec<(String, usize)> = mentions.into_iter().collect();
    concepts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    context.concepts = concepts
        .into_iter()
        .take(limit)
        .map(|(name, _)| name)
        .collect();
    context
}
