//! The graph for another database: which parts of a space have changed since they were last sent, and the Cypher statements
//! that bring them up to date there.
//!
//! The statements are idempotent, and say how a part is now and not what happened to it. So a part that changes several times
//! before it is sent is sent once, and sending one again does no harm. When a space is loaded, all of it counts as changed:
//! after a start everything is sent once, also what was forgotten, and nothing has to be recorded about how far the other
//! database is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::code::CodeChange;
use crate::graph::Seen;
use crate::index::Slot;
use crate::record::RecordId;
use crate::space::{Change, Space};

/// Most parts of each kind that are sent together.
const AT_ONCE: usize = 200;

/// The parts of a space that have changed since they were last sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    records: BTreeSet<RecordId>,
    entities: BTreeSet<String>,
    /// By type, from and to.
    edges: BTreeSet<(String, String, String)>,
    files: BTreeSet<String>,
    /// Files that went while nothing was sent are to be looked for.
    unswept: bool,
}

/// Statements of Cypher, to be run in this order, each with its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MirrorBatch {
    pub statements: Vec<Statement>,
    /// To be sent again if the statements fail.
    parts: Changed,
}

/// A statement of Cypher with its parameters: `$space`, and `$rows`, a list of maps.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub cypher: String,
    pub parameters: Value,
}

impl Changed {
    /// Nothing was sent yet.
    pub(crate) fn since_the_start() -> Self {
        Self {
            unswept: true,
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        let Self {
            records,
            entities,
            edges,
            files,
            unswept,
        } = self;
        let parts = records.len() + entities.len() + edges.len() + files.len();
        parts == 0 && !unswept
    }

    pub(crate) fn count(&self) -> usize {
        self.records.len() + self.entities.len() + self.edges.len() + self.files.len()
    }

    /// Takes out some parts. The search for files that are gone comes last.
    fn take(&mut self) -> Self {
        let taken = Self {
            records: first(&mut self.records),
            entities: first(&mut self.entities),
            edges: first(&mut self.edges),
            files: first(&mut self.files),
            unswept: false,
        };
        Self {
            unswept: self.count() == 0 && std::mem::take(&mut self.unswept),
            ..taken
        }
    }

    fn put_back(&mut self, parts: Self) {
        self.records.extend(parts.records);
        self.entities.extend(parts.entities);
        self.edges.extend(parts.edges);
        self.files.extend(parts.files);
        self.unswept |= parts.unswept;
    }

    /// Marks what a record supports in the graph.
    fn mark_slot(&mut self, space: &Space, slot: Slot) {
        let graph = space.graph();
        self.entities.extend(graph.of(slot).map(str::to_owned));
        let edges = graph.relations_of(slot);
        self.edges.extend(edges.map(|it| (it.kind, it.from, it.to)));
    }
}

fn first<T: Ord + Clone>(all: &mut BTreeSet<T>) -> BTreeSet<T> {
    match all.iter().nth(AT_ONCE).cloned() {
        Some(border) => {
            let rest = all.split_off(&border);
            std::mem::replace(all, rest)
        }
        None => std::mem::take(all),
    }
}

/// The parts that a change concerns. It is asked before the change is made, and again after: a record that goes takes its
/// entities along, and a new one brings them.
pub(crate) fn parts_of(space: &Space, change: &Change) -> Changed {
    let mut changed = Changed::default();
    let id = match change {
        Change::Insert(record) | Change::Replace(record) => &record.id,
        Change::Remove(tombstone) => &tombstone.id,
        Change::Derive(id, _) => id,
        Change::Code(CodeChange::Put(file)) => {
            changed.files.insert(file.path.clone());
            return changed;
        }
        Change::Code(CodeChange::Remove(path)) => {
            changed.files.insert(path.clone());
            return changed;
        }
    };
    changed.records.insert(id.clone());
    if let Some(slot) = space
        .slot(id)
        .filter(|_| !matches!(change, Change::Replace(_)))
    {
        changed.mark_slot(space, slot);
    }
    changed
}

impl Space {
    /// Marks parts as changed, if the space is mirrored.
    pub(crate) fn mark(&mut self, parts: Changed) {
        if let Some(changed) = self.changed_mut() {
            changed.put_back(parts);
        }
    }

    /// The next statements; none if nothing has changed.
    pub(crate) fn mirror(&mut self) -> Option<MirrorBatch> {
        let changed = self.changed_mut().filter(|it| !it.is_empty())?;
        let parts = changed.take();
        Some(MirrorBatch {
            statements: statements(self, &parts),
            parts,
        })
    }

