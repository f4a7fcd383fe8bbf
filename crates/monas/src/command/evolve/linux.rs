//! What the commands do, where there is a sandbox.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use ::evolve::folder::{FolderGate, FolderOptions, FolderRun, Proposal, canary, runs};
use ::evolve::{Progress, Report, Search};
use serde_json::json;

use super::{Asked, EvolveCommand};
use crate::config::Data;
use crate::error::Error;

/// How often progress is told.
const EVERY: Duration = Duration::from_secs(2);

pub(super) async fn perform(
    command: &EvolveCommand,
    say: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let as_json = command.options.json;
    let print = |text: &str, value: serde_json::Value| {
        let text = match as_json {
            true => serde_json::to_string_pretty(&value).unwrap_or_default(),
            false => text.to_owned(),
        };
        say(text.trim_end());
    };
    let data = match &command.options.config.data {
        Data::Folder(folder) => folder.clone(),
        Data::Memory => std::env::temp_dir().join("monas-evolve"),
    };
    let Some(folder) = &command.folder else {
        let all = runs(&data)?;
        let lines: Vec<String> = all
            .iter()
            .map(|it| format!("{}  {}  seed {}", it.id, it.folder.display(), it.seed))
            .collect();
        print(&lines.join("\n"), json!(all));
        return Ok(());
    };
    let gate = || -> Result<FolderGate, Error> {
        let found = FolderGate::find(folder, &data)?;
        found.ok_or_else(|| {
            ::evolve::Error::Refused(format!(
                "find a proposal for {}: run monas evolve first",
                folder.display()
            ))
            .into()
        })
    };
    let by = std::env::var("USER").unwrap_or_else(|_| "local".to_owned());
    match &command.asked {
        Asked::Run {
            budget,
            seed,
            random,
        } => {
            let mut options = options(command, folder, &data)?;
            (options.budget, options.seed, options.random) = (*budget, *seed, *random);
            let report = search(&options, as_json, &say).await?;
            print(&summary(&report, folder), json!(report));
        }
        Asked::List => {
            let name = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let all = runs(&data)?;
            let own: Vec<_> = all.into_iter().filter(|it| it.folder == name).collect();
            let lines: Vec<String> = own
                .iter()
                .map(|it| format!("{}  seed {}", it.id, it.seed))
                .collect();
            print(&lines.join("\n"), json!(own));
        }
        Asked::Show => {
            let gate = gate()?;
            let lines: Vec<String> = gate.proposals().iter().map(|it| told(it, &gate)).collect();
            let version = gate.gate().version().number;
            print(
                &format!("{}\n{version} is in force.", lines.join("\n")),
                json!(gate.proposals()),
            );
        }
        Asked::Diff => {
            let gate = gate()?;
            let waiting = gate.waiting().or_else(|| gate.proposals().last());
            let diff = waiting
                .map(|it| it.diff(&gate.program()))
                .unwrap_or_default();
            print(&diff, json!({ "diff": diff }));
        }
        Asked::Approve => {
            let version = gate()?.approve(&by)?;
            let options = options(command, folder, &data)?;
            let fallen = canary(&options).await?;
            let text = match fallen {
                false => format!("{version} is written, and does as well as in its trial."),
                true => format!(
                    "{version} was written and did worse than the version before, which is written again."
                ),
            };
            print(&text, json!({ "version": version, "rolled_back": fallen }));
        }
        Asked::Reject { reason } => {
            gate()?.reject(&by, reason)?;
            print(
                "The proposal is rejected; nothing was written.",
                json!({ "rejected": true }),
            );
        }
        Asked::Rollback { to } => {
            let version = gate()?.rollback(*to, &by)?;
            print(
                &format!("The older program is written again, as {version}."),
                json!({ "version": version }),
            );
        }
    }
    Ok(())
}

fn options(command: &EvolveCommand, folder: &Path, data: &Path) -> Result<FolderOptions, Error> {
    let program = std::env::current_exe().map_err(|source| Error::System {
        what: "find this program",
        source,
    })?;
    let sandbox = crate::serve::tools::sandbox(&command.options.config, &program);
    Ok(FolderOptions::new(folder, data, sandbox))
}

