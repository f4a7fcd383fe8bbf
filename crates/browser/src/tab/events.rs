//! The events of a tab.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ConsoleEntry, Dialog, NetworkEntry, Tab, TabState};
use crate::connection::Listener;

/// How many addresses of a tab are kept.
const HISTORY: usize = 50;

/// How many frames of a page are known by name.
const FRAMES: usize = 500;

/// Longest address and longest line of the console that are kept, in characters.
const LINE: usize = 500;

impl Listener for Tab {
    fn hear(&self, method: &str, params: &mut Value, session: &str) {
        let main = session == self.session;
        match method {
            "Page.lifecycleEvent" if main => self.reach(params),
            "Page.frameNavigated" if main => self.navigate(params),
            "Page.navigatedWithinDocument" if main && self.is_main(&params["frameId"]) => {
                self.change(|it| it.move_to(text(&params["url"])));
            }
            "Page.frameStartedNavigating" | "Page.frameRequestedNavigation"
                if main && self.is_main(&params["frameId"]) =>
            {
                let same = text(&params["navigationType"]).contains("sameDocument");
                let other = params["disposition"]
                    .as_str()
                    .is_some_and(|it| it != "currentTab");
                self.change(|it| it.navigating |= !same && !other);
            }
            "Page.frameStoppedLoading" if main && self.is_main(&params["frameId"]) => {
                self.change(|it| it.navigating = false);
            }
            "Page.frameAttached" => {
                let frame = text(&params["frameId"]).to_owned();
                self.change(|it| {
                    if it.inner_frames.len() < FRAMES {
                        it.inner_frames.insert(frame);
                    }
                });
            }
            "Page.frameDetached" if params["reason"] != "swap" => {
                self.change(|it| {
                    it.inner_frames.remove(text(&params["frameId"]));
                });
            }
            "Page.javascriptDialogOpening" => self.dialog(params),
            "Page.javascriptDialogClosed" => self.change(|it| it.dialog = None),
            "Page.screencastFrame" if main => self.cast.frame(self, params),
            "Runtime.consoleAPICalled" => {
                let words: Vec<String> = params["args"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(word)
                    .collect();
                self.console(text(&params["type"]), &words.join(" "));
            }
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let thrown = &details["exception"]["description"];
                self.console(
                    "exception",
                    thrown.as_str().unwrap_or(text(&details["text"])),
                );
            }
            "Network.requestWillBeSent" => self.request(params),
            "Network.responseReceived" => {
                let status = params["response"]["status"].as_u64();
                self.answered(params, |it| {
                    it.status = status.and_then(|it| u16::try_from(it).ok())
                });
            }
            "Network.loadingFailed" => {
                let why = text(&params["errorText"]).to_owned();
                self.answered(params, |it| it.failed = Some(why));
            }
            "Network.webSocketCreated" => {
                let entry = NetworkEntry {
                    request: text(&params["requestId"]).to_owned(),
                    method: "GET".to_owned(),
                    url: short(&params["url"]),
                    kind: "websocket".to_owned(),
                    status: None,
                    failed: None,
                };
                self.keep_request(entry);
            }
            "Network.webSocketFrameError" => {
                let why = short(&params["errorMessage"]);
                self.answered(params, |it| it.failed = Some(why));
            }
            "Inspector.targetCrashed" => self.crash("its process ended"),
            "Target.attachedToTarget" => self.frame_begins(params),
            "Target.detachedFromTarget" => {
                let session = text(&params["sessionId"]);
                self.connection.forget(session);
                self.change(|it| {
                    it.frames.remove(session);
                });
            }
            _ => {}
        }
    }
}

impl Tab {
    fn is_main(&self, frame: &Value) -> bool {
        frame.as_str() == Some(&*self.target)
    }

    fn reach(&self, params: &Value) {
        if !self.is_main(&params["frameId"]) {
            return;
        }
        let (loader, stage) = (text(&params["loaderId"]), text(&params["name"]));
        self.change(|it| {
            if !it.reached.contains_key(loader) && it.reached.len() > 3 {
                let shown = it.loader.clone();
                it.reached.retain(|name, _| *name == shown);
            }
            let stages = it.reached.entry(loader.to_owned()).or_default();
            if stage == "init" {
                stages.clear();
            }
            stages.insert(stage.to_owned());
        });
    }