    pub(crate) fn put_back(&mut self, batch: MirrorBatch) {
        self.mark(batch.parts);
    }
}

fn statements(space: &Space, parts: &Changed) -> Vec<Statement> {
    let mut script = Script {
        space: space.name(),
        statements: Vec::new(),
    };
    entities(space, parts, &mut script);
    records(space, parts, &mut script);
    edges(space, parts, &mut script);
    files(space, parts, &mut script);
    script.statements
}

/// The statements so far.
struct Script<'a> {
    space: &'a str,
    statements: Vec<Statement>,
}

impl Script<'_> {
    /// Adds a statement that is run for each of these rows, if there are any.
    fn each(&mut self, rows: &[Value], cypher: &str) {
        if !rows.is_empty() {
            self.statements.push(Statement {
                cypher: format!("UNWIND $rows AS row {cypher}"),
                parameters: json!({ "space": self.space, "rows": rows }),
            });
        }
    }

    fn once(&mut self, cypher: &str, rows: &Value) {
        self.statements.push(Statement {
            cypher: cypher.to_owned(),
            parameters: json!({ "space": self.space, "rows": rows }),
        });
    }
}

fn entities(space: &Space, parts: &Changed, script: &mut Script<'_>) {
    let (mut present, mut gone) = (Vec::new(), Vec::new());
    for name in &parts.entities {
        match space.graph().node(name, Seen::All) {
            Some(node) => present.push(json!(node)),
            None => gone.push(json!({ "name": name })),
        }
    }
    script.each(
        &present,
        "MERGE (e:Entity {space: $space, name: row.name}) SET e.kind = row.kind, e.mentions = row.mentions",
    );
    script.each(
        &gone,
        "MATCH (e:Entity {space: $space, name: row.name}) DETACH DELETE e",
    );
}

