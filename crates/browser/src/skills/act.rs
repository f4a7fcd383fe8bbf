//! The skills that act in a page: click, type, select, press, scroll, hover.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};
use url::Url;

use super::{Hand, Seen, failed};
use crate::error::Error;
use crate::tab::WaitUntil;
use crate::turn::{Turn, Typed};

/// Fails if the page is not of the site that the call is for.
pub(super) fn check_site(url: &str, site: Option<&String>) -> Result<(), Error> {
    let Some(site) = site else {
        return Ok(());
    };
    let origin = |text: &str| Url::parse(text).ok().map(|it| it.origin());
    match origin(url).filter(url::Origin::is_tuple) {
        Some(here) if origin(site) == Some(here.clone()) => Ok(()),
        _ => Err(Error::Unfit {
            doing: format!("act on {site}"),
            problem: format!("the page that is open is {url}"),
        }),
    }
}

async fn begin(hand: &Hand, ctx: &Context, site: Option<&String>) -> Result<Turn, SkillError> {
    let turn = hand.turn(ctx).await?;
    let url = turn.url().await.map_err(|error| failed(&error))?;
    check_site(&url, site).map_err(|error| failed(&error))?;
    Ok(turn)
}

/// The skill `browser-click` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserClick(pub(super) Hand);

/// The input of the skill `browser-click`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Click {
    /// The number of the element.
    pub element: u32,
    /// The id of the list that the number was read from. If that is not the newest list, nothing is clicked.
    pub snapshot: Option<u32>,
    /// True when the click opens a page that is to be waited for.
    #[serde(default, rename = "waitForNavigation", alias = "wait_for_navigation")]
    pub wait_for_navigation: bool,
    /// True for a double click.
    #[serde(default)]
    pub double: bool,
    /// The site that the element is on, such as https://shop.example. On any other site nothing is done.
    pub site: Option<String>,
}

#[skill(
    name = "Click",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["click element 5"],
    seconds = 120,
    open_world
)]
impl BrowserClick {
    /// Clicks an element of the page by its number.
    async fn run(&self, input: Click, ctx: Context) -> Result<Seen, SkillError> {
        let turn = begin(&self.0, &ctx, input.site.as_ref()).await?;
        let navigation = input.wait_for_navigation.then_some(WaitUntil::Load);
        let clicked = turn
            .click(input.element, input.snapshot, input.double, navigation)
            .await;
        match clicked {
            Ok(opened) => {
                let says = match opened {
                    true => "Clicked; a page was opened.",
                    false => "Clicked.",
                };
                self.0.seen(&turn, says.to_owned(), true).await
            }
            Err(error) => Err(self.0.action_failed(&turn, &error).await),
        }
    }
}

/// The skill `browser-type` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserType(pub(super) Hand);

/// The input of the skill `browser-type`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Type {
    /// The number of the field.
    pub element: u32,
    /// The typed text. Passwords are typed with browser-type-secret.
    pub text: String,
    /// The id of the list that the number was read from.
    pub snapshot: Option<u32>,
    /// True to keep what is in the field and type after it.
    #[serde(default)]
    pub append: bool,
    /// True to press Enter after it.
    #[serde(default)]
    pub submit: bool,
    /// The site that the field is on. On any other site nothing is typed.
    pub site: Option<String>,
}

#[skill(
    name = "Type",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["type \"red shoes\" into field 3"],
    seconds = 120,
    open_world
)]
impl BrowserType {
    /// Types a text into a field of the page.
    async fn run(&self, input: Type, ctx: Context) -> Result<Seen, SkillError> {
        let turn = begin(&self.0, &ctx, input.site.as_ref()).await?;
        let typed = Typed::Text(&input.text);
        let done = turn.type_into(
            input.element,
            input.snapshot,
            typed,
            input.append,
            input.submit,
        );
        match done.await {
            Ok(_) => self.0.seen(&turn, "Typed.".to_owned(), true).await,
            Err(error) => Err(self.0.action_failed(&turn, &error).await),
        }
    }
}

/// The skill `browser-type-secret` of one agent. It needs an approval.
#[derive(Clone, Debug)]
pub struct BrowserTypeSecret(pub(super) Hand);

/// The input of the skill `browser-type-secret`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct TypeSecret {
    /// The number of the field.
    pub element: u32,
    /// The name of the secret, not its value.
    pub secret: String,
    /// The site that may have the secret, such as https://shop.example. On any other site nothing is typed.
    pub site: String,
    /// The id of the list that the number was read from.
    pub snapshot: Option<u32>,
    /// True to press Enter after it.
    #[serde(default)]
    pub submit: bool,
}

