//! `monas capnweb tap`: a proxy between the clients and the server of Cap'n Web sessions that prints their frames.
//!
//! - `upstream`: the server, and how to reach it
//! - `session`: one client and its connection to the server

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use dial::Dialer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::config::{self, Outbound};
use crate::listen::{Error, RemoteAccess};

mod session;
mod upstream;

pub(crate) use upstream::Upstream;

/// The command line of `monas capnweb`.
pub(super) fn definition() -> Command {
    let arguments = [
        Arg::new("url")
            .value_name("URL")
            .required(true)
            .value_parser(|text: &str| text.parse::<Upstream>())
            .help("The server, such as ws://127.0.0.1:8080/rpc or wss://example.com/rpc"),
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS")
            .value_parser(|text: &str| config::address(text).ok_or(config::ADDRESS_EXPECTED))
            .default_value("127.0.0.1:0")
            .help("The address for clients; port 0 picks a free one"),
    ];
    let tap = Command::new("tap")
        .about("Show the frames of sessions as they pass")
        .long_about(
            "Listens for clients, connects each of them to the server at URL, forwards their frames and \
             prints them, until Ctrl-C. Clients connect to the address it prints instead of the server.\n\n\
             Each line has the session, the seconds since it began, the number of the frame, the sender and \
             the content. c1 is the first thing the client pushed, s-1 the first capability the server sent, \
             main the main object of the receiving side.",
        )
        .after_help("monas capnweb tap ws://127.0.0.1:8080/a2a/capnweb")
        .args(arguments)
        .arg(super::ca_cert());
    Command::new("capnweb")
        .about("Inspect Cap'n Web sessions")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(tap)
}

/// The server, and the address for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) upstream: Upstream,
    pub(crate) listen: SocketAddr,
    /// How the server is reached.
    pub(crate) outbound: Outbound,
}

impl Options {
    /// Reads the matches of `tap`; none if an argument is missing.
    pub(crate) fn read(matches: &ArgMatches, outbound: Outbound) -> Option<Self> {
        Some(Self {
            upstream: matches.get_one::<Upstream>("url")?.clone(),
            listen: *matches.get_one("listen")?,
            outbound,
        })
    }
}

/// A tap with its address, before it runs.
#[derive(Debug)]
pub(crate) struct Tap {
    listener: TcpListener,
    address: SocketAddr,
    upstream: Upstream,
    dialer: Dialer,
}

impl Tap {
    /// Binds the address, which must be a loopback one: a client of the tap reaches the server behind it.
    pub(crate) async fn bind(options: &Options) -> Result<Self, crate::error::Error> {
        let address = options.listen;
        if !address.ip().is_loopback() {
            return Err(Error::NotLoopback(address, RemoteAccess::Forbidden).into());
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

    /// The URL for clients; any path works.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Taps until `stop`; lines go to `say`.
    pub(crate) async fn run(
        self,
        say: impl Fn(&str) + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) {
        let (say, upstream) = (Arc::new(say), Arc::new((self.upstream, self.dialer)));
        // Owns the sessions; they end when this future is dropped.
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
