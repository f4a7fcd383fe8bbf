//! The agent that conformance suites drive, for tests that need another server: in this process, on threads of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::server::config;

/// Half of how long the tasks of `test-resubscribe-message-id` work.
const TIMEOUT: Duration = Duration::from_millis(250);

/// A running server; ends when dropped.
pub(crate) struct Sut {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sut {
    /// Starts it on a free port and waits until it listens.
    pub(crate) async fn start() -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// As [`Sut::start`], at this address.
    pub(crate) async fn start_at(address: SocketAddr) -> Self {
        let (listens, listening) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        // A test's own runtime has one thread and may be busy; a server elsewhere would go on.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let mut config = config();
                config.listen = address;
                config.push_private = true;
                let server = ::sut::Sut {
                    timeout: TIMEOUT,
                    ..::sut::Sut::default()
                }
                .start(&config)
                .await
                .unwrap();
                listens.send(server.address()).unwrap();
                tokio::select! {
                    () = server.run(std::future::pending()) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(5));
        });
        Self {
            address: listening.await.unwrap(),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Cuts its connections and closes its port, without a graceful stop.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Sut {
    fn drop(&mut self) {
        self.end();
    }
}

/// The program that an environment variable names, or else this one.
pub(crate) fn program(variable: &str, otherwise: impl Into<PathBuf>) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| otherwise.into(), PathBuf::from)
}
