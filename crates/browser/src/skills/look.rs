//! The skills that read a page: elements, text, pictures, documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::reply::file_artifact;
use skill::{Context, SkillError, SkillInput, skill};
use tools::{Project, ProjectPath};

use super::{FOUND, Hand, LIST, failed};
use crate::turn::{Area, Extract, Format, Part, Shot};

/// The skill `browser-elements` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserElements(pub(super) Hand);

/// The input of the skill `browser-elements`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Elements {
    /// The number of the first element to list, on a page with more than one list holds.
    pub from: Option<u32>,
    /// True to list what has changed since the list before.
    #[serde(default, rename = "onlyChanges", alias = "only_changes")]
    pub only_changes: bool,
}

/// The output of the skill `browser-elements`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Listed {
    /// The outcome in a sentence.
    pub says: String,
    pub url: String,
    /// The id of this list.
    pub snapshot: u32,
    /// How many elements the page has.
    pub count: usize,
    /// A reminder of where the rest comes from.
    pub found: String,
    pub elements: String,
    pub changes_only: bool,
}

#[skill(
    name = "List the elements of a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["what can be clicked on the page?"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserElements {
    /// Lists what can be clicked and typed into on the page, numbered; the numbers are those of pictures and clicks.
    async fn run(&self, input: Elements, ctx: Context) -> Result<Listed, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let list = turn.elements().await.map_err(|error| failed(&error))?;
        let changes_only = input.only_changes && list.follows();
        Ok(Listed {
            says: format!("The page has {} elements.", list.elements.len()),
            url: list.url.clone(),
            snapshot: list.snapshot,
            count: list.elements.len(),
            found: FOUND.to_owned(),
            elements: match changes_only {
                true => list.changes(LIST),
                false => list.text(input.from, LIST),
            },
            changes_only,
        })
    }
}

/// The skill `browser-extract` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserExtract(pub(super) Hand);

/// The input of the skill `browser-extract`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Read {
    /// The kind of reading: text as Markdown, links, or tables; text if it is left out.
    #[serde(default)]
    pub what: Extract,
    /// A CSS selector of the elements that are read; the main part of the page if it is left out.
    pub selector: Option<String>,
    /// Where to go on in a text that was cut: `next` of the call before.
    #[serde(default)]
    pub from: usize,
}

/// The output of the skill `browser-extract`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadPage {
    /// The outcome in a sentence.
    pub says: String,
    pub url: String,
    pub title: String,
    /// A reminder of where the rest comes from.
    pub found: String,
    /// The text, links or tables, as Markdown.
    pub text: String,
    /// Where to go on, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

#[skill(
    name = "Read a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["read the page", "list the links of the page"],
    seconds = 60,
    read_only,
    open_world
)]
impl BrowserExtract {
    /// Reads the page that is open: its text as Markdown, its links or its tables.
    async fn run(&self, input: Read, ctx: Context) -> Result<ReadPage, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let part = Part {
            from: input.from,
            bytes: turn.session().options().limits.text_bytes,
        };
        let page = turn
            .extract(input.what, input.selector.as_deref(), part)
            .await;
        let page = page.map_err(|error| failed(&error))?;
        Ok(ReadPage {
            says: match page.cut {
                true => "A part of the page; there is more.".to_owned(),
                false => "The page was read.".to_owned(),
            },
            url: page.url,
            title: page.title,
            found: FOUND.to_owned(),
            text: page.text,
            next: page.next,
        })
    }
}

/// The skill `browser-screenshot` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserScreenshot(pub(super) Hand);

/// The input of the skill `browser-screenshot`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Screenshot {
    /// True for the whole page, also below the view.
    #[serde(default, rename = "fullPage", alias = "full_page")]
    pub full_page: bool,
    /// The number of an element to show alone.
    pub element: Option<u32>,
    /// png, jpeg or webp; png if it is left out.
    #[serde(default)]
    pub format: Format,
    /// The quality of jpeg and webp.
    #[schemars(range(min = 1, max = 100))]
    pub quality: Option<u8>,
    /// False for a picture without numbers.
    #[serde(default = "yes")]
    pub marks: bool,
    /// A file of the project to write the picture into, if it shall be kept. It must not exist.
    pub save: Option<String>,
}

fn yes() -> bool {
    true
}

/// The output of the skill `browser-screenshot`. The picture itself is an artifact of the task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Pictured {
    /// The outcome in a sentence.
    pub says: String,
    pub url: String,
    /// The name of the artifact.
    pub artifact: String,
    #[serde(rename = "mediaType")]
    pub media_type: String,
    /// The width in CSS pixels, as the height.
    pub width: f64,
    pub height: f64,
    pub bytes: usize,
    /// The id of the list with the numbers of the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u32>,
    /// A reminder of where the rest comes from.
    pub found: String,
    pub elements: String,
    /// The file in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
}

