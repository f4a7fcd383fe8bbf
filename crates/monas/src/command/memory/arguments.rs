//! The command line of `monas memory`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValuesParser};
use clap::{Arg, ArgMatches, value_parser};
use serde_json::{Value, json};

use super::{Action, MemoryCommand};
use crate::command::backend::DataOptions;
use crate::config::Config;

/// The command line of `monas memory`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let common = |command| DataOptions::arguments(command, settings);
    let add = clap::Command::new("add")
        .about("Store an observation, or with a reason a belief")
        .after_help(
            "monas memory add 'Ada likes tea' --source user:ada --confidence 0.9 --context 'what does Ada drink?' --why 'she said so'",
        )
        .arg(
            Arg::new("content")
                .value_name("TEXT")
                .required(true)
                .help("The text"),
        )
        .args([
            text(
                "type",
                "TYPE",
                "The kind of content: conversation, code, concept",
            ),
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
                .help("How certain it is, from 0 to 1; part of a reason"),
            text(
                "context",
                "QUESTION",
                "The question it answers; part of a reason",
            ),
            text("why", "WHY", "Why it is worth keeping; part of a reason"),
            Arg::new("public")
                .long("public")
                .action(clap::ArgAction::SetTrue)
                .help("Let all callers of the agent see it"),
            Arg::new("layer")
                .long("layer")
                .value_parser(PossibleValuesParser::new([
                    "observation",
                    "belief",
                    "procedure",
                ]))
                .help("The layer [default: belief with a part of a reason, else observation]"),
        ]);
    let query = clap::Command::new("query")
        .about("Search the memory")
        .after_help("monas memory query 'what does Ada drink?' -n 3")
        .arg(
            Arg::new("question")
                .value_name("QUESTION")
                .required(true)
                .help("The question"),
        )
        .args([
            Arg::new("mode")
                .long("mode")
                .value_parser(PossibleValuesParser::new(["hybrid", "local", "global"]))
                .default_value("hybrid")
                .help("Start from entities (local), themes (global), or both"),
            Arg::new("limit")
                .short('n')
                .long("limit")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..=1000))
                .default_value("10")
                .help("The most results"),
        ]);
    let export = clap::Command::new("export")
        .about("Print all records")
        .after_help("monas memory export > memory.jsonl")
        .arg(
            Arg::new("format")
                .long("format")
                .value_parser(PossibleValuesParser::new(["jsonl", "cypher"]))
                .default_value("jsonl")
                .help("Lines of JSON for import, or the graph as Cypher statements"),
        );
    let import = clap::Command::new("import")
        .about("Add exported records")
        .after_help("monas memory import memory.jsonl --for scout")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(PathBufValueParser::new())
                .help("Lines of JSON; - is standard input"),
        );
    let forget = clap::Command::new("forget")
        .about("Delete a record, and what rests on it alone")
        .after_help("monas memory forget 01a2b3c4 --why 'she asked for it'    # ids are in: monas memory query")
        .args([
            Arg::new("id")
                .value_name("ID")
                .required(true)
                .help("The id of the record, as a query shows it"),
            text("why", "WHY", "Why it is deleted, for the journal"),
        ]);
    let audit = clap::Command::new("audit")
        .about("Count duplicates, echoes, recall loops, contradictions and unread records")
        .after_help("monas memory audit -o json");
    clap::Command::new("memory")
        .about(
            "Add to, search, export, import and audit the memory of an agent, and have it forget",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([add, query, forget, audit, export, import].map(common))
}

/// Reads the subcommand `name` of [`definition`].
pub(crate) fn read(
    name: &str,
    matches: &ArgMatches,
    config: Config,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<MemoryCommand, clap::Error> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let action = match name {
        "add" => {
            check_reason(matches)?;
            Action::Add(addition(matches))
        }
        "query" => Action::Query(json!({
            "query": text("question"),
            "mode": text("mode"),
            "top_k": matches.get_one::<u64>("limit"),
        })),
        "forget" => Action::Forget(json!({
            "id": text("id"),
            "why": text("why").unwrap_or_default(),
        })),
        "export" => Action::Export {
            cypher: text("format").is_some_and(|it| it == "cypher"),
        },
        "import" => Action::Import(
            matches
                .get_one::<PathBuf>("file")
                .cloned()
                .unwrap_or_default(),
        ),
        _ => Action::Audit,
    };
    Ok(MemoryCommand {
        action,
        options: DataOptions::read(matches, config, environment)?,
    })
}

/// Checks that a reason is complete; the error names the missing flags.
fn check_reason(matches: &ArgMatches) -> Result<(), clap::Error> {
    let given = |name: &&str| matches.contains_id(name);
    let begun = ["confidence", "context", "why"].iter().any(given);
    let missing: Vec<String> = ["source", "confidence", "context", "why"]
        .iter()
        .filter(|name| !given(name))
        .map(|name| format!("--{name}"))
        .collect();
    match begun && !missing.is_empty() {
        false => Ok(()),
        true => {
            let missing = missing.join(", ");
            let why = format!("the reason of a belief is not whole: add {missing}\n");
            let kind = clap::error::ErrorKind::MissingRequiredArgument;
            Err(clap::Error::raw(kind, why))
        }
    }
}

/// The body of the request of `add`.
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
    if matches.get_flag("public") {
        body["public"] = true.into();
    }
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

/// Reads a file, or standard input for `-`.
pub(super) fn read_text(path: &Path) -> std::io::Result<String> {
    if path.as_os_str() != "-" {
        return std::fs::read_to_string(path);
    }
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
