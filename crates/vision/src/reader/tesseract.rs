//! Tesseract, where it is installed: a process that reads one picture.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Line;
use crate::element::Position;
use crate::frame::Frame;
use crate::picture::Picture;
use crate::{Error, Limits};

/// Looks for the program in the folders of `PATH`.
pub(super) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("tesseract"));
    places.find(|program| fs::metadata(program).is_ok_and(|it| it.is_file()))
}

pub(super) fn lines(
    program: &Path,
    picture: &Picture,
    limits: &Limits,
    begin: Instant,
) -> Result<Vec<Line>, Error> {
    let fault = |problem: String| Error::Models {
        file: program.display().to_string(),
        problem,
    };
    let png = encode(picture).map_err(|error| fault(error.to_string()))?;
    let mut child = Command::new(program)
        .args(["stdin", "stdout", "--psm", "11", "tsv"])
        .env("OMP_THREAD_LIMIT", "2")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| fault(error.to_string()))?;
    let input = child.stdin.take();
    let output = child.stdout.take();
    // Both pipes are served beside the wait, so that neither side waits for the other.
    let read = thread::scope(|scope| {
        scope.spawn(move || input.map(|mut pipe| pipe.write_all(&png)));
        let text = scope.spawn(move || {
            let mut text = String::new();
            output.map(|mut pipe| pipe.read_to_string(&mut text));
            text
        });
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if begin.elapsed() < limits.time => {
                    thread::sleep(Duration::from_millis(10))
                }
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        (ended, text.join().unwrap_or_default())
    });
    match read {
        (Some(status), text) if status.success() => Ok(parse(&text)),
        (Some(status), _) => Err(fault(format!("it ended with {status}"))),
        (None, _) => Err(Error::TooSlow(limits.time)),
    }
}

fn encode(picture: &Picture) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width as u32, picture.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder
        .write_header()?
        .write_image_data(picture.pixels.as_flattened())?;
    Ok(bytes)
}

/// Reads the table that tesseract writes: a word in each row, with its line, place and confidence in percent.
fn parse(table: &str) -> Vec<Line> {
    let mut lines: Vec<(String, Line)> = Vec::new();
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [
            level,
            page,
            block,
            paragraph,
            line,
            _,
            x,
            y,
            width,
            height,
            sure,
            word,
        ] = columns[..]
        else {
            continue;
        };
        let numbers: Option<Vec<u32>> = [x, y, width, height]
            .iter()
            .map(|it| it.parse().ok())
            .collect();
        let (Some([x, y, width, height]), Ok(sure)) = (numbers.as_deref(), sure.parse::<f32>())
        else {
            continue;
        };
        if level != "5" || sure < 30.0 || word.trim().is_empty() {
            continue;
        }
        let position = Position {
            x: *x,
            y: *y,
            width: *width,
            height: *height,
        };
        let key = [page, block, paragraph, line].join(" ");
        match lines.last_mut().filter(|(it, _)| *it == key) {
            Some((_, line)) => {
                let frame: Frame = line.position.frame().join(&position.frame());
                line.position = frame.into();
                line.text.push(' ');
                line.text.push_str(word);
                line.confidence = line.confidence.min(sure / 100.0);
                line.words.push((word.to_owned(), position));
            }
            None => lines.push((
                key,
                Line {
                    text: word.to_owned(),
                    position,
                    confidence: sure / 100.0,
                    words: vec![(word.to_owned(), position)],
                },
            )),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}
