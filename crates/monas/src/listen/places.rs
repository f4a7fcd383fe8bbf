//! Places for connections: a number in all, a share for each address, and some that are kept for known callers.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::Limits;

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;

/// The places of one listener.
///
/// A connection takes an open place, or, when these are taken, one of those that are kept for known callers: its
/// requests are then answered only if their callers are known. Connections that never show credentials can thus take
/// all open places and still not keep out a caller that has some.
pub(super) struct Places {
    open: Arc<Semaphore>,
    kept: Arc<Semaphore>,
    addresses: Arc<Addresses>,
}

/// The number of connections from each address.
struct Addresses {
    most: usize,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// A place that is free, for a connection that is not accepted yet.
pub(super) struct Vacancy {
    permit: OwnedSemaphorePermit,
    kept: bool,
}

/// A place that a connection has until it is dropped.
pub(super) struct ConnectionPermit {
    _permit: OwnedSemaphorePermit,
    /// Whether it is one of those for known callers.
    pub(super) kept: bool,
    counted: Option<(IpAddr, Arc<Addresses>)>,
}

impl Places {
    pub(super) fn new(limits: &Limits) -> Self {
        let kept = limits.kept.min(limits.connections.saturating_sub(1));
        Self {
            open: Arc::new(Semaphore::new(limits.connections - kept)),
            kept: Arc::new(Semaphore::new(kept)),
            addresses: Arc::new(Addresses {
                most: limits.per_address,
                counts: Mutex::default(),
            }),
        }
    }

    /// Waits for a free place.
    pub(super) async fn vacancy(&self) -> Vacancy {
        let (permit, kept) = tokio::select! {
            biased;
            permit = self.open.clone().acquire_owned() => (permit, false),
            permit = self.kept.clone().acquire_owned() => (permit, true),
        };
        let permit = permit.expect("the semaphores are never closed");
        Vacancy { permit, kept }
    }

    /// The place of a connection from this address; none when the address has its share.
    pub(super) fn take(&self, vacancy: Vacancy, address: IpAddr) -> Option<ConnectionPermit> {
        let Vacancy { permit, kept } = vacancy;
        let counted = match share(address) {
            Some(key) => Some((self.addresses.count(key)?, self.addresses.clone())),
            None => None,
        };
        Some(ConnectionPermit {
            _permit: permit,
            kept,
            counted,
        })
    }
}

impl Addresses {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, key: IpAddr) -> Option<IpAddr> {
        let mut counts = self.lock();
        let count = counts.entry(key).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(key)
    }

    fn release(&self, key: IpAddr) {
        let mut counts = self.lock();
        if let Some(count) = counts.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&key);
            }
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        if let Some((key, addresses)) = self.counted.take() {
            addresses.release(key);
        }
    }
}

/// What an address is counted as: a network of 64 bits has one owner in IPv6. Loopback is not counted: all programs of
/// this machine share it, and so does a proxy in front of the server.
fn share(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
    })
}
