//! Commands run confined: what a command may read, write, reach and start, and how it is made so.
//!
//! A command is not started by the server itself but by a helper, which is the same program called again
//! ([`Helper`], [`helper`]). There are two stages, each a process:
//!
//! 1. The supervisor (`sandbox/supervise.rs`) is outside of the sandbox. It holds one end of a socket, the other end is
//!    the server's. When that end closes, because the server drops the command, ends or is killed, the supervisor ends
//!    every process that the command left, also those that changed their session or process group: it is their
//!    subreaper, so that they become its children.
//! 2. The entered process (`sandbox/enter.rs`) gives up rights, one after another, and becomes the command by `exec`.
//!    Nothing of the command runs before all of them are given up; if one cannot be given up, the command is not run.
//!
//! Rights are given up in this process and not between `fork` and `exec` of the server, because code there must be
//! `unsafe`, which this project forbids.
//!
//! | kind | files | network | processes |
//! |---|---|---|---|
//! | bubblewrap | mount namespace: all read-only, the project writable, hidden paths empty | network namespace, seccomp | pid namespace |
//! | landlock | Landlock: an allow-list of what may be read, the project writable | seccomp | Landlock's signal scope, seccomp |
//! | none | as the server | as the server | ended with the command |
//!
//! In all of them the command has limits on processes, file size and memory, no core dumps, and a process group of its
//! own. In the first two it has no new privileges, few capabilities, and a seccomp filter (`sandbox/filter.rs`).

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

mod bubblewrap;
mod enter;
mod filter;
mod landlock;
mod processes;
mod supervise;

pub(crate) use supervise::Report;

/// How this program is called again to enter a sandbox: the program, and arguments before those of the helper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Helper {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

/// What confines a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxKind {
    Bubblewrap,
    Landlock,
    /// Nothing: a person agrees to every command, one by one.
    None,
}

impl SandboxKind {
    /// The best kind that works on this machine. `path` is the variable `PATH`, to look for `bwrap` in.
    pub fn detect(path: Option<&str>) -> Self {
        let kinds = Self::available(path);
        kinds.first().copied().unwrap_or(Self::None)
    }

    /// The kinds that work on this machine, the best first.
    ///
    /// bubblewrap is called once: where user namespaces are forbidden it is installed and does not work.
    pub fn available(path: Option<&str>) -> Vec<Self> {
        let mut kinds = Vec::new();
        if !filter::is_supported() {
            return kinds;
        }
        if bubblewrap::find(path).is_some_and(|it| bubblewrap::works(&it)) {
            kinds.push(Self::Bubblewrap);
        }
        if landlock::is_supported() {
            kinds.push(Self::Landlock);
        }
        kinds
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a command may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    #[default]
    Off,
    /// Connections over IP. Sockets of this machine's services (D-Bus, Docker) stay closed.
    Granted,
}

/// Limits on what a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bounds {
    /// Processes and threads at a time. With more, all are ended.
    pub processes: u64,
    /// Largest file that it writes.
    pub file_bytes: u64,
    /// Memory that each process may write to.
    pub data_bytes: u64,
    /// Time between the request to end (SIGTERM) and the end (SIGKILL).
    pub grace: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            processes: 1024,
            file_bytes: 4 << 30,
            data_bytes: 8 << 30,
            grace: Duration::from_secs(2),
        }
    }
}

/// Where and how commands are confined. One for each project.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub kind: SandboxKind,
    pub helper: Helper,
    /// Files and folders that no command can read: the data folder with its keys, and the like. A project that lies
    /// inside of one is still the command's.
    pub hidden: Vec<PathBuf>,
    /// Where each command gets a folder for temporary files, which goes with it.
    pub scratch: PathBuf,
    /// The variables that commands get, and no others: the server's own environment may hold keys.
    pub environment: Vec<(String, String)>,
    pub bounds: Bounds,
}

impl Sandbox {
    pub fn new(kind: SandboxKind, helper: Helper, scratch: impl Into<PathBuf>) -> Self {
        Self {
            kind,
            helper,
            hidden: Vec::new(),
            scratch: scratch.into(),
            environment: Vec::new(),
            bounds: Bounds::default(),
        }
    }

