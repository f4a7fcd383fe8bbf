//! The watchdog of a server: it follows the journal of every agent, writes down what it knows, and tells people of alerts, in
//! the chat, over the door, and by webhook.
//!
//! What an alert is, is decided in the crate `watch`, which is pure. The state is committed with every notice and otherwise now
//! and then: what is lost in a crash are events that led to no notice, and they are read again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{Owner, Population};
use bytes::Bytes;
use dial::{HttpClient, Redirects};
use serde_json::{Value, json};
use store::{Batch, Entry, Row, Store, StreamId, Table};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use watch::{Alert, Author, Change, Judgement, Notice, Response, Severity, State, Watcher};

use crate::chat::Chat;
use crate::chat::show::now;

/// The state of the watchdog: one row.
static STATE: Table = Table {
    name: "watchdog",
    columns: &[],
    indexes: &[],
};

/// The tables that a store needs for the watchdog.
pub static TABLES: &[&Table] = &[&STATE];

/// The key of the row.
const KEY: &str = "state";
/// How many events are read at once.
const PAGE: usize = 128;
/// How often new agents and alerts that are quiet are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// How often the state is written down when there was no notice.
const SAVE: Duration = Duration::from_secs(30);
/// What happened longer ago than this is listed and not told: a server that was off for days does not begin with old alerts.
const OLD: i64 = 3_600_000;
/// How many notices wait for a slow webhook.
const BEHIND: usize = 256;
/// How often a webhook is tried, and how long one try may take.
const TRIES: u32 = 3;
const TRY: Duration = Duration::from_secs(10);

/// What the watchdog needs of a server.
#[derive(Debug)]
pub struct WatchdogParts {
    pub store: Store,
    pub population: Population,
    pub chat: Chat,
    /// With the rules that are in force.
    pub watcher: Watcher,
    /// Where notices are posted, with what posts them.
    pub webhook: Option<(String, HttpClient)>,
}

/// The watchdog of a server. Clones are the same one.
///
/// One lock guards the watcher; it is held for a page of events and never across an await. A save takes `saving` first, then
/// copies the state under the lock, so that an older state never overwrites a newer one. The follower of an agent ends with
/// [`run`](Self::run), and its cursor is part of the state that `run` writes at its end.
#[derive(Clone, Debug)]
pub struct Watchdog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    population: Population,
    chat: Chat,
    watcher: Mutex<Watcher>,
    saving: tokio::sync::Mutex<()>,
    webhook: Option<(String, HttpClient)>,
}

impl Watchdog {
    /// Goes on with the state in the store; one that cannot be read is made anew from the journals.
    pub async fn open(parts: WatchdogParts) -> Result<Self, store::Error> {
        let row = parts.store.read(|view| view.row(&STATE, KEY)).await?;
        let state = row.and_then(|row| match serde_json::from_slice::<State>(&row.body) {
            Ok(state) => Some(state),
            Err(error) => {
                tracing::warn!(%error, "watchdog: the stored state is of another form; the journals are read anew");
                None
            }
        });
        let watcher = match state {
            Some(state) => parts.watcher.with_state(state),
            None => parts.watcher,
        };
        Ok(Self(Arc::new(Inner {
            store: parts.store,
            population: parts.population,
            chat: parts.chat,
            watcher: Mutex::new(watcher),
            saving: tokio::sync::Mutex::new(()),
            webhook: parts.webhook,
        })))
    }

    /// Follows the journals of all agents until the server stops.
    pub async fn run(self, stopping: CancellationToken) {
        let mut followers = JoinSet::new();
        let mut followed = BTreeSet::new();
        let posts = self.post_in(&mut followers);
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut saved = tokio::time::Instant::now();
        loop {
            tokio::select! {
                () = stopping.cancelled() => break,
                _ = look.tick() => {}
            }
            for id in self.0.population.ids() {
                if followed.insert(id.clone()) {
                    followers.spawn(self.clone().follow(id, posts.clone()));
                }
            }
            let notices = self.lock().pass(now());
            self.tell(notices, &posts).await;
            if saved.elapsed() >= SAVE {
                self.save().await;
                saved = tokio::time::Instant::now();
            }
        }
        followers.shutdown().await;
        self.save().await;
    }

    /// The alerts, the last one first.
    pub fn alerts(&self) -> Vec<Alert> {
        self.lock().alerts().into_iter().cloned().collect()
    }

