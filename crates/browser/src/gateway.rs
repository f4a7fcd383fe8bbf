//! The one way from the pages of a session to the network: a SOCKS proxy in this process that asks the policy.
//!
//! Chromium sends every connection of a browser context through it: of documents, frames, workers, WebSockets, popups and
//! downloads, from the first byte on, and also to loopback. It passes the name unresolved (SOCKS 5), and its own resolver
//! is switched off (`process.rs`), so that nothing is resolved twice: the name is resolved here, the policy judges each
//! address, and the address that passed is dialed. What a debugger would have to intercept request by request, in each
//! frame and worker, is decided here once for each connection.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::policy::{Policy, Resolver};

/// How many refusals are kept.
const KEPT: usize = 50;

/// How long a handshake, resolving and dialing may take.
const DEADLINE: Duration = Duration::from_secs(20);

/// The gateway of one session. Dropping it ends all connections.
#[derive(Debug)]
pub(crate) struct Gateway {
    address: SocketAddr,
    refused: Arc<Mutex<Refusals>>,
    serving: JoinHandle<()>,
}

/// A connection that the policy did not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedHost {
    /// Counted from 1 in the session.
    pub(crate) number: u64,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) why: String,
}

#[derive(Debug, Default)]
struct Refusals {
    count: u64,
    kept: VecDeque<RefusedHost>,
}

#[derive(Clone, Debug)]
struct Guard {
    policy: Policy,
    resolver: Arc<dyn Resolver>,
    refused: Arc<Mutex<Refusals>>,
}

/// The replies of SOCKS 5 (RFC 1928) that are given.
#[derive(Clone, Copy)]
enum Answer {
    Connected = 0,
    NotAllowed = 2,
    Unreachable = 4,
}

impl Gateway {
    pub(crate) async fn open(
        policy: Policy,
        resolver: Arc<dyn Resolver>,
        connections: usize,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let refused = Arc::default();
        let guard = Guard {
            policy,
            resolver,
            refused: Arc::clone(&refused),
        };
        let serving = tokio::spawn(serve(listener, guard, connections));
        Ok(Self {
            address,
            refused,
            serving,
        })
    }

    /// Its address, as Chromium takes it.
    pub(crate) fn proxy(&self) -> String {
        format!("socks5://{}", self.address)
    }

    /// How many connections were refused so far.
    pub(crate) fn refusals(&self) -> u64 {
        lock(&self.refused).count
    }

    /// The refusals after the first `count`, as far as they are kept.
    pub(crate) fn refused_after(&self, count: u64) -> Vec<RefusedHost> {
        let refused = lock(&self.refused);
        let after = refused.kept.iter().filter(|it| it.number > count);
        after.cloned().collect()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, guard: Guard, connections: usize) {
    let room = Arc::new(Semaphore::new(connections));
    let mut all = JoinSet::new();
    loop {
        while all.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((client, _)) => {
                let guard = guard.clone();
                all.spawn(async move {
                    // A connection that ends is the page's own affair.
                    let _ = guard.pass(client).await;
                    drop(place);
                });
            }
            // Too many open files: others end.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

impl Guard {
    async fn pass(&self, mut client: TcpStream) -> io::Result<()> {
        let (host, port) = timeout(DEADLINE, asked(&mut client)).await??;
        let answered = timeout(DEADLINE, self.dial(&host, port)).await;
        let mut server = match answered {
            Ok(Ok(server)) => server,
            Ok(Err(Some(why))) => {
                self.refuse(host, port, why);
                return answer(&mut client, Answer::NotAllowed).await;
            }
            Ok(Err(None)) | Err(_) => return answer(&mut client, Answer::Unreachable).await,
        };
        answer(&mut client, Answer::Connected).await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        copy_bidirectional(&mut client, &mut server).await?;
        Ok(())
    }

    /// A connection to an address that passed; the error has the refusal, or nothing if no address answers.
    async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, Option<String>> {
        self.policy.check_host(host, port).map_err(Some)?;
        let addresses = match dial::ip_literal(host) {
            Some(address) => vec![address],
            None => self.resolver.resolve(host).await.map_err(|_| None)?,
        };
        let mut refusal = None;
        for address in addresses {
            match self.policy.check_address(host, port, address) {
                Ok(()) => {
                    if let Ok(server) = TcpStream::connect((address, port)).await {
                        return Ok(server);
                    }
                }
                Err(why) => refusal = Some(why),
            }
        }
        Err(refusal)
    }

    fn refuse(&self, host: String, port: u16, why: String) {
        let mut refused = lock(&self.refused);
        refused.count += 1;
        let number = refused.count;
        if refused.kept.len() == KEPT {
            refused.kept.pop_front();
        }
        refused.kept.push_back(RefusedHost {
            number,
            host,
            port,
            why,
        });
    }
}

/// The host and the port that are asked for (RFC 1928, sections 3 and 4).
async fn asked(client: &mut TcpStream) -> io::Result<(String, u16)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let [version, methods] = array(client).await?;
    let mut offered = vec![0; usize::from(methods)];
    client.read_exact(&mut offered).await?;
    if version != 5 || !offered.contains(&0) {
        return Err(invalid());
    }
    client.write_all(&[5, 0]).await?;
    let [version, command, _, kind] = array(client).await?;
    if version != 5 || command != 1 {
        return Err(invalid());
    }
    let host = match kind {
        1 => IpAddr::from(Ipv4Addr::from(array::<4>(client).await?)).to_string(),
        4 => IpAddr::from(Ipv6Addr::from(array::<16>(client).await?)).to_string(),
        3 => {
            let [length] = array(client).await?;
            let mut name = vec![0; usize::from(length)];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).map_err(|_| invalid())?
        }
        _ => return Err(invalid()),
    };
    Ok((host, u16::from_be_bytes(array(client).await?)))
}

async fn array<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn answer(client: &mut TcpStream, answer: Answer) -> io::Result<()> {
    client
        .write_all(&[5, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
}

fn lock(refused: &Mutex<Refusals>) -> MutexGuard<'_, Refusals> {
    refused.lock().unwrap_or_else(PoisonError::into_inner)
}