    fn navigate(&self, params: &Value) {
        let frame = &params["frame"];
        if !self.is_main(&frame["id"]) {
            return;
        }
        let url = text(&frame["url"]);
        let fragment = text(&frame["urlFragment"]);
        self.change(|it| {
            loader(it, text(&frame["loaderId"]));
            it.navigating = false;
            it.crashed = None;
            it.move_to(&format!("{url}{fragment}"));
        });
        // Addresses are checked before they are opened, and Chromium keeps pages from opening local ones; this is for
        // what neither knows.
        if !is_harmless(url) {
            self.connection
                .post(&self.session, "Page.stopLoading", json!({}));
            self.connection.post(
                &self.session,
                "Page.navigate",
                json!({ "url": "about:blank" }),
            );
            self.console(
                "refused",
                &format!("the address {url} was closed: pages open http and https alone"),
            );
        }
    }

    fn dialog(&self, params: &Value) {
        let kind = text(&params["type"]).to_owned();
        if kind == "beforeunload" {
            // The agent asked to leave the page.
            let answer = json!({ "accept": true });
            self.connection
                .post(&self.session, "Page.handleJavaScriptDialog", answer);
            return;
        }
        // A dialog is told in errors, too, which pass by everything else that hides values.
        let shown = |name: &str| {
            let whole = self.hidden.redact(text(&params[name]));
            whole.chars().take(LINE).collect()
        };
        let dialog = Dialog {
            kind,
            message: shown("message"),
            suggested: shown("defaultPrompt"),
        };
        self.change(|it| it.dialog = Some(dialog));
    }

    fn console(&self, level: &str, line: &str) {
        let entry = ConsoleEntry {
            level: level.to_owned(),
            text: line.chars().take(LINE).collect(),
        };
        let most = self.limits.log_entries;
        keep(&mut self.state().console, entry, most);
    }

    fn request(&self, params: &Value) {
        let request = &params["request"];
        if text(&request["url"]).starts_with("data:") {
            return;
        }
        self.keep_request(NetworkEntry {
            request: text(&params["requestId"]).to_owned(),
            method: text(&request["method"]).to_owned(),
            url: short(&request["url"]),
            kind: text(&params["type"]).to_lowercase(),
            status: None,
            failed: None,
        });
    }

    fn keep_request(&self, entry: NetworkEntry) {
        let most = self.limits.log_entries;
        keep(&mut self.state().network, entry, most);
    }

    fn answered(&self, params: &Value, note: impl FnOnce(&mut NetworkEntry)) {
        let id = text(&params["requestId"]);
        let mut state = self.state();
        if let Some(entry) = state.network.iter_mut().rev().find(|it| it.request == id) {
            note(entry);
        }
    }

    /// A frame with a process of its own.
    fn frame_begins(&self, params: &Value) {
        let session = text(&params["sessionId"]);
        let frame = text(&params["targetInfo"]["targetId"]).to_owned();
        let Some(own) = self.own.upgrade() else {
            return;
        };
        if self.state().frames.len() >= 50 {
            return;
        }
        self.connection.listen(session, own as Arc<dyn Listener>);
        self.enable(session);
        self.change(|it| {
            it.frames.insert(session.to_owned(), frame);
        });
    }
}

impl TabState {
    fn move_to(&mut self, url: &str) {
        self.navigations += 1;
        url.clone_into(&mut self.url);
        keep(&mut self.history, url.chars().take(LINE).collect(), HISTORY);
    }
}

fn loader(state: &mut TabState, loader: &str) {
    if state.loader != loader {
        loader.clone_into(&mut state.loader);
        state.numbers.forget();
    }
}

/// Whether an address holds nothing of this machine.
pub(crate) fn is_harmless(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    matches!(
        scheme,
        "http" | "https" | "about" | "blob" | "data" | "chrome-error" | ""
    )
}

fn keep<T>(list: &mut VecDeque<T>, entry: T, most: usize) {
    while list.len() >= most.max(1) {
        list.pop_front();
    }
    list.push_back(entry);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn short(value: &Value) -> String {
    text(value).chars().take(LINE).collect()
}

/// An argument of the console in words.
fn word(value: &Value) -> String {
    match (&value["value"], value["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(text)) => text.to_owned(),
        (Value::Null, None) => text(&value["type"]).to_owned(),
        (other, _) => other.to_string(),
    }
}
