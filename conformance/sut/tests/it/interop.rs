//! The official clients, unmodified, against the real program: every scenario of `conformance/a2a`.
//!
//! A driver reports what held and what did not. What is known not to hold stands in
//! `conformance/a2a/expected`, with the reason; a test fails when a failure appears or disappears.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use monas::serve::demo;
use monas::testkit::Kit;
use serde::Deserialize;
use tokio::process::Command;

use crate::support::sut::{Store, Sut};

/// One line of a driver.
#[derive(Debug, Deserialize)]
struct Outcome {
    name: String,
    binding: String,
    ok: bool,
    detail: String,
}

/// Runs a driver against a server in memory and against one with a folder.
async fn check(client: &str, driver: impl Fn() -> Command) {
    let folder = tempfile::tempdir().unwrap();
    let stores = [Store::Memory, Store::Folder(folder.path().join("data"))];
    check_on(&stores, client, 50, driver).await;
}

/// Runs a driver against servers with these stores. It must have run so many scenarios over each binding.
async fn check_on(stores: &[Store], client: &str, least: usize, driver: impl Fn() -> Command) {
    for store in stores {
        let sut = Sut::start(store).await;
        let outcomes = run(driver().arg(format!("http://{}", sut.address))).await;
        for binding in ["JSONRPC", "HTTP+JSON", "GRPC"] {
            let count = outcomes
                .iter()
                .filter(|outcome| outcome.binding == binding)
                .count();
            assert!(
                count >= least,
                "{client} ran {count} scenarios over {binding}"
            );
        }
        let failed: BTreeMap<String, &str> = outcomes
            .iter()
            .filter(|outcome| !outcome.ok)
            .map(|outcome| {
                (
                    format!("{} {}", outcome.binding, outcome.name),
                    &*outcome.detail,
                )
            })
            .collect();
        let expected = expected(client);
        let surprises: Vec<_> = failed
            .iter()
            .filter(|(name, _)| !expected.contains(*name))
            .collect();
        assert!(
            surprises.is_empty(),
            "{client} on {store:?} fails: {surprises:#?}"
        );
        let repaired: Vec<_> = expected
            .iter()
            .filter(|name| !failed.contains_key(*name))
            .collect();
        assert!(
            repaired.is_empty(),
            "{client} on {store:?} does no longer fail, so take it off the list: {repaired:?}"
        );
    }
}

async fn run(command: &mut Command) -> Vec<Outcome> {
    let output = command.kill_on_drop(true).output().await;
    let output = output.unwrap_or_else(|error| {
        panic!("{error}: {command:?}; `cargo xtask test` sets up what the drivers need")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} ended with {}: {errors}",
        output.status
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The scenarios a client is known to fail, as `BINDING name`; the file says why.
fn expected(client: &str) -> BTreeSet<String> {
    let path = folder().join(format!("expected/{client}.json"));
    let text = std::fs::read_to_string(path).unwrap();
    let reasons: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
    reasons.into_keys().collect()
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/a2a")
}

/// The program that an environment variable names, or where it is otherwise.
pub(crate) fn program(variable: &str, otherwise: impl Into<PathBuf>) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| otherwise.into(), PathBuf::from)
}

#[tokio::test]
async fn the_official_python_client_works() {
    let python = program("MONAS_PYTHON", folder().join(".venv/bin/python"));
    check("python", || {
        let mut command = Command::new(&python);
        // No compiled files beside the sources.
        command.arg("-B").arg(folder().join("python/driver.py"));
        command
    })
    .await;
}

#[tokio::test]
async fn the_official_javascript_client_works() {
    let node = program("MONAS_NODE", "node");
    check("js", || {
        let mut command = Command::new(&node);
        command.arg(folder().join("js/driver.mjs"));
        command
    })
    .await;
}

#[tokio::test]
async fn the_official_rust_client_works() {
    let target = Path::new(env!("CARGO_BIN_EXE_sut")).ancestors().nth(2);
    let built = target.unwrap().join("a2a-interop/debug/a2a-interop");
    let driver = program("MONAS_A2A_RUST", built);
    check("rust", || Command::new(&driver)).await;
}

#[tokio::test]
async fn the_official_python_client_of_0_3_works() {
    let python = program("MONAS_V0_3_PYTHON", folder().join("v0_3/.venv/bin/python"));
    check_on(&[Store::Memory], "v0_3-python", 20, || {
        let mut command = Command::new(&python);
        command
            .arg("-B")
            .arg(folder().join("v0_3/python/driver.py"));
        command
    })
    .await;
}

/// It refuses a card without a description, or without a list of skills.
#[tokio::test]
async fn the_official_python_client_of_0_3_reads_the_card_of_an_agent_that_says_little() {
    let python = program("MONAS_V0_3_PYTHON", folder().join("v0_3/.venv/bin/python"));
    let home = tempfile::tempdir().unwrap();
    for manifest in ["name = 'Quiet'", "name = 'Quiet'\nskills = []"] {
        let path = home.path().join("quiet.toml");
        std::fs::write(&path, manifest).unwrap();
        let mut config = Kit::config();
        config.manifest = Some(path.clone());
        let server = demo::app().start_with(&config).await.unwrap();
        let mut client = Command::new(&python);
        client.arg("-B").arg(folder().join("v0_3/python/card.py"));
        let read = run(client.arg(server.url())).await;
        assert!(read.iter().all(|it| it.ok) && !read.is_empty(), "{read:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn the_official_javascript_client_of_0_3_works() {
    let node = program("MONAS_NODE", "node");
    check_on(&[Store::Memory], "v0_3-js", 25, || {
        let mut command = Command::new(&node);
        command.arg(folder().join("v0_3/js/driver.mjs"));
        command
    })
    .await;
}
