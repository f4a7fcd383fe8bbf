//! Where a server under test listens.

use std::net::TcpStream;

use crate::error::{Doing, Error, Result};

/// The address of a server on this machine, for WebSocket and HTTP alike.
#[derive(Debug, Clone)]
pub(super) struct Address {
    /// Host and port, as the `Host` header has them.
    pub(super) authority: String,
    pub(super) path: String,
}

impl Address {
    /// Takes `ws://host:port/path` and `http://host:port/path`.
    pub(super) fn parse(url: &str) -> Result<Address> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !matches!(scheme, "ws" | "http") || !authority.contains(':') {
            return Err(Error::Usage(format!("{url}: not ws://HOST:PORT/PATH")));
        }
        Ok(Address {
            authority: authority.to_owned(),
            path: format!("/{path}"),
        })
    }

    pub(super) fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(&self.authority);
        let stream = stream.doing(|| format!("connect to {}", self.authority))?;
        stream
            .set_nodelay(true)
            .doing(|| "set TCP_NODELAY".to_owned())?;
        Ok(stream)
    }
}
