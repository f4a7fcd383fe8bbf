//! Reading by two neural networks: one marks where lines of text are, the other reads a line.

use std::fs;
use std::path::Path;

use rten::Model;
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::models::{DETECTION, File, RECOGNITION};
use super::{Line, Seen};
use crate::frame::Frame;
use crate::picture::Picture;
use crate::surface::{root, unite};
use crate::{Error, Limits};

/// The longer side of the picture that lines are looked for in; a larger one is looked at in smaller size.
const LONGEST: usize = 1_600;
/// Pixels of the map of text that count, as its authors recommend.
const MARKED: f32 = 0.3;
/// The mean of the map in a line.
const LINE: f32 = 0.5;
/// How much a marked region grows to hold the whole letters.
const GROWTH: f32 = 1.6;
/// The height that lines are read at.
const HEIGHT: usize = 48;
/// Lines that are wider are read in parts of this width.
const WIDEST: usize = 2_400;
/// Lines below this confidence are drawings.
const SURE: f32 = 0.6;
/// The lines of one picture that are read.
const MOST: usize = 600;

/// Both networks and the letters of the second.
pub(crate) struct Network {
    detection: Model,
    recognition: Model,
    letters: Vec<String>,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letters = self.letters.len();
        f.debug_struct("Network")
            .field("letters", &letters)
            .finish_non_exhaustive()
    }
}

fn fault(file: &File, problem: impl ToString) -> Error {
    Error::Models {
        file: file.name.to_owned(),
        problem: problem.to_string(),
    }
}

impl Network {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let load = |file: &File| {
            let bytes = fs::read(folder.join(file.name)).map_err(|error| fault(file, error))?;
            let letters = metadata(&bytes, "character");
            let model = Model::load(bytes).map_err(|error| fault(file, error))?;
            Ok((model, letters))
        };
        let (detection, _) = load(&DETECTION)?;
        let (recognition, letters) = load(&RECOGNITION)?;
        let letters = letters.ok_or_else(|| fault(&RECOGNITION, "it has no list of letters"))?;
        let mut letters: Vec<String> = letters.split('\n').map(str::to_owned).collect();
        letters.push(" ".to_owned());
        Ok(Self {
            detection,
            recognition,
            letters,
        })
    }

    pub(super) fn lines(
        &self,
        seen: &Seen<'_>,
        late: &dyn Fn() -> bool,
        limits: &Limits,
    ) -> Result<Vec<Line>, Error> {
        let picture = seen.picture;
        let mut frames = self.detect(picture)?;
        let detected = frames.clone();
        let missed = seen.hints.iter().filter(|hint| {
            let covered: usize = detected.iter().map(|it| it.shared(hint)).sum();
            covered * 2 < hint.area()
        });
        frames.extend(missed.map(|hint| hint.grown(2, picture.width, picture.height)));
        frames.retain(|frame| (seen.wanted)(frame));
        frames.sort_by_key(|frame| (frame.top, frame.left));
        frames.truncate(MOST);
        let mut lines = Vec::with_capacity(frames.len());
        for frame in frames {
            if late() {
                return Err(Error::TooSlow(limits.time));
            }
            lines.extend(self.read(picture, frame)?);
        }
        Ok(lines)
    }

    /// The frames of lines of text.
    fn detect(&self, picture: &Picture) -> Result<Vec<Frame>, Error> {
        let (width, height) = (picture.width, picture.height);
        let scale = (LONGEST as f32 / width.max(height) as f32).min(1.0);
        let side = |it: usize| (((it as f32 * scale / 32.0).round() as usize) * 32).max(32);
        let (across, down) = (side(width), side(height));
        let whole = Frame {
            left: 0,
            top: 0,
            right: width,
            bottom: height,
        };
        let input = sample(picture, whole, across, down, false);
        let input = NdTensor::from_data([1, 3, down, across], input);
        let output = self.detection.run_one(input.view().into(), None);
        let output = output.map_err(|error| fault(&DETECTION, error))?;
        let map: NdTensor<f32, 4> = output
            .try_into()
            .map_err(|error| fault(&DETECTION, format!("{error:?}")))?;
        let [_, _, rows, columns] = map.shape();
        let map = map.to_vec();
        let (x, y) = (width as f32 / columns as f32, height as f32 / rows as f32);
        let frames = regions(&map, columns).into_iter().map(|frame| Frame {
            left: (frame.left as f32 * x) as usize,
            top: (frame.top as f32 * y) as usize,
            right: ((frame.right as f32 * x).ceil() as usize).min(width),
            bottom: ((frame.bottom as f32 * y).ceil() as usize).min(height),
        });
        Ok(frames
            .filter(|it| it.width() >= 3 && it.height() >= 5)
            .collect())
    }

    /// Reads one line; none if there is nothing to read.
    fn read(&self, picture: &Picture, frame: Frame) -> Result<Option<Line>, Error> {
        let scale = HEIGHT as f32 / frame.height().max(1) as f32;
        let across = ((frame.width() as f32 * scale).round() as usize).clamp(16, WIDEST);
        let input = sample(picture, frame, across, HEIGHT, is_dark(picture, frame));
        let input = NdTensor::from_data([1, 3, HEIGHT, across], input);
        let output = self.recognition.run_one(input.view().into(), None);
        let output = output.map_err(|error| fault(&RECOGNITION, error))?;
        let steps: NdTensor<f32, 3> = output
            .try_into()
            .map_err(|error| fault(&RECOGNITION, format!("{error:?}")))?;
        let [_, count, classes] = steps.shape();
        let letters = decode(&steps.to_vec(), classes, &self.letters);
        Ok(line(frame, count, &letters))
    }
}