async fn search(
    options: &FolderOptions,
    quiet: bool,
    say: &impl Fn(&str) -> bool,
) -> Result<Report, Error> {
    let mut run = FolderRun::open(options)?;
    let (budget, random) = (run.settings().budget, run.settings().random);
    if !quiet {
        for note in &run.config().notes {
            say(&format!("config.yaml: {note}"));
        }
        say(&format!(
            "run {}, seed {}, {budget} evaluations, no model",
            run.id(),
            run.settings().seed
        ));
    }
    let told = Cell::new(Instant::now());
    let best = Cell::new(f64::MIN);
    let report = run.finish(|search: &Search, _: &Progress| {
        let now = search
            .entries()
            .get(search.best())
            .and_then(|it| it.fitness().score());
        let rose = now.is_some_and(|it| it > best.get());
        if quiet || (!rose && told.get().elapsed() < EVERY) {
            return;
        }
        told.set(Instant::now());
        best.set(now.unwrap_or(f64::MIN));
        let count = match search.random_evaluations() {
            0 => format!("{} of {budget}", search.evaluations()),
            drawn => format!("at random {drawn} of {random}"),
        };
        let score = now.map_or_else(|| "none yet".to_owned(), |it| format!("{it:.6}"));
        say(&format!("{count}: best {score}"));
    });
    Ok(report.await?)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "none".to_owned(), |it| format!("{it:.6}"))
}

fn summary(report: &Report, folder: &Path) -> String {
    let mut text = format!(
        "{}.\n{} evaluations ({} invalid) in {:.1} s: from {} to {}",
        report.stopped,
        report.evaluations,
        report.invalid,
        report.seconds,
        number(report.initial),
        number(report.best),
    );
    if report.random_evaluations > 0 {
        text.push_str(&format!(
            "\n{} evaluations at random: {}",
            report.random_evaluations,
            number(report.at_random)
        ));
    }
    let folder = folder.display();
    match (&report.proposal, &report.outcome) {
        (None, _) => text.push_str("\nNothing better was found."),
        (Some(_), None) => text.push_str(&format!(
            "\nA proposal waits: monas evolve diff {folder}, then monas evolve approve {folder} or monas evolve reject {folder}.\nThe best program is in {folder}/openevolve_output/best."
        )),
        (Some(_), Some(outcome)) => text.push_str(&format!("\nThe gate did not confirm it: {outcome:?}")),
    }
    text
}

fn told(proposal: &Proposal, gate: &FolderGate) -> String {
    let waits = gate
        .waiting()
        .is_some_and(|it| it.number == proposal.number);
    let state = match waits {
        true => "waits for approval".to_owned(),
        false => gate
            .outcome(proposal.number)
            .map_or_else(|| "not decided".to_owned(), |it| format!("{it:?}")),
    };
    let mean = |all: &[Option<f64>]| {
        let known: Vec<f64> = all.iter().flatten().copied().collect();
        let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
        known.iter().sum::<f64>() / f64::from(count.max(1))
    };
    let measured = |it: &::evolve::folder::Measured| {
        format!(
            "{:.6} to {:.6} in {} pairs, {:?}",
            mean(&it.baseline),
            mean(&it.candidate),
            it.baseline.len(),
            it.verdict
        )
    };
    let held_out = match (&proposal.held_out, proposal.has_held_out) {
        (None, _) => "not measured".to_owned(),
        (Some(it), true) => measured(it),
        (Some(it), false) => format!(
            "{} (no held-out evaluator: other seeds of the same one)",
            measured(it)
        ),
    };
    format!(
        "proposal {}: {state}\n  found by {} evaluations; as many at random: {}\n  trial: {}\n  held out: {held_out}",
        proposal.number,
        proposal.evaluations,
        number(proposal.at_random),
        measured(&proposal.trial),
    )
}
