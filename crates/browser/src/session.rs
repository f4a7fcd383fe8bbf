//! A session: the pages of one agent in one conversation, apart from those of all others.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::{OwnedMutexGuard, watch};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::hidden::Hidden;
use crate::live::{Cast, Deed, Deeds, LiveView, Takeover};
use crate::options::Options;
use crate::tab::Tab;
use crate::turn::Turn;

/// The name under which deeds of the agent are recorded.
pub const AGENT: &str = "agent";

/// How long a new tab may take to begin.
const BEGIN: Duration = Duration::from_secs(10);

/// A session: a browser context of Chromium with its own cookies, storage and way to the network. Clones share it.
///
/// The agent works in it through a [`Turn`], one at a time; people watch through a [`LiveView`] and work in it through a
/// [`Takeover`], during which turns wait. It ends with [`Browser::close_session`](crate::Browser::close_session), when it is
/// idle for too long, or with its browser.
#[derive(Clone, Debug)]
pub struct Session(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    context: String,
    connection: Connection,
    gateway: Gateway,
    options: Options,
    downloads: PathBuf,
    uploads: PathBuf,
    tabs: Mutex<Tabs>,
    tabs_changed: watch::Sender<u64>,
    turn: Arc<tokio::sync::Mutex<()>>,
    holder: watch::Sender<Option<String>>,
    used: Mutex<Instant>,
    hidden: Arc<Hidden>,
    transfers: Mutex<HashMap<String, Transfer>>,
    cast: Arc<Cast>,
    deeds: Deeds,
    ended: CancellationToken,
}

#[derive(Debug, Default)]
struct Tabs {
    all: Vec<Arc<Tab>>,
    current: u32,
    count: u32,
}

/// A download under way or done.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) state: TransferState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TransferState {
    Begun,
    /// The file lies in the folder for downloads.
    Whole,
    Failed(String),
}

/// The parts that a session is made of.
pub(crate) struct Parts {
    pub(crate) id: String,
    pub(crate) context: String,
    pub(crate) connection: Connection,
    pub(crate) gateway: Gateway,
    pub(crate) options: Options,
    pub(crate) downloads: PathBuf,
    pub(crate) uploads: PathBuf,
}

