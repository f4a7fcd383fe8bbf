//! Rules about shapes: which surfaces are buttons, fields, check boxes, radio buttons and switches, and which are cards,
//! bars and pictures that hold other things.

use crate::element::{Found, Kind, Source};
use crate::frame::Frame;
use crate::mark::Mark;
use crate::phrase::chroma;
use crate::picture::difference;
use crate::scene::Scene;
use crate::surface::Surface;

/// What is on a surface.
struct Content<'a> {
    marks: Vec<&'a Mark>,
    frame: Frame,
}

/// Finds the elements that are shapes.
pub(crate) fn shapes(scene: &Scene<'_>) -> Vec<Found> {
    let mut found = boxes(scene);
    let candidates = scene.surfaces.all.iter().zip(0_u32..);
    for (surface, index) in candidates {
        if !could_be_element(scene, surface) {
            continue;
        }
        if let Some(element) = classify(scene, surface, index) {
            found.push(element);
        }
    }
    found
}

fn could_be_element(scene: &Scene<'_>, surface: &Surface) -> bool {
    let frame = surface.frame;
    let (width, height) = (frame.width(), frame.height());
    let widest = if scene.width() < 600 {
        scene.width()
    } else {
        scene.width() * 8 / 10
    };
    let pill = surface.fill >= 0.8 || (surface.fill >= 0.7 && width < 3 * height);
    pill && (14..=260).contains(&height)
        && width >= 20
        && width <= widest
        && width * 5 >= height * 4
}

fn classify(scene: &Scene<'_>, surface: &Surface, index: u32) -> Option<Found> {
    let (frame, outline) = scene.outlined(&surface.frame, surface.color);
    let around = scene.color_around(&frame)?;
    let contrast = difference(surface.color, around);
    if outline < 8 && contrast < 4 {
        return None;
    }
    if !scene.holds_nothing_else(surface, index) {
        return None;
    }
    let (width, height) = (frame.width(), frame.height());
    let Some(content) = content(scene, index) else {
        return empty(scene, surface, frame, outline, contrast);
    };
    if content.frame.height() > 34 || height > 84 {
        return area(surface, frame, outline, &content);
    }
    if height < 17 || content.frame.height() + 2 > height {
        return None;
    }
    let left = content.frame.left.saturating_sub(frame.left);
    let right = frame.right.saturating_sub(content.frame.right);
    let inner = content.frame.width();
    let neutral = chroma(surface.color.map(|it| 255.0 - f32::from(it))) < 0.35
        || surface.color.iter().min() > Some(&215);
    // A word on a tinted ground within a text, as code has it.
    if outline < 8 && contrast < 16 && height <= 26 && scene.is_within_text(&frame) {
        return None;
    }
    if let Some(rest) = content.before_arrow(&frame)
        && outline + contrast > 6
        && left <= 24
        && width >= 44
        && rest
    {
        return Some(Found::new(Kind::Select, frame, 0.82, Source::Shape));
    }
    let centred = left.abs_diff(right) <= 6.max(width / 10);
    if content.spread(width) {
        return None;
    }
    if centred && width <= 520.max(scene.width() * 45 / 100) {
        // A field with a text that happens to fill it looks the same; both are clicked in their middle.
        let confidence = if outline > 20 || contrast > 40 {
            0.92
        } else {
            0.8
        };
        return Some(Found::new(Kind::Button, frame, confidence, Source::Shape));
    }
    let bare = outline <= 8;
    let field = if bare {
        contrast >= 6 && (width <= 640 || contrast > 60) && height >= 28
    } else {
        height >= 22
    };
    if left <= 60 && right > left && neutral && width >= 60 && field {
        let confidence = if outline > 20 { 0.88 } else { 0.72 };
        return Some(Found::new(Kind::Input, frame, confidence, Source::Shape));
    }
    let menu = left <= 48 && right > left && inner * 10 >= width && !neutral;
    menu.then(|| Found::new(Kind::Link, frame, 0.7, Source::Shape))
}

