//! The command line of `monas memory`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValuesParser};
use clap::{Arg, ArgMatches, value_parser};
use serde_json::{Value, json};

use super::{Asked, What};
use crate::command::backend::DataOptions;
use crate::config::Config;

/// The command line of it; `settings` are the flags of the server that say where the data is.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let common = |command| DataOptions::arguments(command, settings);
    let add = clap::Command::new("add")
        .about("Remember something: as an observation, or with a reason as a belief")
        .arg(
            Arg::new("content")
                .value_name("TEXT")
                .required(true)
                .help("What to remember"),
        )
        .args([
            text("type", "TYPE", "What it is: conversation, code, concept"),
            text("session", "ID", "The conversation it belongs to"),
            text("speaker", "NAME", "Who said it"),
            text(
                "at",
                "TIME",
                "When it happened, such as 2024-06-09T19:30:00Z",
            ),
            text("task", "ID", "The task it belongs to"),
            text("source", "SOURCE", "Where it comes from, such as user:ada"),
            Arg::new("confidence")
                .long("confidence")
                .value_name("0..1")
                .value_parser(value_parser!(f64))
                .help("How sure it is; part of a reason"),
            text(
                "context",
                "QUESTION",
                "The question it answers; part of a reason",
            ),
            text("why", "WHY", "Why it is worth keeping; part of a reason"),
            Arg::new("layer")
                .long("layer")
                .value_parser(PossibleValuesParser::new([
                    "observation",
                    "belief",
                    "procedure",
                ]))
                .help(
                    "Where to keep it [default: belief with a part of a reason, else observation]",
                ),
        ]);
    let query = clap::Command::new("query")
        .about("Recall what is known")
        .arg(
            Arg::new("question")
                .value_name("QUESTION")
                .required(true)
                .help("In any words"),
        )
        .args([
            Arg::new("mode")
                .long("mode")
                .value_parser(PossibleValuesParser::new(["hybrid", "local", "global"]))
                .default_value("hybrid")
                .help("From where to look: entities, themes, or both"),
            Arg::new("limit")
                .short('n')
                .long("limit")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..=1000))
                .default_value("10")
                .help("At most so many"),
        ]);
    let export = clap::Command::new("export")
        .about("Write down all that is known")
        .arg(
            Arg::new("format")
                .long("format")
                .value_parser(PossibleValuesParser::new(["jsonl", "cypher"]))
                .default_value("jsonl")
                .help("Lines of JSON to import elsewhere, or the graph as statements of Cypher"),
        );
    let import = clap::Command::new("import")
        .about("Take in what was exported")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(PathBufValueParser::new())
                .help("Lines of JSON; - is standard input"),
        );
    let audit = clap::Command::new("audit")
        .about("Count duplicates, echoes, loops, contradictions and what was never read");
    clap::Command::new("memory")
        .about("Look after what an agent remembers, in a running server or in its data")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([add, query, audit, export, import].map(common))
}

/// What the matches of [`definition`] say, given where the data is.
pub(crate) fn read(
    name: &str,
    matches: &ArgMatches,
    config: Config,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Asked {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let what = match name {
        "add" => What::Add(addition(matches)),
        "query" => What::Query(json!({
            "query": text("question"),
            "mode": text("mode"),
            "top_k": matches.get_one::<u64>("limit"),
        })),
        "export" => What::Export {
            cypher: text("format").is_some_and(|it| it == "cypher"),
        },
        "import" => What::Import(
            matches
                .get_one::<PathBuf>("file")
                .cloned()
                .unwrap_or_default(),
        ),
        _ => What::Audit,
    };
    Asked {
        what,
        options: DataOptions::read(matches, config, environment),
    }
}

/// The body of a request to store what the matches of `add` say.
fn addition(matches: &ArgMatches) -> Value {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let confidence = matches.get_one::<f64>("confidence").copied();
    let mut body = json!({ "content": text("content"), "type": text("type").unwrap_or_default() });
    let mut metadata = serde_json::Map::new();
    for (name, argument) in [
        ("session_id", "session"),
        ("speaker", "speaker"),
        ("occurred_at", "at"),
        ("task_id", "task"),
        ("source", "source"),
    ] {
        if let Some(value) = text(argument) {
            metadata.insert(name.to_owned(), value.into());
        }
    }
    body["metadata"] = metadata.into();
    if let Some(layer) = text("layer") {
        body["layer"] = layer.into();
    }
    if confidence.is_some() || text("context").is_some() || text("why").is_some() {
        body["reason"] = json!({
            "source": text("source"),
            "confidence": confidence,
            "context": text("context"),
            "why": text("why"),
        });
    }
    body
}

/// A file, or standard input.
pub(super) fn read_text(path: &Path) -> std::io::Result<String> {
    if path.as_os_str() != "-" {
        return std::fs::read_to_string(path);
    }
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
