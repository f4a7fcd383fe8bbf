//! From a name to addresses, of which only those that may be reached are given on.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

/// The addresses of a name, on their way.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves names. An address with port 0 gets the port of the request.
pub trait Resolve: fmt::Debug + Send + Sync {
    fn resolve(&self, host: &str) -> Resolving;
}

/// The resolver of the system.
#[derive(Debug)]
pub(crate) struct System;

impl Resolve for System {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
    }
}

/// No address of a name may be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0}: not a public address")]
pub(crate) struct Forbidden(pub(crate) String);

/// A resolver that gives only addresses which may be reached. The connector dials what this gives and asks nothing
/// else, so an address that was not checked cannot be dialed.
#[derive(Clone)]
pub(crate) struct Guarded {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) allows: fn(IpAddr) -> bool,
}

impl Guarded {
    pub(crate) async fn resolve(self, host: String) -> Result<Vec<SocketAddr>, BoxError> {
        let mut addresses = self.resolver.resolve(&host).await?;
        if addresses.is_empty() {
            return Err(io::Error::other("the name has no address").into());
        }
        addresses.retain(|address| (self.allows)(address.ip()));
        match addresses.is_empty() {
            true => Err(Forbidden(host).into()),
            false => Ok(addresses),
        }
    }
}

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Service<Name> for Guarded {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolving = self.clone().resolve(name.as_str().to_owned());
        Box::pin(async move { Ok(resolving.await?.into_iter()) })
    }
}
