//! Two sessions in this process with frames moved by hand, so that nothing happens unasked.

use std::future::IntoFuture;
use std::pin::pin;

use capnweb::{Capability, Connection, Interface, Options, Stub};

/// A server's end and its client's.
pub(crate) struct Joined {
    server: Connection,
    client: Connection,
}

impl Joined {
    /// A server that offers `main`, and a client that has called nothing yet.
    pub(crate) fn new(main: impl Into<Capability>) -> Self {
        let options = Options::default();
        Self {
            server: Connection::new(main, &options),
            client: Connection::new(Capability::nothing(), &options),
        }
    }

    /// The server's main object, as the client holds it.
    pub(crate) fn stub<T: Interface + ?Sized>(&self) -> Stub<T> {
        self.client.remote()
    }

    /// Waits for a result while frames move.
    pub(crate) async fn wait<F: IntoFuture>(&self, future: F) -> F::Output {
        let mut future = pin!(future.into_future());
        loop {
            self.move_frames();
            tokio::select! {
                biased;
                output = &mut future => return output,
                () = self.server.outgoing() => {}
                () = self.client.outgoing() => {}
            }
        }
    }

    /// What the client is about to send, one frame on a line; it is sent.
    pub(crate) fn sent(&self) -> String {
        let mut sent = String::new();
        for frame in self.client.take_outgoing() {
            sent.push_str(&frame);
            sent.push('\n');
            self.server.receive(&frame);
        }
        sent
    }

    /// Ends the test: when all stubs are dropped, nothing may be left in the tables but the main objects.
    pub(crate) async fn end(self) {
        for _ in 0..10 {
            self.move_frames();
            tokio::task::yield_now().await;
        }
        for side in [&self.server, &self.client] {
            let stats = side.stats();
            assert_eq!(
                (stats.imports, stats.exports, stats.pending),
                (1, 1, 0),
                "something leaked"
            );
        }
    }

    fn move_frames(&self) {
        loop {
            let (up, down) = (self.client.take_outgoing(), self.server.take_outgoing());
            if up.is_empty() && down.is_empty() {
                return;
            }
            up.iter().for_each(|frame| self.server.receive(frame));
            down.iter().for_each(|frame| self.client.receive(frame));
        }
    }
}
