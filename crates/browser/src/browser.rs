//! The browser of a server: started when it is first used, ended when it is idle, watched while it runs.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::{JoinHandle, JoinSet};

use crate::connection::{Connection, Listener};
use crate::error::Error;
use crate::gateway::Gateway;
use crate::options::Options;
use crate::process::Process;
use crate::session::{Parts, Session};
use crate::targets::Targets;
use crate::usage::{self, Usage};

/// The browser of a server: at most one Chromium, with a context for each session. Clones share it.
///
/// [`session`](Self::session) starts Chromium if it does not run. A task looks at it while it runs: it ends processes of pages
/// that use too much, sessions that are idle, and Chromium itself when the last session has ended; and if Chromium ends by
/// itself it tells all who wait and removes the profile. Dropping the last clone kills Chromium; [`close`](Self::close)
/// ends it in order.
#[derive(Clone, Debug)]
pub struct Browser(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: Options,
    running: tokio::sync::Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    connection: Connection,
    /// None when it is being ended.
    process: Option<Process>,
    targets: Arc<Targets>,
    sessions: HashMap<String, Session>,
    version: String,
    since: Instant,
    /// Reading, writing and watching; they end with it.
    _tasks: JoinSet<()>,
    watching: Option<JoinHandle<()>>,
}

/// Whether the browser runs, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The version of Chromium, while it runs.
    pub version: Option<String>,
    /// The number of its first process, while it runs.
    pub process: Option<u32>,
    pub sessions: Vec<String>,
}

impl Browser {
    /// A browser that is started when it is first used.
    pub fn new(options: Options) -> Self {
        Self(Arc::new(Inner {
            options,
            running: tokio::sync::Mutex::default(),
        }))
    }

    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Whether a browser can be started here. It is not started.
    pub fn check(&self) -> Result<(), Error> {
        crate::process::find(&self.0.options).map(drop)
    }

    pub async fn status(&self) -> Status {
        let running = self.0.running.lock().await;
        let running = running.as_ref().filter(|it| !it.connection.has_ended());
        let mut sessions =
            Vec::from_iter(running.iter().flat_map(|it| it.sessions.keys().cloned()));
        sessions.sort();
        Status {
            version: running.map(|it| it.version.clone()),
            process: running.and_then(|it| it.process.as_ref()?.id()),
            sessions,
        }
    }

    /// The session of this name, if there is one.
    pub async fn existing(&self, id: &str) -> Option<Session> {
        let running = self.0.running.lock().await;
        let session = running.as_ref()?.sessions.get(id).cloned();
        session.filter(|it| !it.is_over())
    }

    /// The session of this name, which is made if there is none; the browser is started if it does not run.
    pub async fn session(&self, id: &str) -> Result<Session, Error> {
        let mut running = self.0.running.lock().await;
        if running.as_ref().is_some_and(|it| it.connection.has_ended())
            && let Some(ended) = running.take()
        {
            ended.end().await;
        }
        let here = match &mut *running {
            Some(running) => running,
            None => running.insert(self.start().await?),
        };
        if let Some(session) = here.sessions.get(id).filter(|it| !it.is_over()) {
            session.touch();
            return Ok(session.clone());
        }
        here.sessions.retain(|_, it| !it.is_over());
        let most = self.0.options.limits.sessions;
        if here.sessions.len() >= most {
            let idle = here.sessions.values().max_by_key(|it| it.idle()).cloned();
            match idle.filter(|it| it.idle() > Duration::from_secs(60)) {
                Some(idle) => here.close(idle.id()),
                None => {
                    return Err(Error::Limit {
                        doing: "open a session of the browser".to_owned(),
                        limit: format!(
                            "{most} sessions are open, which is the most; try again when one has ended"
                        ),
                    });
                }
            }
        }
        let session = here.open(id, &self.0.options).await?;
        here.sessions.insert(id.to_owned(), session.clone());
        Ok(session)
    }

    /// Ends a session: its pages, cookies and files on their way.
    pub async fn close_session(&self, id: &str) {
        if let Some(running) = &mut *self.0.running.lock().await {
            running.close(id);
        }
    }

    /// Ends the browser in order. It is started again when it is next used.
    pub async fn close(&self) {
        let running = self.0.running.lock().await.take();
        if let Some(running) = running {
            running.end().await;
        }
    }