fn records(space: &Space, parts: &Changed, script: &mut Script<'_>) {
    let (mut present, mut mentions, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for id in &parts.records {
        let Some((record, slot)) = space.get(id).zip(space.slot(id)) else {
            gone.push(json!({ "id": id }));
            continue;
        };
        let reason = record.kept().map(|it| &it.reason);
        present.push(json!({
            "id": id,
            "layer": record.layer().name(),
            "type": record.content.kind,
            "text": record.content.text,
            "task": record.content.task,
            "session": record.content.session,
            "speaker": record.content.speaker,
            "owner": record.owner(),
            "source": record.source(),
            "confidence": reason.map(crate::Reason::confidence),
            "context": reason.map(crate::Reason::context),
            "why": reason.map(crate::Reason::why),
            "certain": record.kept().map(crate::Kept::certain),
            "recorded": record.recorded,
        }));
        let names = space.graph().of(slot);
        mentions.extend(names.map(|name| json!({ "id": id, "name": name })));
    }
    script.each(
        &present,
        "MERGE (r:Record {space: $space, id: row.id}) SET r.layer = row.layer, r.type = row.type, r.text = row.text, \
         r.task = row.task, r.session = row.session, r.speaker = row.speaker, r.owner = row.owner, r.source = row.source, \
         r.confidence = row.confidence, r.context = row.context, r.why = row.why, r.certain = row.certain, \
         r.recorded = row.recorded",
    );
    script.each(
        &mentions,
        "MATCH (r:Record {space: $space, id: row.id}) MERGE (e:Entity {space: $space, name: row.name}) \
         MERGE (r)-[:MENTIONS]->(e)",
    );
    if gone.is_empty() {
        return;
    }
    // A relation that only a forgotten record supported goes with it, also if that was forgotten while nothing was sent.
    script.each(
        &gone,
        "MATCH (a:Entity {space: $space})-[r]->(:Entity) WHERE row.id IN r.sources \
         SET r.sources = [source IN r.sources WHERE source <> row.id]",
    );
    script.each(
        &gone,
        "MATCH (r:Record {space: $space, id: row.id}) DETACH DELETE r",
    );
    script.once(
        "MATCH (a:Entity {space: $space})-[r]->(:Entity) WHERE size(r.sources) = 0 DELETE r",
        &json!([]),
    );
    script.once(
        "MATCH (e:Entity {space: $space}) WHERE NOT (e)--() DELETE e",
        &json!([]),
    );
}

fn edges(space: &Space, parts: &Changed, script: &mut Script<'_>) {
    let mut kinds: BTreeMap<&str, (Vec<Value>, Vec<Value>)> = BTreeMap::new();
    for (kind, from, to) in &parts.edges {
        let sources = space.graph().support(kind, from, to).iter();
        let sources = sources.filter_map(|slot| space.at(*slot)).map(|it| &it.id);
        let sources: Vec<&RecordId> = sources.collect();
        let (present, gone) = kinds.entry(kind).or_default();
        match sources.is_empty() {
            true => gone.push(json!({ "from": from, "to": to })),
            false => present.push(
                json!({ "from": from, "to": to, "weight": sources.len(), "sources": sources }),
            ),
        }
    }
    for (kind, (present, gone)) in kinds {
        let kind = quoted(kind);
        script.each(
            &present,
            &format!(
                "MERGE (a:Entity {{space: $space, name: row.from}}) MERGE (b:Entity {{space: $space, name: row.to}}) \
                 MERGE (a)-[r:{kind}]->(b) SET r.weight = row.weight, r.sources = row.sources"
            ),
        );
        script.each(
            &gone,
            &format!(
                "MATCH (a:Entity {{space: $space, name: row.from}})-[r:{kind}]->(b:Entity {{space: $space, name: row.to}}) DELETE r"
            ),
        );
    }
}

fn files(space: &Space, parts: &Changed, script: &mut Script<'_>) {
    let code = space.code();
    let rows = parts.files.iter().map(|path| json!({ "path": path }));
    let rows: Vec<Value> = rows.collect();
    // The relations of a file carry its path, since two files may support the same one.
    script.each(
        &rows,
        "MATCH (a:Symbol {space: $space})-[r]->() WHERE r.path = row.path DELETE r",
    );
    script.each(
        &rows,
        "MATCH (f:File {space: $space, path: row.path}) DETACH DELETE f",
    );
    let known = parts.files.iter().filter_map(|path| code.get(path));
    let (mut present, mut defined) = (Vec::new(), Vec::new());
    let mut kinds: BTreeMap<(&'static str, bool), Vec<Value>> = BTreeMap::new();
    for file in known {
        let (path, outline) = (&file.path, &file.outline);
        present.push(json!({ "path": path, "language": outline.language, "hash": file.hash }));
        let mut relate = |kind, from: Option<&str>, to: &str| {
            let row = json!({ "path": path, "from": from, "to": to });
            kinds.entry((kind, from.is_none())).or_default().push(row);
        };
        for symbol in &outline.symbols {
            let kind = symbol.kind.name();
            defined.push(
                json!({ "path": path, "name": symbol.name, "kind": kind, "line": symbol.line }),
            );
            if let Some(inside) = &symbol.inside {
                relate("CONTAINS", Some(inside), &symbol.name);
            }
        }
        for import in &outline.imports {
            relate("IMPORTS", None, import);
        }
        for call in outline.calls.iter().filter(|it| code.defines(&it.to)) {
            relate("CALLS", call.from.as_deref(), &call.to);
        }
    }
    script.each(
        &present,
        "MERGE (f:File {space: $space, path: row.path}) SET f.language = row.language, f.hash = row.hash",
    );
    script.each(
        &defined,
        "MATCH (f:File {space: $space, path: row.path}) MERGE (s:Symbol {space: $space, name: row.name}) \
         SET s.kind = row.kind MERGE (f)-[d:DEFINES {path: row.path}]->(s) SET d.line = row.line",
    );
    for ((kind, of_file), rows) in kinds {
        let from = match of_file {
            true => "MATCH (a:File {space: $space, path: row.path})",
            false => "MERGE (a:Symbol {space: $space, name: row.from})",
        };
        script.each(
            &rows,
            &format!(
                "{from} MERGE (b:Symbol {{space: $space, name: row.to}}) MERGE (a)-[r:{kind} {{path: row.path}}]->(b)"
            ),
        );
    }
    if parts.unswept {
        let paths: Vec<&String> = code.files().map(|it| &it.path).collect();
        script.once(
            "MATCH (a:Symbol {space: $space})-[r]->() WHERE NOT r.path IN $rows DELETE r",
            &json!(paths),
        );
        script.once(
            "MATCH (f:File {space: $space}) WHERE NOT f.path IN $rows DETACH DELETE f",
            &json!(paths),
        );
    }
    if parts.unswept || !parts.files.is_empty() {
        script.once(
            "MATCH (s:Symbol {space: $space}) WHERE NOT (s)--() DELETE s",
            &json!([]),
        );
    }
}

/// A type of relations as a name of Cypher.
fn quoted(kind: &str) -> String {
    format!("`{}`", kind.replace('`', "``"))
}
