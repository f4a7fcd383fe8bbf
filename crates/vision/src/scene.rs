//! A picture taken apart: surfaces, marks and phrases, with the questions that the rules about elements ask of them.

use crate::frame::Frame;
use crate::mark::{Mark, marks};
use crate::phrase::{Phrase, phrases};
use crate::picture::{Picture, difference};
use crate::surface::{Surface, Surfaces, surfaces};

/// The parts of a picture. Nothing in it changes after it was made.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) picture: &'a Picture,
    pub(crate) surfaces: Surfaces,
    pub(crate) marks: Vec<Mark>,
    pub(crate) phrases: Vec<Phrase>,
}

impl<'a> Scene<'a> {
    pub(crate) fn of(picture: &'a Picture) -> Self {
        let surfaces = surfaces(picture);
        let marks = marks(picture, &surfaces);
        let phrases = phrases(picture, &surfaces, &marks);
        Self {
            picture,
            surfaces,
            marks,
            phrases,
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.picture.width
    }

    pub(crate) fn height(&self) -> usize {
        self.picture.height
    }

    pub(crate) fn surface(&self, index: u32) -> Option<&Surface> {
        self.surfaces.all.get(index as usize)
    }

    /// The marks on a surface that are letters or signs, and no edges of it.
    pub(crate) fn marks_on(&self, surface: u32) -> impl Iterator<Item = &Mark> {
        let marks = self.marks.iter();
        marks.filter(move |mark| mark.on == surface && mark.pixels >= 3)
    }

    /// The colour around a frame: the most frequent of the surfaces just outside of it.
    pub(crate) fn color_around(&self, frame: &Frame) -> Option<[u8; 3]> {
        let wide = frame.grown(3, self.width(), self.height());
        let mut seen: Vec<(u32, usize)> = Vec::new();
        let columns = (wide.left..wide.right).step_by(2);
        let rows = (wide.top..wide.bottom).step_by(2);
        let across = columns.flat_map(|x| [(x, wide.top), (x, wide.bottom - 1)]);
        let down = rows.flat_map(|y| [(wide.left, y), (wide.right - 1, y)]);
        for (x, y) in across.chain(down) {
            if frame.holds(x, y) {
                continue;
            }
            let surface = self.surfaces.of[y * self.width() + x];
            match seen.iter_mut().find(|(it, _)| *it == surface) {
                Some((_, times)) => *times += 1,
                None => seen.push((surface, 1)),
            }
        }
        let most = seen.iter().max_by_key(|(_, times)| *times)?;
        self.surface(most.0).map(|surface| surface.color)
    }

    /// The frame of a surface with the outline around it, and how strongly the outline stands out from what is beyond.
    pub(crate) fn outlined(&self, frame: &Frame, fill: [u8; 3]) -> (Frame, u8) {
        let (width, height) = (self.width(), self.height());
        let mut best = (*frame, 0);
        for by in 1..=4 {
            let ring = frame.grown(by, width, height);
            if ring.left == 0 || ring.top == 0 || ring.right == width || ring.bottom == height {
                break;
            }
            let (x, y) = ring.centre();
            // A quarter of the way along, there is neither a corner nor, in most fields, a sign.
            let sides = [
                (x, ring.top),
                (x, ring.bottom - 1),
                (ring.left, y),
                (ring.right - 1, y),
                (ring.left + ring.width() / 4, ring.top),
                (ring.left + ring.width() / 4, ring.bottom - 1),
            ];
            let contrast = sides.map(|(x, y)| difference(self.picture.at(x, y), fill));
            let least = contrast.iter().copied().min().unwrap_or(0);
            let beyond = frame.grown(by + 1, width, height);
            let out = difference(self.picture.at(beyond.left, y), fill);
            if least <= 4 {
                break;
            }
            // The outline goes on as long as it is not yet the colour beyond.
            let more = difference(
                self.picture.at(ring.left, y),
                self.picture.at(beyond.left, y),
            ) > 4;
            if more || out.abs_diff(least) > 4 {
                best = (ring, least);
            }
            if !more {
                break;
            }
        }
        best
    }
}
