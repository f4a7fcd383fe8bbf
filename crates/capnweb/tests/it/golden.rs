//! Frames of npm to npm, recorded in `conformance/capnweb/golden`: given the one side's frames, ours
//! must say what the other side said.
//!
//! Where ours differs, the difference is listed; a difference that appears or disappears fails.

use std::collections::VecDeque;

use capnweb::Connection;
use serde_json::Value as Json;

use crate::support::node;

mod client;
mod server;

#[tokio::test]
async fn the_recordings_are_what_npm_says_today() {
    let mut check = tokio::process::Command::from(node::script("record.mjs"));
    let output = check
        .arg("--check")
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// All that one side said before it fell silent.
#[derive(Clone, Debug, PartialEq)]
struct Turn {
    side: Side,
    frames: Vec<String>,
}

/// How ours may differ from npm in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Differs {
    No,
    /// In the order of frames that do not depend on each other, within one turn.
    Order,
    /// A mapped array is answered in one frame, with values in the place of promises.
    OneFrameMap,
    /// This frame of npm's is another one of ours.
    Frame {
        npm: &'static str,
        ours: &'static str,
    },
}

/// The turns of a recording.
fn transcript(name: &str) -> Vec<Turn> {
    let path = node::folder().join(format!("golden/{name}.jsonl"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("read {}: {error}", path.display()));
    let mut turns: Vec<Turn> = Vec::new();
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let side = if line["dir"] == ">" {
            Side::Client
        } else {
            Side::Server
        };
        let frame = line["frame"].as_str().unwrap().to_owned();
        match turns.last_mut() {
            Some(turn) if turn.side == side => turn.frames.push(frame),
            _ => turns.push(Turn {
                side,
                frames: vec![frame],
            }),
        }
    }
    turns
}

/// Asserts that every recording is listed, and nothing else.
fn assert_complete<'a>(listed: impl Iterator<Item = &'a str>) {
    let folder = std::fs::read_dir(node::folder().join("golden")).unwrap();
    let mut recorded: Vec<_> = folder
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut listed: Vec<_> = listed.map(|name| format!("{name}.jsonl")).collect();
    recorded.sort();
    listed.sort();
    assert_eq!(listed, recorded);
}

/// All that a session has to say before it falls silent. The runtime is that of the current thread
/// alone: what has not happened after so many rounds of its tasks waits for the peer.
async fn fall_silent(session: &Connection) -> Vec<String> {
    let mut said = VecDeque::new();
    for _ in 0..100 {
        tokio::task::yield_now().await;
        said.append(&mut session.take_outgoing());
    }
    said.into()
}

/// Compares what we said in our turns with what npm said; tells what is not as listed.
fn compare(
    name: &str,
    ours: &[Vec<String>],
    npm: &[Vec<String>],
    differs: Differs,
) -> Result<(), String> {
    let as_expected = match differs {
        Differs::No => ours == npm,
        Differs::Order => ours != npm && unordered(ours) == unordered(npm),
        Differs::OneFrameMap => ours != npm && ours == in_one_frame(npm),
        Differs::Frame {
            npm: theirs,
            ours: instead,
        } => {
            let replaced = |frame: &String| {
                if frame == theirs {
                    instead.to_owned()
                } else {
                    frame.clone()
                }
            };
            let npm: Vec<Vec<_>> = npm
                .iter()
                .map(|turn| turn.iter().map(replaced).collect())
                .collect();
            theirs != instead && unordered(ours) == unordered(&npm)
        }
    };
    if as_expected {
        return Ok(());
    }
    let show = |turns: &[Vec<String>]| {
        turns
            .iter()
            .map(|turn| turn.join("\n"))
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    Err(format!(
        "{name}, listed as {differs:?}\n-- npm\n{}\n-- ours\n{}\n",
        show(npm),
        show(ours)
    ))
}

/// The frames of each turn, those of one kind together. Pushes, streams and pipes are numbered by their
/// order, so that is kept; the others may come as they like.
fn unordered(turns: &[Vec<String>]) -> Vec<Vec<String>> {
    let place = |frame: &String| match frame.split('"').nth(1).unwrap_or_default() {
        "push" | "stream" | "pipe" => (0, String::new()),
        _ => (1, frame.clone()),
    };
    let sort = |turn: &Vec<String>| {
        let mut turn = turn.clone();
        turn.sort_by_key(place);
        turn
    };
    turns.iter().map(sort).collect()
}

/// The same turns with each promise replaced by what it was resolved with later in its turn.
fn in_one_frame(turns: &[Vec<String>]) -> Vec<Vec<String>> {
    turns.iter().map(|turn| promises_replaced(turn)).collect()
}

fn promises_replaced(turn: &[String]) -> Vec<String> {
    let mut frames: Vec<Json> = turn
        .iter()
        .map(|frame| serde_json::from_str(frame).unwrap())
        .collect();
    let resolves_promise =
        |frame: &Json| frame[0] == "resolve" && frame[1].as_i64().is_some_and(|id| id < 0);
    while let Some(place) = frames.iter().position(resolves_promise) {
        let resolution = frames.remove(place);
        let promise = serde_json::json!(["promise", resolution[1]]);
        frames
            .iter_mut()
            .for_each(|frame| replace(frame, &promise, &resolution[2]));
    }
    frames.iter().map(Json::to_string).collect()
}

fn replace(json: &mut Json, what: &Json, with: &Json) {
    if json == what {
        *json = with.clone();
        return;
    }
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| replace(item, what, with)),
        Json::Object(fields) => fields
            .values_mut()
            .for_each(|field| replace(field, what, with)),
        _ => {}
    }
}
