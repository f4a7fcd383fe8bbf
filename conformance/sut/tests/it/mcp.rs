//! The protocol's own suites and its inspector, unmodified, against the real program.
//!
//! What is known not to hold stands in `conformance/mcp/expected`, with the reason; a test fails when a failure
//! appears or disappears.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::interop::program;
use crate::support::sut::{Store, Sut};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp")
}

fn node(script: &str) -> Command {
    let mut command = Command::new(program("MONAS_NODE", "node"));
    command.arg(folder().join("node_modules").join(script));
    command.kill_on_drop(true);
    command
}

/// The checks of every scenario that a suite ran, by scenario.
type Scenarios = BTreeMap<String, Vec<Value>>;

/// Runs a suite against a server of its own.
async fn run(suite: &str, arguments: &[&str]) -> Scenarios {
    let sut = Sut::start(&Store::Memory).await;
    let mut command = node(&format!("{suite}/dist/index.js"));
    command.args(["server", "--url", &format!("http://{}/mcp", sut.address)]);
    results(command.args(arguments)).await
}

/// Runs a suite against a client of its own. The servers of a suite listen on this machine alone.
async fn run_client(suite: &str, arguments: &[&str]) -> Scenarios {
    let mut command = node(&format!("{suite}/dist/index.js"));
    let preloaded = format!("--require={}", folder().join("loopback.cjs").display());
    command.env("NODE_OPTIONS", preloaded);
    let client = format!("{} client", env!("CARGO_BIN_EXE_sut"));
    command.args(["client", "--command", &client]);
    results(command.args(arguments)).await
}

/// What a suite found.
async fn results(command: &mut Command) -> Scenarios {
    let results = tempfile::tempdir().unwrap();
    command.arg("--output-dir").arg(results.path());
    let output = command.output().await;
    let output = output.unwrap_or_else(|error| {
        panic!("{error}: {command:?}; `cargo xtask test` sets up what the suites need")
    });
    let mut scenarios = Scenarios::new();
    collect(results.path(), "", &mut scenarios);
    assert!(
        !scenarios.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    scenarios
}

/// Reads what a suite wrote into a folder, and into the folders of its groups.
fn collect(folder: &Path, group: &str, scenarios: &mut Scenarios) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        match std::fs::read(path.join("checks.json")) {
            Ok(checks) => {
                let name = format!("{group}{}", scenario(name));
                scenarios.insert(name, serde_json::from_slice(&checks).unwrap());
            }
            Err(_) => collect(&path, &format!("{group}{name}/"), scenarios),
        }
    }
}

/// The scenario of a folder: `server-NAME-TIME`, or of a client `NAME-TIME`.
fn scenario(folder: &str) -> String {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    let mut dates = name.match_indices("-20");
    let is_time = |at: usize| name.as_bytes().get(at + "-2026-07-28".len()) == Some(&b'T');
    let time = dates.find(|(at, _)| is_time(*at));
    name[..time.map_or(name.len(), |(at, _)| at)].to_owned()
}

/// What failed, as `scenario check`.
fn failed(scenarios: &Scenarios) -> BTreeMap<String, String> {
    let mut failed = BTreeMap::new();
    for (scenario, checks) in scenarios {
        for check in checks.iter().filter(|check| check["status"] == "FAILURE") {
            let id = check["id"].as_str().unwrap_or_default();
            failed.insert(
                format!("{scenario} {id}"),
                check["errorMessage"].to_string(),
            );
        }
    }
    failed
}

fn compare(scenarios: &Scenarios, list: &str) {
    let path = folder().join("expected").join(list);
    let expected: BTreeMap<String, String> =
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let failed = failed(scenarios);
    let surprises: Vec<_> = failed
        .iter()
        .filter(|(name, _)| !expected.contains_key(*name))
        .collect();
    assert!(surprises.is_empty(), "{surprises:#?}");
    let repaired: BTreeSet<_> = expected
        .keys()
        .filter(|name| !failed.contains_key(*name))
        .collect();
    assert!(
        repaired.is_empty(),
        "no longer fails, so take it off the list: {repaired:?}"
    );
}

