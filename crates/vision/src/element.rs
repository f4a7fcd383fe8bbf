//! Elements: what a person could click or type into, as replies have them.

use serde::{Deserialize, Serialize};

use crate::frame::Frame;

/// The kind of an element, as far as its looks tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Filled or outlined, with a text or an icon in its middle; also an icon alone.
    Button,
    /// Underlined or coloured text, or an entry of a navigation.
    Link,
    /// A field for text.
    Input,
    /// A small square, or a switch.
    Checkbox,
    /// A small circle.
    Radio,
    /// A field with an arrow at its end.
    Select,
}

/// The evidence that an element comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A filled or outlined shape.
    Shape,
    /// The underline or the colour of a text.
    TextStyle,
    /// Its place in a row or column of similar texts.
    Layout,
    /// A drawing that is no text.
    Icon,
    /// A text that was recognised.
    Ocr,
    /// A language model that was shown the picture.
    Model,
}

/// A place in a picture, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The left edge.
    pub x: u32,
    /// The upper edge.
    pub y: u32,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

impl From<Frame> for Position {
    fn from(frame: Frame) -> Self {
        let pixels = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Self {
            x: pixels(frame.left),
            y: pixels(frame.top),
            width: pixels(frame.width()),
            height: pixels(frame.height()),
        }
    }
}

impl Position {
    pub(crate) fn frame(&self) -> Frame {
        let (left, top) = (self.x as usize, self.y as usize);
        Frame {
            left,
            top,
            right: left + self.width as usize,
            bottom: top + self.height as usize,
        }
    }
}

/// An element of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// The number of the element, from 1, in reading order.
    pub index: u32,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its text; `null` where no text was read.
    pub text: Option<String>,
    /// Where it is.
    pub position: Position,
    /// How likely it is to be an element, from 0 to 1. It is a rule of thumb, no measured probability.
    pub confidence: f32,
    /// Why it is held to be one.
    pub source: Source,
}

/// An element before it has a number and a text.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) frame: Frame,
    pub(crate) confidence: f32,
    pub(crate) source: Source,
}

impl Found {
    pub(crate) fn new(kind: Kind, frame: Frame, confidence: f32, source: Source) -> Self {
        Self {
            kind,
            frame,
            confidence,
            source,
        }
    }
}

/// Sorts by rows, removes what is in another element, and numbers the rest.
pub(crate) fn number(found: Vec<Found>) -> Vec<Element> {
    let mut kept: Vec<Found> = Vec::new();
    let mut by_trust = found;
    by_trust.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    for one in by_trust {
        let double = |other: &Found| {
            let shared = one.frame.shared(&other.frame);
            let smaller = one.frame.area().min(other.frame.area()).max(1);
            shared * 10 >= smaller * 6
        };
        if !kept.iter().any(double) {
            kept.push(one);
        }
    }
    kept.sort_by_key(|one| (one.frame.centre().1 / 12, one.frame.left));
    let numbered = (1..).zip(kept);
    numbered
        .map(|(index, one)| Element {
            index,
            kind: one.kind,
            text: None,
            position: one.frame.into(),
            confidence: (one.confidence * 100.0).round() / 100.0,
            source: one.source,
        })
        .collect()
}