    /// The rules with their counts, as people see them.
    pub fn rules(&self) -> Vec<Value> {
        let watcher = self.lock();
        let rules = watcher.rules().iter().map(|rule| {
            let counts = watcher.counts(&rule.id);
            json!({
                "id": rule.id, "title": rule.title, "description": rule.description, "pack": rule.pack,
                "author": rule.author, "severity": rule.severity, "alert_type": rule.alert_type, "response": rule.response,
                "matches": counts.matches, "alerts": counts.alerts, "acknowledged": counts.acknowledged,
                "false_alarms": counts.false_alarms,
                "last": (counts.last > 0).then(|| memory::format_time(counts.last)),
                "silence": watcher.silence(&rule.id),
            })
        });
        rules.collect()
    }

    /// How many packs are in force.
    pub fn packs(&self) -> usize {
        let watcher = self.lock();
        let packs: BTreeSet<&str> = watcher.rules().iter().map(|it| it.pack.as_str()).collect();
        packs.len()
    }

    /// Takes the word of a person about an alert in; none: there is no such alert.
    pub async fn judge(&self, id: &str, judgement: &Judgement, by: &str) -> Option<Alert> {
        let judged = self.lock().judge(id, judgement, by).cloned()?;
        self.save().await;
        Some(judged)
    }

    /// Mutes a rule until a time; false: there is no such rule.
    pub async fn mute_rule(&self, rule: &str, until: i64) -> bool {
        let known = {
            let mut watcher = self.lock();
            let known = watcher.rules().get(rule).is_some();
            if known {
                watcher.mute_rule(rule, until);
            }
            known
        };
        if known {
            self.save().await;
        }
        known
    }

    fn lock(&self) -> MutexGuard<'_, Watcher> {
        self.0
            .watcher
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn follow(self, agent: String, posts: mpsc::Sender<Arc<Notice>>) {
        let name = format!("agent/{agent}");
        let cursor = self.lock().cursor(&name);
        let mut follow = self.0.store.follow(&StreamId::new(name.clone()), cursor);
        while let Some(page) = follow.next_many(PAGE).await {
            match page {
                Ok(entries) => {
                    let notices = self.take(&name, &entries);
                    self.tell(notices, &posts).await;
                }
                Err(error) => {
                    tracing::error!(agent, %error, "watchdog: following the journal failed");
                    return;
                }
            }
        }
    }

    fn take(&self, stream: &str, entries: &[Arc<Entry>]) -> Vec<Notice> {
        let mut watcher = self.lock();
        let mut notices = Vec::new();
        for entry in entries {
            match watcher.event(stream, entry.sequence(), entry.payload()) {
                Ok(told) => notices.extend(told),
                Err(error) => tracing::debug!(%error, "watchdog: an event was passed over"),
            }
        }
        notices
    }

    /// Tells notices, once they are written down.
    async fn tell(&self, notices: Vec<Notice>, posts: &mpsc::Sender<Arc<Notice>>) {
        if notices.is_empty() {
            return;
        }
        self.save().await;
        for notice in notices {
            let at = match &notice {
                Notice::Alert { alert, .. } => alert.last,
                Notice::Digest { at, .. } => *at,
            };
            if at < now() - OLD {
                continue;
            }
            let notice = Arc::new(notice);
            self.0.chat.tell_alert(posted(&notice));
            self.in_chat(&notice).await;
            if interrupts(&notice)
                && self.0.webhook.is_some()
                && posts.try_send(notice.clone()).is_err()
            {
                tracing::warn!("watchdog: the webhook is too slow; a notice is not posted");
            }
            self.pause(&notice).await;
        }
    }

    /// Shows an alert to the windows of the conversation that it is about.
    async fn in_chat(&self, notice: &Notice) {
        let Notice::Alert {
            alert,
            change,
            interrupts,
        } = notice
        else {
            return;
        };
        let shown = *interrupts || alert.severity == Severity::Info && *change == Change::Opened;
        if !shown || alert.conversation.is_empty() {
            return;
        }
        let owner = Owner {
            caller: alert.caller.clone(),
            conversation: alert.conversation.clone(),
        };
        let severe = alert.severity >= Severity::High;
        let task = (!alert.task.is_empty()).then(|| alert.task.clone());
        self.0
            .chat
            .pass_alert(&alert.agent, &owner, payload(alert, *change), severe, task)
            .await;
    }

