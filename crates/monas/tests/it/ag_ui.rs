//! `POST /ag-ui` with the unmodified npm package `@ag-ui/client`: answers, calls, approvals as interrupts, errors.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use access::Role;
use model::scripted::{Failure, Scripted, Server, Turn};
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::rights::{closed, token};
use crate::support::program::Monas;

/// How long a group of checks may take.
const SOON: Duration = Duration::from_secs(120);

/// Runs a group of checks against a server.
async fn check(monas: &Monas, group: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ag-ui");
    let folder = folder.canonicalize().unwrap();
    assert!(
        folder.join("node_modules/@ag-ui/client").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix {}`",
        folder.display()
    );
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let mut command = Command::new(node);
    command
        .args(["run.mjs", group])
        .current_dir(&folder)
        .env("AG_UI_URL", format!("{}/ag-ui", monas.url))
        .env("AG_UI_TOKEN", token("ada", Role::User))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = timeout(SOON, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.trim_end().ends_with("all passed"), "{said}{wrong}");
}

#[tokio::test]
async fn the_npm_client_runs_calls_resumes_and_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    check(&monas, "rules").await;
    let written = |name: &str| std::fs::read_to_string(home.path().join("workspace").join(name));
    assert_eq!(written("notes.md").unwrap().trim_end(), "hello world");
    assert_eq!(written("third.md").unwrap(), "changed by a person\n");
    assert!(written("other.md").is_err());
    monas.stop().await;
}

#[tokio::test]
async fn the_npm_client_is_told_what_a_model_thinks_and_that_it_failed() {
    let script = Scripted::new([
        Turn::new()
            .reason("The file does not exist.\nI create it.")
            .say("I will write it down.")
            .call(
                "file-write",
                json!({ "path": "plan.md", "content": "a plan\n" }),
            ),
        Turn::text("I wrote the plan into plan.md."),
        Turn::fails(Failure::Auth),
    ]);
    let model = Server::start(script).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut command = closed(home.path());
    command.args(["--model", "openai:small"]);
    command.env("MONAS_MODEL_URL", format!("{}/v1", model.url()));
    command.env("MONAS_MODEL_KEY", "none");
    let monas = Monas::start(&mut command).await;
    check(&monas, "model").await;
    let written = std::fs::read_to_string(home.path().join("workspace/plan.md"));
    assert_eq!(written.unwrap(), "a plan\n");
    monas.stop().await;
}
