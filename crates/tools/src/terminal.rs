//! Commands in the project, each in its sandbox, and terminals that a person and an agent share.
//!
//! - [`Shell::start`] begins a command in its sandbox; [`RunningCommand`] follows it
//! - `terminal-run` is the skill: output as it comes, the exit code, and which sandbox it ran in
//! - [`Terminals`] holds interactive sessions, each with what was typed and by whom

use std::io;
use std::os::unix::net::UnixStream as Socket;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;
use crate::sandbox::{Bounds, Launch, Network, Sandbox, SandboxKind};

mod command;
mod output;
mod run;
mod session;

pub use command::{Ended, Piece, RunningCommand, Stream};
pub use output::Capped;
pub use run::{Ran, Run, TerminalRun, run_skill};
pub use session::{Followed, Size, Terminal, Terminals, Typed};

/// The shell that a command line is given to.
const SHELL: &str = "/bin/sh";

/// Where commands are run: a project and its sandbox. Clones are the same.
///
/// It starts commands and does not own them: [`RunningCommand`] and [`Terminal`] do, and dropping
/// one of them ends all its processes. The shell holds the open project folder, the sandbox that was found when the
/// server began, and the limits.
///
/// To start a command is: check the line and the folder, decide what the sandbox may reach, start the supervisor, and
/// hand it one end of a socket. The command line is one argument of `/bin/sh -c`, never part of a text that is joined
/// here, so that quoting is the caller's alone and an approval shows exactly what is run. The environment is empty
/// except for what the sandbox sets: variables of the server hold keys.
///
/// A sandbox that cannot be entered is an error, never a reason to run unconfined. Where the settings say that there
/// is no sandbox, a person has to agree to each command ([`is_unconfined`](Self::is_unconfined)).
#[derive(Clone, Debug)]
pub struct Shell {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    project: Project,
    sandbox: Sandbox,
    limits: TerminalLimits,
}

/// How long commands may take and how much of their output is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalLimits {
    /// The time that a command has if it does not say how much it needs.
    pub time: Duration,
    /// The most time that it can ask for.
    pub most_time: Duration,
    /// Longest command line.
    pub command_bytes: usize,
    /// How much of the output is kept from its beginning, and how much from its end.
    pub head_bytes: usize,
    pub tail_bytes: usize,
    /// How much of the output is passed on while the command runs.
    pub streamed_bytes: usize,
}

impl Default for TerminalLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(120),
            most_time: Duration::from_secs(MOST_SECONDS),
            command_bytes: 32 << 10,
            head_bytes: 48 << 10,
            tail_bytes: 48 << 10,
            streamed_bytes: 512 << 10,
        }
    }
}

/// The most time that a command can ask for.
const MOST_SECONDS: u64 = 3600;

/// A command that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// A line for `/bin/sh`.
    pub line: String,
    /// The folder that it begins in.
    pub folder: ProjectPath,
    pub network: Network,
}

impl CommandLine {
    /// A line that is run in the folder of the project, without network.
    pub fn new(line: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            folder: ProjectPath::root(),
            network: Network::Off,
        }
    }
}

impl Shell {
    pub fn new(project: Project, sandbox: Sandbox) -> Self {
        Self::with_limits(project, sandbox, TerminalLimits::default())
    }

    /// Like [`new`](Self::new), with other limits than the default ones.
    pub fn with_limits(project: Project, mut sandbox: Sandbox, limits: TerminalLimits) -> Self {
        // Landlock and mounts are about real paths.
        for hidden in &mut sandbox.hidden {
            if let Ok(real) = hidden.canonicalize() {
                *hidden = real;
            }
        }
        Self {
            inner: Arc::new(Inner {
                project,
                sandbox,
                limits,
            }),
        }
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.inner.sandbox
    }

    pub fn limits(&self) -> &TerminalLimits {
        &self.inner.limits
    }

    /// Checks a command without running it. Blocks on the disk.
    pub fn check(&self, command: &CommandLine) -> Result<(), Error> {
        self.folder(command).map(drop)
    }

