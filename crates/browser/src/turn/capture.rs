//! Pictures and documents of a page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Turn;
use crate::elements::{Element, ElementList};
use crate::error::Error;
use crate::tab::Tab;

const MARKS: &str = include_str!("../script/marks.js");

/// Highest picture of a whole page, in CSS pixels: Chromium draws no higher one.
const HEIGHT: f64 = 16_000.0;

/// Most boxes that are drawn into one picture.
const BOXES: usize = 400;

/// The form of a picture.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Png,
    Jpeg,
    Webp,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }
}

/// The part of the page that a picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Area {
    #[default]
    View,
    FullPage,
    /// An element of the newest list.
    Element(u32),
}

/// How a picture is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shot {
    pub area: Area,
    pub format: Format,
    /// From 1 to 100, for JPEG and WebP.
    pub quality: Option<u8>,
    /// Draws the numbers of a new list over its elements.
    pub marks: bool,
}

/// A picture, with the list whose numbers it shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Picture {
    pub bytes: Vec<u8>,
    pub format: Format,
    /// Its size in CSS pixels.
    pub size: (f64, f64),
    pub list: Option<ElementList>,
}

impl Turn {
    /// A picture of the page.
    pub async fn screenshot(&self, shot: Shot) -> Result<Picture, Error> {
        let tab = self.tab().await?;
        let list = match shot.marks {
            true => Some(self.elements().await?),
            false => None,
        };
        let mut params = json!({ "format": shot.format.name() });
        if let Some(quality) = shot.quality.filter(|_| shot.format != Format::Png) {
            params["quality"] = json!(quality.clamp(1, 100));
        }
        let metrics = tab.call("Page.getLayoutMetrics", json!({})).await?;
        let number = |it: &Value| it.as_f64().unwrap_or_default();
        let view = &metrics["cssVisualViewport"];
        let mut size = (number(&view["clientWidth"]), number(&view["clientHeight"]));
        match shot.area {
            Area::View => {}
            Area::FullPage => {
                let content = &metrics["cssContentSize"];
                size = (
                    number(&content["width"]),
                    number(&content["height"]).min(HEIGHT),
                );
                params["captureBeyondViewport"] = json!(true);
                params["clip"] =
                    json!({ "x": 0, "y": 0, "width": size.0, "height": size.1, "scale": 1 });
            }
            Area::Element(element) => {
                let (x, y, width, height) = self.place(element).await?;
                size = (width.max(1.0), height.clamp(1.0, HEIGHT));
                params["captureBeyondViewport"] = json!(true);
                params["clip"] =
                    json!({ "x": x, "y": y, "width": size.0, "height": size.1, "scale": 1 });
            }
        }
        let whole = shot.area != Area::View;
        if let Some(list) = &list {
            mark(&tab, &list.elements, list.view, whole).await?;
        }
        let shown = tab.call("Page.captureScreenshot", params).await;
        if list.is_some() {
            // Marks that cannot be removed are in a page that is gone.
            let _ = tab.ask(MARKS, &json!([[], false])).await;
        }
        Ok(Picture {
            bytes: self.decode("make a picture", &shown?["data"])?,
            format: shot.format,
            size,
            list,
        })
    }

    /// The place of an element on the page: left, top, width, height.
    async fn place(&self, element: u32) -> Result<(f64, f64, f64, f64), Error> {
        let (tab, id) = self.handle("show", element, None).await?;
        let missing = || Error::Covered {
            doing: "show",
            element,
            problem: "it is hidden: it has no place on the page".to_owned(),
        };
        let params = json!({ "backendNodeId": id.node });
        let model = tab
            .call_in(&id.session, "DOM.getBoxModel", params)
            .await
            .map_err(|_| missing())?;
        let metrics = tab.call("Page.getLayoutMetrics", json!({})).await?;
        let number = |it: &Value| it.as_f64().unwrap_or_default();
        let view = &metrics["cssVisualViewport"];
        let border = &model["model"]["border"];
        let xs = [0, 2, 4, 6].map(|it| number(&border[it]));
        let ys = [1, 3, 5, 7].map(|it| number(&border[it]));
        let least = |all: [f64; 4]| all.into_iter().fold(f64::INFINITY, f64::min);
        let most = |all: [f64; 4]| all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let (x, y) = (least(xs), least(ys));
        let at = (x + number(&view["pageX"]), y + number(&view["pageY"]));
        Ok((at.0, at.1, most(xs) - x, most(ys) - y))
    }

    /// The page as a PDF document.
    pub async fn pdf(&self, landscape: bool) -> Result<Vec<u8>, Error> {
        let tab = self.tab().await?;
        let params = json!({ "landscape": landscape, "printBackground": true, "transferMode": "ReturnAsBase64" });
        let printed = tab.call("Page.printToPDF", params).await?;
        self.decode("make a PDF", &printed["data"])
    }

    fn decode(&self, doing: &str, data: &Value) -> Result<Vec<u8>, Error> {
        let bytes = STANDARD
            .decode(data.as_str().unwrap_or_default())
            .unwrap_or_default();
        let most = self.session().options().limits.picture_bytes;
        match bytes.len() {
            0 => Err(Error::Protocol {
                doing: doing.to_owned(),
                message: "Chromium gave nothing".to_owned(),
            }),
            count if count > most => Err(Error::Limit {
                doing: doing.to_owned(),
                limit: format!("it has {count} bytes, and {most} is the most; show a smaller part"),
            }),
            _ => Ok(bytes),
        }
    }
}

async fn mark(tab: &Tab, elements: &[Element], view: (f64, f64), whole: bool) -> Result<(), Error> {
    let shown = elements.iter().filter(|it| {
        let at = &it.position;
        whole || (at.x + at.width > 0.0 && at.y + at.height > 0.0 && at.x < view.0 && at.y < view.1)
    });
    let boxes: Vec<Value> = shown
        .take(BOXES)
        .map(|it| {
            let at = &it.position;
            json!({ "index": it.index, "x": at.x, "y": at.y, "width": at.width, "height": at.height })
        })
        .collect();
    tab.ask(MARKS, &json!([boxes, whole])).await.map(drop)
}
