//! Drives an A2A server with the unmodified official Rust client, over each binding its card offers.
//!
//! ```text
//! a2a-interop BASE-URL [--binding JSONRPC] [--only NAME] [--held PREFIX]
//! ```
//!
//! `a2a-interop serve` is the other end: an agent on the official server, for our client to call.
//!
//! Prints one JSON line for each scenario and binding: `{"name", "binding", "ok", "detail"}`. What
//! each scenario checks stands in `../README.md`. The exit code says whether the run itself worked,
//! not whether the server passed.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use crate::probe::{BINDINGS, Probe, Result};
use crate::scenarios::SCENARIOS;

mod probe;
mod scenarios;
mod server;
mod webhook;

/// A scenario that waits longer than this waits for something that will not come.
const DEADLINE: Duration = Duration::from_secs(30);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return match server::serve().await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("a2a-interop: {error}");
                ExitCode::FAILURE
            }
        };
    }
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("a2a-interop: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let options = Options::from_arguments()?;
    for binding in BINDINGS {
        if !options.bindings.is_empty() && !options.bindings.iter().any(|wanted| wanted == binding)
        {
            continue;
        }
        let probe = Probe::reach(&options.base, binding, &options.held).await?;
        for scenario in SCENARIOS {
            let name = scenario.name();
            let wanted = options.only.is_empty() || options.only.contains(&name);
            if !wanted || !scenario.bindings.contains(&binding) {
                continue;
            }
            let outcome = tokio::time::timeout(DEADLINE, (scenario.run)(&probe)).await;
            let detail = match outcome {
                Ok(Ok(())) => String::new(),
                Ok(Err(error)) => in_one_line(&error.to_string()),
                Err(_) => format!("no end after {} s", DEADLINE.as_secs()),
            };
            let line = json!({"name": name, "binding": binding, "ok": detail.is_empty(), "detail": detail});
            println!("{line}");
        }
    }
    Ok(())
}

/// What the command line asks for; an empty list means all.
struct Options {
    base: String,
    bindings: Vec<String>,
    only: Vec<String>,
    held: String,
}

impl Options {
    fn from_arguments() -> Result<Self> {
        let mut words = std::env::args().skip(1);
        let mut options = Self {
            base: words.next().ok_or("the base URL is missing")?,
            bindings: Vec::new(),
            only: Vec::new(),
            held: "tck-cancel".to_owned(),
        };
        while let Some(flag) = words.next() {
            let value = words.next().ok_or(format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--binding" => options.bindings.push(value),
                "--only" => options.only.push(value),
                "--held" => options.held = value,
                _ => return Err(format!("there is no option {flag}").into()),
            }
        }
        Ok(options)
    }
}

fn in_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(400) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
