//! `monas capnweb tap`: stands between the clients and the server of Cap'n Web sessions, passes their
//! frames on and says what they are.
//!
//! - `upstream`: the server, and how to reach it
//! - `session`: one client and its connection to the server

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use dial::Dialer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::config::Outbound;
use crate::listen::{Beyond, Error};

mod session;
mod upstream;

pub(crate) use upstream::Upstream;

/// What to tap, and where clients come to be tapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The server.
    pub(crate) upstream: Upstream,
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// How the server is reached.
    pub(crate) outbound: Outbound,
}

/// A tap that listens.
#[derive(Debug)]
pub(crate) struct Tap {
    listener: TcpListener,
    address: SocketAddr,
    upstream: Upstream,
    dialer: Dialer,
}

impl Tap {
    /// Listens, on a loopback address only: whoever reaches the tap reaches the server behind it.
    pub(crate) async fn bind(options: &Options) -> Result<Self, crate::error::Error> {
        let address = options.listen;
        if !address.ip().is_loopback() {
            return Err(Error::NotLoopback(address, Beyond::Never).into());
        }
        let bind = |source| Error::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        Ok(Self {
            address: listener.local_addr().map_err(bind)?,
            listener,
            upstream: options.upstream.clone(),
            dialer: options.outbound.dialer()?,
        })
    }

    /// Where clients connect to instead of to the server; any path will do.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Taps until `stop`; every line for the user goes to `say`.
    pub(crate) async fn run(
        self,
        say: impl Fn(&str) + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) {
        let (say, upstream) = (Arc::new(say), Arc::new((self.upstream, self.dialer)));
        // Dropped with this future, and all sessions with it.
        let mut sessions = JoinSet::new();
        let mut last = 0_u64;
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => return,
                Some(_) = sessions.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        last += 1;
                        let log = session::Log::new(last, say.clone());
                        sessions.spawn(session::run(stream, upstream.clone(), log));
                    }
                    Err(error) => {
                        tracing::warn!("could not accept a connection: {error}");
                        tokio::time::sleep(crate::listen::ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }
}
