//! Our session in the place of the server: it gets the client's frames.

use capnweb::{Connection, Options};

use super::{Differs, Side, assert_complete, compare, fall_silent, transcript};
use crate::interop_target::InteropTarget;
use crate::support::eventually::AT_REST;

const RECORDINGS: &[(&str, Differs)] = &[
    // The end of a stream is acknowledged on arrival, not when all before it was read.
    ("blob", Differs::Order),
    ("call", Differs::No),
    // Each call is pulled when it is made, not all of them at the end.
    ("callback", Differs::Order),
    ("error", Differs::No),
    ("error-props", Differs::No),
    ("fetch-types", Differs::Order),
    ("kept", Differs::No),
    ("map-array", Differs::OneFrameMap),
    ("map-nested", Differs::OneFrameMap),
    ("method-as-value", Differs::No),
    ("object-result", Differs::No),
    ("pipelined-chain", Differs::No),
    ("promise-argument", Differs::No),
    ("property-get", Differs::No),
    ("readable-argument", Differs::Order),
    // A pipe is released when its last write is acknowledged, before the next message.
    ("readable-result", Differs::Order),
    ("release", Differs::No),
    ("typed-values", Differs::No),
    ("writable", Differs::No),
];

#[tokio::test]
async fn our_server_says_what_npm_said() {
    assert_complete(RECORDINGS.iter().map(|(name, _)| *name));
    let mut problems = String::new();
    for (name, differs) in RECORDINGS {
        if let Err(problem) = replay(name, *differs).await {
            problems.push_str(&problem);
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

async fn replay(name: &str, differs: Differs) -> Result<(), String> {
    let session = Connection::new(InteropTarget::new(Default::default()), &Options::default());
    let (mut ours, mut npm) = (Vec::new(), Vec::new());
    for turn in transcript(name) {
        match turn.side {
            Side::Client => {
                let releases_promise = |frame: &&String| frame.starts_with(r#"["release",-"#);
                let unsaid =
                    |frame: &&String| differs == Differs::OneFrameMap && releases_promise(frame);
                turn.frames
                    .iter()
                    .filter(|frame| !unsaid(frame))
                    .for_each(|frame| session.receive(frame));
                ours.push(fall_silent(&session).await);
            }
            Side::Server => npm.push(turn.frames),
        }
    }
    // The last word is the client's.
    npm.resize(ours.len(), Vec::new());
    assert_eq!(session.stats(), AT_REST, "{name}");
    compare(name, &ours, &npm, differs)
}
