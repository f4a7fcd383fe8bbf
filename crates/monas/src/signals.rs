//! The signals that stop the process, and the one that makes it read files again.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// A signal that asks the process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT, which Ctrl-C sends.
    Interrupt,
    /// SIGTERM, which a supervisor sends.
    Terminate,
}

impl Signal {
    /// The exit code of a process that this signal ended.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 128 + 2,
            Self::Terminate => 128 + 15,
        }
    }
}

/// Catches signals from the moment it is made.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

/// Catches SIGHUP, which asks a server to read files again, from now on.
pub(crate) fn hangups() -> io::Result<unix::Signal> {
    unix::signal(SignalKind::hangup())
}
