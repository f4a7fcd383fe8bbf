//! The other side of a session, as layers and objects know it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::account::Account;
use crate::error::Error;
use crate::limits::GuestLimits;
use crate::session::Stats;

/// The other side of a session, and what this side has found out about it: its identity for instance.
///
/// Clones are the same peer. Holding one holds neither the session nor its connection.
#[derive(Clone)]
pub struct Peer(Account);

impl Peer {
    pub(crate) fn new(account: &Account) -> Self {
        Self(account.clone())
    }

    /// Attaches a value to the peer, one of each type. Returns the one it replaces.
    pub fn insert<T: Any + Send + Sync>(&self, fact: T) -> Option<Arc<T>> {
        let mut facts = self.0.facts();
        let old = facts.iter().position(|fact| fact.is::<T>());
        let old = old.map(|index| facts.swap_remove(index));
        facts.push(Arc::new(fact));
        old.and_then(|fact| fact.downcast().ok())
    }

    /// The attached value of this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let facts = self.0.facts();
        let fact = facts.iter().find(|fact| fact.is::<T>())?.clone();
        fact.downcast().ok()
    }

    /// Bounds the session until [`Peer::admit`]: for a peer that may connect before it says who it is. To be called
    /// where the main object is made; the first call counts.
    pub fn restrict(&self, limits: GuestLimits) {
        self.0.restrict(limits);
    }

    /// Ends the bounds of [`Peer::restrict`]: the peer is known.
    pub fn admit(&self) {
        self.0.admit();
    }

    /// The sizes of the session's tables; zeros when it is over.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// The number of its running calls.
    pub fn calls_in_flight(&self) -> usize {
        self.0.calls_in_flight()
    }

    /// Sends it the reason and ends the session.
    pub fn abort(&self, error: &Error) {
        self.0.exceed(error);
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("stats", &self.stats())
            .field("calls_in_flight", &self.calls_in_flight())
            .finish_non_exhaustive()
    }
}
