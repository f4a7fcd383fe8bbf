//! Comparing two screenshots: the regions in which they differ.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::element::Position;
use crate::frame::Frame;
use crate::picture::{Picture, difference};

/// The side of the squares that are compared.
const CELL: usize = 8;
/// Less is the noise of a lossy format, or of anti-aliasing.
const VISIBLE: u8 = 16;
/// The regions that are told one by one. More are joined to one.
const MOST: usize = 200;

/// A region that is not as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Where it is.
    pub position: Position,
    /// The part of its pixels that changed, from 0 to 1.
    pub amount: f32,
}

/// Finds changed regions, from the top to the bottom.
pub(crate) fn changes(before: &Picture, after: &Picture) -> Result<Vec<Change>, Error> {
    let size = |it: &Picture| (it.width, it.height);
    if size(before) != size(after) {
        return Err(Error::Sizes {
            before: size(before),
            after: size(after),
        });
    }
    let (columns, rows) = (after.width.div_ceil(CELL), after.height.div_ceil(CELL));
    let mut changed = vec![0_usize; columns * rows];
    for (at, (one, other)) in before.pixels.iter().zip(&after.pixels).enumerate() {
        if difference(*one, *other) >= VISIBLE {
            let (x, y) = (at % after.width, at / after.width);
            changed[y / CELL * columns + x / CELL] += 1;
        }
    }
    let mut found: Vec<Change> = Vec::new();
    let mut seen = vec![false; changed.len()];
    for first in 0..changed.len() {
        if changed[first] == 0 || seen[first] {
            continue;
        }
        let (cells, pixels) = spread(first, &changed, &mut seen, columns, rows);
        let frame = Frame {
            left: cells.left * CELL,
            top: cells.top * CELL,
            right: (cells.right * CELL).min(after.width),
            bottom: (cells.bottom * CELL).min(after.height),
        };
        found.push(Change {
            position: frame.into(),
            amount: (pixels as f32 / frame.area().max(1) as f32 * 100.0).round() / 100.0,
        });
    }
    Ok(if found.len() > MOST {
        join(&found)
    } else {
        found
    })
}

/// The cells that belong to a changed one: changed, and at most one unchanged cell away.
fn spread(
    first: usize,
    changed: &[usize],
    seen: &mut [bool],
    columns: usize,
    rows: usize,
) -> (Frame, usize) {
    let mut frame = Frame::pixel(first % columns, first / columns);
    let mut pixels = 0;
    let mut open = vec![first];
    seen[first] = true;
    while let Some(at) = open.pop() {
        let cell = Frame::pixel(at % columns, at / columns);
        pixels += changed[at];
        frame = frame.join(&cell);
        let near = cell.grown(2, columns, rows);
        for y in near.top..near.bottom {
            for x in near.left..near.right {
                let other = y * columns + x;
                if changed[other] > 0 && !seen[other] {
                    seen[other] = true;
                    open.push(other);
                }
            }
        }
    }
    (frame, pixels)
}

fn join(changes: &[Change]) -> Vec<Change> {
    let frames: Vec<Frame> = changes.iter().map(|it| it.position.frame()).collect();
    let pixels: f32 = changes
        .iter()
        .zip(&frames)
        .map(|(it, frame)| it.amount * frame.area() as f32)
        .sum();
    let whole = Frame::around(&frames).into_iter();
    whole
        .map(|frame| Change {
            position: frame.into(),
            amount: (pixels / frame.area().max(1) as f32).min(1.0),
        })
        .collect()
}
