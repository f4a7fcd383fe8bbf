//! A command that runs, followed from the server.

use std::io;
use std::os::unix::net::UnixStream as Socket;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};

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
        })
    }

    /// What the command runs in.
    pub fn sandbox(&self) -> SandboxKind {
        self.kind
    }

    /// The next piece of output; none when both outputs are closed. May be dropped and called again.
    pub async fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let (mut out, mut err) = (vec![0; PIECE], vec![0; PIECE]);
            let (stream, read) = match &mut self.outputs {
                (None, None) => return Ok(None),
                (Some(a), None) => (Stream::Out, a.read(&mut out).await?),
                (None, Some(b)) => (Stream::Err, b.read(&mut err).await?),
                (Some(a), Some(b)) => tokio::select! {
                    read = a.read(&mut out) => (Stream::Out, read?),
                    read = b.read(&mut err) => (Stream::Err, read?),
                },
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
        let mut ended = None;
        let mut line = String::new();
        loop {
            line.clear();
            match self.reports.read_line(&mut line).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            match serde_json::from_str(&line) {
                Ok(Report::Began(main)) => self.main = Some(main),
                Ok(Report::Exited(code)) => ended = Some(Ended::Exited(code)),
                Ok(Report::Signalled(signal)) => ended = Some(Ended::Signalled(signal)),
                Ok(Report::TooManyProcesses(most)) => {
                    ended = Some(Ended::TooManyProcesses(most));
                }
                Ok(Report::Failed(why)) => return Err(Error::Command(why)),
                Err(_) => {}
            }
        }
        let _ = self.supervisor.wait().await;
        if ended.is_none() {
            self.abandon();
        }
        ended.ok_or_else(|| Error::Command("the process that supervised it was ended".to_owned()))
    }

    /// The supervisor is gone and can end nothing: the group of the command is all that is known of it.
    fn abandon(&self) {
        if let Some(group) = self.main.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
