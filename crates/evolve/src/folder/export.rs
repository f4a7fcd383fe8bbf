//! What a run writes into `openevolve_output`: the best program, and checkpoints that OpenEvolve's visualiser opens.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::{seconds, write as replace};
use crate::error::Error;
use crate::event::Purpose;
use crate::search::{Entry, Search};

/// The most candidates of one checkpoint; the best ones and the way to them come first.
const MOST: usize = 2_000;

/// Writes the best program and a checkpoint of this moment.
pub(super) fn write(
    search: &Search,
    output: &Path,
    program: &Path,
    began: SystemTime,
) -> Result<(), Error> {
    let ending = program
        .extension()
        .map(|it| format!(".{}", it.display()))
        .unwrap_or_default();
    let best = search.best();
    let at = seconds(SystemTime::now());
    let info = info(search, best, began, at);
    let text = text(search, best);

    let folder = output.join("best");
    fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    replace(&folder.join(format!("best_program{ending}")), &text)?;
    replace(&folder.join("best_program_info.json"), &pretty(&info))?;

    let checkpoint = output
        .join("checkpoints")
        .join(format!("checkpoint_{}", search.evaluations()));
    let programs = checkpoint.join("programs");
    fs::create_dir_all(&programs).map_err(Error::file("create", &programs))?;
    let shown = shown(search);
    for n in &shown {
        let known = programs.join(format!("{}.json", id(search, *n)));
        if !known.exists() {
            replace(&known, &pretty(&described(search, *n, began)))?;
        }
    }
    let ids: Vec<String> = shown.iter().map(|it| id(search, *it)).collect();
    let last = search.evaluations();
    let metadata = json!({
        "island_feature_maps": [{}],
        "islands": [ids],
        "archive": [id(search, best)],
        "best_program_id": id(search, best),
        "island_best_programs": [id(search, best)],
        "last_iteration": last,
        "current_island": 0,
        "island_generations": [last],
        "last_migration_generation": 0,
        "feature_stats": {},
    });
    replace(&checkpoint.join("metadata.json"), &pretty(&metadata))?;
    replace(&checkpoint.join(format!("best_program{ending}")), &text)?;
    replace(&checkpoint.join("best_program_info.json"), &pretty(&info))
}

/// The candidates of a checkpoint in their order: all that were evaluated, or of too many the best, with their ancestors.
fn shown(search: &Search) -> Vec<usize> {
    let entries = search.entries();
    let searched = |n: &usize| {
        entries
            .get(*n)
            .is_some_and(|it| it.purpose == Purpose::Search && !it.samples.is_empty())
    };
    let mut all: Vec<usize> = (0..entries.len()).filter(searched).collect();
    if all.len() > MOST {
        let fitness = |n: &usize| entries.get(*n).map_or(f64::MIN, |it| it.fitness().number());
        all.sort_by(|a, b| fitness(b).total_cmp(&fitness(a)));
        all.truncate(MOST);
        let mut at = Some(search.best());
        while let Some(n) = at {
            all.push(n);
            at = entries.get(n).and_then(|it| it.parent);
        }
        all.sort_unstable();
        all.dedup();
    }
    all
}

fn id(search: &Search, n: usize) -> String {
    let hash = search
        .entries()
        .get(n)
        .map(|it| it.hash.as_str())
        .unwrap_or_default();
    format!("{n}-{hash}")
}

fn text(search: &Search, n: usize) -> String {
    let content = search.content(n);
    let texts = content
        .map(|it| search.component().texts(&it))
        .unwrap_or_default();
    texts.into_iter().next().map(|it| it.1).unwrap_or_default()
}

fn generation(entries: &[Entry], n: usize) -> usize {
    let mut count = 0;
    let mut at = entries.get(n).and_then(|it| it.parent);
    while let Some(parent) = at {
        count += 1;
        at = entries.get(parent).and_then(|it| it.parent);
    }
    count
}

/// The metrics of a candidate, with its score in the mean of its evaluations.
fn metrics(entry: &Entry) -> Value {
    let last = entry.samples.last();
    let mut metrics: serde_json::Map<String, Value> = last
        .into_iter()
        .flat_map(|it| {
            it.metrics
                .iter()
                .map(|(name, value)| (name.clone(), json!(value)))
        })
        .collect();
    metrics.insert(
        "combined_score".to_owned(),
        json!(entry.fitness().score().unwrap_or(0.0)),
    );
    Value::Object(metrics)
}

fn info(search: &Search, n: usize, began: SystemTime, at: f64) -> Value {
    let entries = search.entries();
    let parent = entries.get(n).and_then(|it| it.parent);
    json!({
        "id": id(search, n),
        "generation": generation(entries, n),
        "iteration": n,
        "current_iteration": search.evaluations(),
        "timestamp": seconds(began),
        "parent_id": parent.map(|it| id(search, it)),
        "metrics": entries.get(n).map(metrics),
        "language": language(search),
        "saved_at": at,
    })
}

fn language(search: &Search) -> &'static str {
    let files = &search.component().files;
    files
        .first()
        .and_then(|it| it.language)
        .map_or("text", |it| it.name())
}

/// A candidate in the form of a checkpoint.
fn described(search: &Search, n: usize, began: SystemTime) -> Value {
    let entries = search.entries();
    let Some(entry) = entries.get(n) else {
        return Value::Null;
    };
    let code = text(search, n);
    let sample = entry.samples.last();
    let mut artifacts = sample.map(|it| it.artifacts.clone()).unwrap_or_default();
    if let Some(reason) = sample.and_then(|it| it.reason.clone()) {
        artifacts.insert("invalid".to_owned(), reason);
    }
    let parent = entry.parent;
    json!({
        "id": id(search, n),
        "complexity": code.len(),
        "code": code,
        "changes_description": entry.operator.name(),
        "language": language(search),
        "parent_id": parent.map(|it| id(search, it)),
        "generation": generation(entries, n),
        "timestamp": seconds(began),
        "iteration_found": n,
        "metrics": metrics(entry),
        "diversity": 0.0,
        "metadata": {
            "island": 0,
            "changes": entry.operator.name(),
            "parent_metrics": parent.and_then(|it| entries.get(it)).map_or(json!({}), metrics),
        },
        "prompts": null,
        "artifacts_json": serde_json::to_string(&artifacts).ok().filter(|_| !artifacts.is_empty()),
        "artifact_dir": null,
        "embedding": null,
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
