//! One tab: its target in Chromium, what it tells of itself, and waiting for what it does.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::connection::{Connection, Listener};
use crate::error::Error;
use crate::hidden::Hidden;
use crate::limits::Limits;
use crate::live::Cast;
use crate::numbers::Numbers;

mod events;

/// How long a page may take to come to rest after a click, if that begins no navigation. Only a busy page takes so long.
const BEGIN: Duration = Duration::from_millis(500);

/// A tab of a session.
///
/// Events of its target change [`TabState`] on the connection's reading task and raise `version`; work in the tab sends
/// commands and waits until the state is as it wants it. A dialog, a crash and the end of the tab end every wait.
pub(crate) struct Tab {
    /// Its number in the session, which tabs are named by.
    pub(crate) number: u32,
    /// Chromium's name of the target, which is that of its main frame, too.
    pub(crate) target: String,
    /// The debugging session of the target.
    pub(crate) session: String,
    pub(crate) connection: Connection,
    pub(crate) limits: Limits,
    pub(crate) cast: Arc<Cast>,
    hidden: Arc<Hidden>,
    own: Weak<Self>,
    state: Mutex<TabState>,
    version: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct TabState {
    pub(crate) url: String,
    /// The document that is shown; each load has another.
    loader: String,
    /// How many documents and addresses the tab has had.
    navigations: u64,
    /// A navigation was begun and has not been committed.
    navigating: bool,
    /// Stages that documents have reached, by loader.
    reached: HashMap<String, HashSet<String>>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) console: VecDeque<ConsoleEntry>,
    pub(crate) network: VecDeque<NetworkEntry>,
    pub(crate) history: VecDeque<String>,
    crashed: Option<String>,
    closed: bool,
    /// The frames below the main frame.
    inner_frames: HashSet<String>,
    /// Debugging sessions of frames that have a process of their own, with the frame.
    pub(crate) frames: HashMap<String, String>,
    pub(crate) numbers: Numbers,
}

/// A dialog that a page shows, which blocks the page until it is answered.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Dialog {
    /// alert, confirm, prompt or beforeunload.
    pub kind: String,
    /// The text of the page.
    pub message: String,
    /// The text that a prompt suggests.
    pub suggested: String,
}

/// A line of the console of a page.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ConsoleEntry {
    /// log, info, warning, error, debug, exception and others of Chromium's words.
    pub level: String,
    pub text: String,
}

/// A request of a page.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct NetworkEntry {
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) request: String,
    pub method: String,
    pub url: String,
    /// Document, script, image, fetch and others of Chromium's words.
    pub kind: String,
    /// The status of the answer; none while there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// When a page counts as loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WaitUntil {
    /// Document, styles, scripts and pictures are loaded.
    #[default]
    Load,
    /// The document is read; pictures may still be missing.
    DomContentLoaded,
    /// Loaded, and no request was under way for half a second.
    NetworkIdle,
}

impl WaitUntil {
    fn stage(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::DomContentLoaded => "DOMContentLoaded",
            Self::NetworkIdle => "networkIdle",
        }
    }
}

/// How often a tab has navigated, taken before something is done that may make it navigate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

