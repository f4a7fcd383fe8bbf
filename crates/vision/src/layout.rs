//! Rules about texts and icons that have no shape around them: links by underline and colour, entries of navigations by
//! their place, icons by standing alone.

use crate::element::{Found, Kind, Source};
use crate::frame::Frame;
use crate::phrase::Phrase;
use crate::scene::Scene;
use crate::surface::INK;

/// How far from grey the colour of a link is at least.
const COLOURED: f32 = 0.36;

/// Finds links and icons outside of the `taken` shapes.
pub(crate) fn texts(scene: &Scene<'_>, taken: &[Found]) -> Vec<Found> {
    let free = |frame: &Frame| {
        let (x, y) = frame.centre();
        !taken.iter().any(|one| one.frame.holds(x, y))
    };
    let texts: Vec<&Phrase> = scene
        .phrases
        .iter()
        .filter(|it| free(&it.frame) && is_text(it))
        .collect();
    let drawings = drawings(scene);
    let mut found: Vec<Found> = texts
        .iter()
        .filter_map(|text| styled(scene, text))
        .collect();
    found.extend(rows(scene, &texts));
    found.extend(columns(scene, &texts));
    for one in found.iter_mut().filter(|one| one.source == Source::Layout) {
        let before = drawings.iter().find(|icon| {
            icon.right <= one.frame.left
                && icon.gap_across(&one.frame) <= 16
                && icon.in_row_with(&one.frame)
                && icon.height() <= 30
        });
        one.frame = before.map_or(one.frame, |icon| icon.join(&one.frame));
    }
    found.extend(
        icons(scene, &texts, &drawings)
            .into_iter()
            .filter(|it| free(&it.frame)),
    );
    found
}

pub(crate) fn is_text(phrase: &Phrase) -> bool {
    let (width, height) = (phrase.frame.width(), phrase.frame.height());
    let drawn = phrase.marks.len() <= 3
        && height >= 12
        && 2 * width <= 3 * height + 2
        && !phrase.underlined;
    let letters = phrase.marks.len() >= 2 || 2 * width >= 3 * height || height <= 20;
    (6..=70).contains(&height) && width >= 5 && letters && !(drawn && width >= 11)
}

/// The box of a text as browsers have it: higher than its letters.
fn roomy(scene: &Scene<'_>, frame: &Frame) -> Frame {
    let by = (frame.height() / 6).max(1);
    Frame {
        top: frame.top.saturating_sub(by),
        bottom: (frame.bottom + by).min(scene.height()),
        ..*frame
    }
}

fn styled(scene: &Scene<'_>, text: &Phrase) -> Option<Found> {
    let frame = roomy(scene, &text.frame);
    if text.underlined {
        return Some(Found::new(Kind::Link, frame, 0.93, Source::TextStyle));
    }
    let coloured = text.chroma() >= COLOURED && text.marks.len() >= 2 && text.frame.width() >= 12;
    coloured.then(|| Found::new(Kind::Link, frame, 0.78, Source::TextStyle))
}

/// Short texts side by side at the upper or lower end of a picture, unless they are the heads of a table's columns.
fn rows(scene: &Scene<'_>, texts: &[&Phrase]) -> Vec<Found> {
    let mut found = Vec::new();
    let top = (scene.height() / 7).clamp(60, 150);
    let bottom = scene.height() - (scene.height() / 10).clamp(30, 90);
    let mut used = vec![false; texts.len()];
    for first in 0..texts.len() {
        let y = texts[first].frame.centre().1;
        if used[first] || (top..bottom).contains(&y) {
            continue;
        }
        let row: Vec<usize> = (0..texts.len())
            .filter(|it| {
                let one = texts[*it];
                !used[*it]
                    && one.frame.centre().1.abs_diff(y) <= 4
                    && one.frame.height().abs_diff(texts[first].frame.height()) <= 5
                    && one.frame.width() <= 200
                    && one.frame.height() <= 21
                    && one.on == texts[first].on
            })
            .collect();
        let least = if y >= bottom { 2 } else { 3 };
        for it in &row {
            used[*it] = true;
        }
        if row.len() < least {
            continue;
        }
        let below = |frame: &Frame| {
            texts.iter().any(|other| {
                let under =
                    other.frame.top >= frame.bottom + 4 && other.frame.top <= frame.bottom + 42;
                under && other.frame.left.abs_diff(frame.left) <= 2
            })
        };
        let heads = row.iter().filter(|it| below(&texts[**it].frame)).count();
        if heads * 2 >= row.len() {
            continue;
        }
        let links = row.iter().map(|it| {
            Found::new(
                Kind::Link,
                roomy(scene, &texts[*it].frame),
                0.68,
                Source::Layout,
            )
        });
        found.extend(links);
    }
    found
}

