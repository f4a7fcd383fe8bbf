//! The scenarios in `conformance/scenarios`, over every wire.

use std::path::{Path, PathBuf};

use proof::{Plan, Scenario, Wire, run, verdict};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

/// All of them, with their names.
pub(crate) fn all() -> Vec<(String, Scenario)> {
    let files = std::fs::read_dir(folder()).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let scenario = std::fs::read_to_string(file).unwrap().parse();
        (
            name.clone(),
            scenario.unwrap_or_else(|error| panic!("{name}: {error}")),
        )
    };
    files.iter().map(read).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn written_scenarios_give_the_same_over_every_wire() {
    let mut failures = String::new();
    for (name, scenario) in all() {
        if let Err(difference) = verdict::agrees_everywhere(&scenario).await {
            failures += &format!("{name}: {difference}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// A scenario that only says "there is no such task" everywhere would prove nothing.
#[tokio::test(flavor = "multi_thread")]
async fn written_scenarios_do_what_they_are_for() {
    for (name, scenario) in all() {
        let trace = run(&scenario, &Plan::over(&scenario, &[Wire::reference()])).await;
        let seen = format!("{:?}", trace.seen_over(trace.wires()));
        let expected: &[&str] = match &*name {
            "asks" => &["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"],
            "bad-input" => &[
                "INVALID_PARAMS",
                "TASK_NOT_FOUND",
                "CONTENT_TYPE_NOT_SUPPORTED",
            ],
            "cancelled" => &["TASK_STATE_CANCELED", "TASK_NOT_CANCELABLE"],
            "fails" => &["TASK_STATE_FAILED", "INVALID_AGENT_RESPONSE"],
            "files" => &["\"raw\"", "\"url\"", "\"data\"", "sent.bin"],
            "generations" => &["TASK_GENERATION_MISMATCH"],
            "interleaved" => &["<context 2>", "TASK_STATE_CANCELED", "TASK_STATE_COMPLETED"],
            "list" => &["<page 1>", "<page 2>", "<task 5>"],
            "push" => &["w1", "w2", "TASK_NOT_FOUND"],
            "refuses" => &["TASK_STATE_REJECTED", "UNSUPPORTED_OPERATION"],
            "repeated" => &["TASK_STATE_COMPLETED"],
            "resumes" => &["\"cursor\": Number(6)", "\"end\": Bool(true)"],
            "streams" => &[
                "artifactUpdate",
                "\"lastChunk\": Bool(true)",
                "\"end\": Bool(true)",
            ],
            other => panic!("say here what {other} is for"),
        };
        for part in expected {
            assert!(seen.contains(part), "{name} never shows {part}: {seen}");
        }
        assert!(
            !seen.contains("no answer") && !seen.contains("no event"),
            "{name}: {seen}"
        );
    }
}
