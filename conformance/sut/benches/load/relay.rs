//! A relay between a client and the server: it counts what passes, and cuts connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    counts: Arc<Counts>,
    /// How often all connections were cut.
    cuts: watch::Sender<u64>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    bytes: AtomicU64,
    /// How often the client spoke after the server had: as often it waited for an answer.
    turns: AtomicU64,
    client_spoke_last: AtomicBool,
    connections: AtomicU64,
}

/// What has passed so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) bytes: u64,
    pub(crate) turns: u64,
    /// Connections that were made.
    pub(crate) connections: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Client,
    Server,
}

impl Relay {
    pub(crate) async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let counts = Arc::<Counts>::default();
        let (cuts, cut) = watch::channel(0);
        let counted = counts.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                counted.connections.fetch_add(1, Ordering::Relaxed);
                // Only a cut that comes from now on concerns it.
                let mut cut = cut.clone();
                cut.mark_unchanged();
                let counted = counted.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        passed = pass(client, server, &counted) => drop(passed),
                        changed = cut.changed() => drop(changed),
                    }
                });
            }
        });
        Ok(Self {
            address,
            counts,
            cuts,
            accepting,
        })
    }

    pub(crate) fn passed(&self) -> Passed {
        Passed {
            bytes: self.counts.bytes.load(Ordering::Relaxed),
            turns: self.counts.turns.load(Ordering::Relaxed),
            connections: self.counts.connections.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Passed {
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            bytes: self.bytes - earlier.bytes,
            turns: self.turns - earlier.turns,
            connections: self.connections - earlier.connections,
        }
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, counts: &Counts) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let there = copy(from_client, to_server, From::Client, counts);
    let back = copy(from_server, to_client, From::Server, counts);
    // The first end of the two ends both.
    tokio::select! {
        ended = there => ended,
        ended = back => ended,
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    who: From,
    counts: &Counts,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        counts.bytes.fetch_add(read as u64, Ordering::Relaxed);
        let client = who == From::Client;
        let before = counts.client_spoke_last.swap(client, Ordering::Relaxed);
        if client && !before {
            counts.turns.fetch_add(1, Ordering::Relaxed);
        }
        to.write_all(&buffer[..read]).await?;
    }
}
