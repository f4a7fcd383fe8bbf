//! The work of the agent in a session, one thing at a time.
//!
//! Navigation and tabs are here; what is done to elements is in `act`, what is read in `read`, pictures in `capture`, and files
//! in `files`.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use url::Url;

use crate::elements::{self, ElementList};
use crate::error::Error;
use crate::session::{AGENT, Session, TurnGuard};
use crate::tab::{ConsoleEntry, Dialog, NetworkEntry, Tab, WaitUntil};

mod act;
mod capture;
mod cookies;
mod files;
mod keys;
mod read;
mod wait;

pub use act::Typed;
pub(crate) use act::{click_at, mouse, press};
pub use capture::{Area, Format, Picture, Shot};
pub use cookies::Cookie;
pub use files::Download;
pub use read::{Extract, Page, Part};
pub use wait::Condition;

/// Longest address that is opened, in bytes.
const ADDRESS: usize = 8_000;

/// The right to work in a session, for the agent. While it is held, other calls wait.
#[derive(Debug)]
pub struct Turn {
    session: Session,
    _guard: TurnGuard,
}

/// A tab, as it is listed.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct TabInfo {
    /// The number that the tab is named by.
    pub tab: u32,
    pub url: String,
    pub title: String,
    /// True for the tab that is worked in.
    pub current: bool,
}