impl Session {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner {
            id: parts.id,
            context: parts.context,
            connection: parts.connection,
            gateway: parts.gateway,
            options: parts.options,
            downloads: parts.downloads,
            uploads: parts.uploads,
            tabs: Mutex::default(),
            tabs_changed: watch::channel(0).0,
            turn: Arc::default(),
            holder: watch::channel(None).0,
            used: Mutex::new(Instant::now()),
            hidden: Arc::default(),
            transfers: Mutex::default(),
            cast: Cast::new(),
            deeds: Deeds::default(),
            ended: CancellationToken::new(),
        }))
    }

    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The right to work in the session, for the agent. Waits while another call works in it, and while a person has taken
    /// it over.
    pub async fn turn(&self) -> Result<Turn, Error> {
        let mut holder = self.0.holder.subscribe();
        loop {
            let guard = tokio::select! {
                guard = Arc::clone(&self.0.turn).lock_owned() => guard,
                () = self.ended() => return Err(self.over()),
            };
            if self.is_over() {
                return Err(self.over());
            }
            if holder.borrow_and_update().is_none() {
                self.touch();
                return Ok(Turn::new(self.clone(), guard));
            }
            drop(guard);
            tokio::select! {
                _ = holder.wait_for(Option::is_none) => {}
                () = self.ended() => return Err(self.over()),
            }
        }
    }

    /// The person who works in the session now.
    pub fn held_by(&self) -> Option<String> {
        self.0.holder.borrow().clone()
    }

    /// Lets a person work in the session. The agent's calls wait until the answer is dropped.
    pub fn take_over(&self, by: &str) -> Result<Takeover, Error> {
        let mut other = None;
        self.0.holder.send_if_modified(|holder| match holder {
            Some(holder) => {
                other = Some(holder.clone());
                false
            }
            None => {
                *holder = Some(by.to_owned());
                true
            }
        });
        match other {
            Some(by) => Err(Error::TakenOver {
                doing: "take over the page".to_owned(),
                by,
            }),
            None => Ok(Takeover::new(self.clone(), by)),
        }
    }

    pub(crate) fn give_back(&self) {
        self.0.holder.send_replace(None);
    }

    /// Pictures of the session, as long as the answer is held.
    pub fn watch(&self) -> LiveView {
        LiveView::new(self.clone())
    }

    /// The deeds in the session after the one of this number, as far as they are kept.
    pub fn deeds_after(&self, number: u64) -> Vec<Deed> {
        self.0.deeds.after(number)
    }

    /// Tells how many deeds there were, as soon as there is one more.
    pub fn deed_count(&self) -> watch::Receiver<u64> {
        self.0.deeds.count()
    }

    pub(crate) fn note(&self, by: &str, what: String) {
        let url = self.current().map(|it| it.url()).unwrap_or_default();
        self.0.deeds.add(by, self.redact(&what), self.redact(&url));
    }

    /// Fires when the session has ended.
    pub async fn ended(&self) {
        tokio::select! {
            () = self.0.ended.cancelled() => {}
            () = self.0.connection.ended().cancelled_owned() => {}
        }
    }

    pub fn is_over(&self) -> bool {
        self.0.ended.is_cancelled() || self.0.connection.has_ended()
    }

    pub(crate) fn over(&self) -> Error {
        Error::Ended {
            doing: "work in the page".to_owned(),
        }
    }

    pub(crate) fn end(&self) {
        self.0.ended.cancel();
        for tab in self.tabs() {
            tab.close_state();
        }
        if !self.0.connection.has_ended() {
            let context = json!({ "browserContextId": self.0.context });
            self.0
                .connection
                .post("", "Target.disposeBrowserContext", context);
        }
    }

    pub(crate) fn touch(&self) {
        *lock(&self.0.used) = Instant::now();
    }

    /// For how long it was not used. A session that is watched or taken over is in use.
    pub(crate) fn idle(&self) -> Duration {
        if self.0.cast.is_watched() || self.held_by().is_some() || self.0.turn.try_lock().is_err() {
            return Duration::ZERO;
        }
        lock(&self.0.used).elapsed()
    }

    pub(crate) fn context(&self) -> &str {
        &self.0.context
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.0.connection
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        &self.0.gateway
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn downloads(&self) -> &PathBuf {
        &self.0.downloads
    }

    pub(crate) fn uploads(&self) -> &PathBuf {
        &self.0.uploads
    }

    pub(crate) fn transfers(&self) -> MutexGuard<'_, HashMap<String, Transfer>> {
        lock(&self.0.transfers)
    }

    pub(crate) fn transfers_changed(&self) {
        self.0.tabs_changed.send_modify(|it| *it += 1);
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.tabs_changed.subscribe()
    }

    pub(crate) fn cast(&self) -> &Arc<Cast> {
        &self.0.cast
    }

    /// Remembers the value of a secret, so that no text of a page shows it.
    pub(crate) fn hide(&self, name: &str, value: &str) {
        self.0.hidden.add(name, value);
    }

    /// A text without the values of secrets that were typed in this session.
    pub fn redact(&self, text: &str) -> String {
        self.0.hidden.redact(text)
    }
}

// Tabs.
impl Session {
    /// A target was attached: a tab that was asked for, or one that a page opened. Called on the reading task.
    pub(crate) fn attach(&self, target: &str, session: &str) {
        let limits = &self.0.options.limits;
        let mut tabs = lock(&self.0.tabs);
        if tabs.all.len() >= limits.tabs || self.0.ended.is_cancelled() {
            drop(tabs);
            let target = json!({ "targetId": target });
            self.0
                .connection
                .post(session, "Runtime.runIfWaitingForDebugger", json!({}));
            self.0.connection.post("", "Target.closeTarget", target);
            return;
        }
        tabs.count += 1;
        let number = tabs.count;
        let tab = Tab::new(
            number,
            target,
            session,
            &self.0.connection,
            limits,
            &self.0.cast,
            &self.0.hidden,
        );
        tab.begin();
        let (width, height) = self.0.options.view;
        let view =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.0
            .connection
            .post(session, "Emulation.setDeviceMetricsOverride", view);
        tabs.all.push(tab);
        if tabs.current == 0 {
            tabs.current = number;
        }
        drop(tabs);
        self.transfers_changed();
    }

