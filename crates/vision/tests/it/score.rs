//! The detector on pages with a truth: `conformance/vision`. Precision and recall are of elements whose centre is in an
//! element of the truth, and of elements that overlap one by half (IoU 0.5).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use vision::{Limits, Picture, Vision};

#[derive(Deserialize)]
pub(crate) struct Truth {
    pub(crate) elements: Vec<TrueElement>,
    pub(crate) words: Vec<Word>,
}

#[derive(Deserialize)]
pub(crate) struct TrueElement {
    pub(crate) kind: String,
    pub(crate) text: String,
    #[serde(rename = "box")]
    pub(crate) place: Place,
}

#[derive(Deserialize)]
pub(crate) struct Word {
    pub(crate) text: String,
    #[serde(rename = "box")]
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Place {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Place {
    pub(crate) fn holds(&self, (x, y): (f32, f32)) -> bool {
        (self.x..=self.x + self.width).contains(&x) && (self.y..=self.y + self.height).contains(&y)
    }

    pub(crate) fn centre(&self) -> (f32, f32) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    fn overlap(&self, other: &Self) -> f32 {
        let across = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
        let down = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
        let shared = across.max(0.0) * down.max(0.0);
        shared / (self.width * self.height + other.width * other.height - shared).max(1.0)
    }
}

impl From<vision::Position> for Place {
    fn from(position: vision::Position) -> Self {
        Self {
            x: position.x as f32,
            y: position.y as f32,
            width: position.width as f32,
            height: position.height as f32,
        }
    }
}

/// How many were found, how many of them are right, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    found: usize,
    right: usize,
    half: usize,
    kind: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.found += other.found;
        self.right += other.right;
        self.half += other.half;
        self.kind += other.kind;
        self.all += other.all;
    }

    pub(crate) fn precision(&self) -> f32 {
        self.right as f32 / self.found.max(1) as f32
    }

    pub(crate) fn recall(&self) -> f32 {
        self.right as f32 / self.all.max(1) as f32
    }

    pub(crate) fn line(&self) -> String {
        let part = |some: usize, of: usize| some as f32 / of.max(1) as f32;
        format!(
            "{:4} found of {:4}: centre {:.2} / {:.2}, IoU {:.2} / {:.2}, kind right {:.2}",
            self.found,
            self.all,
            self.precision(),
            self.recall(),
            part(self.half, self.found),
            part(self.half, self.all),
            part(self.kind, self.right),
        )
    }
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vision/truth")
}

pub(crate) fn pages(part: &str) -> Vec<(String, Vec<u8>, Truth)> {
    let files = fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| name.starts_with(part))
        .collect();
    names.sort();
    let read = |name: String| {
        let image = fs::read(folder().join(format!("{name}.png"))).unwrap();
        let truth = fs::read(folder().join(format!("{name}.json"))).unwrap();
        (name, image, serde_json::from_slice(&truth).unwrap())
    };
    names.into_iter().map(read).collect()
}

/// Pairs each found element with at most one of the truth, the most overlapping first.
fn count(found: &[vision::Element], truth: &[TrueElement], explain: bool) -> Count {
    let mut free: Vec<Option<&TrueElement>> = truth.iter().map(Some).collect();
    let mut count = Count {
        found: found.len(),
        all: truth.len(),
        ..Count::default()
    };
    for element in found {
        let place = Place::from(element.position);
        let holds = |it: &Option<&TrueElement>| it.is_some_and(|it| it.place.holds(place.centre()));
        let fitting = (0..free.len()).filter(|it| holds(&free[*it]));
        let score = |it: &usize| free[*it].map_or(0.0, |it| it.place.overlap(&place));
        let best = fitting.max_by(|a, b| score(a).total_cmp(&score(b)));
        let Some(taken) = best.and_then(|it| free[it].take()) else {
            if explain {
                println!(
                    "   wrong {:?} {place:?} {:?} {}",
                    element.kind, element.source, element.confidence
                );
            }
            continue;
        };
        count.right += 1;
        count.half += usize::from(taken.place.overlap(&place) >= 0.5);
        let kind = serde_json::to_value(element.kind).unwrap();
        count.kind += usize::from(kind == taken.kind.as_str());
        if explain && kind != taken.kind.as_str() {
            println!(
                "   {kind} is {} {:?} {place:?} {:?}",
                taken.kind, taken.text, element.source
            );
        }
    }
    if explain {
        for missed in free.into_iter().flatten() {
            println!(
                "   missed {} {:?} {:?}",
                missed.kind, missed.text, missed.place
            );
        }
    }
    count
}

/// Whether each error is shown, for tuning. Those of the unseen pages never are.
pub(crate) fn explains() -> bool {
    std::env::var_os("MONAS_EXPLAIN").is_some()
}

pub(crate) fn score(part: &str, vision: &Vision) -> Count {
    let mut all = Count::default();
    for (name, image, truth) in pages(part) {
        let picture = Picture::decode(&image, &Limits::default()).unwrap();
        let begin = Instant::now();
        let found = vision.elements(&picture).unwrap();
        let took = begin.elapsed();
        let count = count(
            &found.elements,
            &truth.elements,
            explains() && part == "tuned",
        );
        println!("{name:18} {} in {took:?}", count.line());
        if !vision.reads() {
            assert!(took < Duration::from_secs(20), "{name} took {took:?}");
        }
        all.add(&count);
    }
    println!("{part:18} {}", all.line());
    all
}

/// The floors are somewhat below the figures in docs/vision.md, so that a change that costs much is noticed.
#[test]
fn finds_elements_of_pages_that_it_was_tuned_on() {
    let count = score("tuned", &Vision::without_text(Limits::default()));
    assert!(count.precision() >= 0.8, "{}", count.line());
    assert!(count.recall() >= 0.7, "{}", count.line());
}

#[test]
fn finds_elements_of_pages_that_it_has_not_seen() {
    let count = score("unseen", &Vision::without_text(Limits::default()));
    assert!(count.precision() >= 0.8, "{}", count.line());
    assert!(count.recall() >= 0.7, "{}", count.line());
}
