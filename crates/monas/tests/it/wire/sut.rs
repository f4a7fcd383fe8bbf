//! The server under test: the real program with its demo agent.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::caller::{Binding, Caller};
use crate::support::program::{Monas, command};

/// Where the server keeps its tasks.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    Memory,
    Folder(PathBuf),
}

/// A running server; killed when dropped.
pub(crate) struct Sut {
    monas: Monas,
    pub(crate) address: SocketAddr,
}

impl Sut {
    /// Starts the program and waits until it listens.
    pub(crate) async fn start(store: &Store) -> Self {
        let store = match store {
            Store::Memory => "memory".into(),
            Store::Folder(path) => path.clone(),
        };
        let mut command = command(&std::env::temp_dir());
        command.args(["sut", "--store"]).arg(store);
        // Half of how long the tasks of `test-resubscribe-message-id` work, in seconds.
        command.env("TCK_STREAMING_TIMEOUT", "0.25");
        let monas = Monas::start(&mut command).await;
        let address = monas.authority().parse().unwrap();
        Self { monas, address }
    }

    pub(crate) async fn in_memory() -> Self {
        Self::start(&Store::Memory).await
    }

    /// Ends the process as a power cut would: it gets no chance to do anything.
    pub(crate) async fn kill(self) {
        self.monas.signal("KILL").await;
        let (code, log) = self.monas.ended().await;
        assert_eq!(code, None, "it ended by itself: {log}");
    }

    /// Asks the process to end.
    pub(crate) async fn terminate(&self) {
        self.monas.signal("TERM").await;
    }

    /// A new connection that speaks this binding.
    pub(crate) async fn caller(&self, binding: Binding) -> Caller {
        Caller::connect(self.address, binding).await
    }
}
