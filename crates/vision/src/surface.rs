//! Surfaces: connected regions of one colour, or of a gradient, that are thick enough to be painted on. A page, a card, a
//! filled button and the inside of an outlined field are surfaces, on light and on dark pages alike; letters and lines
//! are what is left between them.

use crate::frame::Frame;
use crate::picture::{Picture, difference};

/// No surface: the pixel is ink.
pub(crate) const INK: u32 = u32::MAX;

/// The side of the largest square in a region from which on it is a surface. Strokes of letters are thinner.
const THICK: u16 = 8;

/// A region to paint on.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    pub(crate) frame: Frame,
    pub(crate) color: [u8; 3],
    /// How much of the frame is between the first and the last pixel of each row: 1 for a rectangle with text on it.
    pub(crate) fill: f32,
    pub(crate) pixels: usize,
}

/// All surfaces of a picture and, for each pixel, the index of its surface or `INK`.
#[derive(Clone, Debug)]
pub(crate) struct Surfaces {
    pub(crate) of: Vec<u32>,
    pub(crate) all: Vec<Surface>,
}

pub(crate) fn surfaces(picture: &Picture) -> Surfaces {
    let labels = regions(picture);
    let measured = measure(picture, &labels);
    let mut all = Vec::new();
    let index: Vec<u32> = measured
        .iter()
        .map(|region| {
            if region.square < THICK {
                return INK;
            }
            let area = region.frame.area().max(1);
            all.push(Surface {
                frame: region.frame,
                color: region
                    .sum
                    .map(|sum| u8::try_from(sum / region.pixels.max(1)).unwrap_or(u8::MAX)),
                fill: region.spans as f32 / area as f32,
                pixels: region.pixels as usize,
            });
            u32::try_from(all.len() - 1).unwrap_or(INK)
        })
        .collect();
    let of = labels.iter().map(|label| index[*label as usize]).collect();
    Surfaces { of, all }
}

/// The region of each pixel, numbered from 0: neighbours that differ by no more than the noise are of one region.
fn regions(picture: &Picture) -> Vec<u32> {
    let (width, noise) = (picture.width, picture.noise);
    let mut roots: Vec<u32> = Vec::with_capacity(1 << 12);
    let mut labels = vec![0_u32; picture.pixels.len()];
    for (at, pixel) in picture.pixels.iter().enumerate() {
        let left = (at % width > 0 && difference(*pixel, picture.pixels[at - 1]) <= noise)
            .then(|| labels[at - 1]);
        let up = (at >= width && difference(*pixel, picture.pixels[at - width]) <= noise)
            .then(|| labels[at - width]);
        labels[at] = match (left, up) {
            (None, None) => {
                let fresh = roots.len() as u32;
                roots.push(fresh);
                fresh
            }
            (Some(one), None) | (None, Some(one)) => one,
            (Some(one), Some(other)) => unite(&mut roots, one, other),
        };
    }
    let mut numbers = vec![INK; roots.len()];
    let mut next = 0;
    for label in &mut labels {
        let root = root(&mut roots, *label) as usize;
        if numbers[root] == INK {
            numbers[root] = next;
            next += 1;
        }
        *label = numbers[root];
    }
    labels
}

pub(crate) fn root(roots: &mut [u32], mut label: u32) -> u32 {
    while roots[label as usize] != label {
        let above = roots[roots[label as usize] as usize];
        roots[label as usize] = above;
        label = above;
    }
    label
}

pub(crate) fn unite(roots: &mut [u32], one: u32, other: u32) -> u32 {
    if one == other {
        return one;
    }
    let (one, other) = (root(roots, one), root(roots, other));
    let (low, high) = (one.min(other), one.max(other));
    roots[high as usize] = low;
    low
}

#[derive(Clone)]
struct Measured {
    frame: Frame,
    pixels: u32,
    sum: [u32; 3],
    spans: u64,
    square: u16,
    row: usize,
    first: usize,
    last: usize,
}

/// One pass over all regions: frames, colours, spans of rows, and the largest square in each.
fn measure(picture: &Picture, labels: &[u32]) -> Vec<Measured> {
    let width = picture.width;
    let count = labels.iter().max().map_or(0, |last| *last as usize + 1);
    let mut found: Vec<Option<Measured>> = vec![None; count];
    // The side of the largest square of one region that ends at each pixel of the row above, and of this row.
    let (mut above, mut here) = (vec![0_u16; width], vec![0_u16; width]);
    for (at, label) in labels.iter().enumerate() {
        let (x, y) = (at % width, at / width);
        let same = |other: usize| labels[other] == *label;
        here[x] = 1;
        if x > 0 && y > 0 && same(at - 1) && same(at - width) && same(at - width - 1) {
            here[x] = 1 + above[x].min(above[x - 1]).min(here[x - 1]);
        }
        let region = found[*label as usize].get_or_insert_with(|| Measured {
            frame: Frame::pixel(x, y),
            pixels: 0,
            sum: [0; 3],
            spans: 0,
            square: 0,
            row: y,
            first: x,
            last: x,
        });
        if region.row != y {
            region.spans += (region.last - region.first + 1) as u64;
            (region.row, region.first) = (y, x);
        }
        region.last = x;
        region.pixels += 1;
        region.frame = region.frame.join(&Frame::pixel(x, y));
        region.square = region.square.max(here[x]);
        for (sum, value) in region.sum.iter_mut().zip(picture.pixels[at]) {
            // A picture has fewer pixels than would make this overflow: see the limits.
            *sum = sum.saturating_add(u32::from(value));
        }
        if x + 1 == width {
            std::mem::swap(&mut above, &mut here);
        }
    }
    let mut measured: Vec<Measured> = found.into_iter().flatten().collect();
    for region in &mut measured {
        region.spans += (region.last - region.first + 1) as u64;
    }
    measured
}
