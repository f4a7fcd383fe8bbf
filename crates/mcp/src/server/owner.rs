//! Which caller each session belongs to, and which session ends when a caller opens too many.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use access::Principal;
use axum::extract::ConnectInfo;
use http::Extensions;

use super::session::Sessions;

/// The owners of the sessions that are open.
///
/// A share belongs to a caller, or to the address of a caller without a name: one that opens more sessions than its share
/// ends its own, the one that was not used for the longest time, and never that of another. When the server has as many
/// as it may have, the caller with the most ends one.
#[derive(Debug, Default)]
pub(super) struct Owners(Mutex<HashMap<String, Owned>>);

#[derive(Debug)]
struct Owned {
    caller: String,
    share: String,
    used: Instant,
}

/// No session can end to make room: all of them have requests under way.
#[derive(Debug)]
pub(super) struct Full {
    pub(super) sessions: usize,
}

/// Whose share a request counts for.
pub(super) fn share(caller: &Principal, extensions: &Extensions) -> String {
    match extensions.get::<ConnectInfo<SocketAddr>>() {
        Some(ConnectInfo(address)) if caller.is_anonymous() => format!("at {}", address.ip()),
        _ => format!("caller {}", caller.name()),
    }
}

impl Owners {
    /// Whether a caller may use a session, which it has used now. One that is not known is for the library to refuse.
    pub(super) fn uses(&self, session: &str, caller: &Principal) -> bool {
        match self.lock().get_mut(session) {
            Some(owned) if owned.caller != caller.name() => false,
            Some(owned) => {
                owned.used = Instant::now();
                true
            }
            None => true,
        }
    }

    pub(super) fn add(&self, session: String, caller: &Principal, share: String) {
        let owned = Owned {
            caller: caller.name().to_owned(),
            share,
            used: Instant::now(),
        };
        self.lock().insert(session, owned);
    }

    /// Makes room for one more session of this share.
    pub(super) async fn make_room(
        &self,
        sessions: &Sessions,
        share: &str,
        each: usize,
        most: usize,
    ) -> Result<(), Full> {
        loop {
            let open = sessions.open().await;
            let idle = {
                let mut all = self.lock();
                all.retain(|id, _| open.iter().any(|it| **it == **id));
                let count = |share: &str| all.values().filter(|it| it.share == share).count();
                let full_share = match count(share) >= each {
                    true => Some((share.to_owned(), each)),
                    false if open.len() >= most => {
                        let shares = all.values().map(|it| &it.share);
                        let heaviest = shares.max_by_key(|share| count(share));
                        heaviest.map(|share| (share.clone(), open.len()))
                    }
                    false => return Ok(()),
                };
                let Some((share, count)) = full_share else {
                    return Err(Full {
                        sessions: open.len(),
                    });
                };
                let mut own: Vec<_> = all.iter().filter(|(_, it)| it.share == share).collect();
                own.sort_by_key(|(_, it)| it.used);
                let mut idle = own.iter().filter(|(id, _)| sessions.is_idle(id));
                let idle = idle.next().map(|(id, _)| (*id).clone());
                idle.ok_or(Full { sessions: count })?
            };
            self.lock().remove(&idle);
            sessions.end(&idle).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Owned>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
