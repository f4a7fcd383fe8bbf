//! The skills that open pages.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

use super::{Hand, Seen, failed};
use crate::tab::WaitUntil;

/// The skill `browser-navigate` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserNavigate(pub(super) Hand);

/// The input of the skill `browser-navigate`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Navigate {
    /// The address of the page, http or https.
    pub url: String,
    /// When the page counts as loaded: load, domcontentloaded or networkidle; load if it is left out.
    #[serde(default, rename = "waitUntil", alias = "wait_until")]
    pub wait_until: WaitUntil,
    /// For how long the page may load, in seconds; 30 if it is left out.
    #[schemars(range(min = 1, max = 120))]
    pub seconds: Option<u64>,
}

#[skill(
    name = "Open a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["open https://example.org"],
    seconds = 180,
    read_only,
    open_world
)]
impl BrowserNavigate {
    /// Opens a web page in the browser of this conversation, and lists what can be clicked and typed into, numbered.
    async fn run(&self, input: Navigate, ctx: Context) -> Result<Seen, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let within = input.seconds.map(Duration::from_secs);
        let opened = turn.navigate(&input.url, input.wait_until, within).await;
        opened.map_err(|error| failed(&error))?;
        self.0
            .seen(&turn, "The page is open.".to_owned(), false)
            .await
    }
}

/// The input of skills that need none.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct NoInput {}

/// The skill `browser-back` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserBack(pub(super) Hand);

#[skill(
    name = "Go back",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["go back in the browser"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserBack {
    /// Goes back to the page before, in the browser of this conversation.
    async fn run(&self, _input: NoInput, ctx: Context) -> Result<Seen, SkillError> {
        go(&self.0, &ctx, -1, "There is no page before this one.").await
    }
}

/// The skill `browser-forward` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserForward(pub(super) Hand);

#[skill(
    name = "Go forward",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["go forward in the browser"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserForward {
    /// Goes forward to the page that was left by going back.
    async fn run(&self, _input: NoInput, ctx: Context) -> Result<Seen, SkillError> {
        go(&self.0, &ctx, 1, "There is no page after this one.").await
    }
}

async fn go(hand: &Hand, ctx: &Context, steps: i64, none: &str) -> Result<Seen, SkillError> {
    let turn = hand.turn(ctx).await?;
    let moved = turn.go(steps).await.map_err(|error| failed(&error))?;
    let says = if moved { "The page is open." } else { none };
    hand.seen(&turn, says.to_owned(), false).await
}

/// The skill `browser-reload` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserReload(pub(super) Hand);

#[skill(
    name = "Reload the page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["reload the page"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserReload {
    /// Loads the page of the browser again.
    async fn run(&self, _input: NoInput, ctx: Context) -> Result<Seen, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        turn.reload().await.map_err(|error| failed(&error))?;
        self.0
            .seen(&turn, "The page is loaded again.".to_owned(), false)
            .await
    }
}
