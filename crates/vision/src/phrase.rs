//! Phrases: letters in one row, close together, of one colour, on one surface. Found without reading them.

use std::ops::Range;

use crate::frame::Frame;
use crate::mark::Mark;
use crate::picture::{Picture, difference};
use crate::surface::Surfaces;

/// Text in one row that belongs together.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    pub(crate) frame: Frame,
    pub(crate) marks: Vec<usize>,
    /// The surface below it.
    pub(crate) on: u32,
    pub(crate) tint: [f32; 3],
    pub(crate) underlined: bool,
}

impl Phrase {
    /// How far its colour is from grey: 0 for black, grey and white.
    pub(crate) fn chroma(&self) -> f32 {
        chroma(self.tint)
    }
}

/// The difference of the channels in relation to the strongest.
pub(crate) fn chroma(tint: [f32; 3]) -> f32 {
    let strongest = tint.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
    let high = tint.iter().fold(f32::MIN, |most, it| most.max(*it));
    let low = tint.iter().fold(f32::MAX, |least, it| least.min(*it));
    if strongest < 4.0 {
        return 0.0;
    }
    ((high - low) / strongest).min(1.0)
}

/// Whether two inks may be of one colour, which anti-aliasing makes stronger or weaker.
fn same_ink(one: [f32; 3], other: [f32; 3]) -> bool {
    let length = |it: [f32; 3]| it.iter().map(|v| v * v).sum::<f32>().sqrt().max(1.0);
    let product: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
    product / (length(one) * length(other)) > 0.965
}

/// Finds phrases. Marks that stand alone and could be boxes or icons are phrases of one mark here; later steps look at them.
pub(crate) fn phrases(picture: &Picture, surfaces: &Surfaces, marks: &[Mark]) -> Vec<Phrase> {
    let mut order: Vec<usize> = (0..marks.len())
        .filter(|index| {
            let mark = &marks[*index];
            let outline = mark.edge && mark.inside.is_none();
            mark.is_small() && !mark.is_rule() && !outline && mark.pixels >= 2
        })
        .collect();
    order.sort_by_key(|index| marks[*index].frame.left);
    let words = gather(order, marks, |height| (height * 22 / 100).max(2), true);
    let mut found = join_words(words, marks);
    found.retain(|phrase| phrase.frame.height() >= 4 && phrase.frame.width() >= 3);
    let mut cut = Vec::with_capacity(found.len());
    for phrase in found {
        cut.extend(underlines(picture, surfaces, marks, phrase));
    }
    cut
}

/// Puts marks into groups from the left to the right; `reach` is the widest gap for a height.
fn gather(
    order: Vec<usize>,
    marks: &[Mark],
    reach: impl Fn(usize) -> usize,
    ignore_dots: bool,
) -> Vec<Phrase> {
    let mut done: Vec<Phrase> = Vec::new();
    let mut open: Vec<Phrase> = Vec::new();
    for index in order {
        let mark = &marks[index];
        let (ended, rest) = open
            .into_iter()
            .partition::<Vec<_>, _>(|group| group.frame.right + 40 < mark.frame.left);
        done.extend(ended);
        open = rest;
        let fits = |group: &Phrase| {
            let height = group.frame.height().max(mark.frame.height()).clamp(8, 60);
            let near = group.frame.gap_across(&mark.frame) <= reach(height);
            let dot = ignore_dots && mark.pixels < 10;
            let over =
                group.frame.gap_down(&mark.frame) <= 3 && group.frame.shared_width(&mark.frame) > 0;
            let tall = group.frame.join(&mark.frame).height() <= 2 * height;
            let like = dot || same_ink(group.tint, mark.tint);
            let row = group.frame.in_row_with(&mark.frame) || over;
            group.on == mark.on && near && row && like && tall
        };
        match open.iter_mut().rev().find(|group| fits(group)) {
            Some(group) => {
                let (old, new) = (group.weight(marks), mark.pixels as f32);
                for (mean, value) in group.tint.iter_mut().zip(mark.tint) {
                    *mean = (*mean * old + value * new) / (old + new).max(1.0);
                }
                group.frame = group.frame.join(&mark.frame);
                group.marks.push(index);
            }
            None => open.push(Phrase {
                frame: mark.frame,
                marks: vec![index],
                on: mark.on,
                tint: mark.tint,
                underlined: false,
            }),
        }
    }
    done.extend(open);
    done
}

impl Phrase {
    fn weight(&self, marks: &[Mark]) -> f32 {
        self.marks.iter().map(|it| marks[*it].pixels as f32).sum()
    }
}