impl Turn {
    pub(crate) fn new(session: Session, guard: TurnGuard) -> Self {
        Self {
            session,
            _guard: guard,
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The tab that is worked in; a new one if a page or a person closed the last.
    pub(crate) async fn tab(&self) -> Result<Arc<Tab>, Error> {
        match self.session.current() {
            Some(tab) if !tab.is_closed() => Ok(tab),
            _ => self.session.open_tab().await,
        }
    }

    fn note(&self, what: String) {
        self.session.note(AGENT, what);
    }

    pub async fn url(&self) -> Result<String, Error> {
        Ok(self.tab().await?.url())
    }

    /// The title of the page, as the page has it now.
    pub async fn title(&self) -> Result<String, Error> {
        let tab = self.tab().await?;
        let asked = tab.ask("() => document.title", &json!([])).await;
        match asked {
            Ok(Value::String(title)) => Ok(title),
            // The document is being replaced.
            Ok(_) | Err(Error::Protocol { .. } | Error::Script(_)) => title(&tab).await,
            Err(error) => Err(error),
        }
    }

    /// The dialog that blocks the page.
    pub async fn dialog(&self) -> Result<Option<Dialog>, Error> {
        Ok(self.tab().await?.state().dialog.clone())
    }

    /// Opens an address in the tab that is worked in.
    pub async fn navigate(
        &self,
        address: &str,
        until: WaitUntil,
        within: Option<Duration>,
    ) -> Result<(), Error> {
        let url = parse(address)?;
        let tab = self.tab().await?;
        self.note(format!("opened {url}"));
        self.open(&tab, &url, until, within).await
    }

    pub(crate) async fn open(
        &self,
        tab: &Tab,
        url: &Url,
        until: WaitUntil,
        within: Option<Duration>,
    ) -> Result<(), Error> {
        open(&self.session, tab, url, until, within).await
    }

    /// Goes back or forward in the history of the tab. False if there is no such page.
    pub async fn go(&self, steps: i64) -> Result<bool, Error> {
        self.note(
            if steps < 0 {
                "went back"
            } else {
                "went forward"
            }
            .to_owned(),
        );
        let tab = self.tab().await?;
        go(&tab, steps).await
    }

    pub async fn reload(&self) -> Result<(), Error> {
        self.note("reloaded the page".to_owned());
        let tab = self.tab().await?;
        reload(&tab).await
    }

    /// Reads the page and makes a new numbered list.
    pub async fn elements(&self) -> Result<ElementList, Error> {
        let tab = self.tab().await?;
        let mut list = elements::list(&tab).await?;
        list.url = self.session.redact(&list.url);
        for element in &mut list.elements {
            element.text = self.session.redact(&element.text);
            element.value = element.value.as_deref().map(|it| self.session.redact(it));
            element.href = element.href.as_deref().map(|it| self.session.redact(it));
        }
        Ok(list)
    }

    pub async fn tabs(&self) -> Vec<TabInfo> {
        let current = self.session.current().map(|it| it.number);
        let mut listed = Vec::new();
        for tab in self.session.tabs() {
            let title = tokio::time::timeout(Duration::from_secs(1), title(&tab)).await;
            listed.push(TabInfo {
                tab: tab.number,
                url: self.session.redact(&tab.url()),
                title: self
                    .session
                    .redact(&title.ok().and_then(Result::ok).unwrap_or_default()),
                current: current == Some(tab.number),
            });
        }
        listed
    }

    /// Works in another tab from now on.
    pub fn select_tab(&self, number: u32) -> Result<(), Error> {
        self.note(format!("went to tab {number}"));
        self.session
            .select(number)
            .map(drop)
            .ok_or_else(|| unknown_tab(number))
    }

    /// Opens an empty tab and works in it.
    pub async fn new_tab(&self) -> Result<u32, Error> {
        self.note("opened a tab".to_owned());
        Ok(self.session.open_tab().await?.number)
    }

    pub async fn close_tab(&self, number: u32) -> Result<(), Error> {
        let tab = self
            .session
            .tabs()
            .into_iter()
            .find(|it| it.number == number);
        let tab = tab.ok_or_else(|| unknown_tab(number))?;
        self.note(format!("closed tab {number}"));
        let target = json!({ "targetId": tab.target });
        self.session
            .connection()
            .call("", "Target.closeTarget", target)
            .await?;
        let closed = tab
            .until("close the tab", Duration::from_secs(5), |_| None::<()>)
            .await;
        match closed {
            Err(Error::TimedOut { .. }) => Err(Error::Unfit {
                doing: format!("close tab {number}"),
                problem: "the page does not let itself be closed".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Answers the dialog of the page.
    pub async fn answer(&self, accept: bool, text: Option<&str>) -> Result<Dialog, Error> {
        let tab = self.tab().await?;
        let dialog = answer(&tab, accept, text).await?;
        let how = if accept { "accepted" } else { "dismissed" };
        self.note(format!("{how} the dialog {:?}", dialog.message));
        Ok(dialog)
    }

    /// The newest lines of the console.
    pub async fn console(&self) -> Result<Vec<ConsoleEntry>, Error> {
        let tab = self.tab().await?;
        let mut lines: Vec<ConsoleEntry> = tab.state().console.iter().cloned().collect();
        for line in &mut lines {
            line.text = self.session.redact(&line.text);
        }
        Ok(lines)
    }

    /// The newest requests of the page.
    pub async fn network(&self) -> Result<Vec<NetworkEntry>, Error> {
        let tab = self.tab().await?;
        let mut requests: Vec<NetworkEntry> = tab.state().network.iter().cloned().collect();
        for request in &mut requests {
            request.url = self.session.redact(&request.url);
        }
        Ok(requests)
    }

    /// The hosts that the policy kept the session's pages from, newest last, in words.
    pub fn refused(&self) -> Vec<String> {
        let refused = self.session.gateway().refused_after(0);
        refused
            .into_iter()
            .map(|it| format!("{}:{}: {}", it.host, it.port, it.why))
            .collect()
    }
}

fn unknown_tab(number: u32) -> Error {
    Error::Unfit {
        doing: format!("use tab {number}"),
        problem: "there is no tab of this number; browser-tabs lists them".to_owned(),
    }
}

/// An address that may be opened, by its form.
pub(crate) fn parse(address: &str) -> Result<Url, Error> {
    let wrong = |problem: &str| Error::Address {
        url: address.chars().take(200).collect(),
        problem: problem.to_owned(),
    };
    let address_text = address.trim();
    if address_text.len() > ADDRESS {
        return Err(wrong("the address is too long"));
    }
    let local = ["localhost", "127.", "[::1]"];
    let parsed = match Url::parse(address_text) {
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            let scheme = if local.iter().any(|it| address_text.starts_with(it)) {
                "http"
            } else {
                "https"
            };
            Url::parse(&format!("{scheme}://{address_text}"))
        }
        // `localhost:8080` reads as the scheme `localhost`.
        Ok(url)
            if !address_text.contains("//")
                && (address_text.starts_with("localhost:")
                    || url.cannot_be_a_base() && url.path().parse::<u16>().is_ok()) =>
        {
            Url::parse(&format!("http://{address_text}"))
        }
        other => other,
    };
    let url = parsed.map_err(|error| wrong(&format!("it is no address: {error}")))?;
    match url.scheme() {
        "http" | "https" if url.host_str().is_some() => {}
        "about" if url.as_str() == "about:blank" => {}
        scheme => {
            return Err(wrong(&format!(
                "pages open http and https alone, not {scheme}:"
            )));
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "names and passwords do not belong into an address; type them into the page",
        ));
    }
    Ok(url)
}

pub(crate) async fn open(
    session: &Session,
    tab: &Tab,
    url: &Url,
    until: WaitUntil,
    within: Option<Duration>,
) -> Result<(), Error> {
    let limit = session.options().limits.load;
    let within = within.unwrap_or(limit).min(limit * 4);
    let shown = session.redact(url.as_str());
    let refused = |why: String| Error::Refused {
        url: shown.clone(),
        why,
    };
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    if !host.is_empty() {
        session
            .options()
            .policy
            .check_host(host, port)
            .map_err(refused)?;
    }
    let before = session.gateway().refusals();
    tab.recover();
    let mark = tab.mark();
    let params = json!({ "url": url.as_str() });
    let called = session
        .connection()
        .call_within(&tab.session, "Page.navigate", params, within);
    let answer = tab.guarded("open the page", called).await?;
    if let Some(problem) = answer["errorText"].as_str() {
        tab.drop_navigation();
        let why = session
            .gateway()
            .refused_after(before)
            .into_iter()
            .find(|it| spelled(&it.host) == spelled(host));
        return Err(match (why, answer["isDownload"].as_bool()) {
            (Some(it), _) => refused(it.why),
            (None, Some(true)) => return Ok(()),
            (None, _) => Error::Unreachable {
                url: shown.clone(),
                problem: explain(problem),
            },
        });
    }
    if answer["loaderId"].is_null() {
        // The same document, at another place of it.
        return Ok(());
    }
    tab.navigated(mark, until, within)
        .await
        .map_err(|error| match error {
            Error::TimedOut { after, .. } => Error::TimedOut {
                doing: format!("open {shown}: it is not loaded; what is there can be read"),
                after,
            },
            other => other,
        })
}

fn spelled(host: &str) -> String {
    dial::ip_literal(host).map_or_else(|| host.to_lowercase(), |it| it.to_string())
}

/// Chromium's word for a fault, in words.
fn explain(problem: &str) -> String {
    let words = match problem {
        // The gateway found no address that answers.
        "net::ERR_SOCKS_CONNECTION_FAILED" | "net::ERR_SOCKS_CONNECTION_HOST_UNREACHABLE" => {
            "the host is unknown or does not answer"
        }
        "net::ERR_ABORTED" => "it was ended; perhaps it is a download",
        "net::ERR_UNSAFE_PORT" => "browsers do not open this port",
        "net::ERR_EMPTY_RESPONSE" => "the host answered nothing",
        _ => return problem.to_owned(),
    };
    format!("{words} ({problem})")
}

pub(crate) async fn go(tab: &Tab, steps: i64) -> Result<bool, Error> {
    let history = tab.call("Page.getNavigationHistory", json!({})).await?;
    let here = history["currentIndex"].as_i64().unwrap_or_default();
    let place = usize::try_from(here + steps).ok();
    let Some(entry) = place.and_then(|it| history["entries"].get(it)) else {
        return Ok(false);
    };
    let mark = tab.mark();
    let params = json!({ "entryId": entry["id"] });
    tab.call("Page.navigateToHistoryEntry", params).await?;
    tab.navigated(mark, WaitUntil::DomContentLoaded, tab.limits.load)
        .await?;
    Ok(true)
}

pub(crate) async fn reload(tab: &Tab) -> Result<(), Error> {
    tab.recover();
    let mark = tab.mark();
    tab.call("Page.reload", json!({})).await?;
    tab.navigated(mark, WaitUntil::Load, tab.limits.load).await
}

pub(crate) async fn answer(tab: &Tab, accept: bool, text: Option<&str>) -> Result<Dialog, Error> {
    let dialog = tab.state().dialog.clone();
    let dialog = dialog.ok_or_else(|| Error::Unfit {
        doing: "answer the dialog".to_owned(),
        problem: "the page shows none".to_owned(),
    })?;
    let mut params = json!({ "accept": accept });
    if let Some(text) = text {
        params["promptText"] = Value::from(text);
    }
    let call = tab
        .connection
        .call(&tab.session, "Page.handleJavaScriptDialog", params);
    call.await?;
    let closed = |state: &crate::tab::TabState| state.dialog.is_none().then_some(());
    // The page may show the next dialog at once.
    let _ = tab.until_quiet(Duration::from_millis(500), closed).await;
    Ok(dialog)
}

/// The title of a tab as Chromium shows it, which a busy page has no part in.
async fn title(tab: &Tab) -> Result<String, Error> {
    let history = tab.call("Page.getNavigationHistory", json!({})).await?;
    let here = history["currentIndex"]
        .as_u64()
        .and_then(|it| usize::try_from(it).ok());
    let entry = here.and_then(|it| history["entries"].get(it));
    Ok(entry
        .and_then(|it| it["title"].as_str())
        .unwrap_or_default()
        .to_owned())
}
