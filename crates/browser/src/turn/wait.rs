//! Waiting for a page.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::Turn;
use crate::error::Error;
use crate::tab::WaitUntil;

const HOLDS: &str = include_str!("../script/holds.js");

/// How often a page is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// A state of the page that is waited for.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The text is shown.
    Text(String),
    /// The text is not shown.
    TextGone(String),
    /// An element that fits the selector is shown.
    Selector(String),
    /// The address contains the text.
    Address(String),
    /// The document has reached a stage.
    Stage(WaitUntil),
    /// A download has ended.
    Download,
    Time,
}

impl Turn {
    /// Waits until the page is as wanted.
    pub async fn wait(&self, wanted: &Condition, within: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + within;
        if let Condition::Stage(stage) = wanted {
            return self.tab().await?.reached(*stage, within).await;
        }
        loop {
            let there = match wanted {
                Condition::Time => false,
                Condition::Download => self.has_ended_download(),
                _ => match self.holds(wanted).await {
                    // The document is being replaced.
                    Err(Error::Protocol { .. } | Error::Script(_)) => false,
                    other => other?,
                },
            };
            if there {
                return Ok(());
            }
            if Instant::now() + LOOK >= deadline {
                tokio::time::sleep_until(deadline).await;
                return match wanted {
                    Condition::Time => Ok(()),
                    _ => Err(Error::TimedOut {
                        doing: format!("wait for {}", words(wanted)),
                        after: within,
                    }),
                };
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn holds(&self, wanted: &Condition) -> Result<bool, Error> {
        let tab = self.tab().await?;
        let (text, selector, is_wanted) = match wanted {
            Condition::Text(text) => (Some(text), None, true),
            Condition::TextGone(text) => (Some(text), None, false),
            Condition::Selector(selector) => (None, Some(selector), true),
            Condition::Address(part) => return Ok(tab.url().contains(part.as_str())),
            Condition::Stage(_) | Condition::Download | Condition::Time => return Ok(true),
        };
        let held = tab.ask(HOLDS, &json!([text, selector])).await?;
        Ok(held == is_wanted)
    }
}

fn words(wanted: &Condition) -> String {
    match wanted {
        Condition::Text(text) => format!("the text {text:?}"),
        Condition::TextGone(text) => format!("the end of the text {text:?}"),
        Condition::Selector(selector) => format!("an element {selector:?}"),
        Condition::Address(part) => format!("an address with {part:?}"),
        Condition::Stage(_) => "the page".to_owned(),
        Condition::Download => "a download".to_owned(),
        Condition::Time => "the time".to_owned(),
    }
}
