//! Reading with the real networks. Their weights are in the folder that `MONAS_OCR_MODELS` names; `monas models pull ocr`
//! fetches them. Without the variable only the refusal is tested.

use std::path::PathBuf;

use vision::{Limits, Picture, Vision};

use crate::score::{Place, Word, explains, pages, score};

pub(crate) fn models() -> Option<PathBuf> {
    std::env::var_os("MONAS_OCR_MODELS").map(PathBuf::from)
}

/// The errors and the letters of the truth, with one space between words.
fn errors(picture: &Picture, vision: &Vision, words: &[Word], explain: bool) -> (usize, usize) {
    let mut left: Vec<Option<&Word>> = words.iter().map(Some).collect();
    let (mut wrong, mut all) = (0, 0);
    let mut lines = vision.read(picture).unwrap();
    lines.sort_by_key(|line| (line.position.height, line.position.x));
    for line in lines {
        let place = Place::from(line.position);
        let mut own: Vec<&Word> = left
            .iter_mut()
            .filter(|it| it.is_some_and(|word| place.holds(word.place.centre())))
            .filter_map(Option::take)
            .collect();
        // What is read in fields and on drawings is in no text of the DOM.
        if own.is_empty() {
            continue;
        }
        own.sort_by(|a, b| a.place.x.total_cmp(&b.place.x));
        let truth = own
            .iter()
            .map(|it| it.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let errors = distance(&line.text, &truth);
        if errors > 0 && explain {
            println!("   read {:?} for {truth:?}", line.text);
        }
        wrong += errors;
        all += truth.chars().count();
    }
    for word in left.into_iter().flatten() {
        if explain {
            println!("   not read {:?}", word.text);
        }
        wrong += word.text.chars().count();
        all += word.text.chars().count();
    }
    (wrong, all)
}

fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (y, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = y + 1;
        for (x, wanted) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *wanted);
            corner = row[x + 1];
            row[x + 1] = changed.min(row[x] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}

#[test]
fn reads_pages_with_few_errors_and_finds_more_with_text() {
    let Some(models) = models() else {
        let nothing = Vision::open(Limits::default(), None).unwrap();
        if !nothing.reads() {
            let (_, image, _) = pages("tuned-mobile").remove(0);
            let picture = Picture::decode(&image, nothing.limits()).unwrap();
            let note = nothing.elements(&picture).unwrap().note.unwrap();
            assert!(note.contains("monas models pull ocr"), "{note}");
            assert!(nothing.read(&picture).is_err());
        }
        return;
    };
    let limits = Limits {
        time: std::time::Duration::from_secs(300),
        ..Limits::default()
    };
    let vision = Vision::open(limits, Some(&models)).unwrap();
    for part in ["tuned", "unseen"] {
        let (mut wrong, mut all) = (0, 0);
        for (name, image, truth) in pages(part) {
            let picture = Picture::decode(&image, vision.limits()).unwrap();
            let begin = std::time::Instant::now();
            let (some, of) = errors(
                &picture,
                &vision,
                &truth.words,
                explains() && part == "tuned",
            );
            println!(
                "{name:18} {some} of {of} letters wrong in {:?}",
                begin.elapsed()
            );
            wrong += some;
            all += of;
        }
        let rate = wrong as f32 / all as f32;
        println!("{part:18} character error {:.2} %", rate * 100.0);
        let count = score(part, &vision);
        assert!(rate <= 0.06, "{part}: {rate}");
        assert!(
            count.precision() >= 0.75 && count.recall() >= 0.65,
            "{}",
            count.line()
        );
    }
}
