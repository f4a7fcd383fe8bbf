//! The file `config.yaml` of a folder: which keys count here, and which do not.

use std::path::Path;
use std::time::Duration;

use yaml_serde::Value;

use super::{problem, read};
use crate::error::Error;

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

/// What a folder's configuration says, as far as it counts here.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FolderConfig {
    pub iterations: Option<usize>,
    pub seed: Option<u64>,
    /// Evaluations between two checkpoints.
    pub checkpoint: usize,
    /// The most bytes of a program.
    pub longest: Option<usize>,
    pub patience: Option<usize>,
    pub target: Option<f64>,
    pub time: Duration,
    pub cascade: bool,
    pub thresholds: Vec<f64>,
    /// Metrics that place a program and do not score it.
    pub dimensions: Vec<String>,
    /// Keys without an effect here, or that are not known, each with the reason.
    pub notes: Vec<String>,
}

/// Keys that count, and keys that are known and do nothing in a search without a model.
const COUNT: &[&str] = &[
    "max_iterations",
    "random_seed",
    "checkpoint_interval",
    "max_code_length",
    "early_stopping_patience",
    "target_score",
    "evaluator.timeout",
    "evaluator.cascade_evaluation",
    "evaluator.cascade_thresholds",
    "database.feature_dimensions",
    "database.random_seed",
];
const IDLE: &[(&str, &str)] = &[
    ("llm", "no model is asked"),
    ("prompt", "no model is asked"),
    (
        "database",
        "all candidates are kept and the best one is the parent of most",
    ),
    ("evaluator", "one candidate at a time, each in its process"),
    ("diff_based_evolution", "operators make edits"),
    ("diff_pattern", "operators make edits"),
    ("allow_full_rewrites", "operators make edits"),
    ("enforce_evolve_blocks", "blocks are always enforced"),
    ("evolution_trace", "every run has its record"),
    ("early_stopping_metric", "the combined score counts"),
    (
        "convergence_threshold",
        "early_stopping_patience counts alone",
    ),
    ("log_level", "the terminal shows progress"),
    ("log_dir", "no log is written into the folder"),
    ("language", "the name of the program says it"),
    ("file_suffix", "the name of the program says it"),
    ("max_tasks_per_child", "each candidate has its own process"),
];

/// The time of an evaluation that is configured by none, and the most that is accepted.
const TIME: f64 = 300.0;
const MOST_TIME: f64 = 24.0 * 3600.0;

impl Default for FolderConfig {
    fn default() -> Self {
        Self {
            iterations: None,
            seed: None,
            checkpoint: 100,
            longest: None,
            patience: None,
            target: None,
            time: Duration::from_secs_f64(TIME),
            cascade: true,
            thresholds: vec![0.5, 0.75, 0.9],
            dimensions: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl FolderConfig {
    /// Reads `config.yaml`, which may be missing.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("config.yaml");
        match path.is_file() {
            true => Self::parse(&read(&path)?).map_err(|it| problem(&path, &it)),
            false => Ok(Self::default()),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value: Value = yaml_serde::from_str(text).map_err(|it| it.to_string())?;
        if !value.is_mapping() && !value.is_null() {
            return Err("it is no mapping of keys".to_owned());
        }
        let mut config = Self::default();
        let whole = |at: &str| -> Result<Option<u64>, String> {
            match find(&value, at) {
                None | Some(Value::Null) => Ok(None),
                Some(it) => it
                    .as_u64()
                    .map(Some)
                    .ok_or_else(|| format!("{at} is no whole number from 0 on")),
            }
        };
        let count = |at: &str| whole(at).map(|it| it.and_then(|it| usize::try_from(it).ok()));
        let number = |at: &str| -> Result<Option<f64>, String> {
            match find(&value, at) {
                None | Some(Value::Null) => Ok(None),
                Some(it) => it
                    .as_f64()
                    .map(Some)
                    .ok_or_else(|| format!("{at} is no number")),
            }
        };
        config.iterations = count("max_iterations")?;
        config.seed = whole("random_seed")?.or(whole("database.random_seed")?);
        config.checkpoint = count("checkpoint_interval")?.unwrap_or(config.checkpoint);
        config.longest = count("max_code_length")?;
        config.patience = count("early_stopping_patience")?;
        config.target = number("target_score")?;
        if let Some(time) = number("evaluator.timeout")? {
            if !(time > 0.0 && time <= MOST_TIME) {
                return Err(format!(
                    "evaluator.timeout is {time}, and must be above 0 and at most one day"
                ));
            }
            config.time = Duration::from_secs_f64(time);
        }
        if let Some(cascade) = find(&value, "evaluator.cascade_evaluation") {
            config.cascade = cascade
                .as_bool()
                .ok_or("evaluator.cascade_evaluation is neither true nor false")?;
        }
        if let Some(Value::Sequence(all)) = find(&value, "evaluator.cascade_thresholds") {
            let all: Option<Vec<f64>> = all.iter().map(Value::as_f64).collect();
            config.thresholds =
                all.ok_or("evaluator.cascade_thresholds has something else than numbers")?;
        }
        if let Some(Value::Sequence(all)) = find(&value, "database.feature_dimensions") {
            config.dimensions = all
                .iter()
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect();
        }
        config.notes = notes(&value);
        Ok(config)
    }
}

fn find<'a>(value: &'a Value, at: &str) -> Option<&'a Value> {
    at.split('.').try_fold(value, |value, key| value.get(key))
}

/// The keys that do nothing, by the name of the outermost that does nothing as a whole.
fn notes(value: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(mapping) = value.as_mapping() else {
        return notes;
    };
    for (key, inner) in mapping {
        let Some(key) = key.as_str() else { continue };
        let idle = IDLE.iter().find(|it| it.0 == key).map(|it| it.1);
        let prefix = format!("{key}.");
        let counted = COUNT
            .iter()
            .filter_map(|it| it.strip_prefix(prefix.as_str()));
        let counted: Vec<&str> = counted.collect();
        match idle {
            Some(why) if counted.is_empty() => notes.push(format!("{key}: no effect here ({why})")),
            Some(why) => {
                let inner = inner.as_mapping().into_iter().flat_map(|it| it.keys());
                let idle = inner
                    .filter_map(Value::as_str)
                    .filter(|it| !counted.contains(it));
                notes.extend(idle.map(|it| format!("{key}.{it}: no effect here ({why})")));
            }
            None if COUNT.contains(&key) => {}
            None => notes.push(format!("{key}: not a known key")),
        }
    }
    notes
}