impl Tab {
    pub(crate) fn new(
        number: u32,
        target: &str,
        session: &str,
        connection: &Connection,
        limits: &Limits,
        cast: &Arc<Cast>,
        hidden: &Arc<Hidden>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            number,
            target: target.to_owned(),
            session: session.to_owned(),
            connection: connection.clone(),
            limits: limits.clone(),
            cast: Arc::clone(cast),
            hidden: Arc::clone(hidden),
            own: own.clone(),
            state: Mutex::new(TabState {
                url: "about:blank".to_owned(),
                ..TabState::default()
            }),
            version: watch::channel(0).0,
        })
    }

    /// Has Chromium tell of the target, and lets it run. Called on the reading task, before anything else is sent to it.
    pub(crate) fn begin(self: &Arc<Self>) {
        self.connection
            .listen(&self.session, Arc::clone(self) as Arc<dyn Listener>);
        self.enable(&self.session);
        self.connection
            .post(&self.session, "Runtime.runIfWaitingForDebugger", json!({}));
    }

    fn enable(&self, session: &str) {
        let post = |method: &str, params: Value| self.connection.post(session, method, params);
        post("Page.enable", json!({}));
        post("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        post("Runtime.enable", json!({}));
        post(
            "Network.enable",
            json!({ "maxTotalBufferSize": 1_000_000, "maxResourceBufferSize": 200_000 }),
        );
        post(
            "Target.setAutoAttach",
            json!({
                "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true,
                "filter": [{ "type": "iframe" }, { "exclude": true }],
            }),
        );
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, TabState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn url(&self) -> String {
        self.state().url.clone()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.state().crashed.is_some()
    }

    fn changed(&self) {
        self.version.send_modify(|it| *it += 1);
    }

    /// Changes the state and wakes all that wait.
    pub(crate) fn change(&self, change: impl FnOnce(&mut TabState)) {
        change(&mut self.state());
        self.changed();
    }

    pub(crate) fn close_state(&self) {
        self.change(|it| it.closed = true);
        self.connection.forget(&self.session);
    }

    /// Records that the process of the page was ended from outside, and why.
    pub(crate) fn crash(&self, why: &str) {
        self.change(|it| {
            it.crashed.get_or_insert_with(|| why.to_owned());
        });
    }

    /// Gives the reason of a crash that was noticed before its reason was known.
    pub(crate) fn crash_because(&self, why: &str) {
        self.change(|it| it.crashed = Some(why.to_owned()));
    }

    /// Whether a frame is one of this tab's.
    pub(crate) fn owns(&self, frame: &str) -> bool {
        self.target == frame || self.state().inner_frames.contains(frame)
    }

    /// Why nothing can be done in the tab now.
    fn trouble(&self, doing: &str) -> Option<Error> {
        let state = self.state();
        let doing = || doing.to_owned();
        if state.closed {
            return Some(Error::TabClosed { doing: doing() });
        }
        if let Some(why) = &state.crashed {
            return Some(Error::Crashed {
                doing: doing(),
                why: why.clone(),
            });
        }
        state.dialog.as_ref().map(|dialog| Error::Dialog {
            doing: doing(),
            kind: dialog.kind.clone(),
            message: dialog.message.clone(),
        })
    }

    /// Sends a command to the tab and waits for its answer, or for what makes an answer impossible.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, Error> {
        self.call_in(&self.session, method, params).await
    }

    /// The same for a debugging session of one of its frames.
    pub(crate) async fn call_in(
        &self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, Error> {
        self.guarded(method, self.connection.call(session, method, params))
            .await
    }

    /// Work in the tab, which ends when the tab crashes, is closed or shows a dialog.
    pub(crate) async fn guarded<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut version = self.version.subscribe();
        if let Some(error) = self.trouble(doing) {
            return Err(error);
        }
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = version.changed() => {
                    if let Some(error) = self.trouble(doing) {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Waits until the state is as wanted.
    pub(crate) async fn until<T>(
        &self,
        doing: &str,
        within: Duration,
        wanted: impl Fn(&TabState) -> Option<T>,
    ) -> Result<T, Error> {
        let mut version = self.version.subscribe();
        let waited = async {
            loop {
                if let Some(found) = wanted(&self.state()) {
                    return Ok(found);
                }
                if let Some(error) = self.trouble(doing) {
                    return Err(error);
                }
                if version.changed().await.is_err() {
                    return Err(Error::TabClosed {
                        doing: doing.to_owned(),
                    });
                }
            }
        };
        tokio::select! {
            waited = tokio::time::timeout(within, waited) => match waited {
                Ok(found) => found,
                Err(_) => Err(Error::TimedOut { doing: doing.to_owned(), after: within }),
            },
            () = self.connection.ended().cancelled_owned() => {
                Err(Error::Ended { doing: doing.to_owned() })
            }
        }
    }

    /// The same without regard to dialogs and crashes. False if the time was over.
    pub(crate) async fn until_quiet(
        &self,
        within: Duration,
        wanted: impl Fn(&TabState) -> Option<()>,
    ) -> bool {
        let mut version = self.version.subscribe();
        let waited = async {
            while wanted(&self.state()).is_none() {
                if version.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::time::timeout(within, waited).await.is_ok()
    }

    /// A page that crashed can be left: the next document has a new process.
    pub(crate) fn recover(&self) {
        self.change(|it| it.crashed = None);
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.state().navigations)
    }

    /// Waits until the document that is shown now has reached a stage.
    pub(crate) async fn reached(&self, until: WaitUntil, within: Duration) -> Result<(), Error> {
        let stage = until.stage();
        let doing = format!("wait for {stage}");
        let reached = |state: &TabState| {
            let here = state.reached.get(&state.loader);
            (!state.navigating && here.is_some_and(|it| it.contains(stage))).then_some(())
        };
        self.until(&doing, within, reached).await
    }

    /// Waits for a navigation after the mark, and until its document has reached a stage.
    pub(crate) async fn navigated(
        &self,
        mark: Mark,
        until: WaitUntil,
        within: Duration,
    ) -> Result<(), Error> {
        let began = Instant::now();
        let moved = |state: &TabState| (state.navigations > mark.0).then_some(());
        self.until("wait for the navigation", within, moved).await?;
        self.reached(until, within.saturating_sub(began.elapsed()))
            .await
    }

    /// Lets the page come to rest after something was done in it: if that began a navigation, its document is awaited.
    /// True if there was one.
    pub(crate) async fn settle(&self, mark: Mark) -> Result<bool, Error> {
        let begun =
            |state: &TabState| (state.navigating || state.navigations > mark.0).then_some(());
        // The page has begun what it does at once, such as sending a form, when it comes to this.
        let rest =
            json!({ "expression": "new Promise((it) => setTimeout(it, 0))", "awaitPromise": true });
        let rested = async {
            let answered =
                self.connection
                    .call_within(&self.session, "Runtime.evaluate", rest, BEGIN);
            // Without an answer the page is busy or is being left.
            let _ = answered.await;
        };
        let moved = tokio::select! {
            moved = self.until("act", self.limits.load, begun) => moved.map(|()| true)?,
            () = rested => begun(&self.state()).is_some(),
        };
        if !moved {
            return Ok(false);
        }
        let committed = |state: &TabState| (!state.navigating).then_some(());
        let within = self.limits.load;
        self.until("wait for the navigation", within, committed)
            .await?;
        self.reached(WaitUntil::DomContentLoaded, within).await?;
        Ok(true)
    }

    /// Evaluates a function of ours in a world of its own, which the page's scripts do not see.
    pub(crate) async fn ask(&self, function: &str, arguments: &Value) -> Result<Value, Error> {
        let world = json!({ "frameId": self.target, "worldName": "monas" });
        let world = self.call("Page.createIsolatedWorld", world).await?;
        let expression = format!("({function})(...{arguments})");
        let params = json!({
            "expression": expression, "contextId": world["executionContextId"],
            "returnByValue": true, "awaitPromise": true,
        });
        value_of(self.call("Runtime.evaluate", params).await?)
    }

    pub(crate) fn drop_navigation(&self) {
        self.change(|it| it.navigating = false);
    }
}

impl std::fmt::Debug for Tab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tab")
            .field("number", &self.number)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// The value of an evaluation, or the error that it threw.
pub(crate) fn value_of(mut answer: Value) -> Result<Value, Error> {
    match answer.get("exceptionDetails") {
        None => Ok(answer["result"]["value"].take()),
        Some(details) => {
            let thrown = &details["exception"];
            let text = [&thrown["description"], &thrown["value"], &details["text"]]
                .into_iter()
                .find_map(Value::as_str)
                .unwrap_or("it failed");
            Err(Error::Script(text.chars().take(500).collect()))
        }
    }
}
