//! The whole analysis: shapes, then text, then elements with their texts.

use std::path::Path;
use std::time::Instant;

use crate::changed::{Change, changes};
use crate::element::{Element, Found, Source, number};
use crate::find::{Finding, find};
use crate::frame::Frame;
use crate::layout::{is_text, texts};
use crate::reader::{Line, Reader, Seen};
use crate::scene::Scene;
use crate::shape::shapes;
use crate::{Error, Limits, Picture};

/// Analyses pictures. It is made once: opening reads the weights of the networks. All its methods compute on the calling
/// thread, and reading also on a pool of threads, for up to the time limit: call them where blocking is allowed.
#[derive(Debug)]
pub struct Vision {
    limits: Limits,
    reader: Reader,
}

/// The elements of a picture.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// What can be clicked or typed into, in reading order.
    pub elements: Vec<Element>,
    /// Why texts are missing, and the command that helps. None if text was read.
    pub note: Option<String>,
}

impl Vision {
    /// Reads with the models in a folder; with tesseract if the models are not there and it is installed; else not at all.
    pub fn open(limits: Limits, models: Option<&Path>) -> Result<Self, Error> {
        let reader = Reader::open(models)?;
        Ok(Self { limits, reader })
    }

    /// Finds shapes and reads nothing.
    pub fn without_text(limits: Limits) -> Self {
        let reader = Reader::Missing("reading is switched off".to_owned());
        Self { limits, reader }
    }

    /// The limits that pictures are to be decoded within.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether text can be read.
    pub fn reads(&self) -> bool {
        self.reader.missing().is_none()
    }

    /// Finds what can be clicked or typed into, with texts if text can be read.
    pub fn elements(&self, picture: &Picture) -> Result<Analysis, Error> {
        let begin = Instant::now();
        let scene = Scene::of(picture);
        self.in_time(begin)?;
        let mut found = shapes(&scene);
        self.in_time(begin)?;
        found.extend(texts(&scene, &found));
        self.in_time(begin)?;
        if let Some(why) = self.reader.missing() {
            return Ok(Analysis {
                elements: number(found),
                note: Some(why.to_owned()),
            });
        }
        let places: Vec<Frame> = found.iter().map(|one| one.frame).collect();
        let lines = self.lines(&scene, Some(&places), begin)?;
        found.retain(|one| is_confirmed(one, &lines));
        let mut elements = number(found);
        for element in &mut elements {
            element.text = text_in(element, &lines);
        }
        Ok(Analysis {
            elements,
            note: None,
        })
    }

    /// Reads all lines of text, from the top to the bottom.
    pub fn read(&self, picture: &Picture) -> Result<Vec<Line>, Error> {
        let begin = Instant::now();
        if let Some(why) = self.reader.missing() {
            return Err(Error::NoReader(why.to_owned()));
        }
        self.lines(&Scene::of(picture), None, begin)
    }

    /// Finds the element that a description fits best.
    pub fn find(&self, picture: &Picture, description: &str) -> Result<(Analysis, Finding), Error> {
        let analysis = self.elements(picture)?;
        let finding = find(&analysis.elements, description);
        Ok((analysis, finding))
    }

    /// Finds the regions in which two pictures of one size differ.
    pub fn compare(&self, before: &Picture, after: &Picture) -> Result<Vec<Change>, Error> {
        changes(before, after)
    }

    /// The lines of text, or only those that are at some `places`.
    fn lines(
        &self,
        scene: &Scene<'_>,
        places: Option<&[Frame]>,
        begin: Instant,
    ) -> Result<Vec<Line>, Error> {
        let texts = scene.phrases.iter();
        let texts = texts.filter(|it| is_text(it) && it.marks.len() >= 2);
        let hints: Vec<Frame> = texts.map(|it| it.frame).collect();
        let wanted = |frame: &Frame| match places {
            Some(places) => places.iter().any(|place| place.shared(frame) > 0),
            None => true,
        };
        let seen = Seen {
            picture: scene.picture,
            hints: &hints,
            wanted: &wanted,
        };
        self.reader.lines(&seen, &self.limits, begin)
    }

    fn in_time(&self, begin: Instant) -> Result<(), Error> {
        match begin.elapsed() > self.limits.time {
            true => Err(Error::TooSlow(self.limits.time)),
            false => Ok(()),
        }
    }
}

/// A text is a text if it was read there, and a drawing is none if nothing was.
fn is_confirmed(one: &Found, lines: &[Line]) -> bool {
    let mut words = lines.iter().flat_map(|line| &line.words);
    match one.source {
        Source::TextStyle | Source::Layout => words.any(|(_, place)| {
            place.frame().shared(&one.frame) * 3 >= place.frame().area().min(one.frame.area())
        }),
        Source::Icon => !words.any(|(word, place)| {
            let frame = place.frame();
            let inside = one.frame.holds(frame.centre().0, frame.centre().1);
            inside && word.chars().count() >= 2 && frame.height() * 2 > one.frame.height()
        }),
        _ => true,
    }
}

/// The words whose middle is in an element, line by line.
fn text_in(element: &Element, lines: &[Line]) -> Option<String> {
    let frame = element.position.frame();
    let words = lines.iter().flat_map(|line| &line.words);
    let inside = words.filter(|(_, place)| {
        let (x, y) = place.frame().centre();
        frame.holds(x, y)
    });
    let inside: Vec<&str> = inside.map(|(word, _)| word.as_str()).collect();
    (!inside.is_empty()).then(|| inside.join(" "))
}
