//! One follower of an agent's journal for all windows that are open: each gets the records of its session.
//!
//! A window that reads too slowly is removed: its queue is bounded and the feed never waits. The window then reads the
//! journal from its last position.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use agent::{AgentHandle, Owner, Record};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::envelope::Envelope;

/// How many records wait for one window.
const QUEUE: usize = 256;

/// After how many windows those that were closed are forgotten.
const SWEEP: usize = 256;

/// Something for a window.
#[derive(Clone, Debug)]
pub(crate) enum Fed {
    /// A record of the journal, with its number.
    Record(u64, Arc<Record>),
    /// A message for the windows of a session that is not recorded.
    Passing(Arc<Envelope>),
}

/// The feeds of all agents that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feeds(Arc<tokio::sync::Mutex<HashMap<String, Arc<Feed>>>>);

impl Feeds {
    /// The feed of an agent; it is begun when the first window asks for it.
    pub(crate) async fn of(&self, agent: &AgentHandle) -> Result<Arc<Feed>, agent::Error> {
        let mut feeds = self.0.lock().await;
        if let Some(feed) = feeds.get(agent.id()).filter(|it| !it.is_over()) {
            return Ok(feed.clone());
        }
        let feed = Arc::new(Feed::begin(agent).await?);
        feeds.insert(agent.id().to_owned(), feed.clone());
        Ok(feed)
    }

    /// The feed of an agent, if a window has asked for it.
    pub(crate) async fn begun(&self, agent: &str) -> Option<Arc<Feed>> {
        let feeds = self.0.lock().await;
        feeds.get(agent).filter(|it| !it.is_over()).cloned()
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        self.0.lock().await.clear();
    }
}

/// The windows of one agent, and the one follower of its journal that feeds them all.
///
/// It owns a tokio task that reads the journal through [`agent::Watch`], and for each session the queues of the
/// windows that are open on it. For every record the task takes the lock, puts the record into the queues of its
/// sessions, and then moves `position` on. [`join`](Self::join) takes the same lock, so that a new window gets its
/// position and its queue at one moment: records up to the position are in the journal, all later ones come by the
/// queue, and none is missing or seen twice. With two locks, or with the position moved first, a record could fall
/// between the two.
///
/// A queue has a limit and the task never waits for one: a full queue is removed, and its window reads the journal
/// from its own position and joins again. Were the task to wait, one slow client would stop the chat of all others.
/// Nothing of the chat is stored here; a feed can end at any time without loss. It ends when the journal cannot be
/// followed, and with the last handle on it; the next window that asks [`Feeds`] begins another.
#[derive(Debug)]
pub(crate) struct Feed {
    windows: Arc<Mutex<Windows>>,
    following: AbortOnDropHandle<()>,
}

#[derive(Debug, Default)]
struct Windows {
    /// The last event that was given out.
    position: u64,
    of: BTreeMap<Owner, Vec<mpsc::Sender<Fed>>>,
    /// How many were opened since closed ones were last looked for.
    opened: usize,
}

impl Windows {
    fn give(&mut self, owner: &Owner, fed: &Fed) {
        let Some(windows) = self.of.get_mut(owner) else {
            return;
        };
        windows.retain(|window| window.try_send(fed.clone()).is_ok());
        if windows.is_empty() {
            self.of.remove(owner);
        }
    }
}

impl Feed {
    async fn begin(agent: &AgentHandle) -> Result<Self, agent::Error> {
        let (mut watch, position) = agent.watch().await?;
        let windows = Arc::new(Mutex::new(Windows {
            position,
            ..Windows::default()
        }));
        let (id, to) = (agent.id().to_owned(), windows.clone());
        let following = tokio::spawn(async move {
            while let Some(watched) = watch.next().await {
                let watched = match watched {
                    Ok(watched) => watched,
                    Err(error) => {
                        tracing::error!(agent = id, %error, "chat: following the journal failed");
                        break;
                    }
                };
                let mut windows = to.lock().unwrap_or_else(PoisonError::into_inner);
                for (number, record, owners) in watched {
                    let fed = Fed::Record(number, record);
                    let all: Vec<Owner> = match owners.is_empty() {
                        true => windows.of.keys().cloned().collect(),
                        false => owners.into_iter().collect(),
                    };
                    all.iter().for_each(|owner| windows.give(owner, &fed));
                    windows.position = number;
                }
            }
            // Windows look for the feed that follows this one.
            let mut windows = to.lock().unwrap_or_else(PoisonError::into_inner);
            windows.of.clear();
        });
        Ok(Self {
            windows,
            following: AbortOnDropHandle::new(following),
        })
    }

    fn is_over(&self) -> bool {
        self.following.is_finished()
    }

    /// Opens a window. It gets everything after the given event; what is up to it is in the journal.
    pub(crate) fn join(&self, owner: &Owner) -> (u64, mpsc::Receiver<Fed>) {
        let (to, window) = mpsc::channel(QUEUE);
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.opened += 1;
        if windows.opened >= SWEEP {
            windows.opened = 0;
            windows.of.retain(|_, of| {
                of.retain(|it| !it.is_closed());
                !of.is_empty()
            });
        }
        windows.of.entry(owner.clone()).or_default().push(to);
        (windows.position, window)
    }

    /// Gives a message to all windows of a session.
    pub(crate) fn pass(&self, owner: &Owner, message: &Arc<Envelope>) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.give(owner, &Fed::Passing(message.clone()));
    }
}
