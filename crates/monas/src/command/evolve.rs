//! `monas evolve`: searches for a better version of the program of a folder, and decides about what was found. It needs no server.
//!
//! A run is kept in the data folder: the same command given again goes on with it. The project is written by `approve` and
//! `rollback` alone.

use std::path::PathBuf;

use clap::builder::PathBufValueParser;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::backend::DataOptions;
use crate::config::Config;
use crate::error::Error;

#[cfg(target_os = "linux")]
mod linux;

/// A command about a folder that is searched.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EvolveCommand {
    asked: Asked,
    /// None for a list of all runs.
    folder: Option<PathBuf>,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Run {
        budget: Option<usize>,
        seed: Option<u64>,
        /// Whether as many evaluations at random are made, to compare with.
        random: bool,
    },
    List,
    Show,
    Diff,
    Approve,
    Reject {
        reason: String,
    },
    Rollback {
        to: Option<u64>,
    },
}

fn folder() -> Arg {
    Arg::new("folder")
        .value_name("FOLDER")
        .value_parser(PathBufValueParser::new())
        .help("A folder with initial_program.*, evaluator.py and, if there is one, config.yaml")
}

/// The command line of `monas evolve`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let about = |name: &'static str, about: &'static str| {
        let after = format!("monas evolve {name} examples/packing");
        let command = clap::Command::new(name).about(about).after_help(after);
        command.arg(folder().required(name != "list"))
    };
    let shared = |command| DataOptions::arguments(command, settings);
    let reject = about("reject", "Refuse the proposal that waits").arg(
        Arg::new("reason")
            .long("reason")
            .value_name("TEXT")
            .default_value("rejected on the command line")
            .help("Why it is refused"),
    );
    let rollback = about(
        "rollback",
        "Put an older version of the program in force again",
    )
    .arg(
        Arg::new("to")
            .long("to")
            .value_name("VERSION")
            .value_parser(value_parser!(u64))
            .help("The version [default: the one before]"),
    );
    let command = clap::Command::new("evolve")
        .about("Search for a better version of a program, by a command that scores it")
        .after_help(
            "monas evolve examples/packing --budget 300\nmonas evolve diff examples/packing\nmonas evolve approve examples/packing",
        )
        .args_conflicts_with_subcommands(true)
        .arg_required_else_help(true)
        .arg(folder())
        .arg(
            Arg::new("budget")
                .long("budget")
                .value_name("EVALUATIONS")
                .value_parser(value_parser!(usize))
                .help("How many evaluations the search has [default: max_iterations of config.yaml, else 200]"),
        )
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("NUMBER")
                .value_parser(value_parser!(u64))
                .help("The seed of all draws [default: random_seed of config.yaml, else 42]"),
        )
        .arg(
            Arg::new("no-random")
                .long("no-random")
                .action(ArgAction::SetTrue)
                .help("Leave out the evaluations at random that the result is compared with"),
        );
    shared(command)
        .subcommand(shared(about(
            "list",
            "List the runs, of one folder or of all",
        )))
        .subcommand(shared(about(
            "show",
            "Show what was proposed, measured and decided",
        )))
        .subcommand(shared(about("diff", "Show the change that is proposed")))
        .subcommand(shared(about(
            "approve",
            "Write the proposed program, then watch how it does",
        )))
        .subcommand(shared(reject))
        .subcommand(shared(rollback))
}

impl EvolveCommand {
    /// Reads the matches of [`definition`].
    pub(crate) fn read(
        matches: &ArgMatches,
        config: impl FnOnce(&ArgMatches) -> Result<Config, crate::config::Error>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, super::Refused> {
        let (name, matches) = matches.subcommand().unwrap_or(("run", matches));
        let config = config(matches)?;
        let one = |id: &str| matches.get_one::<String>(id).cloned();
        let asked = match name {
            "list" => Asked::List,
            "show" => Asked::Show,
            "diff" => Asked::Diff,
            "approve" => Asked::Approve,
            "reject" => Asked::Reject {
                reason: one("reason").unwrap_or_default(),
            },
            "rollback" => Asked::Rollback {
                to: matches.get_one("to").copied(),
            },
            _ => Asked::Run {
                budget: matches.get_one("budget").copied(),
                seed: matches.get_one("seed").copied(),
                random: !matches.get_flag("no-random"),
            },
        };
        let folder = matches.get_one::<PathBuf>("folder").cloned();
        if folder.is_none() && asked != Asked::List {
            return Err(super::usage(
                &"find the folder: name one, as in monas evolve examples/packing",
            )
            .into());
        }
        Ok(Self {
            asked,
            folder,
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Does it, and prints what came of it.
    #[cfg(target_os = "linux")]
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        linux::perform(self, say).await
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) async fn perform(&self, _: impl Fn(&str) -> bool) -> Result<(), Error> {
        Err(Error::NoSandbox)
    }
}