    /// Stops an agent, where a rule of the operator says so.
    async fn pause(&self, notice: &Notice) {
        let Notice::Alert {
            alert,
            change: Change::Opened | Change::Raised,
            ..
        } = notice
        else {
            return;
        };
        let pauses = {
            let watcher = self.lock();
            watcher
                .rules()
                .get(&alert.rule)
                .is_some_and(|it| it.author == Author::Operator && it.response == Response::Pause)
        };
        if !pauses {
            return;
        }
        let paused = match self.0.population.find(&alert.agent).await {
            Ok(agent) => agent.pause().await,
            Err(error) => Err(error),
        };
        match paused {
            Ok(()) => tracing::warn!(
                agent = alert.agent,
                rule = alert.rule,
                "watchdog: paused the agent, as the rule says"
            ),
            Err(error) => {
                tracing::error!(agent = alert.agent, %error, "watchdog: the agent could not be paused")
            }
        }
    }

    async fn save(&self) {
        let _saving = self.0.saving.lock().await;
        let written = serde_json::to_vec(self.lock().state());
        let body = match written {
            Ok(body) => Bytes::from(body),
            Err(error) => {
                tracing::error!(%error, "watchdog: the state cannot be written");
                return;
            }
        };
        let row = Row {
            key: KEY.to_owned(),
            columns: Vec::new(),
            body,
        };
        if let Err(error) = self.0.store.commit(Batch::new().put(&STATE, row)).await {
            tracing::error!(%error, "watchdog: the state could not be stored");
        }
    }

    /// Posts notices to the webhook, one after the other.
    fn post_in(&self, tasks: &mut JoinSet<()>) -> mpsc::Sender<Arc<Notice>> {
        let (posts, mut queue) = mpsc::channel::<Arc<Notice>>(BEHIND);
        if let Some((url, http)) = self.0.webhook.clone() {
            tasks.spawn(async move {
                while let Some(notice) = queue.recv().await {
                    post(&url, &http, &notice).await;
                }
            });
        }
        posts
    }
}

fn interrupts(notice: &Notice) -> bool {
    matches!(
        notice,
        Notice::Alert {
            interrupts: true,
            ..
        } | Notice::Digest { .. }
    )
}

/// A notice as webhooks and followers get it.
fn posted(notice: &Notice) -> Value {
    match notice {
        Notice::Alert { alert, change, .. } => {
            json!({ "type": "watchdog_alert", "payload": payload(alert, *change) })
        }
        digest @ Notice::Digest { .. } => json!({ "type": "watchdog_digest", "payload": digest }),
    }
}

async fn post(url: &str, http: &HttpClient, notice: &Notice) {
    let body = Bytes::from(posted(notice).to_string());
    for attempt in 0..TRIES {
        let request = http_request(url, body.clone());
        let Some(request) = request else {
            tracing::error!(url, "watchdog: the webhook is not a URL");
            return;
        };
        match timeout(TRY, http.send(request, Redirects::None)).await {
            Ok(Ok(response)) if response.status().is_success() => return,
            Ok(Ok(response)) => {
                tracing::warn!(url, status = %response.status(), "watchdog: the webhook refused a notice")
            }
            Ok(Err(error)) => tracing::warn!(url, %error, "watchdog: the webhook was not reached"),
            Err(_) => tracing::warn!(url, "watchdog: the webhook did not answer in time"),
        }
        tokio::time::sleep(Duration::from_secs(1 << attempt)).await;
    }
}

fn http_request(url: &str, body: Bytes) -> Option<axum::http::Request<Bytes>> {
    let request =
        axum::http::Request::post(url).header(axum::http::header::CONTENT_TYPE, "application/json");
    request.body(body).ok()
}

/// An alert as the chat, webhooks and the API show it: the fields of the document, and ours beside them.
pub(crate) fn payload(alert: &Alert, change: Change) -> Value {
    let mut shown = shown(alert);
    shown["change"] = json!(change);
    shown
}

/// An alert as one of many.
pub(crate) fn shown(alert: &Alert) -> Value {
    json!({
        "alert_type": alert.alert_type,
        "severity": alert.severity,
        "title": alert.title,
        "description": alert.description,
        "related_nodes": alert.related_nodes,
        "action_required": alert.action_required(),
        "alert_id": alert.alert_id,
        "action": alert.action,
        "response": alert.response,
        "rule": alert.rule,
        "state": alert.state,
        "count": alert.count,
        "first": memory::format_time(alert.first),
        "last": memory::format_time(alert.last),
        "events": alert.events,
        "agent": alert.agent,
        "task": alert.task,
        "by": alert.by,
    })
}
