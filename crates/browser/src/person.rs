//! The input of a person in the view of a session.

use serde_json::json;

use crate::error::Error;
use crate::live::PersonInput;
use crate::session::Session;
use crate::tab::{Tab, WaitUntil};
use crate::turn::{self, click_at, mouse, press};

/// Longest text that a person types or pastes at once, in bytes.
const TEXT: usize = 100_000;

impl Session {
    /// Does it, and says what was done, if that is worth a line in the record.
    pub(crate) async fn perform(&self, input: PersonInput) -> Result<Option<String>, Error> {
        self.touch();
        let tab = match self.current() {
            Some(tab) => tab,
            None => self.open_tab().await?,
        };
        let done = act(self, &tab, input).await;
        match done {
            // The dialog that the input opened is in the state of the tab.
            Err(Error::Dialog { .. }) => Ok(None),
            other => other,
        }
    }
}

async fn act(session: &Session, tab: &Tab, input: PersonInput) -> Result<Option<String>, Error> {
    let what = match input {
        PersonInput::Move { x, y } => {
            mouse(tab, "mouseMoved", x, y, 0).await?;
            return Ok(None);
        }
        PersonInput::Click { x, y, double } => {
            click_at(tab, x, y, double).await?;
            format!("clicked at {x:.0}, {y:.0}")
        }
        PersonInput::Scroll { x, y, dx, dy } => {
            let params =
                json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy });
            tab.call("Input.dispatchMouseEvent", params).await?;
            return Ok(None);
        }
        PersonInput::Key { key } => {
            press(tab, &key).await?;
            match key.chars().count() {
                1 => "typed a letter".to_owned(),
                _ => format!("pressed {key}"),
            }
        }
        PersonInput::Text { text } if text.len() > TEXT => {
            return Err(Error::Limit {
                doing: "type".to_owned(),
                limit: format!("the text is longer than {TEXT} bytes"),
            });
        }
        PersonInput::Text { text } => {
            tab.call("Input.insertText", json!({ "text": text }))
                .await?;
            format!("typed {} letters", text.chars().count())
        }
        PersonInput::Dialog { accept, text } => {
            let dialog = turn::answer(tab, accept, Some(&text)).await?;
            let how = if accept { "accepted" } else { "dismissed" };
            format!("{how} the dialog {:?}", dialog.message)
        }
        PersonInput::Navigate { url } => {
            let url = turn::parse(&url)?;
            turn::open(session, tab, &url, WaitUntil::DomContentLoaded, None).await?;
            format!("opened {url}")
        }
        PersonInput::Back => went(turn::go(tab, -1).await?, "back"),
        PersonInput::Forward => went(turn::go(tab, 1).await?, "forward"),
        PersonInput::Reload => {
            turn::reload(tab).await?;
            "reloaded the page".to_owned()
        }
        PersonInput::Tab { tab } => {
            session.select(tab);
            format!("went to tab {tab}")
        }
    };
    Ok(Some(what))
}

fn went(moved: bool, way: &str) -> String {
    match moved {
        true => format!("went {way}"),
        false => format!("could not go {way}"),
    }
}