    /// Begins a command. Must be called in a tokio runtime.
    pub async fn start(&self, command: &CommandLine) -> Result<RunningCommand, Error> {
        let bounds = self.inner.sandbox.bounds;
        self.start_within(command, bounds, false).await
    }

    /// The same with narrower bounds, and with its processor time told while it runs if it is `sampled`.
    pub(crate) async fn start_within(
        &self,
        command: &CommandLine,
        bounds: Bounds,
        sampled: bool,
    ) -> Result<RunningCommand, Error> {
        let shell = self.clone();
        let line = command.clone();
        let made = tokio::task::spawn_blocking(move || {
            shell.launch(
                &line,
                vec![SHELL.into(), "-c".into(), line.line.clone()],
                false,
            )
        });
        let launch = Launch {
            bounds,
            sampled,
            ..made.await.map_err(|_| stopped())??
        };
        let (server, supervisor) = Socket::pair().map_err(|error| not_begun(&error))?;
        let begun = self
            .supervisor(&launch)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(supervisor)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        RunningCommand::new(begun.map_err(|error| not_begun(&error))?, server, self)
            .map_err(|error| not_begun(&error))
    }

    /// The helper that supervises a launch. Its environment is the command's.
    fn supervisor(&self, launch: &Launch) -> tokio::process::Command {
        let sandbox = &self.inner.sandbox;
        let mut command = tokio::process::Command::new(&sandbox.helper.program);
        command
            .args(launch.arguments(&sandbox.helper))
            .env_clear()
            .envs(
                sandbox
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .env("TMPDIR", &launch.scratch)
            .process_group(0);
        command
    }

    fn launch(
        &self,
        line: &CommandLine,
        command: Vec<String>,
        terminal: bool,
    ) -> Result<Launch, Error> {
        let sandbox = &self.inner.sandbox;
        let (project, folder) = self.folder(line)?;
        let scratch = sandbox
            .scratch
            .join(format!("run-{}", uuid::Uuid::new_v4().simple()));
        make_private(&scratch).map_err(|error| not_begun(&error))?;
        let scratch = scratch.canonicalize().map_err(|error| not_begun(&error))?;
        Ok(Launch {
            kind: sandbox.kind,
            helper: sandbox.helper.clone(),
            bubblewrap: sandbox.bubblewrap(),
            command,
            folder,
            project,
            scratch,
            hidden: sandbox.hidden.clone(),
            network: line.network,
            bounds: sandbox.bounds,
            terminal,
            protected: vec![std::process::id()],
            sampled: false,
        })
    }

    /// The folders of the project and of a command, as the system knows them.
    fn folder(&self, command: &CommandLine) -> Result<(PathBuf, PathBuf), Error> {
        let limit = self.inner.limits.command_bytes;
        let wrong = |problem: String| Error::Query {
            what: "command",
            problem,
        };
        if command.line.trim().is_empty() {
            return Err(wrong("empty".to_owned()));
        }
        if command.line.len() > limit {
            return Err(wrong(format!("longer than {limit} bytes")));
        }
        if command.line.contains('\0') {
            return Err(wrong("it has a null character in it".to_owned()));
        }
        let project = self.inner.project.location()?;
        if let Some(problem) = self.inner.sandbox.problem(&project) {
            return Err(wrong(problem));
        }
        let folder = self.inner.project.folder_beneath(&command.folder)?;
        let folder = project.join(folder);
        if project.to_str().is_none() || folder.to_str().is_none() {
            return Err(wrong("the path of the project is not UTF-8".to_owned()));
        }
        Ok((project, folder))
    }

    /// Whether a person must agree to each command, one by one.
    pub fn is_unconfined(&self) -> bool {
        self.inner.sandbox.kind == SandboxKind::None
    }
}

fn make_private(folder: &std::path::Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn not_begun(source: &io::Error) -> Error {
    Error::Command(format!("it was not begun: {source}"))
}

fn stopped() -> Error {
    Error::Command("the server is stopping".to_owned())
}