/// A letter, the step that it was read at, and its probability.
type Letter<'a> = (&'a str, usize, f32);

/// CTC: the most likely class of each step; repetitions are one letter, and class 0 is none.
fn decode<'a>(steps: &[f32], classes: usize, letters: &'a [String]) -> Vec<Letter<'a>> {
    let mut found = Vec::new();
    let mut before = 0;
    for (step, odds) in steps.chunks_exact(classes.max(1)).enumerate() {
        let best = odds.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((class, odds)) = best else { continue };
        if class != 0 && class != before {
            if let Some(letter) = letters.get(class - 1) {
                found.push((letter.as_str(), step, *odds));
            }
        }
        before = class;
    }
    found
}

/// Puts letters together to words with places, and words to a line.
fn line(frame: Frame, steps: usize, letters: &[Letter<'_>]) -> Option<Line> {
    let mean = letters.iter().map(|it| it.2).sum::<f32>() / letters.len().max(1) as f32;
    if mean < SURE {
        return None;
    }
    let pitch = frame.width() as f32 / steps.max(1) as f32;
    let mut words: Vec<(String, usize, usize)> = Vec::new();
    let mut open = false;
    for (letter, step, _) in letters {
        if letter.trim().is_empty() {
            open = false;
            continue;
        }
        match words.last_mut().filter(|_| open) {
            Some((text, _, last)) => {
                text.push_str(letter);
                *last = *step;
            }
            None => words.push(((*letter).to_owned(), *step, *step)),
        }
        open = true;
    }
    let place = |from: usize, to: usize| Frame {
        left: frame.left + (from as f32 * pitch) as usize,
        right: (frame.left + ((to + 1) as f32 * pitch).ceil() as usize).min(frame.right),
        ..frame
    };
    let text: Vec<&str> = words.iter().map(|it| it.0.as_str()).collect();
    let text = text.join(" ");
    (!text.is_empty()).then(|| Line {
        text,
        position: frame.into(),
        confidence: (mean * 100.0).round() / 100.0,
        words: words
            .into_iter()
            .map(|(text, from, to)| (text, place(from, to).into()))
            .collect(),
    })
}

/// Regions of the map, grown to hold whole lines. The map marks the middle of a line, thinner than its letters.
fn regions(map: &[f32], columns: usize) -> Vec<Frame> {
    let mut roots: Vec<u32> = Vec::new();
    let mut labels = vec![u32::MAX; map.len()];
    for at in 0..map.len() {
        if map[at] < MARKED {
            continue;
        }
        let left = (at % columns > 0)
            .then(|| labels[at - 1])
            .filter(|it| *it != u32::MAX);
        let up = (at >= columns)
            .then(|| labels[at - columns])
            .filter(|it| *it != u32::MAX);
        labels[at] = match (left, up) {
            (None, None) => {
                roots.push(roots.len() as u32);
                (roots.len() - 1) as u32
            }
            (Some(one), None) | (None, Some(one)) => one,
            (Some(one), Some(other)) => unite(&mut roots, one, other),
        };
    }
    let mut found: Vec<Option<(Frame, f32, usize)>> = vec![None; roots.len()];
    for (at, label) in labels.iter().enumerate() {
        if *label == u32::MAX {
            continue;
        }
        let pixel = Frame::pixel(at % columns, at / columns);
        let region = found[root(&mut roots, *label) as usize].get_or_insert((pixel, 0.0, 0));
        *region = (region.0.join(&pixel), region.1 + map[at], region.2 + 1);
    }
    let rows = map.len() / columns.max(1);
    let lines = found.into_iter().flatten().filter(|(frame, sum, count)| {
        frame.height() >= 3 && frame.width() >= 3 && sum / *count as f32 >= LINE
    });
    let grown = lines.map(|(frame, ..)| {
        let (width, height) = (frame.width() as f32, frame.height() as f32);
        let by = (width * height * GROWTH / (2.0 * (width + height))).round() as usize;
        frame.grown(by, columns, rows)
    });
    grown.collect()
}

/// Whether a line has light letters on a dark ground, which the network reads worse.
fn is_dark(picture: &Picture, frame: Frame) -> bool {
    let light = |x: usize, y: usize| {
        picture
            .at(x, y)
            .iter()
            .map(|it| usize::from(*it))
            .sum::<usize>()
    };
    let across =
        (frame.left..frame.right).flat_map(|x| [light(x, frame.top), light(x, frame.bottom - 1)]);
    let (sum, count) = across.fold((0, 0), |(sum, count), it| (sum + it, count + 1));
    sum < count * 3 * 110
}

/// A part of a picture in another size, as three planes (blue, green, red) of values from -1 to 1.
fn sample(picture: &Picture, frame: Frame, across: usize, down: usize, invert: bool) -> Vec<f32> {
    let (x_step, y_step) = (
        frame.width() as f32 / across as f32,
        frame.height() as f32 / down as f32,
    );
    let plane = across * down;
    let mut planes = vec![0.0; 3 * plane];
    let last = |it: usize, end: usize| it.min(end.saturating_sub(1));
    for row in 0..down {
        let y = ((row as f32 + 0.5) * y_step - 0.5).max(0.0);
        let (y0, dy) = (y as usize, y.fract());
        let rows = [
            last(frame.top + y0, frame.bottom),
            last(frame.top + y0 + 1, frame.bottom),
        ];
        for column in 0..across {
            let x = ((column as f32 + 0.5) * x_step - 0.5).max(0.0);
            let (x0, dx) = (x as usize, x.fract());
            let columns = [
                last(frame.left + x0, frame.right),
                last(frame.left + x0 + 1, frame.right),
            ];
            let corners = rows.map(|y| columns.map(|x| picture.at(x, y)));
            for channel in 0..3 {
                let value = |y: usize, x: usize| f32::from(corners[y][x][channel]);
                let top = value(0, 0) * (1.0 - dx) + value(0, 1) * dx;
                let bottom = value(1, 0) * (1.0 - dx) + value(1, 1) * dx;
                let mixed = (top * (1.0 - dy) + bottom * dy) / 127.5 - 1.0;
                planes[(2 - channel) * plane + row * across + column] =
                    if invert { -mixed } else { mixed };
            }
        }
    }
    planes
}

/// A value of the metadata of an ONNX file: field 14 of the message, a list of pairs of strings (fields 1 and 2).
fn metadata(bytes: &[u8], name: &str) -> Option<String> {
    fields(bytes)
        .filter(|(number, _)| *number == 14)
        .find_map(|(_, pair)| {
            let text = |wanted: u64| {
                let mut parts = fields(pair);
                let part = parts.find(|(number, _)| *number == wanted)?.1;
                std::str::from_utf8(part).ok()
            };
            (text(1)? == name)
                .then(|| text(2).map(str::to_owned))
                .flatten()
        })
}

/// The fields of a Protobuf message that are strings, bytes or messages. It ends at the first that is broken.
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            let key = varint(&mut bytes)?;
            let skip = match key & 7 {
                0 => {
                    varint(&mut bytes)?;
                    continue;
                }
                1 => 8,
                5 => 4,
                2 => usize::try_from(varint(&mut bytes)?).ok()?,
                _ => return None,
            };
            let (field, rest) = bytes.split_at_checked(skip)?;
            bytes = rest;
            if key & 7 == 2 {
                return Some((key >> 3, field));
            }
        }
    })
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
