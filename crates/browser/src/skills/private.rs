//! The skills that a person agrees to each time: scripts, cookies, files for pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::{Context, SkillError, SkillInput, skill};

use super::{FOUND, Hand, Seen, failed};
use crate::turn::Cookie;

/// The skill `browser-evaluate` of one agent. It needs an approval.
#[derive(Clone, Debug)]
pub struct BrowserEvaluate(pub(super) Hand);

/// The input of the skill `browser-evaluate`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Evaluate {
    /// The script, as the page's own would be. Its last value is returned; a promise is awaited.
    #[schemars(length(max = 100_000))]
    pub script: String,
}

/// The output of the skill `browser-evaluate`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Evaluated {
    /// The outcome in a sentence.
    pub says: String,
    /// A reminder of where the value comes from.
    pub found: String,
    /// The value, as JSON.
    pub value: Value,
}

#[skill(
    name = "Run a script in a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["run document.title in the page"],
    seconds = 60,
    approval,
    open_world
)]
impl BrowserEvaluate {
    /// Runs a script in the page that is open, after a person has seen and approved it.
    async fn run(&self, input: Evaluate, ctx: Context) -> Result<Evaluated, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let value = turn.evaluate(&input.script).await;
        Ok(Evaluated {
            says: "The script was run.".to_owned(),
            found: FOUND.to_owned(),
            value: value.map_err(|error| failed(&error))?,
        })
    }

    async fn preview(&self, input: Evaluate) -> Result<Option<String>, SkillError> {
        Ok(Some(format!(
            "Run in the page that is open:\n\n{}",
            input.script
        )))
    }
}

/// The skill `browser-cookies` of one agent. It needs an approval.
#[derive(Clone, Debug)]
pub struct BrowserCookies(pub(super) Hand);

/// The input of the skill `browser-cookies`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Cookies {
    /// list, set or clear; list if it is left out.
    #[serde(default)]
    pub action: CookieAction,
    /// The name of the cookie to set.
    pub name: Option<String>,
    /// The value of the cookie to set.
    pub value: Option<String>,
}

/// An action of the skill `browser-cookies`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CookieAction {
    #[default]
    List,
    Set,
    Clear,
}

/// The output of the skill `browser-cookies`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CookieList {
    /// The outcome in a sentence.
    pub says: String,
    /// A reminder of where the rest comes from.
    pub found: String,
    pub cookies: Vec<Cookie>,
}

#[skill(
    name = "Cookies",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["list the cookies of the page"],
    seconds = 60,
    approval,
    open_world
)]
impl BrowserCookies {
    /// Lists, sets and removes cookies of the browser of this conversation, after a person has approved it.
    async fn run(&self, input: Cookies, ctx: Context) -> Result<CookieList, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let says = match input.action {
            CookieAction::List => "These cookies are kept.",
            CookieAction::Set => {
                let (Some(name), Some(value)) = (&input.name, &input.value) else {
                    let why = "could not set a cookie: `name` and `value` are missing";
                    return Err(SkillError::coded("does-not-fit", why));
                };
                turn.set_cookie(name, value)
                    .await
                    .map_err(|error| failed(&error))?;
                "The cookie is set."
            }
            CookieAction::Clear => {
                turn.clear_cookies().await.map_err(|error| failed(&error))?;
                "All cookies are removed."
            }
        };
        Ok(CookieList {
            says: says.to_owned(),
            found: FOUND.to_owned(),
            cookies: turn.cookies().await.map_err(|error| failed(&error))?,
        })
    }
}

/// The skill `browser-upload` of one agent. It needs an approval.
#[derive(Clone, Debug)]
pub struct BrowserUpload(pub(super) Hand);

/// The input of the skill `browser-upload`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Upload {
    /// The number of the field for files.
    pub element: u32,
    /// The files, relative to the project folder or below /project.
    #[schemars(length(min = 1, max = 20))]
    pub paths: Vec<String>,
    /// The site that may have the files, such as https://forms.example. On any other site nothing is given.
    pub site: String,
    /// The id of the list that the number was read from.
    pub snapshot: Option<u32>,
}

#[skill(
    name = "Give files to a page",
    permission = "browse",
    tags = ["browser", "web", "files"],
    examples = ["upload report.pdf into field 6"],
    seconds = 120,
    approval,
    open_world
)]
impl BrowserUpload {
    /// Gives files of the project to a field of a page, after a person has approved the files and the site.
    async fn run(&self, input: Upload, ctx: Context) -> Result<Seen, SkillError> {
        let Some(project) = &self.0.project else {
            let why = "could not upload: there is no project to take files from";
            return Err(SkillError::coded("file", why));
        };
        let turn = self.0.turn(&ctx).await?;
        let url = turn.url().await.map_err(|error| failed(&error))?;
        super::act::check_site(&url, Some(&input.site)).map_err(|error| failed(&error))?;
        match turn
            .upload(project, input.element, input.snapshot, &input.paths)
            .await
        {
            Ok(()) => {
                self.0
                    .seen(&turn, "The page has the files.".to_owned(), true)
                    .await
            }
            Err(error) => Err(self.0.action_failed(&turn, &error).await),
        }
    }

    async fn preview(&self, input: Upload) -> Result<Option<String>, SkillError> {
        Ok(Some(format!(
            "Give to field {} of {}:\n{}",
            input.element,
            input.site,
            input.paths.join("\n")
        )))
    }
}