    /// A target is gone. Called on the reading task.
    pub(crate) fn detach(&self, session: &str) -> bool {
        let mut tabs = lock(&self.0.tabs);
        let Some(place) = tabs.all.iter().position(|it| it.session == session) else {
            return false;
        };
        let tab = tabs.all.remove(place);
        if tabs.current == tab.number {
            tabs.current = tabs.all.last().map_or(0, |it| it.number);
        }
        drop(tabs);
        tab.close_state();
        self.transfers_changed();
        self.show_current();
        true
    }

    pub(crate) fn tabs(&self) -> Vec<Arc<Tab>> {
        lock(&self.0.tabs).all.clone()
    }

    /// The tab that is worked in.
    pub(crate) fn current(&self) -> Option<Arc<Tab>> {
        let tabs = lock(&self.0.tabs);
        tabs.all
            .iter()
            .find(|it| it.number == tabs.current)
            .cloned()
    }

    pub(crate) fn select(&self, number: u32) -> Option<Arc<Tab>> {
        let before = self.current();
        let mut tabs = lock(&self.0.tabs);
        let tab = tabs.all.iter().find(|it| it.number == number).cloned()?;
        tabs.current = number;
        drop(tabs);
        if before.is_none_or(|it| it.number != number) {
            self.show_none();
            self.0
                .connection
                .post(&tab.session, "Page.bringToFront", json!({}));
            self.show_current();
        }
        Some(tab)
    }

    /// Opens an empty tab and works in it.
    pub(crate) async fn open_tab(&self) -> Result<Arc<Tab>, Error> {
        let doing = || "open a tab".to_owned();
        let most = self.0.options.limits.tabs;
        if self.tabs().len() >= most {
            return Err(Error::Limit {
                doing: doing(),
                limit: format!(
                    "{most} tabs are open, which is the most; close one with browser-tabs"
                ),
            });
        }
        let mut changed = self.changes();
        let view = self.0.options.view;
        let params = json!({
            "url": "about:blank", "browserContextId": self.0.context, "width": view.0, "height": view.1,
        });
        let made = self
            .0
            .connection
            .call("", "Target.createTarget", params)
            .await?;
        let target = made["targetId"].as_str().unwrap_or_default();
        let waited = async {
            loop {
                if let Some(tab) = self.tabs().into_iter().find(|it| it.target == target) {
                    return Ok(tab);
                }
                if changed.changed().await.is_err() {
                    return Err(self.over());
                }
            }
        };
        let tab = match tokio::time::timeout(BEGIN, waited).await {
            Ok(tab) => tab?,
            Err(_) => {
                return Err(Error::TimedOut {
                    doing: doing(),
                    after: BEGIN,
                });
            }
        };
        self.select(tab.number);
        Ok(tab)
    }

    /// Has the tab that is worked in sent as pictures, if a person watches.
    pub(crate) fn show_current(&self) {
        if !self.0.cast.is_watched() {
            return;
        }
        if let Some(tab) = self.current() {
            let (width, height) = self.0.options.view;
            let params =
                json!({ "format": "jpeg", "quality": 60, "maxWidth": width, "maxHeight": height });
            self.0
                .connection
                .post(&tab.session, "Page.startScreencast", params);
        }
    }

    pub(crate) fn show_none(&self) {
        for tab in self.tabs() {
            self.0
                .connection
                .post(&tab.session, "Page.stopScreencast", json!({}));
        }
    }
}

pub(crate) type TurnGuard = OwnedMutexGuard<()>;

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
