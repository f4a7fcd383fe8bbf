//! The skills about the state of the browser: waiting, tabs, dialogs, logs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::{Context, SkillError, SkillInput, skill};

use super::{FOUND, Hand, Seen, failed};
use crate::tab::{ConsoleEntry, NetworkEntry, WaitUntil};
use crate::turn::{Condition, TabInfo};

/// How long it is waited if nothing is said, in seconds.
const WAIT: u64 = 10;

/// The skill `browser-wait` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserWait(pub(super) Hand);

/// The input of the skill `browser-wait`: one of the conditions, or only a time.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Wait {
    /// A text that is to be shown.
    pub text: Option<String>,
    /// A text that is to disappear.
    #[serde(rename = "textGone", alias = "text_gone")]
    pub text_gone: Option<String>,
    /// A CSS selector of an element that is to be shown.
    pub selector: Option<String>,
    /// A part of the address that is to be open.
    pub url: Option<String>,
    /// The stage that the page is to reach.
    #[serde(rename = "waitUntil", alias = "wait_until")]
    pub wait_until: Option<WaitUntil>,
    /// True to wait for the end of a download.
    #[serde(default)]
    pub download: bool,
    /// For how long at most, in seconds; 10 if it is left out.
    #[schemars(range(min = 0, max = 120))]
    pub seconds: Option<f64>,
}

#[skill(
    name = "Wait for a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["wait until the page shows \"Thank you\""],
    seconds = 150,
    read_only,
    open_world
)]
impl BrowserWait {
    /// Waits until the page shows a text or an element, has loaded, or a time is over.
    async fn run(&self, input: Wait, ctx: Context) -> Result<Seen, SkillError> {
        let seconds = input.seconds.unwrap_or(WAIT as f64).clamp(0.0, 120.0);
        let wanted = match input {
            Wait {
                text: Some(text), ..
            } => Condition::Text(text),
            Wait {
                text_gone: Some(text),
                ..
            } => Condition::TextGone(text),
            Wait {
                selector: Some(selector),
                ..
            } => Condition::Selector(selector),
            Wait {
                url: Some(part), ..
            } => Condition::Address(part),
            Wait {
                wait_until: Some(stage),
                ..
            } => Condition::Stage(stage),
            Wait { download: true, .. } => Condition::Download,
            _ => Condition::Time,
        };
        let turn = self.0.turn(&ctx).await?;
        let waited = turn.wait(&wanted, Duration::from_secs_f64(seconds)).await;
        waited.map_err(|error| failed(&error))?;
        self.0
            .seen(&turn, "The wait is over.".to_owned(), true)
            .await
    }
}

/// The skill `browser-tabs` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserTabs(pub(super) Hand);

/// The input of the skill `browser-tabs`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Tabs {
    /// list, new, select or close; list if it is left out.
    #[serde(default)]
    pub action: TabAction,
    /// The number of the tab to select or close.
    pub tab: Option<u32>,
}

/// An action of the skill `browser-tabs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TabAction {
    #[default]
    List,
    New,
    Select,
    Close,
}

/// The output of the skill `browser-tabs`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TabList {
    /// The outcome in a sentence.
    pub says: String,
    /// A reminder of where titles come from.
    pub found: String,
    pub tabs: Vec<TabInfo>,
}

#[skill(
    name = "Tabs",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["list the tabs of the browser"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserTabs {
    /// Lists, opens, selects and closes tabs of the browser of this conversation.
    async fn run(&self, input: Tabs, ctx: Context) -> Result<TabList, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let missing = || SkillError::coded("does-not-fit", "could not do that: `tab` is missing");
        let says = match (input.action, input.tab) {
            (TabAction::List, _) => "These tabs are open.".to_owned(),
            (TabAction::New, _) => {
                let tab = turn.new_tab().await.map_err(|error| failed(&error))?;
                format!("Tab {tab} is open.")
            }
            (TabAction::Select, tab) => {
                let tab = tab.ok_or_else(missing)?;
                turn.select_tab(tab).map_err(|error| failed(&error))?;
                format!("Tab {tab} is worked in.")
            }
            (TabAction::Close, tab) => {
                let tab = tab.ok_or_else(missing)?;
                turn.close_tab(tab).await.map_err(|error| failed(&error))?;
                format!("Tab {tab} is closed.")
            }
        };
        Ok(TabList {
            says,
            found: FOUND.to_owned(),
            tabs: turn.tabs().await,
        })
    }
}

/// The skill `browser-dialog` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserDialog(pub(super) Hand);

/// The input of the skill `browser-dialog`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct AnswerDialog {
    /// True for OK, false for Cancel.
    pub accept: bool,
    /// The text for a prompt.
    pub text: Option<String>,
}

#[skill(
    name = "Answer a dialog",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["dismiss the dialog of the page"],
    seconds = 60,
    open_world
)]
impl BrowserDialog {
    /// Answers the dialog that the page shows.
    async fn run(&self, input: AnswerDialog, ctx: Context) -> Result<Seen, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let answered = turn.answer(input.accept, input.text.as_deref()).await;
        let dialog = answered.map_err(|error| failed(&error))?;
        let says = format!("Answered the {} {:?}.", dialog.kind, dialog.message);
        self.0.seen(&turn, says, true).await
    }
}

/// The skill `browser-log` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserLog(pub(super) Hand);

/// The input of the skill `browser-log`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Log {
    /// How many of the newest entries of each log; 50 if it is left out.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// The output of the skill `browser-log`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Logs {
    /// The outcome in a sentence.
    pub says: String,
    /// A reminder of where the rest comes from.
    pub found: String,
    pub console: Vec<ConsoleEntry>,
    pub network: Vec<NetworkEntry>,
    /// Hosts that the policy of the network kept the pages from.
    pub refused: Vec<String>,
}

#[skill(
    name = "Read the logs of a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["what does the console of the page say?"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserLog {
    /// Shows the console and the requests of the page.
    async fn run(&self, input: Log, ctx: Context) -> Result<Logs, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let limit = input.limit.unwrap_or(50);
        let console = turn.console().await.map_err(|error| failed(&error))?;
        let network = turn.network().await.map_err(|error| failed(&error))?;
        let mut refused = turn.refused();
        Ok(Logs {
            says: format!(
                "{} lines of the console, {} requests.",
                console.len(),
                network.len()
            ),
            found: FOUND.to_owned(),
            console: last(console, limit),
            network: last(network, limit),
            refused: refused.split_off(refused.len().saturating_sub(limit)),
        })
    }
}

fn last<T>(mut list: Vec<T>, limit: usize) -> Vec<T> {
    list.split_off(list.len().saturating_sub(limit))
}