#[skill(
    name = "Take a screenshot",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["show me the page"],
    seconds = 120,
    read_only,
    open_world
)]
impl BrowserScreenshot {
    /// Makes a picture of the page, with the numbers of its elements.
    async fn run(&self, input: Screenshot, ctx: Context) -> Result<Pictured, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let area = match (input.element, input.full_page) {
            (Some(element), _) => Area::Element(element),
            (None, true) => Area::FullPage,
            (None, false) => Area::View,
        };
        let shot = Shot {
            area,
            format: input.format,
            quality: input.quality,
            marks: input.marks && input.element.is_none(),
        };
        let picture = match turn.screenshot(shot).await {
            Ok(picture) => picture,
            Err(error) => return Err(self.0.action_failed(&turn, &error).await),
        };
        let name = match ctx.count("screenshot") {
            0 => format!("screenshot.{}", picture.format.name()),
            count => format!("screenshot-{}.{}", count + 1, picture.format.name()),
        };
        let saved = save(
            self.0.project.as_ref(),
            input.save.as_deref(),
            &picture.bytes,
        )
        .await?;
        let bytes = picture.bytes.len();
        let artifact = file_artifact(name.clone(), picture.format.media_type(), picture.bytes);
        ctx.artifact(artifact).await?;
        let url = turn.url().await.map_err(|error| failed(&error))?;
        Ok(Pictured {
            says: "Made a picture of the page.".to_owned(),
            url: turn.session().redact(&url),
            artifact: name,
            media_type: picture.format.media_type().to_owned(),
            width: picture.size.0,
            height: picture.size.1,
            bytes,
            snapshot: picture.list.as_ref().map(|it| it.snapshot),
            found: FOUND.to_owned(),
            elements: picture
                .list
                .map(|it| it.text(None, LIST))
                .unwrap_or_default(),
            saved,
        })
    }
}

/// The skill `browser-pdf` of one agent.
#[derive(Clone, Debug)]
pub struct BrowserPdf(pub(super) Hand);

/// The input of the skill `browser-pdf`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Pdf {
    /// True for pages that are wider than high.
    #[serde(default)]
    pub landscape: bool,
    /// A file of the project to write the document into, if it shall be kept. It must not exist.
    pub save: Option<String>,
}

/// The output of the skill `browser-pdf`. The document itself is an artifact of the task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Printed {
    /// The outcome in a sentence.
    pub says: String,
    pub url: String,
    /// The name of the artifact.
    pub artifact: String,
    pub bytes: usize,
    /// The file in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
}

#[skill(
    name = "Print a page",
    permission = "browse",
    tags = ["browser", "web"],
    examples = ["print the page as a PDF"],
    seconds = 120,
    read_only,
    open_world
)]
impl BrowserPdf {
    /// Makes a PDF document of the page.
    async fn run(&self, input: Pdf, ctx: Context) -> Result<Printed, SkillError> {
        let turn = self.0.turn(&ctx).await?;
        let document = turn
            .pdf(input.landscape)
            .await
            .map_err(|error| failed(&error))?;
        let name = match ctx.count("page") {
            0 => "page.pdf".to_owned(),
            count => format!("page-{}.pdf", count + 1),
        };
        let saved = save(self.0.project.as_ref(), input.save.as_deref(), &document).await?;
        let bytes = document.len();
        ctx.artifact(file_artifact(name.clone(), "application/pdf", document))
            .await?;
        let url = turn.url().await.map_err(|error| failed(&error))?;
        Ok(Printed {
            says: "Made a PDF document of the page.".to_owned(),
            url: turn.session().redact(&url),
            artifact: name,
            bytes,
            saved,
        })
    }
}

async fn save(
    project: Option<&Project>,
    path: Option<&str>,
    bytes: &[u8],
) -> Result<Option<String>, SkillError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let Some(project) = project.cloned() else {
        return Err(SkillError::coded(
            "file",
            "could not save the file: there is no project",
        ));
    };
    let wrong =
        |error: tools::Error| SkillError::coded(error.code(), format!("could not write {error}"));
    let path = ProjectPath::parse(path).map_err(wrong)?;
    let (target, bytes) = (path.clone(), bytes.to_vec());
    let written = tokio::task::spawn_blocking(move || project.create(&target, &bytes)).await;
    written.map_err(|_| SkillError::Cancelled)?.map_err(wrong)?;
    Ok(Some(path.to_string()))
}
