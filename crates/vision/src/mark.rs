//! Marks: connected pieces of ink, such as letters, parts of icons, underlines and outlines.

use crate::frame::Frame;
use crate::picture::Picture;
use crate::surface::{INK, Surfaces, root, unite};

/// Ink with this many pixels in its frame is an outline, or part of a photograph, and no letter.
const LARGEST: usize = 120;

/// A connected piece of ink.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) frame: Frame,
    pub(crate) pixels: usize,
    /// The surface that it is painted on: of those that touch it, the one that is not inside of it.
    pub(crate) on: u32,
    /// The surface inside of it, where it is an outline.
    pub(crate) inside: Option<u32>,
    /// Whether it stands between two surfaces, and so is an edge rather than a letter.
    pub(crate) edge: bool,
    /// The mean difference of its colour from that of its surface.
    pub(crate) tint: [f32; 3],
}

impl Mark {
    /// A flat piece: a rule, an underline, one bar of a menu icon.
    pub(crate) fn is_rule(&self) -> bool {
        self.frame.height() <= 3 && self.frame.width() >= 10
    }

    /// Whether it may be a letter, a part of one, or a small sign.
    pub(crate) fn is_small(&self) -> bool {
        self.frame.width() <= LARGEST && self.frame.height() <= LARGEST / 2
    }
}

pub(crate) fn marks(picture: &Picture, surfaces: &Surfaces) -> Vec<Mark> {
    let width = picture.width;
    let ink = |at: usize| surfaces.of[at] == INK;
    let mut roots: Vec<u32> = Vec::new();
    let mut labels = vec![INK; picture.pixels.len()];
    for at in 0..labels.len() {
        if !ink(at) {
            continue;
        }
        let (x, up) = (at % width, at >= width);
        let mut found: Option<u32> = None;
        let neighbours = [
            (x > 0).then(|| at - 1),
            (up && x > 0).then(|| at - width - 1),
            up.then(|| at - width),
            (up && x + 1 < width).then(|| at - width + 1),
        ];
        for near in neighbours.into_iter().flatten() {
            if labels[near] == INK {
                continue;
            }
            found = Some(match found {
                None => labels[near],
                Some(label) => unite(&mut roots, label, labels[near]),
            });
        }
        labels[at] = found.unwrap_or_else(|| {
            let fresh = roots.len() as u32;
            roots.push(fresh);
            fresh
        });
    }
    collect(picture, surfaces, &labels, &mut roots)
}

struct Piece {
    frame: Frame,
    sum: [f32; 3],
    pixels: usize,
    touched: Vec<(u32, usize)>,
}

impl Piece {
    fn touch(&mut self, surface: u32) {
        match self.touched.iter_mut().find(|(it, _)| *it == surface) {
            Some((_, times)) => *times += 1,
            None => self.touched.push((surface, 1)),
        }
    }

    fn finish(self, surfaces: &Surfaces) -> Option<Mark> {
        let outer = |surface: u32| {
            let frame = surfaces.all.get(surface as usize).map(|it| it.frame);
            frame.is_some_and(|frame| !self.frame.contains(&frame))
        };
        let most = |outside: bool| {
            let kept = self.touched.iter().filter(|(it, _)| outer(*it) == outside);
            kept.max_by_key(|(_, times)| *times)
        };
        let around = most(true).or_else(|| most(false))?;
        let within = most(false).filter(|it| it.0 != around.0);
        let all: usize = self.touched.iter().map(|(_, times)| times).sum();
        let color = surfaces.all.get(around.0 as usize)?.color;
        let mut tint = self.sum.map(|sum| sum / self.pixels.max(1) as f32);
        for (value, base) in tint.iter_mut().zip(color) {
            *value -= f32::from(base);
        }
        Some(Mark {
            frame: self.frame,
            pixels: self.pixels,
            on: around.0,
            inside: within.map(|it| it.0),
            edge: around.1 * 10 < all * 9,
            tint,
        })
    }
}

fn collect(picture: &Picture, surfaces: &Surfaces, labels: &[u32], roots: &mut [u32]) -> Vec<Mark> {
    let (width, height) = (picture.width, picture.height);
    let mut pieces: Vec<Option<Piece>> = Vec::new();
    pieces.resize_with(roots.len(), || None);
    for (at, label) in labels.iter().enumerate() {
        if *label == INK {
            continue;
        }
        let (x, y) = (at % width, at / width);
        let frame = Frame::pixel(x, y);
        let piece = pieces[root(roots, *label) as usize].get_or_insert_with(|| Piece {
            frame,
            sum: [0.0; 3],
            pixels: 0,
            touched: Vec::new(),
        });
        piece.frame = piece.frame.join(&frame);
        piece.pixels += 1;
        for (sum, value) in piece.sum.iter_mut().zip(picture.pixels[at]) {
            *sum += f32::from(value);
        }
        let near = [
            (x > 0).then(|| at - 1),
            (x + 1 < width).then_some(at + 1),
            (y > 0).then(|| at - width),
            (y + 1 < height).then_some(at + width),
        ];
        for neighbour in near.into_iter().flatten() {
            if surfaces.of[neighbour] != INK {
                piece.touch(surfaces.of[neighbour]);
            }
        }
    }
    let pieces = pieces.into_iter().flatten();
    pieces.filter_map(|piece| piece.finish(surfaces)).collect()
}