/// A shape with nothing in it is a field if it looks like one.
fn empty(
    scene: &Scene<'_>,
    surface: &Surface,
    frame: Frame,
    outline: u8,
    contrast: u8,
) -> Option<Found> {
    let (width, height) = (frame.width(), frame.height());
    let plain = difference(surface.color, [surface.color[0]; 3]) < 24;
    let outlined = outline >= 16 && (22..=240).contains(&height) && width >= 60;
    let filled = outline < 16 && (28..=64).contains(&height) && width >= 140 && contrast >= 4;
    let edge = frame.left == 0
        || frame.top == 0
        || frame.right == scene.width()
        || frame.bottom == scene.height();
    if !plain || edge || width < 2 * height {
        return None;
    }
    match (outlined, filled) {
        (true, _) => Some(Found::new(Kind::Input, frame, 0.75, Source::Shape)),
        (_, true) => Some(Found::new(Kind::Input, frame, 0.55, Source::Shape)),
        _ => None,
    }
}

/// A high shape with text is a field of several lines if it is outlined and its text begins in the upper left corner.
fn area(surface: &Surface, frame: Frame, outline: u8, content: &Content<'_>) -> Option<Found> {
    let plain = difference(surface.color, [surface.color[0]; 3]) < 24;
    let above = content.frame.top.saturating_sub(frame.top);
    let below = frame.bottom.saturating_sub(content.frame.bottom);
    let before = content.frame.left.saturating_sub(frame.left);
    let corner = above <= 24 && before <= 24 && below >= above * 2 && content.frame.height() <= 26;
    let large = frame.height() >= 56 && frame.width() >= 160;
    (plain && outline >= 16 && corner && large)
        .then(|| Found::new(Kind::Input, frame, 0.7, Source::Shape))
}

fn content<'a>(scene: &'a Scene<'_>, surface: u32) -> Option<Content<'a>> {
    let own = scene.surface(surface)?.frame;
    let marks = scene.marks_on(surface);
    // The handle that changes the size of a field is in its lower right corner.
    let handle = |frame: &Frame| {
        own.height() >= 56 && frame.left + 20 > own.right && frame.top + 20 > own.bottom
    };
    let part_of_edge = |mark: &Mark| mark.edge && mark.inside.is_none();
    let marks = marks
        .filter(|mark| own.contains(&mark.frame) && !handle(&mark.frame) && !part_of_edge(mark));
    let marks: Vec<&Mark> = marks.collect();
    let frame = Frame::around(marks.iter().map(|mark| &mark.frame))?;
    Some(Content { marks, frame })
}

impl Content<'_> {
    /// Whether the last mark is an arrow at the end of the field; the inner value says whether text stands before it.
    fn before_arrow(&self, frame: &Frame) -> Option<bool> {
        let last = self.marks.iter().max_by_key(|mark| mark.frame.right)?;
        let (width, height) = (last.frame.width(), last.frame.height());
        let arrow =
            (5..=16).contains(&width) && (3..=12).contains(&height) && 2 * width >= 3 * height - 2;
        let at_end = frame.right.saturating_sub(last.frame.right) <= 20;
        let others = self
            .marks
            .iter()
            .filter(|mark| mark.frame.right < last.frame.left);
        let end = others.map(|mark| mark.frame.right).max();
        (arrow && at_end).then(|| end.is_some_and(|end| last.frame.left - end >= 5))
    }

    /// Whether there are things far from each other, as in a bar or in a row of a table.
    fn spread(&self, width: usize) -> bool {
        let mut frames: Vec<Frame> = self.marks.iter().map(|mark| mark.frame).collect();
        frames.sort_by_key(|frame| frame.left);
        let mut right = frames.first().map_or(0, |frame| frame.right);
        let mut gaps = 0;
        for frame in frames {
            if frame.left > right + 40.min(width / 3) {
                gaps += 1;
            }
            right = right.max(frame.right);
        }
        gaps >= 2 || (gaps == 1 && width > 400)
    }
}

