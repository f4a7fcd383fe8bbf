//! Reading: text lines of a picture, by neural networks in this process, or by tesseract.

pub mod models;
#[cfg(feature = "ocr")]
mod network;
mod tesseract;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::element::Position;
use crate::frame::Frame;
use crate::picture::Picture;
use crate::{Error, Limits};

/// A line of text in a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The text.
    pub text: String,
    /// Where it is.
    pub position: Position,
    /// How sure the reader is, from 0 to 1.
    pub confidence: f32,
    /// The words with their places, from the left to the right.
    #[serde(skip)]
    pub words: Vec<(String, Position)>,
}

/// A picture to read, with what is known of it.
pub(crate) struct Seen<'a> {
    pub(crate) picture: &'a Picture,
    /// Places where text was seen by its shape.
    #[cfg_attr(
        not(feature = "ocr"),
        expect(dead_code, reason = "tesseract finds lines itself")
    )]
    pub(crate) hints: &'a [Frame],
    /// Whether a line at a place is to be read.
    #[cfg_attr(
        not(feature = "ocr"),
        expect(dead_code, reason = "tesseract reads all lines")
    )]
    pub(crate) wanted: &'a dyn Fn(&Frame) -> bool,
}

/// The reader that is in use.
#[derive(Debug)]
pub(crate) enum Reader {
    #[cfg(feature = "ocr")]
    Network(Box<network::Network>),
    Tesseract(PathBuf),
    /// No reader, and why.
    Missing(String),
}

impl Reader {
    /// Opens the models in a folder; if they are not there, tesseract, if it is installed.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, Error> {
        #[cfg(feature = "ocr")]
        if let Some(folder) = folder.filter(|folder| models::are_in(folder)) {
            let network = network::Network::open(folder)?;
            return Ok(Self::Network(Box::new(network)));
        }
        if let Some(program) = tesseract::find() {
            return Ok(Self::Tesseract(program));
        }
        let place = folder.map_or(String::new(), |it| format!(" (not in {})", it.display()));
        Ok(Self::Missing(format!(
            "the models for reading are not there{place}; fetch them with: {}",
            models::COMMAND
        )))
    }

    /// Reads lines, from the top to the bottom.
    pub(crate) fn lines(
        &self,
        seen: &Seen<'_>,
        limits: &Limits,
        begin: Instant,
    ) -> Result<Vec<Line>, Error> {
        match self {
            #[cfg(feature = "ocr")]
            Self::Network(network) => {
                let late = || begin.elapsed() > limits.time;
                network.lines(seen, &late, limits)
            }
            // Tesseract finds lines itself.
            Self::Tesseract(program) => tesseract::lines(program, seen.picture, limits, begin),
            Self::Missing(why) => Err(Error::NoReader(why.clone())),
        }
    }

    /// Why nothing can be read, where that is so.
    pub(crate) fn missing(&self) -> Option<&str> {
        match self {
            Self::Missing(why) => Some(why),
            _ => None,
        }
    }
}
