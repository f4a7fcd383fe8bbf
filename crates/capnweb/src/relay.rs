//! A gateway: two sessions joined so that each peer has the other's main object.

use crate::connection::{Connection, Options};
use crate::hook::Hook;
use crate::hook::deferred::deferred;

/// Two sessions, each offering what the peer of the other offers.
///
/// Run a transport on each; either may come first, since frames for the one that is missing wait in
/// its session. Every value, capability, promise, stream and map passes both ways, and so does every
/// release: at rest both sessions' tables hold one entry each. When one side ends, so do all stubs that
/// lead there, and the other session once nothing else holds it.
pub fn relay(options: &Options) -> (Connection, Connection) {
    let (main_of_b, for_a) = deferred();
    let (main_of_a, for_b) = deferred();
    let a = Connection::new(Hook::Promise(main_of_b), options);
    let b = Connection::new(Hook::Promise(main_of_a), options);
    for_a.resolve(b.remote::<crate::Any>().capability().hook().clone());
    for_b.resolve(a.remote::<crate::Any>().capability().hook().clone());
    (a, b)
}
