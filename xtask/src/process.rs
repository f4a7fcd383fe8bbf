//! Starting other programs and taking their answers.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Doing, Error, Result};

/// The cargo that runs us, in the workspace's root.
pub(crate) fn cargo(root: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root);
    // What cargo told us about ourselves would be news to build scripts that look at it, and have them run again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
}

/// Runs a program that talks to the user directly.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .doing(|| format!("start {}", line(command)))?;
    ended(command, status)
}

/// Runs a program and returns what it printed; what it reports as errors goes to the user.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    command.stderr(Stdio::inherit());
    let output = command
        .output()
        .doing(|| format!("start {}", line(command)))?;
    ended(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program, shows each line it prints as it comes, and hands it to `seen` as well.
///
/// A program of tests that it has started is killed, and the result is [`Error::Stalled`], when no line comes for as long
/// as [`MAX_SILENCE`]: a test that waits for ever would otherwise hold up everything behind it. While nothing but the
/// compiler works, there are no lines either, and no limit.
pub(crate) fn watch(command: &mut Command, mut seen: impl FnMut(&str)) -> Result<()> {
    command.stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .doing(|| format!("start {}", line(command)))?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut lines = BufReader::new(stdout).split(b'\n');
        lines.try_for_each(|text| sender.send(text).map_err(drop))
    });
    let (mut testing, mut stalled) = (false, false);
    loop {
        match lines.recv_timeout(MAX_SILENCE) {
            Ok(text) => {
                let text = text.doing(|| format!("read from {}", line(command)))?;
                let text = String::from_utf8_lossy(&text);
                println!("{text}");
                testing |= text.starts_with("running ");
                testing &= !text.starts_with("test result:");
                seen(&text);
            }
            Err(RecvTimeoutError::Timeout) if !testing => {}
            Err(RecvTimeoutError::Timeout) => {
                stalled = true;
                kill_children(child.id())?;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // All lines were read: only a panic ends the reader otherwise.
    let _ = reader.join();
    let status = child
        .wait()
        .doing(|| format!("wait for {}", line(command)))?;
    if stalled {
        let command = line(command);
        return Err(Error::Stalled { command });
    }
    ended(command, status)
}

/// How long programs that are watched may print nothing. The longest test takes two minutes on two busy cores.
const MAX_SILENCE: Duration = Duration::from_secs(600);

/// Kills what a process has started, and not the process: cargo goes on with the next program of tests.
fn kill_children(parent: u32) -> Result<()> {
    let list = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(&list).doing(|| format!("read {list}"))?;
    for child in children.split_whitespace() {
        run(Command::new("kill").args(["-KILL", child]))?;
    }
    Ok(())
}

/// A program that cargo has built.
#[derive(Debug)]
pub(crate) struct Built {
    /// The package it is of, by the name of its folder.
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Built {
    /// Whether it runs tests; such a program has the name of what it tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.components().any(|it| it.as_os_str() == "deps")
    }
}

/// Runs `cargo build` with these arguments and returns the programs it made.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> Result<Vec<Built>> {
    let mut command = cargo(root);
    command.arg("build").args(arguments);
    command.args(["--message-format", "json-render-diagnostics"]);
    let messages = output(&mut command)?;
    let programs = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| {
            let manifest = Path::new(message["manifest_path"].as_str()?);
            let folder = manifest.parent()?.file_name()?;
            Some(Built {
                package: folder.to_string_lossy().into_owned(),
                name: message["target"]["name"].as_str()?.to_owned(),
                path: message["executable"].as_str()?.into(),
            })
        });
    Ok(programs.collect())
}

/// The profile of everything that is measured: what is shipped is built with it, too.
pub(crate) const MEASURED_PROFILE: &str = "dist";

/// Builds one program with the profile of everything that is measured.
pub(crate) fn build_measured(
    root: &Path,
    package: &str,
    kind: &[&str],
    name: &str,
) -> Result<PathBuf> {
    let profile = ["--profile", MEASURED_PROFILE, "--package", package];
    let arguments = [&profile[..], kind, &[name]].concat();
    let built = build(root, &arguments)?;
    let found = built.into_iter().find(|program| program.name == name);
    found
        .map(|program| program.path)
        .ok_or_else(|| Error::Answer(format!("cargo built no program {name}")))
}

/// A program that may open as many files as the system lets it.
///
/// The shell raises its own soft limit and then becomes the program, so the process id stays.
pub(crate) fn with_many_files(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n \"$(ulimit -H -n)\" && exec \"$@\"", "sh"]);
    command.arg(program);
    command
}

/// The command as a user would type it, for messages.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

fn ended(command: &Command, status: std::process::ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Error::Command {
        command: line(command),
        status,
    })
}
