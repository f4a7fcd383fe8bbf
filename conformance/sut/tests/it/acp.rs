//! The python client of ACP, unmodified, against the real program: every scenario of `conformance/acp`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::process::Command;

use crate::interop::program;
use crate::support::sut::{Store, Sut};

/// One line of the driver.
#[derive(Debug, Deserialize)]
struct Outcome {
    name: String,
    ok: bool,
    detail: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/acp")
}

async fn run(sut: &Sut, arguments: &[&str]) -> Vec<Outcome> {
    let python = program("MONAS_ACP_PYTHON", folder().join(".venv/bin/python"));
    let mut command = Command::new(python);
    // No compiled files beside the sources, and no telemetry.
    command.arg("-B").arg(folder().join("driver.py"));
    command.arg(format!("http://{}/acp", sut.address));
    command.args(arguments).env("OTEL_SDK_DISABLED", "true");
    let output = command.kill_on_drop(true).output().await;
    let output = output.unwrap_or_else(|error| {
        panic!("{error}: {command:?}; `cargo xtask test` sets up what the driver needs")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn all_well(outcomes: &[Outcome]) {
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.ok).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
async fn the_python_client_works() {
    let folder = tempfile::tempdir().unwrap();
    for store in [Store::Memory, Store::Folder(folder.path().join("data"))] {
        let sut = Sut::start(&store).await;
        let outcomes = run(&sut, &[]).await;
        all_well(&outcomes);
        assert!(outcomes.len() >= 28, "{} scenarios ran", outcomes.len());
    }
}

#[tokio::test]
async fn a_run_that_waits_is_resumed_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Folder(folder.path().join("data"));
    let sut = Sut::start(&store).await;
    let begun = run(&sut, &["--begin"]).await;
    all_well(&begun);
    assert_eq!(begun[0].name, "begin");
    sut.kill().await;
    let sut = Sut::start(&store).await;
    all_well(&run(&sut, &["--finish", &begun[0].detail]).await);
}
