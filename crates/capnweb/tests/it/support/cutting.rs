//! A proxy that cuts connections at random, in the middle of a frame as often as between two.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A proxy that stops listening, and cuts all there is, when dropped.
pub(crate) struct Cutting {
    pub(crate) address: SocketAddr,
    cuts: Arc<AtomicU64>,
    _running: JoinSet<()>,
}

impl Cutting {
    /// Forwards to a server. Each connection gets to move a random number of bytes below `most`, chosen by
    /// the seed, before it is cut; after `cuts` of them the connections are left alone.
    pub(crate) async fn start(to: SocketAddr, seed: u64, most: u64, cuts: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counted = Arc::new(AtomicU64::new(0));
        let mut running = JoinSet::new();
        let count = counted.clone();
        running.spawn(async move {
            let mut random = Random::new(seed);
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(to).await.unwrap();
                let budget = if count.load(Ordering::Relaxed) < cuts {
                    random.below(most)
                } else {
                    u64::MAX
                };
                let count = count.clone();
                connections.spawn(async move {
                    forward(client, server, budget).await;
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        Self {
            address,
            cuts: counted,
            _running: running,
        }
    }

    /// How many connections have ended.
    pub(crate) fn cuts(&self) -> u64 {
        self.cuts.load(Ordering::Relaxed)
    }
}

/// Moves bytes both ways until either end closes or the budget is used up.
async fn forward(client: TcpStream, server: TcpStream, budget: u64) {
    let budget = AtomicU64::new(budget);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = copy(from_client, to_server, &budget) => {}
        () = copy(from_server, to_client, &budget) => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    budget: &AtomicU64,
) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let left = budget.load(Ordering::Relaxed);
        let allowed = (read as u64).min(left);
        budget.fetch_sub(allowed, Ordering::Relaxed);
        let written = to.write_all(&buffer[..allowed as usize]).await;
        if written.is_err() || allowed < read as u64 {
            return;
        }
    }
}

/// The same numbers for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}