/// Joins words of one row and colour with the gaps that stand between words.
fn join_words(mut words: Vec<Phrase>, marks: &[Mark]) -> Vec<Phrase> {
    words.sort_by_key(|word| word.frame.left);
    let mut joined: Vec<Phrase> = Vec::new();
    for word in words {
        let fits = |phrase: &Phrase| {
            let height = phrase.frame.height().max(word.frame.height()).clamp(8, 60);
            let gap = phrase.frame.gap_across(&word.frame);
            let small = word.weight(marks) < 12.0 || phrase.weight(marks) < 12.0;
            phrase.on == word.on
                && gap <= height * 55 / 100
                && phrase.frame.in_row_with(&word.frame)
                && phrase.frame.join(&word.frame).height() <= height * 3 / 2
                && (small || same_ink(phrase.tint, word.tint))
        };
        match joined.iter_mut().rev().find(|phrase| fits(phrase)) {
            Some(phrase) => {
                let (old, new) = (phrase.weight(marks), word.weight(marks));
                for (mean, value) in phrase.tint.iter_mut().zip(word.tint) {
                    *mean = (*mean * old + value * new) / (old + new).max(1.0);
                }
                phrase.frame = phrase.frame.join(&word.frame);
                phrase.marks.extend(word.marks);
            }
            None => joined.push(word),
        }
    }
    joined
}

/// Looks for a line below the letters. Text is cut where the line begins and ends, or is interrupted by more than the
/// descender of a letter: there a link begins, and ends.
fn underlines(
    picture: &Picture,
    surfaces: &Surfaces,
    marks: &[Mark],
    phrase: Phrase,
) -> Vec<Phrase> {
    let frame = phrase.frame;
    let Some(base) = surfaces.all.get(phrase.on as usize) else {
        return vec![phrase];
    };
    if frame.width() < 8 || frame.height() < 6 {
        return vec![phrase];
    }
    let strongest = phrase
        .tint
        .iter()
        .fold(0.0_f32, |most, it| most.max(it.abs()));
    let least = (strongest * 0.5).clamp(20.0, 90.0) as u8;
    let inked = |x: usize, y: usize| difference(picture.at(x, y), base.color) > least;
    let from = frame.top + frame.height() * 6 / 10;
    let to = (frame.bottom + 5).min(picture.height);
    let row = (from..to).max_by_key(|y| longest(frame.left..frame.right, |x| inked(x, *y)));
    let Some(row) = row else {
        return vec![phrase];
    };
    let below = (row + 2).min(picture.height - 1);
    // A comma or a descender that touches the line interrupts it, and reaches a row or two around it.
    let lines = runs(frame, |x| {
        (row.saturating_sub(2)..=below).any(|y| inked(x, y))
    });
    // A rule or the edge of a bar goes on beyond the text.
    let beyond = |x: usize| x < picture.width && inked(x, row);
    let before = frame.left >= 4 && beyond(frame.left - 4);
    let after = beyond(frame.right + 3);
    let is_line = |run: &Range<usize>| {
        let (height, width) = (frame.height(), frame.width());
        let alone = run.len() * 10 >= width * 9 && width >= height;
        let bound = run.start < frame.left + 4 && before || run.end + 4 > frame.right && after;
        // The feet of letters can fill most of a row, but not without interruption.
        let unbroken = longest(run.clone(), |x| inked(x, row));
        let needed = (height * 3 / 2).min(run.len() * 85 / 100).max(10);
        let covered = run.clone().filter(|x| inked(*x, row)).count();
        let unbroken = unbroken * usize::from(covered * 100 >= run.len() * 68);
        !bound && unbroken >= needed && (alone || 2 * run.len() >= 3 * height)
    };
    let lines: Vec<Range<usize>> = lines.into_iter().filter(is_line).collect();
    if lines.is_empty() {
        return vec![phrase];
    }
    let mut pieces: Vec<(Range<usize>, bool)> = Vec::new();
    let mut at = frame.left;
    for line in lines {
        pieces.push((at..line.start, false));
        at = line.end;
        pieces.push((line, true));
    }
    pieces.push((at..frame.right, false));
    let cut = |(run, underlined): (Range<usize>, bool)| Phrase {
        frame: Frame {
            left: run.start,
            right: run.end,
            bottom: if underlined {
                frame.bottom.max(row + 1)
            } else {
                frame.bottom
            },
            ..frame
        },
        marks: (phrase.marks.iter().copied())
            .filter(|it| run.contains(&marks[*it].frame.centre().0) || run.len() == frame.width())
            .collect(),
        underlined,
        ..phrase.clone()
    };
    let pieces = pieces.into_iter().filter(|(run, _)| run.len() >= 5);
    pieces.map(cut).collect()
}

/// The longest stretch of inked columns.
fn longest(columns: Range<usize>, inked: impl Fn(usize) -> bool) -> usize {
    let mut most = 0;
    let mut length = 0;
    for x in columns {
        length = if inked(x) { length + 1 } else { 0 };
        most = most.max(length);
    }
    most
}

/// The stretches of a line. Around a descender, which is a narrow stretch, a line is interrupted by some pixels.
fn runs(frame: Frame, lined: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for x in (frame.left..frame.right).filter(|x| lined(*x)) {
        match found.last_mut() {
            Some(run) if x < run.end + 3 => run.end = x + 1,
            _ => found.push(x..x + 1),
        }
    }
    let mut joined: Vec<Range<usize>> = Vec::new();
    let mut narrow = false;
    for run in found {
        let is_narrow = run.len() <= frame.height() / 3 + 1;
        match joined.last_mut() {
            Some(last) if run.start <= last.end + 4 && (narrow || is_narrow) => last.end = run.end,
            _ => joined.push(run),
        }
        narrow = is_narrow;
    }
    joined
}
