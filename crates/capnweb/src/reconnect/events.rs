//! A log followed through all sessions.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use futures_core::Stream;
use tokio::sync::{mpsc, oneshot};

use super::supervise::{Core, Live};
use crate::convert::{Callback, FromValue};
use crate::error::{Error, Result};
use crate::promise::{Awaited, Promise};
use crate::resume::{Item, Sink, Subscription};
use crate::stub::Stub;

type Subscribe<E> =
    dyn Fn(&Live, Option<String>, Sink<E>) -> Promise<Stub<Subscription>> + Send + Sync;

/// The events of a log, each once and in order, across reconnects. Made by
/// [`Reconnecting::resume`](super::Reconnecting::resume).
///
/// It works only while [`next`](Self::next) is polled; events are acknowledged to the server when the one
/// after them is asked for. Dropping it ends the subscription. The future of `next` can be dropped without
/// losing an event.
pub struct Events<E> {
    core: Arc<Core>,
    subscribe: Box<Subscribe<E>>,
    /// The cursor of the last event returned.
    cursor: Option<String>,
    items: VecDeque<Item<E>>,
    /// Acknowledges the events that have arrived, once all of them are returned.
    taken: Option<oneshot::Sender<()>>,
    current: Option<Current<E>>,
    over: bool,
}

/// A subscription in one session.
struct Current<E> {
    live: Arc<Live>,
    arrived: mpsc::Receiver<Arrived<E>>,
    ended: Awaited<()>,
    /// Held: releasing it ends it.
    _subscription: Stub<Subscription>,
}

type Arrived<E> = (Vec<Item<E>>, oneshot::Sender<()>);

impl<E: FromValue + Send + 'static> Events<E> {
    pub(super) fn new(
        core: Arc<Core>,
        cursor: Option<String>,
        subscribe: Box<Subscribe<E>>,
    ) -> Self {
        Self {
            core,
            subscribe,
            cursor,
            items: VecDeque::new(),
            taken: None,
            current: None,
            over: false,
        }
    }

    /// The cursor of the last event that was given out, or where it began. Keep it to go on later.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// The next event; `None` when the log has ended. An error that is not the connection's is the last:
    /// [`cursor_gone`](crate::resume::cursor_gone) for instance.
    pub async fn next(&mut self) -> Option<Result<Item<E>>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                self.cursor = Some(item.cursor.clone());
                return Some(Ok(item));
            }
            if let Some(taken) = self.taken.take() {
                // The session may have ended meanwhile.
                let _ = taken.send(());
            }
            if self.over {
                return None;
            }
            if self.current.is_none() {
                match self.core.next_live().await {
                    Ok(live) => self.current = Some(self.open(live)),
                    Err(error) => return self.fail(error),
                }
            }
            let Some(current) = &mut self.current else {
                continue;
            };
            tokio::select! {
                biased;
                Some((items, taken)) = current.arrived.recv() => {
                    self.items = items.into();
                    self.taken = Some(taken);
                }
                ended = &mut current.ended => {
                    let live = current.live.clone();
                    self.current = None;
                    match ended {
                        Ok(()) => self.over = true,
                        Err(error) if live.lost(&error).await => {}
                        Err(error) => return self.fail(error),
                    }
                }
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<Item<E>>> + Send {
        futures_util::stream::unfold(self, async |mut events| {
            let item = events.next().await?;
            Some((item, events))
        })
    }

    fn fail(&mut self, error: Error) -> Option<Result<Item<E>>> {
        self.over = true;
        Some(Err(error))
    }

    /// Subscribes in a session. Asking for the end travels with it.
    fn open(&self, live: Arc<Live>) -> Current<E> {
        let (arrive, arrived) = mpsc::channel::<Arrived<E>>(1);
        let sink = Callback::new(move |(items,): (Vec<Item<E>>,)| {
            let arrive = arrive.clone();
            async move {
                let (taken, was_taken) = oneshot::channel();
                let gone = || Error::new("the subscriber is gone");
                arrive.send((items, taken)).await.map_err(|_| gone())?;
                was_taken.await.map_err(|_| gone())
            }
        });
        let subscription = (self.subscribe)(&live, self.cursor.clone(), sink).pipeline();
        let ended = subscription.ended().into_future();
        Current {
            live,
            arrived,
            ended,
            _subscription: subscription,
        }
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}
