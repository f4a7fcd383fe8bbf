//! Actions on elements: clicks, hovering, typing, selecting.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join3;
use serde_json::{Value, json};

use super::{Turn, keys};
use crate::error::Error;
use crate::numbers::ElementId;
use crate::tab::{Tab, WaitUntil, value_of};

const AIM: &str = include_str!("../script/aim.js");
const READY: &str = include_str!("../script/ready.js");
const SELECT: &str = include_str!("../script/select.js");
const SCROLL: &str = include_str!("../script/scroll.js");

/// Longest text that is typed, in bytes.
const TEXT: usize = 100_000;

/// How often an element that is covered is aimed at again: a page may be in motion.
const AIMS: usize = 4;
const BETWEEN_AIMS: Duration = Duration::from_millis(120);

/// The typed text: as it is, or the value of a secret.
#[derive(Clone, Copy, Debug)]
pub enum Typed<'a> {
    Text(&'a str),
    /// The name of the secret. Its value appears in no output and no record.
    Secret(&'a str),
}

/// An element that something is done to.
struct Aimed {
    tab: Arc<Tab>,
    id: ElementId,
    number: u32,
    doing: &'static str,
    /// Chromium's handle on it.
    object: Value,
}

impl Turn {
    /// Clicks an element. With `navigation`, waits until the page that the click opens has reached that stage. True if the
    /// click opened a page.
    pub async fn click(
        &self,
        element: u32,
        snapshot: Option<u32>,
        double: bool,
        navigation: Option<WaitUntil>,
    ) -> Result<bool, Error> {
        let aimed = self.aim("click", element, snapshot).await?;
        let (x, y) = aimed.point(true).await?;
        let tab = &aimed.tab;
        self.note(format!(
            "clicked element {element}{}",
            self.name_of(tab, element)
        ));
        let mark = tab.mark();
        match click_at(tab, x, y, double).await {
            // The click has opened the dialog: it is done.
            Err(Error::Dialog { .. }) => return Ok(false),
            // The click has closed the tab or led to another process.
            Err(Error::TabClosed { .. }) => return Ok(true),
            other => other?,
        }
        match navigation {
            Some(until) => {
                tab.navigated(mark, until, tab.limits.load).await?;
                Ok(true)
            }
            None => settled(tab, mark).await,
        }
    }

    pub async fn hover(&self, element: u32, snapshot: Option<u32>) -> Result<(), Error> {
        let aimed = self.aim("hover over", element, snapshot).await?;
        let (x, y) = aimed.point(true).await?;
        self.note(format!(
            "hovered over element {element}{}",
            self.name_of(&aimed.tab, element)
        ));
        mouse(&aimed.tab, "mouseMoved", x, y, 0).await
    }

    /// Types into a field: in place of what is in it, or with `append` after that. With `submit`, presses Enter after it.
    pub async fn type_into(
        &self,
        element: u32,
        snapshot: Option<u32>,
        typed: Typed<'_>,
        append: bool,
        submit: bool,
    ) -> Result<bool, Error> {
        let aimed = self.aim("type into", element, snapshot).await?;
        let tab = &aimed.tab;
        let kind = aimed.ask(READY, json!([!append, null])).await?;
        let text = match typed {
            Typed::Text(_) if kind["password"] == true => {
                return Err(Error::Unfit {
                    doing: format!("type into element {element}"),
                    problem: "it is a password field: type the value of a secret with browser-type-secret, so that the \
                              password is in no message and no record"
                        .to_owned(),
                });
            }
            Typed::Text(text) => text.to_owned(),
            Typed::Secret(name) => self.secret(name)?,
        };
        if text.len() > TEXT {
            return Err(Error::Limit {
                doing: format!("type into element {element}"),
                limit: format!("the text is longer than {TEXT} bytes"),
            });
        }
        let words = match typed {
            Typed::Text(text) => format!("typed {:?}", text.chars().take(80).collect::<String>()),
            Typed::Secret(name) => format!("typed the secret {name}"),
        };
        self.note(format!(
            "{words} into element {element}{}",
            self.name_of(tab, element)
        ));
        let mark = tab.mark();
        let ready = aimed.ask(READY, json!([!append, text])).await?;
        if ready["done"] != true {
            let inserted = match text.is_empty() {
                // An empty text does not replace what is selected.
                true if ready["empty"] == true => Ok(()),
                true => press(tab, "Delete").await,
                false => tab
                    .call("Input.insertText", json!({ "text": text }))
                    .await
                    .map(drop),
            };
            if let Err(error) = inserted
                && !matches!(error, Error::Dialog { .. })
            {
                return Err(error);
            }
        }
        if submit {
            match press(tab, "Enter").await {
                Err(Error::Dialog { .. }) => return Ok(false),
                other => other?,
            }
        }
        settled(tab, mark).await
    }

    /// The value of a secret, which is hidden in all texts of the session from now on.
    fn secret(&self, name: &str) -> Result<String, Error> {
        let found = (self.session.options().secrets)(name);
        let value = found.map_err(|problem| Error::Secret {
            name: name.to_owned(),
            problem,
        })?;
        self.session.hide(name, &value);
        Ok(value)
    }

    /// Selects options of a list, by their labels or values. Returns the labels.
    pub async fn select(
        &self,
        element: u32,
        snapshot: Option<u32>,
        options: &[String],
    ) -> Result<Vec<String>, Error> {
        let aimed = self.aim("select in", element, snapshot).await?;
        let mark = aimed.tab.mark();
        let chosen = aimed.ask(SELECT, json!([options])).await?;
        self.note(format!(
            "selected {options:?} in element {element}{}",
            self.name_of(&aimed.tab, element)
        ));
        settled(&aimed.tab, mark).await?;
        let labels = chosen["chosen"].as_array().into_iter().flatten();
        Ok(labels
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect())
    }

    /// Presses a key or a chord where the focus is.
    pub async fn press(&self, chord: &str) -> Result<bool, Error> {
        let tab = self.tab().await?;
        self.note(format!("pressed {chord}"));
        let mark = tab.mark();
        match press(&tab, chord).await {
            Err(Error::Dialog { .. }) => return Ok(false),
            other => other?,
        }
        settled(&tab, mark).await
    }

    /// Scrolls by a part of the view, or to the `top` or `bottom`. Returns the place, the whole height, and that of the view.
    pub async fn scroll(&self, to: Option<&str>, pages: f64) -> Result<(f64, f64, f64), Error> {
        let tab = self.tab().await?;
        self.note(match to {
            Some(to) => format!("scrolled to the {to}"),
            None => format!("scrolled by {pages} views"),
        });
        let place = tab.ask(SCROLL, &json!([to, pages])).await?;
        let number = |name: &str| place[name].as_f64().unwrap_or_default();
        Ok((number("top"), number("height"), number("view")))
    }

    pub async fn scroll_to(&self, element: u32, snapshot: Option<u32>) -> Result<(), Error> {
        let aimed = self.aim("scroll to", element, snapshot).await?;
        self.note(format!("scrolled to element {element}"));
        aimed.scroll().await
    }

    pub(super) fn name_of(&self, tab: &Tab, element: u32) -> String {
        let state = tab.state();
        let line = state.numbers.line(element);
        line.map_or_else(String::new, |line| format!(" ({line})"))
    }

    /// The element of a number, with Chromium's handle on it.
    async fn aim(
        &self,
        doing: &'static str,
        number: u32,
        snapshot: Option<u32>,
    ) -> Result<Aimed, Error> {
        let tab = self.tab().await?;
        let id = tab.state().numbers.find(doing, number, snapshot)?;
        let params = json!({ "backendNodeId": id.node, "objectGroup": "monas" });
        let gone = || Error::Stale {
            doing,
            element: number,
            problem: "it has gone from the page; use the numbers of the newest list".to_owned(),
        };
        let resolved = tab.call_in(&id.session, "DOM.resolveNode", params).await;
        let object = match resolved {
            Ok(answer) => answer["object"]["objectId"].clone(),
            Err(Error::Protocol { .. }) => return Err(gone()),
            Err(error) => return Err(error),
        };
        Ok(Aimed {
            tab,
            id,
            number,
            doing,
            object,
        })
    }

    /// The handle of an element for other work than the mouse's.
    pub(super) async fn handle(
        &self,
        doing: &'static str,
        number: u32,
        snapshot: Option<u32>,
    ) -> Result<(Arc<Tab>, ElementId), Error> {
        let aimed = self.aim(doing, number, snapshot).await?;
        aimed.scroll().await?;
        Ok((aimed.tab, aimed.id))
    }
}

impl Aimed {
    /// Calls a function of ours on the element.
    async fn ask(&self, function: &str, arguments: Value) -> Result<Value, Error> {
        let arguments: Vec<Value> = match arguments {
            Value::Array(list) => list.into_iter().map(|it| json!({ "value": it })).collect(),
            _ => Vec::new(),
        };
        let params = json!({
            "objectId": self.object, "functionDeclaration": function, "arguments": arguments, "returnByValue": true,
            "userGesture": true,
        });
        let answer = self
            .tab
            .call_in(&self.id.session, "Runtime.callFunctionOn", params)
            .await;
        let value = match answer {
            Err(Error::Protocol { .. }) => return Err(self.gone()),
            other => value_of(other?)?,
        };
        if value["gone"] == true {
            return Err(self.gone());
        }
        match value["unfit"].as_str() {
            Some(problem) => Err(Error::Unfit {
                doing: format!("{} element {}", self.doing, self.number),
                problem: problem.to_owned(),
            }),
            None => Ok(value),
        }
    }

    fn gone(&self) -> Error {
        Error::Stale {
            doing: self.doing,
            element: self.number,
            problem: "it has gone from the page; use the numbers of the newest list".to_owned(),
        }
    }

    fn covered(&self, problem: String) -> Error {
        Error::Covered {
            doing: self.doing,
            element: self.number,
            problem,
        }
    }

    async fn scroll(&self) -> Result<(), Error> {
        let params = json!({ "backendNodeId": self.id.node });
        let scrolled = self
            .tab
            .call_in(&self.id.session, "DOM.scrollIntoViewIfNeeded", params)
            .await;
        match scrolled {
            Ok(_) => Ok(()),
            Err(Error::Protocol { message, .. }) if message.contains("layout") => {
                Err(self.covered("it is hidden: it has no place on the page".to_owned()))
            }
            Err(Error::Protocol { .. }) => Err(self.gone()),
            Err(error) => Err(error),
        }
    }

    /// Where a click on it lands, in the view. An element under another one is an error.
    async fn point(&self, needs_hit: bool) -> Result<(f64, f64), Error> {
        self.scroll().await?;
        let mut found = self.ask(AIM, json!([needs_hit])).await?;
        for _ in 1..AIMS {
            if found["covered"].is_null() && found["hidden"] != true {
                break;
            }
            tokio::time::sleep(BETWEEN_AIMS).await;
            found = self.ask(AIM, json!([needs_hit])).await?;
        }
        if let Some(other) = found["covered"].as_str() {
            return Err(self.covered(format!(
                "{other} lies over it; close or move that first, or scroll"
            )));
        }
        if found["hidden"] == true {
            return Err(self.covered("it is hidden: it has no place in the view".to_owned()));
        }
        if found["topmost"] == true && self.id.session == self.tab.session {
            let number = |name: &str| found[name].as_f64().unwrap_or_default();
            return Ok((number("x"), number("y")));
        }
        self.middle().await
    }

    /// The middle of an element in a frame of another site, in the view.
    async fn middle(&self) -> Result<(f64, f64), Error> {
        let (mut x, mut y) = middle_of(
            &self.tab,
            &self.id.session,
            json!({ "backendNodeId": self.id.node }),
        )
        .await?
        .ok_or_else(|| self.gone())?;
        if self.id.session != self.tab.session {
            let frame = self.tab.state().frames.get(&self.id.session).cloned();
            let owner = self
                .tab
                .call("DOM.getFrameOwner", json!({ "frameId": frame }))
                .await?;
            let model = json!({ "backendNodeId": owner["backendNodeId"] });
            let model = self.tab.call("DOM.getBoxModel", model).await?;
            let corner = &model["model"]["content"];
            x += corner[0].as_f64().unwrap_or_default();
            y += corner[1].as_f64().unwrap_or_default();
        }
        Ok((x, y))
    }
}

async fn middle_of(tab: &Tab, session: &str, node: Value) -> Result<Option<(f64, f64)>, Error> {
    let quads = tab.call_in(session, "DOM.getContentQuads", node).await?;
    let quad = &quads["quads"][0];
    let mut points = Vec::new();
    for place in 0..8 {
        let Some(number) = quad[place].as_f64() else {
            return Ok(None);
        };
        points.push(number);
    }
    let middle = |first: usize| points.iter().skip(first).step_by(2).sum::<f64>() / 4.0;
    Ok(Some((middle(0), middle(1))))
}

/// Lets the page come to rest. A dialog, or the end of the tab, is rest, too.
async fn settled(tab: &Tab, mark: crate::tab::Mark) -> Result<bool, Error> {
    match tab.settle(mark).await {
        Err(Error::Dialog { .. }) => Ok(false),
        Err(Error::TabClosed { .. }) => Ok(true),
        other => other,
    }
}

pub(crate) async fn click_at(tab: &Tab, x: f64, y: f64, double: bool) -> Result<(), Error> {
    for count in 1..=if double { 2 } else { 1 } {
        let moved = mouse(tab, "mouseMoved", x, y, 0);
        let pressed = mouse(tab, "mousePressed", x, y, count);
        let released = mouse(tab, "mouseReleased", x, y, count);
        // They are sent in this order; Chromium answers each when the page has handled it.
        try_join3(moved, pressed, released).await?;
    }
    Ok(())
}

pub(crate) async fn mouse(tab: &Tab, kind: &str, x: f64, y: f64, clicks: u32) -> Result<(), Error> {
    let button = if clicks > 0 { "left" } else { "none" };
    let buttons = u32::from(kind == "mousePressed");
    let params = json!({
        "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks,
    });
    tab.call("Input.dispatchMouseEvent", params).await.map(drop)
}

pub(crate) async fn press(tab: &Tab, chord: &str) -> Result<(), Error> {
    for event in keys::parse(chord)?.events() {
        tab.call("Input.dispatchKeyEvent", event).await?;
    }
    Ok(())
}
