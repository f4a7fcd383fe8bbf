//! The events of the browser itself: tabs that begin and end, and downloads, passed on to the sessions.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::connection::{Connection, Listener};
use crate::session::{Session, Transfer, TransferState};

/// How many downloads a session keeps until the agent has seen them.
const TRANSFERS: usize = 50;

/// Hears the events of the browser itself, and passes them to the sessions.
pub(crate) struct Targets {
    connection: Connection,
    sessions: Mutex<HashMap<String, Session>>,
    /// Largest download, in bytes.
    most: u64,
}

impl std::fmt::Debug for Targets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Targets").finish_non_exhaustive()
    }
}

impl Targets {
    pub(crate) fn new(connection: &Connection, most: u64) -> Self {
        Self {
            connection: connection.clone(),
            sessions: Mutex::default(),
            most,
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, session: &Session) {
        self.all()
            .insert(session.context().to_owned(), session.clone());
    }

    pub(crate) fn remove(&self, context: &str) {
        self.all().remove(context);
    }

    fn attached(&self, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let target = &params["targetInfo"];
        let context = target["browserContextId"].as_str().unwrap_or_default();
        let owner = self.all().get(context).cloned();
        match owner {
            Some(owner) => owner.attach(target["targetId"].as_str().unwrap_or_default(), session),
            // A page of Chromium's own.
            None => self
                .connection
                .post(session, "Runtime.runIfWaitingForDebugger", json!({})),
        }
    }

    fn detached(&self, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let sessions: Vec<Session> = self.all().values().cloned().collect();
        for one in sessions {
            if one.detach(session) {
                return;
            }
        }
    }

    fn download_begins(&self, params: &Value) {
        let frame = params["frameId"].as_str().unwrap_or_default();
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        let sessions: Vec<Session> = self.all().values().cloned().collect();
        let has = |it: &&Session| it.tabs().iter().any(|tab| tab.owns(frame));
        let cancel = |session: &Session| {
            let cancel = json!({ "guid": text("guid"), "browserContextId": session.context() });
            self.connection.post("", "Browser.cancelDownload", cancel);
        };
        let Some(session) = sessions.iter().find(has) else {
            // A frame that is not known: one of the sessions has it.
            sessions.iter().for_each(cancel);
            return;
        };
        for tab in session.tabs().iter().filter(|it| it.owns(frame)) {
            // The page that was asked for does not come.
            tab.drop_navigation();
        }
        if session.transfers().len() >= TRANSFERS {
            cancel(session);
            return;
        }
        let transfer = Transfer {
            name: text("suggestedFilename"),
            url: text("url"),
            state: TransferState::Begun,
        };
        session.transfers().insert(text("guid"), transfer);
        session.transfers_changed();
    }

    fn download_goes_on(&self, params: &Value) {
        let guid = params["guid"].as_str().unwrap_or_default();
        let sessions: Vec<Session> = self.all().values().cloned().collect();
        for session in sessions {
            let mut transfers = session.transfers();
            let Some(transfer) = transfers.get_mut(guid) else {
                continue;
            };
            let bytes = |name: &str| params[name].as_f64().unwrap_or_default();
            let most = self.most;
            let large = bytes("receivedBytes").max(bytes("totalBytes")) > most as f64;
            match params["state"].as_str() {
                _ if matches!(transfer.state, TransferState::Failed(_)) => {}
                _ if large => {
                    transfer.state =
                        TransferState::Failed(format!("it is larger than {most} bytes"));
                    let cancel = json!({ "guid": guid, "browserContextId": session.context() });
                    self.connection.post("", "Browser.cancelDownload", cancel);
                }
                Some("completed") => transfer.state = TransferState::Whole,
                Some("canceled") => {
                    transfer.state = TransferState::Failed("it was cancelled".to_owned())
                }
                _ => return,
            }
            drop(transfers);
            session.transfers_changed();
            return;
        }
    }
}

impl Listener for Targets {
    fn hear(&self, method: &str, params: &mut Value, _: &str) {
        match method {
            "Target.attachedToTarget" => self.attached(params),
            "Target.detachedFromTarget" => self.detached(params),
            "Browser.downloadWillBegin" => self.download_begins(params),
            "Browser.downloadProgress" => self.download_goes_on(params),
            _ => {}
        }
    }
}
