//! A server of tools that is a program: started with an environment of its own, ended when nobody needs it.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use skill::ToolServer;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::clean::line;

/// The longest line of a program's complaints that is logged.
const MAX_LINE: u64 = 4 << 10;

/// A program that runs. To drop it is to end it at once.
pub(super) struct Program {
    child: Child,
    complaints: Option<JoinHandle<()>>,
}

/// What is said to a program and by it, a message in a line.
pub(super) type Lines = AsyncRwTransport<RoleClient, Bounded<ChildStdout>, ChildStdin>;

impl Program {
    /// Starts the program of a server. It sees the environment that is given here and nothing of ours.
    pub(super) fn start(
        name: &str,
        command: &str,
        server: &ToolServer,
        environment: &BTreeMap<String, String>,
        max_message: usize,
    ) -> io::Result<(Self, Lines)> {
        let mut program = Command::new(command);
        program
            .args(&server.args)
            .env_clear()
            .envs(environment)
            .envs(&server.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // What a terminal tells this process, such as to stop, it tells its programs itself.
        #[cfg(unix)]
        program.process_group(0);
        let mut child = program.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no input or no output"));
        };
        let complaints = child.stderr.take();
        let complaints = complaints.map(|it| tokio::spawn(log_lines(name.to_owned(), it)));
        let bounded = Bounded {
            inner: output,
            line: 0,
            longest: max_message,
        };
        // A line that is too long ends the connection, so that nobody waits for what was in it.
        let lines = AsyncRwTransport::new_client(bounded, input).with_max_line_length(usize::MAX);
        Ok((Self { child, complaints }, lines))
    }

    /// Waits for the program to end, which it was asked to when its input ended; ends it if it does not.
    pub(super) async fn end(mut self, grace: Duration) {
        if tokio::time::timeout(grace, self.child.wait())
            .await
            .is_err()
        {
            // One that is gone already needs no end.
            let _ = self.child.kill().await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(complaints) = &self.complaints {
            complaints.abort();
        }
    }
}

async fn log_lines(server: String, complaints: ChildStderr) {
    let mut lines = BufReader::new(complaints);
    loop {
        let mut bytes = Vec::new();
        let mut limited = (&mut lines).take(MAX_LINE);
        if !matches!(limited.read_until(b'\n', &mut bytes).await, Ok(1..)) {
            return;
        }
        let said = line(&String::from_utf8_lossy(&bytes), bytes.len());
        tracing::debug!(server, "{said}");
    }
}

/// Bytes whose lines are not too long.
pub(super) struct Bounded<R> {
    inner: R,
    /// How long the line is that is being read.
    line: usize,
    longest: usize,
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let new = &buffer.filled()[before..];
        self.line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => new.len() - end - 1,
            None => self.line.saturating_add(new.len()),
        };
        if self.line > self.longest {
            let why = format!("a message is larger than {} bytes", self.longest);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        Poll::Ready(Ok(()))
    }
}