#[skill(
    name = "Type a secret",
    permission = "browse",
    tags = ["browser", "web", "secrets"],
    examples = ["type the secret shop-password into field 4"],
    seconds = 120,
    approval,
    open_world
)]
impl BrowserTypeSecret {
    /// Types the value of a secret, such as a password, into a field of a page, after a person has approved the site. The value
    /// is in no message and no record.
    async fn run(&self, input: TypeSecret, ctx: Context) -> Result<Seen, SkillError> {
        let turn = begin(&self.0, &ctx, Some(&input.site)).await?;
        let typed = Typed::Secret(&input.secret);
        match turn
            .type_into(input.element, input.snapshot, typed, false, input.submit)
            .await
        {
            Ok(_) => {
                self.0
                    .seen(&turn, "Typed the secret.".to_owned(), true)
                    .await
            }
            Err(error) => Err(self.0.action_failed(&turn, &error).await),
        }
    }

    async fn preview(&self, input: TypeSecret) -> Result<Option<String>, SkillError> {
        Ok(Some(format!(
            "Type the value of the secret {} into field {} of {}",
            input.secret, input.element, input.site
        )))
    }
}

/// The skill `browser-select` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserSelect(pub(super) Hand);

/// The input of the skill `browser-select`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Select {
    /// The number of the list on the page.
    pub element: u32,
    /// The labels or values of the options.
    #[schemars(length(min = 1, max = 100))]
    pub options: Vec<String>,
    /// The id of the list that the number was read from.
    pub snapshot: Option<u32>,
    /// The site that the element is on. On any other site nothing is done.
    pub site: Option<String>,
}

#[skill(
    name = "Select",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["select \"Latvia\" in list 7"],
    seconds = 120,
    open_world
)]
impl BrowserSelect {
    /// Selects options of a list on the page.
    async fn run(&self, input: Select, ctx: Context) -> Result<Seen, SkillError> {
        let turn = begin(&self.0, &ctx, input.site.as_ref()).await?;
        match turn
            .select(input.element, input.snapshot, &input.options)
            .await
        {
            Ok(labels) => {
                let says = format!("Selected {}.", labels.join(", "));
                self.0.seen(&turn, says, true).await
            }
            Err(error) => Err(self.0.action_failed(&turn, &error).await),
        }
    }
}

/// The skill `browser-press` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserPress(pub(super) Hand);

/// The input of the skill `browser-press`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Press {
    /// The key or chord, such as Enter, Escape, ArrowDown, Control+A.
    pub key: String,
    /// The site that is open. On any other site nothing is done.
    pub site: Option<String>,
}

#[skill(
    name = "Press a key",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["press Escape in the browser"],
    seconds = 120,
    open_world
)]
impl BrowserPress {
    /// Presses a key where the focus of the page is.
    async fn run(&self, input: Press, ctx: Context) -> Result<Seen, SkillError> {
        let turn = begin(&self.0, &ctx, input.site.as_ref()).await?;
        turn.press(&input.key)
            .await
            .map_err(|error| failed(&error))?;
        self.0
            .seen(&turn, format!("Pressed {}.", input.key), true)
            .await
    }
}

/// The skill `browser-hover` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserHover(pub(super) Hand);

/// The input of the skill `browser-hover`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Hover {
    /// The number of the element.
    pub element: u32,
    /// The id of the list that the number was read from.
    pub snapshot: Option<u32>,
}

#[skill(
    name = "Hover",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["hover over element 5"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserHover {
    /// Moves the mouse over an element of the page, such as a menu that opens so.
    async fn run(&self, input: Hover, ctx: Context) -> Result<Seen, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        match turn.hover(input.element, input.snapshot).await {
            Ok(()) => {
                self.0
                    .seen(&turn, "The mouse is over it.".to_owned(), true)
                    .await
            }
            Err(error) => Err(self.0.action_failed(&turn, &error).await),
        }
    }
}

/// The skill `browser-scroll` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserScroll(pub(super) Hand);

/// The input of the skill `browser-scroll`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Scroll {
    /// Where to: top or bottom. Else it is scrolled by `pages`, or to `element`.
    pub to: Option<ScrollTo>,
    /// By how many views, down or, below 0, up; 1 if it is left out.
    #[schemars(range(min = -50, max = 50))]
    pub pages: Option<f64>,
    /// The number of an element to scroll to.
    pub element: Option<u32>,
    /// The id of the list that the number was read from.
    pub snapshot: Option<u32>,
}

/// An end of a page.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScrollTo {
    Top,
    Bottom,
}

#[skill(
    name = "Scroll",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["scroll down in the browser"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserScroll {
    /// Scrolls the page, so that more of it is seen or loaded.
    async fn run(&self, input: Scroll, ctx: Context) -> Result<Seen, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        if let Some(element) = input.element {
            if let Err(error) = turn.scroll_to(element, input.snapshot).await {
                return Err(self.0.action_failed(&turn, &error).await);
            }
            return self
                .0
                .seen(&turn, "The element is in the view.".to_owned(), true)
                .await;
        }
        let to = input.to.map(|it| match it {
            ScrollTo::Top => "top",
            ScrollTo::Bottom => "bottom",
        });
        let scrolled = turn.scroll(to, input.pages.unwrap_or(1.0)).await;
        let (top, height, view) = scrolled.map_err(|error| failed(&error))?;
        let says = format!(
            "The view shows {top:.0} to {:.0} of {height:.0} pixels.",
            (top + view).min(height)
        );
        self.0.seen(&turn, says, true).await
    }
}
