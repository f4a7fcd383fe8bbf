//! Runs scenarios over wires and tells whether they agree.

use std::path::Path;
use std::process::ExitCode;

use proof::projection::{UNASKED, UNSHOWN};
use proof::{Plan, Scenario, Wire, run, verdict};

const USAGE: &str =
    "usage: proof run FILE [--wires WIRE,WIRE…]   runs a scenario; each wire must show what jsonrpc-1.0 does
       proof show FILE [--wires WIRE]         runs a scenario over one wire and shows what is seen
       proof wires                            lists the wires
       proof limits                           lists what some of them cannot ask or show, and why";

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program for a terminal"
)]
#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match perform(&arguments).await {
        Ok(said) => {
            println!("{}", said.trim_end());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{}", why.trim_end());
            ExitCode::FAILURE
        }
    }
}

async fn perform(arguments: &[&str]) -> Result<String, String> {
    match arguments {
        ["wires"] => Ok(names(&Wire::all()).join("\n")),
        ["limits"] => Ok(limits()),
        ["run", file] => compare(file, &Wire::all()).await,
        ["run", file, "--wires", wires] => compare(file, &read_wires(wires)?).await,
        ["show", file] => show(file, Wire::reference()).await,
        ["show", file, "--wires", wire] => show(file, wire.parse()?).await,
        _ => Err(USAGE.to_owned()),
    }
}

async fn compare(file: &str, wires: &[Wire]) -> Result<String, String> {
    let scenario = read(file)?;
    let agreed = verdict::agrees(&scenario, wires).await;
    agreed.map_err(|difference| difference.to_string())?;
    let steps = scenario.steps.len();
    Ok(format!(
        "{steps} steps give the same over {}",
        names(wires).join(", ")
    ))
}

async fn show(file: &str, wire: Wire) -> Result<String, String> {
    let scenario = read(file)?;
    let trace = run(&scenario, &Plan::over(&scenario, &[wire])).await;
    let seen = trace.seen_over(trace.wires());
    let entries = trace.entries.iter().zip(seen);
    let entries = entries.map(|(entry, seen)| {
        let seen: String = seen.iter().map(|value| format!("    {value}\n")).collect();
        format!("{}\n{seen}", entry.step)
    });
    Ok(entries.collect())
}

fn limits() -> String {
    let line = |kind: &str, name: &str, why: &str, over: fn(Wire) -> bool| {
        let wires: Vec<Wire> = Wire::all().into_iter().filter(|wire| over(*wire)).collect();
        format!("{kind}: {name} ({})\n    {why}\n", names(&wires).join(", "))
    };
    let unasked = UNASKED
        .iter()
        .map(|row| line("cannot ask", row.name, row.why, row.over));
    let unshown = UNSHOWN
        .iter()
        .map(|row| line("cannot show", row.name, row.why, row.over));
    unasked.chain(unshown).collect()
}

fn read(file: &str) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(Path::new(file));
    let text = text.map_err(|error| format!("{file}: {error}"))?;
    text.parse().map_err(|error| format!("{file}: {error}"))
}

fn read_wires(names: &str) -> Result<Vec<Wire>, String> {
    names.split(',').map(str::parse).collect()
}

fn names(wires: &[Wire]) -> Vec<String> {
    wires.iter().map(Wire::to_string).collect()
}
