//! Export of a space: JSON Lines, which can be imported again, and Cypher statements that build the graph.

use std::fmt::Write as _;

use serde_json::Value;

use crate::error::Error;
use crate::graph::Seen;
use crate::record::Record;
use crate::space::Space;
use crate::viewer::Viewer;

/// A record as a line of JSON, without the line end.
pub fn line(record: &Record) -> Result<String, Error> {
    serde_json::to_string(record).map_err(|problem| Error::Input {
        what: format!("record {}", record.id),
        problem: problem.to_string(),
    })
}

/// Parses lines of JSON. Empty lines are skipped; an error names the first line that is invalid.
pub fn parse(lines: &str) -> Result<Vec<Record>, Error> {
    let lines = lines.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|problem| Error::Input {
                what: format!("line {}", number + 1),
                problem: problem.to_string(),
            })
        })
        .collect()
}

/// Cypher statements that build the graph, one on each line. They are idempotent.
pub(crate) fn cypher(space: &Space, viewer: &Viewer) -> String {
    let mut text = String::from(
        "CREATE CONSTRAINT entity_name IF NOT EXISTS FOR (e:Entity) REQUIRE e.name IS UNIQUE;\n\
         CREATE CONSTRAINT record_id IF NOT EXISTS FOR (r:Record) REQUIRE r.id IS UNIQUE;\n",
    );
    let graph = space.graph();
    let by_record = |slot| space.at(slot).is_some_and(|record| viewer.sees(record));
    let seen = Seen::by(viewer, &by_record);
    let mut say = |line: String| {
        text.push_str(&line);
        text.push_str(";\n");
    };
    for node in graph.nodes(seen) {
        let kind = serde_json::to_value(node.kind).unwrap_or(Value::Null);
        let kind = quoted(kind.as_str().unwrap_or_default());
        say(format!(
            "MERGE (e:Entity {{name: {}}}) SET e.kind = {kind}, e.mentions = {}",
            quoted(&node.name),
            node.mentions
        ));
    }
    for record in space.records().filter(|it| viewer.sees(it)) {
        let mut line = format!(
            "MERGE (r:Record {{id: {}}}) SET r.layer = {}, r.text = {}",
            quoted(record.id.as_str()),
            quoted(record.layer().name()),
            quoted(&record.content.text)
        );
        if let Some(kept) = record.kept() {
            let reason = &kept.reason;
            // Writing to a string does not fail.
            let _ = write!(
                line,
                ", r.source = {}, r.confidence = {}, r.context = {}, r.why = {}, r.certain = {}",
                quoted(reason.source()),
                reason.confidence(),
                quoted(reason.context()),
                quoted(reason.why()),
                kept.certain()
            );
        }
        say(line);
        for name in space
            .slot(&record.id)
            .into_iter()
            .flat_map(|slot| graph.of(slot))
        {
            say(format!(
                "MATCH (r:Record {{id: {}}}), (e:Entity {{name: {}}}) MERGE (r)-[:MENTIONS]->(e)",
                quoted(record.id.as_str()),
                quoted(name)
            ));
        }
    }
    for edge in graph.all_edges() {
        let sources: Vec<String> = edge
            .support
            .iter()
            .filter(|&&slot| seen.sees(slot))
            .filter_map(|&slot| space.at(slot))
            .map(|record| quoted(record.id.as_str()))
            .collect();
        if sources.is_empty() {
            continue;
        }
        say(format!(
            "MATCH (a:Entity {{name: {}}}), (b:Entity {{name: {}}}) MERGE (a)-[r:{}]->(b) SET r.weight = {}, r.sources = [{}]",
            quoted(&edge.from),
            quoted(&edge.to),
            edge.kind,
            sources.len(),
            sources.join(", ")
        ));
    }
    text
}

/// Adds the files of the project: `File` and `Symbol` nodes with `DEFINES`, `CONTAINS`, `IMPORTS` and `CALLS` between them.
pub(crate) fn code_cypher(space: &Space, text: &mut String) {
    let mut say = |line: String| {
        text.push_str(&line);
        text.push_str(";\n");
    };
    let code = space.code();
    if code.files().next().is_none() {
        return;
    }
    say(
        "CREATE CONSTRAINT file_path IF NOT EXISTS FOR (f:File) REQUIRE f.path IS UNIQUE"
            .to_owned(),
    );
    say(
        "CREATE CONSTRAINT symbol_name IF NOT EXISTS FOR (s:Symbol) REQUIRE s.name IS UNIQUE"
            .to_owned(),
    );
    for file in code.files() {
        say(format!(
            "MERGE (f:File {{path: {}}}) SET f.language = {}, f.hash = {}",
            quoted(&file.path),
            quoted(&file.outline.language),
            quoted(&file.hash)
        ));
        for symbol in &file.outline.symbols {
            say(format!(
                "MERGE (s:Symbol {{name: {}}}) SET s.kind = {}",
                quoted(&symbol.name),
                quoted(symbol.kind.name())
            ));
        }
    }
    for relation in code.all_relations() {
        let end = |name: &str| match code.get(name) {
            Some(_) => format!(":File {{path: {}}}", quoted(name)),
            None => format!(":Symbol {{name: {}}}", quoted(name)),
        };
        // The module of an import is a symbol that no file may have defined.
        say(format!(
            "MERGE (a{}) MERGE (b{}) MERGE (a)-[:{}]->(b)",
            end(&relation.from),
            end(&relation.to),
            relation.kind
        ));
    }
}

/// A string literal of Cypher.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for c in text.chars() {
        match c {
            '\'' => quoted.push_str("\\'"),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}
