//! The program `sut`, started, killed and restarted.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::wire::caller::{Binding, Caller};

/// Where the server keeps its tasks.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    Memory,
    Folder(PathBuf),
}

/// A running server; killed when dropped.
pub(crate) struct Sut {
    process: Child,
    log: Lines<BufReader<ChildStderr>>,
    pub(crate) address: SocketAddr,
}

/// The program, with nothing of this process's environment but a home.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sut"));
    command.env_clear().env("HOME", home).kill_on_drop(true);
    command
}

impl Sut {
    /// Starts the program and waits until it listens.
    pub(crate) async fn start(store: &Store) -> Self {
        let store = match store {
            Store::Memory => "memory".into(),
            Store::Folder(path) => path.clone(),
        };
        let mut command = command(&std::env::temp_dir());
        command.arg("--store").arg(store);
        // Half of how long the tasks of `test-resubscribe-message-id` work, in seconds.
        command.env("TCK_STREAMING_TIMEOUT", "0.25");
        Self::spawn(&mut command).await
    }

    pub(crate) async fn in_memory() -> Self {
        Self::start(&Store::Memory).await
    }

    /// Starts this command on a free port.
    pub(crate) async fn spawn(command: &mut Command) -> Self {
        let command = command.args(["--listen", "127.0.0.1:0"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let Some(line) = lines.next_line().await.unwrap() else {
            let mut text = String::new();
            log.read_to_string(&mut text).await.unwrap();
            panic!("it did not start: {text}");
        };
        let url = line.strip_prefix("monas listens on ").unwrap();
        let address = url.split_once("://").unwrap().1.parse().unwrap();
        Self {
            process,
            log: log.lines(),
            address,
        }
    }

    /// Ends the process as a power cut would: it gets no chance to do anything.
    pub(crate) async fn kill(self) {
        self.signal("KILL").await;
        let (code, log) = self.ended().await;
        assert_eq!(code, None, "it ended by itself: {log}");
    }

    /// Asks the process to end.
    pub(crate) async fn terminate(&self) {
        self.signal("TERM").await;
    }

    /// Asks the process to end, and checks that it stops gracefully.
    pub(crate) async fn stop(self) {
        self.terminate().await;
        let (code, log) = self.ended().await;
        assert_eq!(code, Some(0), "{log}");
    }

    /// A new connection that speaks this binding.
    pub(crate) async fn caller(&self, binding: Binding) -> Caller {
        Caller::connect(self.address, binding).await
    }

    async fn signal(&self, name: &str) {
        let id = self.process.id().unwrap();
        let arguments = [format!("-{name}"), id.to_string()];
        let sent = Command::new("kill").args(arguments).status().await.unwrap();
        assert!(sent.success());
    }

    /// Waits until it has ended; gives the exit code and the rest of its log.
    async fn ended(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        while let Some(line) = self.log.next_line().await.unwrap() {
            text += &line;
            text += "\n";
        }
        (self.process.wait().await.unwrap().code(), text)
    }
}
