//! The live view: pictures of the tab that is worked in, for people who watch, and what people do in it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::error::Error;
use crate::session::Session;
use crate::tab::Tab;

/// How many deeds of a session are kept.
const DEEDS: usize = 500;

/// A picture of the view.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Frame {
    /// Counted from 1 in the session.
    pub number: u64,
    /// The picture as a JPEG file.
    pub jpeg: Vec<u8>,
    /// The size of the view in CSS pixels: what input is measured in.
    pub view: (f64, f64),
    pub url: String,
    /// The tab that is shown.
    pub tab: u32,
}

/// The newest picture of a session, and how far its viewers are.
#[derive(Debug)]
pub(crate) struct Cast {
    newest: watch::Sender<Option<Arc<Frame>>>,
    count: AtomicU64,
    viewers: AtomicU64,
    unacknowledged: Mutex<Option<Unacknowledged>>,
}

/// Frames that Chromium waits for an acknowledgement of. It sends a few without one, and counts each.
#[derive(Debug)]
struct Unacknowledged {
    /// The debugging session of the tab, and Chromium's number of the screencast.
    source: (String, u64),
    newest: u64,
    count: u32,
}

impl Cast {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            newest: watch::channel(None).0,
            count: AtomicU64::new(0),
            viewers: AtomicU64::new(0),
            unacknowledged: Mutex::default(),
        })
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.viewers.load(Ordering::Relaxed) > 0
    }

    /// Takes a frame of Chromium, which sends the next one when this one was acknowledged.
    pub(crate) fn frame(&self, tab: &Tab, params: &mut Value) {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let acknowledge = params["sessionId"].as_u64().unwrap_or_default();
        let metadata = &params["metadata"];
        let size = |name: &str| metadata[name].as_f64().unwrap_or_default();
        let view = (size("deviceWidth"), size("deviceHeight"));
        let jpeg = params["data"]
            .as_str()
            .and_then(|it| STANDARD.decode(it).ok());
        self.sent((tab.session.clone(), acknowledge), number);
        let frame = Frame {
            number,
            jpeg: jpeg.unwrap_or_default(),
            view,
            url: tab.url(),
            tab: tab.number,
        };
        self.newest.send_replace(Some(Arc::new(frame)));
    }

    fn sent(&self, source: (String, u64), newest: u64) {
        let mut waiting = self.waiting();
        let before = waiting.take().filter(|it| it.source == source);
        let count = before.map_or(0, |it| it.count) + 1;
        *waiting = Some(Unacknowledged {
            source,
            newest,
            count,
        });
    }

    /// A viewer has taken a frame: if it is the newest, Chromium sends the next.
    fn taken(&self, session: &Session, number: u64) {
        let Some(taken) = self.waiting().take_if(|it| it.newest <= number) else {
            return;
        };
        let (target, screencast) = &taken.source;
        for _ in 0..taken.count {
            let params = json!({ "sessionId": screencast });
            session
                .connection()
                .post(target, "Page.screencastFrameAck", params);
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Option<Unacknowledged>> {
        self.unacknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A viewer of a session. Chromium makes at most three pictures until a viewer has taken the newest one, and the viewer gets
/// that one alone: a slow viewer never has a queue, and what was shown in between is left out.
#[derive(Debug)]
pub struct LiveView {
    session: Session,
    frames: watch::Receiver<Option<Arc<Frame>>>,
}

impl LiveView {
    pub(crate) fn new(session: Session) -> Self {
        let cast = Arc::clone(session.cast());
        cast.viewers.fetch_add(1, Ordering::Relaxed);
        let mut frames = cast.newest.subscribe();
        frames.mark_changed();
        session.show_current();
        Self { session, frames }
    }

    /// The next picture; None when the session has ended.
    pub async fn next(&mut self) -> Option<Arc<Frame>> {
        loop {
            tokio::select! {
                changed = self.frames.changed() => changed.ok()?,
                () = self.session.ended() => return None,
            }
            let frame = self.frames.borrow_and_update().clone();
            if let Some(frame) = frame {
                self.session.cast().taken(&self.session, frame.number);
                return Some(frame);
            }
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        if self.session.cast().viewers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.session.show_none();
        }
    }
}

/// A record of something that was done in a session by the agent or a person.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Deed {
    /// Counted from 1 in the session.
    pub number: u64,
    /// The time in milliseconds since 1970.
    pub at: u64,
    /// [`AGENT`](crate::AGENT), or the name of the person.
    pub by: String,
    /// In words, without what was typed from a secret.
    pub what: String,
    pub url: String,
}

/// The record of a session.
#[derive(Debug)]
pub(crate) struct Deeds {
    kept: Mutex<VecDeque<Deed>>,
    count: watch::Sender<u64>,
}

impl Default for Deeds {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            count: watch::channel(0).0,
        }
    }
}

impl Deeds {
    pub(crate) fn add(&self, by: &str, what: String, url: String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *self.count.borrow() + 1;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        if kept.len() == DEEDS {
            kept.pop_front();
        }
        kept.push_back(Deed {
            number,
            at: now.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
            by: by.to_owned(),
            what,
            url,
        });
        self.count.send_replace(number);
    }

    pub(crate) fn after(&self, number: u64) -> Vec<Deed> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .filter(|it| it.number > number)
            .cloned()
            .collect()
    }

    pub(crate) fn count(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }
}

/// Input of a person, measured in CSS pixels of the view.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum PersonInput {
    Move {
        x: f64,
        y: f64,
    },
    Click {
        x: f64,
        y: f64,
        #[serde(default)]
        double: bool,
    },
    Scroll {
        x: f64,
        y: f64,
        #[serde(default)]
        dx: f64,
        #[serde(default)]
        dy: f64,
    },
    /// A key or a chord, such as `Enter` and `Control+A`.
    Key {
        key: String,
    },
    Text {
        text: String,
    },
    /// The answer to a dialog of the page.
    Dialog {
        accept: bool,
        #[serde(default)]
        text: String,
    },
    Navigate {
        url: String,
    },
    Back,
    Forward,
    Reload,
    /// Works in another tab.
    Tab {
        tab: u32,
    },
}

/// The right of a person to work in a session. The agent's calls wait until it is given back or dropped.
#[derive(Debug)]
pub struct Takeover {
    session: Session,
    by: String,
}

impl Takeover {
    pub(crate) fn new(session: Session, by: &str) -> Self {
        session.note(by, "took over".to_owned());
        Self {
            session,
            by: by.to_owned(),
        }
    }

    pub fn by(&self) -> &str {
        &self.by
    }

    /// Does what the person did in the view. What a person types is recorded by its length alone: it may be a password.
    pub async fn input(&self, input: PersonInput) -> Result<(), Error> {
        let what = self.session.perform(input).await?;
        if let Some(what) = what {
            self.session.note(&self.by, what);
        }
        Ok(())
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        self.session.note(&self.by, "gave back".to_owned());
        self.session.give_back();
    }
}