    async fn start(&self) -> Result<Running, Error> {
        let options = &self.0.options;
        let (process, pipe) = Process::start(options)?;
        let (connection, tasks) =
            Connection::open(pipe.answers, pipe.commands, options.limits.command);
        let targets = Arc::new(Targets::new(&connection, options.limits.file_bytes));
        connection.listen("", Arc::clone(&targets) as Arc<dyn Listener>);
        let version = async {
            let begun =
                connection.call_within("", "Browser.getVersion", json!({}), options.limits.start);
            let version = begun.await?;
            let attach = json!({
                "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
                "filter": [{ "type": "page" }, { "exclude": true }],
            });
            connection.call("", "Target.setAutoAttach", attach).await?;
            Ok::<_, Error>(version["product"].as_str().unwrap_or_default().to_owned())
        };
        let version = match version.await {
            Ok(version) => version,
            Err(error) => {
                // Its own words say more than that it ended.
                tokio::time::sleep(Duration::from_millis(50)).await;
                let words = match error {
                    Error::Ended { .. } => process.last_words(),
                    other => other.to_string(),
                };
                process.end().await;
                return Err(Error::Start(words));
            }
        };
        tracing::info!(version, "browser: started");
        let watching = tokio::spawn(watch(Arc::downgrade(&self.0), connection.clone()));
        Ok(Running {
            connection,
            process: Some(process),
            targets,
            sessions: HashMap::new(),
            version,
            since: Instant::now(),
            _tasks: tasks,
            watching: Some(watching),
        })
    }
}

impl Running {
    async fn open(&self, id: &str, options: &Options) -> Result<Session, Error> {
        let failed =
            |error: std::io::Error| Error::Start(format!("open a way to the network: {error}"));
        let resolver = Arc::clone(&options.resolver);
        let gateway = Gateway::open(options.policy.clone(), resolver, options.limits.connections);
        let gateway = gateway.await.map_err(failed)?;
        let params = json!({
            "disposeOnDetach": true, "proxyServer": gateway.proxy(), "proxyBypassList": "<-loopback>",
        });
        let made = self
            .connection
            .call("", "Target.createBrowserContext", params)
            .await?;
        let context = made["browserContextId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let profile = self.process.as_ref().and_then(Process::profile);
        let folder = |of: Option<std::path::PathBuf>| of.unwrap_or_default().join(&context);
        let downloads = folder(profile.map(crate::profile::Profile::downloads));
        let uploads = folder(profile.map(crate::profile::Profile::uploads));
        for made in [&downloads, &uploads] {
            tokio::fs::create_dir_all(made).await.map_err(failed)?;
        }
        let behavior = json!({
            "behavior": "allowAndName", "browserContextId": context, "downloadPath": downloads, "eventsEnabled": true,
        });
        self.connection
            .call("", "Browser.setDownloadBehavior", behavior)
            .await?;
        let session = Session::new(Parts {
            id: id.to_owned(),
            context,
            connection: self.connection.clone(),
            gateway,
            options: options.clone(),
            downloads,
            uploads,
        });
        self.targets.add(&session);
        match session.open_tab().await {
            Ok(_) => Ok(session),
            Err(error) => {
                session.end();
                self.targets.remove(session.context());
                Err(error)
            }
        }
    }

    fn close(&mut self, id: &str) {
        if let Some(session) = self.sessions.remove(id) {
            session.end();
            self.targets.remove(session.context());
        }
    }

    async fn end(mut self) {
        for session in self.sessions.values() {
            session.end();
        }
        if let Some(watching) = self.watching.take() {
            watching.abort();
        }
        if !self.connection.has_ended() {
            let end =
                self.connection
                    .call_within("", "Browser.close", json!({}), Duration::from_secs(2));
            let _ = end.await;
        }
        if let Some(process) = self.process.take() {
            process.end().await;
        }
        tracing::info!("browser: ended");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(watching) = &self.watching {
            watching.abort();
        }
        // Listeners hold the connection that they listen to.
        self.connection.shut();
    }
}

/// Looks at a running browser until it has ended.
async fn watch(browser: Weak<Inner>, connection: Connection) {
    let mut used = Usage::default();
    loop {
        let Some(look) = browser.upgrade().map(|it| it.options.limits.look) else {
            return;
        };
        let ended = tokio::select! {
            () = tokio::time::sleep(look) => false,
            () = connection.ended().cancelled_owned() => true,
        };
        let Some(inner) = browser.upgrade() else {
            return;
        };
        let mut running = inner.running.lock().await;
        let Some(here) = &mut *running else {
            return;
        };
        here.sessions.retain(|_, it| !it.is_over());
        if ended {
            let words = here
                .process
                .as_ref()
                .map(Process::last_words)
                .unwrap_or_default();
            tracing::warn!("browser: Chromium has ended by itself; {words}");
        }
        let limits = &inner.options.limits;
        let idle: Vec<String> = here
            .sessions
            .values()
            .filter(|it| it.idle() >= limits.idle)
            .map(|it| it.id().to_owned())
            .collect();
        for id in idle {
            here.close(&id);
            here.since = Instant::now();
        }
        let unused = here.sessions.is_empty() && here.since.elapsed() >= limits.idle;
        if ended || unused {
            if let Some(mut here) = running.take() {
                // This task itself: it ends by returning.
                here.watching = None;
                here.end().await;
            }
            return;
        }
        let sessions: Vec<Session> = here.sessions.values().cloned().collect();
        drop(running);
        usage::look(&mut used, &connection, limits, &sessions).await;
    }
}