/// Short texts below each other at one side, in a bar of its own or beside a rule.
fn columns(scene: &Scene<'_>, texts: &[&Phrase]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut used = vec![false; texts.len()];
    for first in 0..texts.len() {
        if used[first] {
            continue;
        }
        let left = texts[first].frame.left;
        let mut column: Vec<usize> = (0..texts.len())
            .filter(|it| {
                !used[*it]
                    && texts[*it].frame.left.abs_diff(left) <= 3
                    && texts[*it].on == texts[first].on
            })
            .collect();
        column.sort_by_key(|it| texts[*it].frame.top);
        for it in &column {
            used[*it] = true;
        }
        let Some(all) = Frame::around(column.iter().map(|it| &texts[*it].frame)) else {
            continue;
        };
        let narrow = all.width() <= 240 && all.left * 10 < scene.width() * 3;
        let aside =
            in_side_bar(scene, texts[first].on, &all) || stands_alone(scene, texts, &column, &all);
        if column.len() < 4 || !narrow || !aside {
            continue;
        }
        let links = column.iter().map(|it| {
            Found::new(
                Kind::Link,
                roomy(scene, &texts[*it].frame),
                0.66,
                Source::Layout,
            )
        });
        found.extend(links);
    }
    found
}

/// Whether a column at the edge of a picture is no column of a table, whose entries have others beside them.
fn stands_alone(scene: &Scene<'_>, texts: &[&Phrase], column: &[usize], all: &Frame) -> bool {
    let beside = |entry: &Frame| {
        texts.iter().any(|other| {
            let right = other.frame.left >= entry.right;
            right && other.frame.centre().1.abs_diff(entry.centre().1) <= 2
        })
    };
    let paired = column
        .iter()
        .filter(|it| beside(&texts[**it].frame))
        .count();
    let frames: Vec<Frame> = column.iter().map(|it| texts[*it].frame).collect();
    let pitch = |pair: &[Frame]| pair[1].top.saturating_sub(pair[0].top);
    let even = frames
        .windows(2)
        .filter(|pair| (22..=64).contains(&pitch(pair)))
        .count();
    let lonely = paired * 10 <= column.len() * 4 && even * 10 >= column.len() * 6;
    lonely && all.left * 8 <= scene.width() && scene.width() >= 600
}

fn in_side_bar(scene: &Scene<'_>, on: u32, texts: &Frame) -> bool {
    let bar = scene.surface(on).is_some_and(|surface| {
        let (width, height) = (surface.frame.width(), surface.frame.height());
        width * 100 <= scene.width() * 35 && height * 2 >= scene.height()
    });
    // An upright rule may be connected with others, so its pixels are looked at, and not its frame.
    let columns = texts.right..(texts.right + 200).min(scene.width());
    let tall = texts.height() >= 100;
    let ink = |x: usize, y: usize| scene.surfaces.of[y * scene.width() + x] == INK;
    let mut columns = columns;
    bar || tall && columns.any(|x| (texts.top..texts.bottom).step_by(3).all(|y| ink(x, y)))
}

/// Drawings of the size of an icon, with no text beside them; with a text below they are one element with it.
fn icons(scene: &Scene<'_>, texts: &[&Phrase], drawings: &[Frame]) -> Vec<Found> {
    let mut found = Vec::new();
    for frame in drawings.iter().copied() {
        let (width, height) = (frame.width(), frame.height());
        let size = (12..=36).contains(&width.max(height))
            && width.min(height) >= 7
            && width.max(height) <= 2 * width.min(height) + 4;
        if !size {
            continue;
        }
        let words = || {
            texts
                .iter()
                .filter(|text| text.frame.shared(&frame) == 0 && text.frame.width() > 14)
        };
        let beside = words()
            .any(|text| text.frame.in_row_with(&frame) && text.frame.gap_across(&frame) <= 14);
        let label = words().find(|text| {
            let under = text.frame.top >= frame.bottom && text.frame.top <= frame.bottom + 14;
            under && text.frame.centre().0.abs_diff(frame.centre().0) <= 5
        });
        let kind = Kind::Button;
        match label {
            Some(text) => found.push(Found::new(
                kind,
                frame.join(&text.frame),
                0.74,
                Source::Icon,
            )),
            None if beside => {}
            None => found.push(Found::new(
                kind,
                frame.grown(4, scene.width(), scene.height()),
                0.6,
                Source::Icon,
            )),
        }
    }
    found
}

/// Marks that are close to each other and no text, joined.
fn drawings(scene: &Scene<'_>) -> Vec<Frame> {
    let mut lettered = vec![false; scene.marks.len()];
    for phrase in &scene.phrases {
        let short = phrase.marks.len() <= 3
            && phrase.frame.width() <= 2 * phrase.frame.height()
            && phrase.frame.height() >= 12
            && !phrase.underlined;
        for mark in &phrase.marks {
            lettered[*mark] = !short;
        }
    }
    let marks = scene.marks.iter().zip(&lettered);
    let free = marks.filter(|(mark, lettered)| {
        !**lettered
            && mark.frame.width() <= 36
            && mark.frame.height() <= 36
            && mark.pixels >= 3
            && !(mark.edge && mark.inside.is_none())
    });
    let mut frames: Vec<Frame> = free.map(|(mark, _)| mark.frame).collect();
    frames.sort_by_key(|frame| (frame.top, frame.left));
    let mut joined: Vec<Frame> = Vec::new();
    for frame in frames {
        let mut frame = frame;
        while let Some(near) = joined
            .iter()
            .position(|it| it.gap_across(&frame) <= 4 && it.gap_down(&frame) <= 5)
        {
            frame = frame.join(&joined.swap_remove(near));
        }
        joined.push(frame);
    }
    joined.retain(|frame| frame.width().max(frame.height()) >= 13);
    joined
}