    /// The program `bwrap`, found in the variable `PATH` of commands.
    pub(crate) fn bubblewrap(&self) -> Option<PathBuf> {
        let mut variables = self.environment.iter();
        let path = variables.find(|(name, _)| name == "PATH");
        bubblewrap::find(path.map(|(_, path)| path.as_str()))
    }

    /// Why commands cannot be confined in this folder, if so. Landlock grants a folder with all in it.
    pub(crate) fn problem(&self, project: &Path) -> Option<String> {
        let mut inside = self.hidden.iter();
        let inside = inside.find(|it| it.starts_with(project))?;
        (self.kind != SandboxKind::Bubblewrap).then(|| {
            format!(
                "{} is inside of the project, where a command could read it: move it out of the project, or install \
                 bubblewrap, which can hide it",
                inside.display()
            )
        })
    }

    /// What the sandbox allows, in a sentence for the person who is asked.
    pub fn describe(&self, network: Network) -> String {
        let network = match network {
            Network::Off => "no network",
            Network::Granted => "network allowed",
        };
        match self.kind {
            SandboxKind::None => "Sandbox: none. The command can change all that the server can, and use the network."
                .to_owned(),
            kind => format!(
                "Sandbox: {kind}. The project is writable, everything else read-only, the server's data unreadable; {network}."
            ),
        }
    }
}

/// What the helper is told: one command with its confinement. It travels as one argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) kind: SandboxKind,
    /// How the second stage is called.
    pub(crate) helper: Helper,
    /// The program `bwrap`, if it is the kind.
    pub(crate) bubblewrap: Option<PathBuf>,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    /// The project.
    pub(crate) project: PathBuf,
    /// The folder for temporary files; the supervisor removes it.
    pub(crate) scratch: PathBuf,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) network: Network,
    pub(crate) bounds: Bounds,
    /// Standard output is a terminal, which the command is to control.
    pub(crate) terminal: bool,
    /// Processes that the command may not signal: the server and the supervisor.
    pub(crate) protected: Vec<u32>,
    /// Whether the server wants to know what processor time it uses while it runs, and not only at its end.
    pub(crate) sampled: bool,
}

/// The names of the stages on the helper's command line.
const SUPERVISE: &str = "supervise";
const ENTER: &str = "enter";

impl Launch {
    /// The arguments of the helper for the supervisor.
    pub(crate) fn arguments(&self, helper: &Helper) -> Vec<String> {
        stage(helper, SUPERVISE, self)
    }
}

fn stage(helper: &Helper, stage: &str, launch: &Launch) -> Vec<String> {
    let launch = serde_json::to_string(launch).expect("paths of a launch are UTF-8");
    let mut arguments = helper.arguments.clone();
    arguments.extend([stage.to_owned(), launch]);
    arguments
}

/// The helper itself: what the program does when it is called again. `arguments` are those after the subcommand.
///
/// It must be called first in `main`, before any thread is started: rights are given up for one thread.
pub fn helper(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter().filter_map(|it| it.into_string().ok());
    let asked = arguments.next().zip(arguments.next());
    let Some((stage, launch)) = asked else {
        return fail("it is called by the server, with a stage and a launch");
    };
    let launch: Launch = match serde_json::from_str(&launch) {
        Ok(launch) => launch,
        Err(error) => return fail(&format!("the launch cannot be read: {error}")),
    };
    match &*stage {
        SUPERVISE => supervise::run(&launch),
        ENTER => match enter::run(&launch) {
            Ok(never) => match never {},
            Err(problem) => fail(&problem),
        },
        other => fail(&format!("there is no stage {other:?}")),
    }
}

/// The exit code of a helper that did not run the command.
pub(crate) const NOT_RUN: u8 = 125;

#[expect(
    clippy::print_stderr,
    reason = "the helper is a program, and this is its only way to the output of the command"
)]
fn fail(problem: &str) -> ExitCode {
    eprintln!("sandbox: {problem}");
    ExitCode::from(NOT_RUN)
}
