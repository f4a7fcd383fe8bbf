//! The routes, driven by `/openapi.json`: schemathesis calls each of them with fitting and unfitting requests, as an
//! administrator. No answer is a fault of the server, and each is one that the document names.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use access::Role;
use tokio::process::Command;
use tokio::time::timeout;

use crate::rights::{closed, token};
use crate::support::program::Monas;

/// How long it may take.
const SOON: Duration = Duration::from_secs(240);

/// Checks of each answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance";

/// The python with the packages, as the test command installed it.
fn python() -> PathBuf {
    let named = std::env::var_os("MONAS_OPENAPI_PYTHON").map(PathBuf::from);
    named.unwrap_or_else(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/openapi");
        folder.join(".venv/bin/python")
    })
}

#[tokio::test]
async fn every_answer_of_a_route_is_one_that_the_document_names() {
    let python = python();
    assert!(
        python.is_file(),
        "the python packages are missing: run `cargo xtask test`, or install conformance/openapi/requirements.txt into {}",
        python.display()
    );
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    let mut command = Command::new(python);
    command
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("{}/openapi.json", monas.url))
        .args(["--url", &monas.url, "--no-color", "--seed", "1"])
        .arg("--header")
        .arg(format!(
            "Authorization: Bearer {}",
            token("root", Role::Admin)
        ))
        .args(["--checks", CHECKS])
        // A connection, and a stream that goes on as long as its task, are no answers.
        .args(["--exclude-path", "/ws/chat", "--exclude-path", "/ag-ui"])
        .args(["--phases", "coverage,fuzzing", "--max-examples", "2"])
        .args(["--suppress-health-check", "all"])
        .current_dir(home.path())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = timeout(SOON, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    let tested = said
        .lines()
        .find_map(|it| it.trim().strip_prefix("Tested: "));
    let tested: usize = tested.and_then(|it| it.parse().ok()).unwrap_or_default();
    assert!(tested > 80, "{said}");
    monas.stop().await;
}
