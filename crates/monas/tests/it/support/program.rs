//! The `monas` binary as a user runs it.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

/// A running server; killed when dropped.
pub(crate) struct Monas {
    process: Child,
    /// Where it says it listens.
    pub(crate) url: String,
    log: Lines<BufReader<ChildStderr>>,
}

/// How a process ended, and what it said on its way.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary, with nothing of this process's environment but a home; it lets all callers in.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = living(home);
    command.env("MONAS_DEMO", "true");
    command
}

/// The same for callers with credentials alone, as users get it.
pub(crate) fn closed(home: &Path) -> Command {
    let mut command = command(home);
    command.env_remove("MONAS_OPEN");
    command
}

/// The same with the agent that lives, as users get it.
pub(crate) fn living(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_monas"));
    command.env_clear().env("HOME", home).kill_on_drop(true);
    // Tests call as fast as they can, and few of them read the log, which would fill its pipe.
    command.env("MONAS_RATE_LIMIT", "off");
    // Most tests are about something else than credentials.
    command.env("MONAS_OPEN", "true");
    command.env("MONAS_LOG", "info,monas::call=off");
    command
}

/// Runs the binary until it ends.
pub(crate) async fn run(command: &mut Command) -> Ended {
    let output = command.output().await.unwrap();
    Ended {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Monas {
    /// Starts a server on a port of the system's choice, and waits until it listens.
    pub(crate) async fn start(command: &mut Command) -> Self {
        Self::start_at("127.0.0.1:0", command).await
    }

    /// As [`Monas::start`], at this address.
    pub(crate) async fn start_at(address: &str, command: &mut Command) -> Self {
        let command = command.args(["--listen", address]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let Some(line) = lines.next_line().await.unwrap() else {
            let mut text = String::new();
            log.read_to_string(&mut text).await.unwrap();
            panic!("it did not start: {text}");
        };
        let url = line.strip_prefix("monas listens on ").unwrap().to_owned();
        Self {
            process,
            url,
            log: log.lines(),
        }
    }

    /// Host and port of its URL.
    pub(crate) fn authority(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id().unwrap()
    }

    /// Reads its log up to and including a line with these words.
    pub(crate) async fn logged(&mut self, words: &str) -> String {
        let mut text = String::new();
        while !text.contains(words) {
            let line = self.log.next_line().await.unwrap();
            let line = line.unwrap_or_else(|| panic!("no {words:?} in the log:\n{text}"));
            text += &line;
            text += "\n";
        }
        text
    }

    /// Sends it a signal, such as `TERM`.
    pub(crate) async fn signal(&self, name: &str) {
        let arguments = [format!("-{name}"), self.id().to_string()];
        let sent = Command::new("kill").args(arguments).status().await.unwrap();
        assert!(sent.success());
    }

    /// Waits until it has ended, and gives the rest of its log.
    pub(crate) async fn ended(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        while let Some(line) = self.log.next_line().await.unwrap() {
            text += &line;
            text += "\n";
        }
        (self.process.wait().await.unwrap().code(), text)
    }

    /// Tells it to terminate, and checks that it does so in good order.
    pub(crate) async fn stop(self) {
        self.signal("TERM").await;
        let (code, log) = self.ended().await;
        assert_eq!(code, Some(0), "{log}");
    }
}
