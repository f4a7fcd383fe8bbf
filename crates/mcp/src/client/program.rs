//! A tool server that is a program: started with an environment of its own, ended with its connection.

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

/// The longest line of standard error that is logged as one line, in bytes.
const MAX_LINE: u64 = 4 << 10;

/// A running program. Dropping it kills the program.
pub(super) struct Program {
    child: Child,
    stderr: Option<JoinHandle<()>>,
}

/// The transport to a program: one message on each line.
pub(super) type Lines = AsyncRwTransport<RoleClient, Bounded<ChildStdout>, ChildStdin>;

impl Program {
    /// Starts the program of a server, with these environment variables and none of ours.
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
        // A process group of its own: Ctrl-C in our terminal must not end the program before we close it.
        #[cfg(unix)]
        program.process_group(0);
        let mut child = program.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other(
                "the program has no standard input or output",
            ));
        };
        let stderr = child.stderr.take();
        let stderr = stderr.map(|it| tokio::spawn(log_lines(name.to_owned(), it)));
        let bounded = Bounded {
            inner: output,
            line: 0,
            longest: max_message,
        };
        // `Bounded` ends the connection at a line that is too long. The library would drop the line, and the call would
        // wait for the response in it.
        let lines = AsyncRwTransport::new_client(bounded, input).with_max_line_length(usize::MAX);
        Ok((Self { child, stderr }, lines))
    }

    /// Waits until the program exits, which it should do when its input is closed; kills it after `grace`.
    pub(super) async fn end(mut self, grace: Duration) {
        if tokio::time::timeout(grace, self.child.wait())
            .await
            .is_err()
        {
            // Fails if the program exited just now.
            let _ = self.child.kill().await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(stderr) = &self.stderr {
            stderr.abort();
        }
    }
}

async fn log_lines(server: String, stderr: ChildStderr) {
    let mut lines = BufReader::new(stderr);
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

/// A reader that fails when a line becomes too long.
pub(super) struct Bounded<R> {
    inner: R,
    /// The length of the current line so far.
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
            let why = format!("message larger than {} bytes", self.longest);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        Poll::Ready(Ok(()))
    }
}