#[tokio::test]
async fn the_suite_of_2025_11_25_passes() {
    let scenarios = run("conformance-2025", &["--suite", "active"]).await;
    assert_eq!(scenarios.len(), 30, "{:?}", scenarios.keys());
    compare(&scenarios, "2025-11-25.json");
}

#[tokio::test]
async fn the_suite_of_2026_07_28_passes_with_tasks() {
    let scenarios = run("conformance-2026", &["--requirements", "2026-07-28"]).await;
    assert_eq!(scenarios.len(), 50, "{:?}", scenarios.keys());
    let tasks = scenarios
        .keys()
        .filter(|name| name.starts_with("tasks-"))
        .count();
    assert_eq!(tasks, 10, "{:?}", scenarios.keys());
    compare(&scenarios, "2026-07-28.json");
}

#[tokio::test]
async fn the_client_passes_the_suite_of_2025_11_25() {
    let scenarios = run_client("conformance-2025", &["--suite", "core"]).await;
    assert_eq!(scenarios.len(), 18, "{:?}", scenarios.keys());
    compare(&scenarios, "client-2025-11-25.json");
}

#[tokio::test]
async fn the_client_passes_the_suite_of_2026_07_28() {
    let scenarios = run_client("conformance-2026", &["--requirements", "2026-07-28"]).await;
    assert_eq!(scenarios.len(), 39, "{:?}", scenarios.keys());
    compare(&scenarios, "client-2026-07-28.json");
}

/// Two scenarios of the older suite pass on any server, so that what they ask for is looked at here.
#[tokio::test]
async fn the_inspector_lists_and_calls_on_both_wires() {
    let sut = Sut::start(&Store::Memory).await;
    let home = tempfile::tempdir().unwrap();
    for era in ["legacy", "modern"] {
        let inspect = async |arguments: &[&str]| {
            let mut command =
                node("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
            command.args(["--cli", &format!("http://{}/mcp", sut.address)]);
            command.args([
                "--transport",
                "http",
                "--protocol-era",
                era,
                "--format",
                "json",
                "-q",
            ]);
            command.args(arguments);
            command.env("MCP_CATALOG_PATH", home.path().join("catalog.json"));
            let output = command.output().await.unwrap();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{command:?}: {errors}");
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        let listed = inspect(&["--method", "tools/list", "--strict"]).await;
        let listed = listed.to_string();
        for tool in [
            "greet",
            "test_simple_text",
            "test_error_handling",
            "slow-compute",
        ] {
            assert!(
                listed.contains(&format!("\"name\":\"{tool}\"")),
                "{tool}: {listed}"
            );
        }
        let call = |tool: &'static str, arguments: Value| {
            let arguments = arguments.to_string();
            let inspect = &inspect;
            async move {
                let arguments = [
                    "--method",
                    "tools/call",
                    "--tool-name",
                    tool,
                    "--tool-args-json",
                    &arguments,
                ];
                inspect(&arguments).await.to_string()
            }
        };
        let greeted = call("greet", json!({ "name": "Ada" })).await;
        assert!(greeted.contains("Hello, Ada!"), "{greeted}");
        let simple = call("test_simple_text", json!({})).await;
        assert!(simple.contains("This is a simple text."), "{simple}");
    }
}

/// The transport of 2024-11-05, with the official client that still speaks it.
#[tokio::test]
async fn the_inspector_calls_over_the_old_transport() {
    let sut = Sut::start(&Store::Memory).await;
    let home = tempfile::tempdir().unwrap();
    let mut command = node("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    command.args(["--cli", &format!("http://{}/sse", sut.address)]);
    command.args(["--transport", "sse", "--format", "json", "-q"]);
    command.args(["--method", "tools/call", "--tool-name", "greet"]);
    command.args(["--tool-args-json", &json!({ "name": "Ada" }).to_string()]);
    command.env("MCP_CATALOG_PATH", home.path().join("catalog.json"));
    let output = command.output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    let greeted = String::from_utf8_lossy(&output.stdout);
    assert!(greeted.contains("Hello, Ada!"), "{greeted}");
}