impl Scene<'_> {
    /// Whether text goes on close to the left or the right of a frame.
    fn is_within_text(&self, frame: &Frame) -> bool {
        let mut phrases = self.phrases.iter();
        phrases.any(|text| {
            let apart = text.frame.shared(frame) == 0 && text.frame.width() > 20;
            apart && text.frame.in_row_with(frame) && text.frame.gap_across(frame) <= 10
        })
    }

    /// Whether a surface holds no further surfaces, but the insides of letters and icons.
    fn holds_nothing_else(&self, surface: &Surface, index: u32) -> bool {
        let others = self.surfaces.all.iter().zip(0_u32..);
        let held =
            others.filter(|(other, it)| *it != index && surface.frame.contains(&other.frame));
        let large = held.filter(|(other, _)| {
            other.frame.width() > 34 || other.frame.height() > 34 || other.pixels > 600
        });
        large.count() == 0
    }
}

/// Small squares and circles: check boxes and radio buttons; and switches.
fn boxes(scene: &Scene<'_>) -> Vec<Found> {
    let mut frames: Vec<(Frame, bool)> = Vec::new();
    for mark in &scene.marks {
        let side = mark.frame.width();
        let square = side.abs_diff(mark.frame.height()) <= 1 && (11..=28).contains(&side);
        if square {
            frames.push((mark.frame, mark.inside.is_some()));
        }
    }
    for surface in &scene.surfaces.all {
        let side = surface.frame.width();
        let square = side.abs_diff(surface.frame.height()) <= 1 && (8..=26).contains(&side);
        if square && surface.fill > 0.7 {
            let (frame, outline) = scene.outlined(&surface.frame, surface.color);
            frames.push((frame, outline > 20));
        }
        let (width, height) = (surface.frame.width(), surface.frame.height());
        let pill =
            (16..=36).contains(&height) && width * 10 >= height * 15 && width * 10 <= height * 23;
        if pill && surface.fill > 0.8 && scene.has_knob(surface) {
            frames.push((surface.frame, true));
        }
    }
    frames.sort_by_key(|(frame, _)| std::cmp::Reverse(frame.area()));
    let mut found: Vec<Found> = Vec::new();
    for (frame, _) in frames {
        if found.iter().any(|one| one.frame.shared(&frame) > 0) || scene.stands_in_word(&frame) {
            continue;
        }
        found.extend(
            scene
                .box_kind(&frame)
                .map(|(kind, confidence)| Found::new(kind, frame, confidence, Source::Shape)),
        );
    }
    found
}

