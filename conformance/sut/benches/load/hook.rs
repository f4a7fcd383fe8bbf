//! Where webhooks are told: it takes everything and counts.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub(crate) struct Hook {
    address: SocketAddr,
    taken: Arc<Taken>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Taken {
    deliveries: AtomicU64,
    /// The tasks of received events that were not asked for yet.
    tasks: Mutex<HashSet<String>>,
    more: Notify,
}

impl Hook {
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let taken = Arc::<Taken>::default();
        let counted = taken.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                let counted = counted.clone();
                // Who hangs up in the middle has delivered nothing.
                tokio::spawn(async move { drop(take(caller, &counted).await) });
            }
        });
        Ok(Self {
            address,
            taken,
            accepting,
        })
    }

    /// The URL for what happens to a task.
    pub(crate) fn address(&self, task: &str) -> String {
        format!("http://{}/{task}", self.address)
    }

    pub(crate) fn deliveries(&self) -> u64 {
        self.taken.deliveries.load(Ordering::Relaxed)
    }

    /// Ends when something was told of a task.
    pub(crate) async fn heard_of(&self, task: &str) {
        loop {
            let more = self.taken.more.notified();
            tokio::pin!(more);
            more.as_mut().enable();
            if self.taken.lock().remove(task) {
                return;
            }
            more.await;
        }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Taken {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes one delivery after the other.
async fn take(caller: TcpStream, taken: &Taken) -> io::Result<()> {
    let mut caller = BufReader::new(caller);
    loop {
        let mut line = String::new();
        if caller.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default();
        let task = path.trim_start_matches('/').to_owned();
        let mut length = 0;
        loop {
            line.clear();
            caller.read_line(&mut line).await?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        tokio::io::copy(&mut (&mut caller).take(length), &mut tokio::io::sink()).await?;
        caller
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            .await?;
        taken.deliveries.fetch_add(1, Ordering::Relaxed);
        // Most events arrive after their task was checked.
        let mut tasks = taken.lock();
        if tasks.len() > 1000 {
            tasks.clear();
        }
        tasks.insert(task);
        drop(tasks);
        taken.more.notify_waiters();
    }
}
