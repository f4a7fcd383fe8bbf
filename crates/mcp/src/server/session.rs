//! Sessions over HTTP: the client of each, the caller it belongs to, and the replies that can be read again.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use access::Principal;
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http::Extensions;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::exchange::Exchange;
use super::outlet::Log;
use crate::limits::{Limits, MAX_REPLAY_BYTES, MAX_REPLAYS};

/// One session. It ends when the client deletes it, when it is idle for too long, to make room, or with the server.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) exchange: Exchange,
    /// The stream of the old transport, on which everything is sent.
    pub(crate) pipe: Option<mpsc::Sender<Bytes>>,
    /// Cancelled when the session ends: closes its streams.
    pub(crate) ended: CancellationToken,
    caller: String,
    share: String,
    used: Mutex<Instant>,
    replies: Mutex<Replies>,
}

/// The replies of a session that were streams, by number.
#[derive(Debug, Default)]
struct Replies {
    last: u64,
    kept: VecDeque<(u64, Arc<Log>)>,
}

impl Session {
    /// Keeps a reply, so that the client can resume it after a lost connection, and gives it a number. Of old ones the last
    /// [`MAX_REPLAYS`] are kept, and no more than [`MAX_REPLAY_BYTES`].
    pub(crate) fn keep(&self, reply: &Arc<Log>) -> u64 {
        let mut replies = self.replies();
        replies.last += 1;
        let number = replies.last;
        replies.kept.push_back((number, reply.clone()));
        let mut bytes: usize = replies.kept.iter().map(|(_, log)| log.size()).sum();
        while replies.kept.len() > 1
            && (replies.kept.len() > MAX_REPLAYS || bytes > MAX_REPLAY_BYTES)
        {
            let oldest = replies.kept.pop_front();
            bytes -= oldest.map_or(0, |(_, log)| log.size()).min(bytes);
        }
        number
    }

    /// The reply with this number.
    pub(crate) fn kept(&self, number: u64) -> Option<Arc<Log>> {
        let replies = self.replies();
        let found = replies.kept.iter().find(|it| it.0 == number);
        found.map(|it| it.1.clone())
    }

    fn belongs_to(&self, caller: &Principal) -> bool {
        self.caller == caller.name()
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn use_now(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Calls that wait in it are cancelled; calls that were answered with a task run on.
    fn end(&self) {
        self.ended.cancel();
        self.exchange.end();
        for (_, reply) in &self.replies().kept {
            reply.close();
        }
    }

    fn replies(&self) -> MutexGuard<'_, Replies> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions that are open.
///
/// A share belongs to a caller, or to the address of a caller without a name: one that opens more sessions than its share
/// ends its own, the one that was not used for the longest time, and never that of another. When the server has as many
/// as it may have, the share with the most ends one. Sessions with requests under way are left alone.
#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, Arc<Session>>>,
    most: usize,
    each: usize,
    idle: Duration,
    max_requests: usize,
}

/// No session can end to make room: all of them have requests under way.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "{sessions} sessions with requests under way are open, which is the limit (of this caller {each}, of the server \
     {most}); retry later, or use revision 2026-07-28"
)]
pub(crate) struct Full {
    sessions: usize,
    each: usize,
    most: usize,
}

/// Which share a request counts for.
pub(crate) fn share(caller: &Principal, extensions: &Extensions) -> String {
    match extensions.get::<ConnectInfo<SocketAddr>>() {
        Some(ConnectInfo(address)) if caller.is_anonymous() => format!("at {}", address.ip()),
        _ => format!("caller {}", caller.name()),
    }
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            open: Mutex::default(),
            most: limits.max_sessions,
            each: limits.max_sessions_each,
            idle: limits.session_idle,
            max_requests: limits.max_requests,
        }
    }

    /// A client that is about to get a session.
    pub(crate) fn exchange(&self) -> Exchange {
        Exchange::new(self.max_requests)
    }

    /// Opens a session for this client.
    pub(crate) fn open(
        &self,
        exchange: Exchange,
        caller: &Principal,
        share: String,
        pipe: Option<mpsc::Sender<Bytes>>,
    ) -> Result<Arc<Session>, Full> {
        let mut open = self.lock();
        self.make_room(&mut open, &share)?;
        let session = Arc::new(Session {
            id: uuid::Uuid::new_v4().to_string(),
            exchange,
            pipe,
            ended: CancellationToken::new(),
            caller: caller.name().to_owned(),
            share,
            used: Mutex::new(Instant::now()),
            replies: Mutex::default(),
        });
        open.insert(session.id.clone(), session.clone());
        Ok(session)
    }

    /// The session with this id, if it belongs to this caller. It counts as used.
    pub(crate) fn find(&self, id: &str, caller: &Principal) -> Option<Arc<Session>> {
        let open = self.lock();
        let session = open.get(id)?;
        if !session.belongs_to(caller) {
            return None;
        }
        session.use_now();
        Some(session.clone())
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Ends a session.
    pub(crate) fn end(&self, session: &Session) {
        self.lock().remove(&session.id);
        session.end();
    }

    /// Ends all of them.
    pub(crate) fn end_all(&self) {
        let all = std::mem::take(&mut *self.lock());
        all.values().for_each(|session| session.end());
    }

    fn make_room(&self, open: &mut HashMap<String, Arc<Session>>, share: &str) -> Result<(), Full> {
        open.retain(|_, session| {
            let over = session.used().elapsed() > self.idle && session.exchange.is_idle();
            if over {
                session.end();
            }
            !over
        });
        loop {
            let Some((heavy, sessions)) = self.full_share(open, share) else {
                return Ok(());
            };
            let idle = open.values().filter(|it| it.share == heavy);
            let idle = idle.filter(|it| it.exchange.is_idle());
            let oldest = idle.min_by_key(|it| it.used()).cloned();
            let Some(oldest) = oldest else {
                return Err(Full {
                    sessions,
                    each: self.each,
                    most: self.most,
                });
            };
            open.remove(&oldest.id);
            oldest.end();
        }
    }

    /// The share that must end a session before this one opens another, and how many are open that count for the limit.
    fn full_share(
        &self,
        open: &HashMap<String, Arc<Session>>,
        share: &str,
    ) -> Option<(String, usize)> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for session in open.values() {
            *counts.entry(&session.share).or_default() += 1;
        }
        let own = counts.get(share).copied().unwrap_or_default();
        if own >= self.each {
            return Some((share.to_owned(), own));
        }
        if open.len() < self.most {
            return None;
        }
        let heaviest = counts.iter().max_by_key(|(_, count)| **count);
        let heaviest = heaviest.map_or(share, |(share, _)| share);
        Some((heaviest.to_owned(), open.len()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