impl Scene<'_> {
    /// Whether a round or square piece is at one end of a pill, and nothing else is in it.
    fn has_knob(&self, surface: &Surface) -> bool {
        let frame = surface.frame;
        let inside = |it: &Frame| frame.contains(it) && *it != frame;
        let surfaces = self.surfaces.all.iter().map(|it| it.frame);
        let marks = self.marks.iter().map(|it| it.frame);
        let parts: Vec<Frame> = surfaces
            .chain(marks)
            .filter(inside)
            .filter(|it| it.area() > 16)
            .collect();
        let Some(all) = Frame::around(&parts) else {
            return false;
        };
        let round = all.width().abs_diff(all.height()) <= 2 && all.height() * 2 >= frame.height();
        let near = (all.left - frame.left).min(frame.right - all.right);
        round && near <= frame.height() / 3
    }

    /// Whether letters stand close to both of its sides or to its right, as they do to an O or a D.
    fn stands_in_word(&self, frame: &Frame) -> bool {
        let close = |mark: &&Mark| {
            let gap = mark.frame.gap_across(frame);
            let apart = !frame.contains(&mark.frame) && !mark.frame.contains(frame);
            apart
                && mark.pixels >= 4
                && gap <= 3
                && mark.frame.in_row_with(frame)
                && mark.frame.height() >= 3
                && mark.frame.height() <= 3 * frame.height()
        };
        self.marks.iter().filter(close).count() > 0
    }

    /// A ring of ink or of another colour, with even sides: square with corners, or round without.
    fn box_kind(&self, frame: &Frame) -> Option<(Kind, f32)> {
        let beyond = self.color_around(frame)?;
        if frame.width() * 2 >= frame.height() * 3 {
            return Some((Kind::Checkbox, 0.8));
        }
        let at = |x: usize, y: usize| difference(self.picture.at(x, y), beyond) > 12;
        let side = frame.width().min(frame.height());
        let (x, y) = frame.centre();
        // How far from the edge of the frame the ring begins: in the middle of a side, and on the diagonal.
        let reach = |step: &dyn Fn(usize) -> (usize, usize)| {
            (0..side / 2).find(|by| {
                let (x, y) = step(*by);
                at(x, y)
            })
        };
        let (right, bottom) = (frame.right - 1, frame.bottom - 1);
        let sides = [
            reach(&|by| (frame.left + by, y)),
            reach(&|by| (right - by, y)),
            reach(&|by| (x, frame.top + by)),
            reach(&|by| (x, bottom - by)),
        ];
        let corners = [
            reach(&|by| (frame.left + by, frame.top + by)),
            reach(&|by| (right - by, frame.top + by)),
            reach(&|by| (frame.left + by, bottom - by)),
            reach(&|by| (right - by, bottom - by)),
        ];
        if sides.iter().any(|it| it.is_none_or(|by| by > 1)) {
            return None;
        }
        let corners: Option<Vec<usize>> = corners.into_iter().collect();
        let corners = corners?;
        let (least, most) = (corners.iter().min()?, corners.iter().max()?);
        if most - least > 1 {
            return None;
        }
        // The diagonal of a circle begins at 0.146 of its side.
        let cut = *least * 100 >= side * 11;
        if cut && self.is_round(frame, beyond) {
            return Some((Kind::Radio, 0.8));
        }
        let square = *most * 5 <= side && self.is_straight(frame, beyond);
        square.then_some((Kind::Checkbox, 0.85))
    }

    /// Whether the points of the circle in a frame have ink.
    fn is_round(&self, frame: &Frame, beyond: [u8; 3]) -> bool {
        let (x, y) = (
            (frame.left + frame.right) as f32 / 2.0,
            (frame.top + frame.bottom) as f32 / 2.0,
        );
        let radius = frame.width() as f32 / 2.0 - 0.9;
        let points = (0..24_u8).filter(|step| {
            let angle = f32::from(*step) * std::f32::consts::TAU / 24.0;
            let (x, y) = (
                x + radius * angle.cos() - 0.5,
                y + radius * angle.sin() - 0.5,
            );
            let (x, y) = (x.round().max(0.0) as usize, y.round().max(0.0) as usize);
            x < self.width() && y < self.height() && difference(self.picture.at(x, y), beyond) > 12
        });
        points.count() >= 22
    }

    /// Whether all four sides of a frame have ink, but for their rounded ends.
    fn is_straight(&self, frame: &Frame, beyond: [u8; 3]) -> bool {
        let at = |x: usize, y: usize| difference(self.picture.at(x, y), beyond) > 12;
        let skip = (frame.width() / 4).max(2);
        let across = frame.left + skip..frame.right - skip;
        let down = frame.top + skip..frame.bottom - skip;
        let line = |first: usize,
                    second: usize,
                    of: &dyn Fn(usize, usize) -> bool,
                    range: std::ops::Range<usize>| {
            let all = range.len();
            range.filter(|it| of(*it, first) || of(*it, second)).count() == all
        };
        let (right, bottom) = (frame.right - 1, frame.bottom - 1);
        line(frame.top, frame.top + 1, &|x, y| at(x, y), across.clone())
            && line(bottom, bottom - 1, &|x, y| at(x, y), across)
            && line(frame.left, frame.left + 1, &|y, x| at(x, y), down.clone())
            && line(right, right - 1, &|y, x| at(x, y), down)
    }
}
