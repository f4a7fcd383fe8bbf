//! A command that runs, followed from the server.

use std::io;
use std::os::unix::net::UnixStream as Socket;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::sync::watch;

use super::Shell;
use crate::error::Error;
use crate::sandbox::{Report, SandboxKind};

/// The size of a piece of output at most.
const PIECE: usize = 16 << 10;

/// One of the two outputs of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// A piece of output, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub stream: Stream,
    pub bytes: Vec<u8>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It had more processes than it may have.
    TooManyProcesses(u64),
}

impl Ended {
    /// The exit code as shells write it: 128 and the signal for what a signal ended.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signalled(signal) => 128 + signal,
            Self::TooManyProcesses(_) => 137,
        }
    }
}

/// A command that runs. Dropping it ends the command with all that it started: first they are asked to (SIGTERM), and
/// killed after the grace of the sandbox. The same happens when the process of the server ends, in whatever way.
#[derive(Debug)]
pub struct RunningCommand {
    supervisor: Child,
    /// What the supervisor says. Its closed other half tells the supervisor to end.
    reports: BufReader<UnixStream>,
    outputs: (Option<ChildStdout>, Option<ChildStderr>),
    kind: SandboxKind,
    main: Option<i32>,
    /// A report of which the end has not come yet.
    line: Vec<u8>,
    /// What the supervisor said last of its end.
    ended: Option<Result<Ended, Error>>,
    used: watch::Sender<Duration>,
}

impl RunningCommand {
    pub(super) fn new(mut supervisor: Child, socket: Socket, shell: &Shell) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let outputs = (supervisor.stdout.take(), supervisor.stderr.take());
        Ok(Self {
            supervisor,
            reports: BufReader::new(UnixStream::from_std(socket)?),
            outputs,
            kind: shell.sandbox().kind,
            main: None,
            line: Vec::new(),
            ended: None,
            used: watch::Sender::default(),
        })
    }

    /// What the command runs in.
    pub fn sandbox(&self) -> SandboxKind {
        self.kind
    }

    /// The processor time that it and all that it started have used. It changes at its end, and while it runs if that was
    /// asked for.
    pub fn used(&self) -> watch::Receiver<Duration> {
        self.used.subscribe()
    }

    /// The next piece of output; none when both outputs are closed. May be dropped and called again.
    pub async fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let (mut out, mut err) = (vec![0; PIECE], vec![0; PIECE]);
            let Self {
                outputs: (a, b),
                reports,
                line,
                ..
            } = self;
            if a.is_none() && b.is_none() {
                return Ok(None);
            }
            let (stream, read) = tokio::select! {
                read = some(a, &mut out) => (Stream::Out, read?),
                read = some(b, &mut err) => (Stream::Err, read?),
                // What was read of a line stays, also when the other is faster.
                read = reports.read_until(b'\n', line), if line.last() != Some(&b'\n') => {
                    match read {
                        Ok(1..) => self.hear(),
                        // The supervisor is gone. A line that has an end is not waited for again.
                        Ok(0) | Err(_) => line.push(b'\n'),
                    }
                    continue;
                }
            };
            let mut bytes = match stream {
                Stream::Out => out,
                Stream::Err => err,
            };
            match (read, stream) {
                (0, Stream::Out) => self.outputs.0 = None,
                (0, Stream::Err) => self.outputs.1 = None,
                (read, stream) => {
                    bytes.truncate(read);
                    return Ok(Some(Piece { stream, bytes }));
                }
            }
        }
    }

    /// Asks the command to end. Its output goes on until it has.
    pub async fn stop(&mut self) {
        // The supervisor takes the closed half for the end.
        let _ = self.reports.get_mut().shutdown().await;
    }

    /// Waits until the command and all that it started have ended. Output that was not read is lost.
    pub async fn finish(mut self) -> Result<Ended, Error> {
        self.outputs = (None, None);
        while let Ok(1..) = self.reports.read_until(b'\n', &mut self.line).await {
            self.hear();
        }
        let _ = self.supervisor.wait().await;
        match self.ended.take() {
            Some(ended) => ended,
            None => {
                self.abandon();
                let why = "the process that supervised it was ended";
                Err(Error::Command(why.to_owned()))
            }
        }
    }

    /// Takes the report that has come.
    fn hear(&mut self) {
        let line = std::mem::take(&mut self.line);
        match serde_json::from_slice(&line) {
            Ok(Report::Began(main)) => self.main = Some(main),
            Ok(Report::Used(millis)) => {
                self.used.send_replace(Duration::from_millis(millis));
            }
            Ok(Report::Exited(code)) => self.ended = Some(Ok(Ended::Exited(code))),
            Ok(Report::Signalled(signal)) => self.ended = Some(Ok(Ended::Signalled(signal))),
            Ok(Report::TooManyProcesses(most)) => {
                self.ended = Some(Ok(Ended::TooManyProcesses(most)));
            }
            Ok(Report::Failed(why)) => self.ended = Some(Err(Error::Command(why))),
            Err(_) => {}
        }
    }

    /// The supervisor is gone and can end nothing: the group of the command is all that is known of it.
    fn abandon(&self) {
        if let Some(group) = self.main.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Reads from an output, if it is open; else it never ends.
async fn some(output: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> io::Result<usize> {
    match output {
        Some(output) => output.read(buffer).await,
        None => std::future::pending().await,
    }
}
