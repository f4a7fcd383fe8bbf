//! A proxy that cuts connections at random: in the middle of a frame, between two, or by falling silent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// A proxy; dropping it cuts everything and stops it.
pub(crate) struct Cutting {
    pub(crate) address: SocketAddr,
    ended: Arc<AtomicU64>,
    _running: JoinSet<()>,
}

/// How long a silent connection stays: node's WebSocket waits for the other end when it is closed.
const SILENCE: Duration = Duration::from_secs(3);

/// How one connection goes.
#[derive(Clone, Copy)]
struct Fate {
    /// How many bytes it moves, both ways together.
    bytes: u64,
    /// Afterwards it stays open and moves nothing more, until the client gives up or [`SILENCE`] is over.
    silent: bool,
}

impl Cutting {
    /// Forwards to a server. A connection moves a random number of bytes from `least` to `most` before it is cut, and every
    /// eighth falls silent instead; after `cuts` of them the connections are left alone.
    pub(crate) async fn start(to: &str, seed: u64, (least, most): (u64, u64), cuts: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (to, ended) = (to.to_owned(), Arc::new(AtomicU64::new(0)));
        let count = ended.clone();
        let mut running = JoinSet::new();
        running.spawn(async move {
            let mut random = Random::new(seed);
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                // While the server is gone, connections are cut at once.
                let Ok(server) = TcpStream::connect(&to).await else {
                    continue;
                };
                let whole = count.load(Ordering::Relaxed) >= cuts;
                let fate = Fate {
                    bytes: match whole {
                        true => u64::MAX,
                        false => least + random.below(most - least),
                    },
                    silent: random.below(8) == 0,
                };
                let count = count.clone();
                connections.spawn(async move {
                    forward(client, server, fate).await;
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        Self {
            address,
            ended,
            _running: running,
        }
    }

    /// How many connections have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Moves bytes both ways until either end closes, or the connection has moved what it may.
async fn forward(client: TcpStream, server: TcpStream, fate: Fate) {
    let left = AtomicU64::new(fate.bytes);
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::select! {
        () = copy(&mut from_client, &mut to_server, &left) => {}
        () = copy(&mut from_server, &mut to_client, &left) => {}
    }
    if fate.silent && left.load(Ordering::Relaxed) == 0 {
        let mut swallowed = [0; 4096];
        let silence = async { while let Ok(1..) = from_client.read(&mut swallowed).await {} };
        let _ = timeout(SILENCE, silence).await;
    }
}

async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    left: &AtomicU64,
) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let allowed = (read as u64).min(left.load(Ordering::Relaxed));
        left.fetch_sub(allowed, Ordering::Relaxed);
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

/// The seed of a run: `MONAS_SEED`, or another each time.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("MONAS_SEED").ok();
    let given = given.and_then(|it| it.parse().ok());
    let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
    given.unwrap_or(random % 1_000_000)
}
