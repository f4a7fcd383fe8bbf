//! The door with the unmodified npm package `capnweb`, as the page uses it.

use std::path::Path;
use std::process::Stdio;

use access::Role;
use tokio::process::Command;
use tokio::time::timeout;

use super::SOON;
use crate::rights::{closed, token};
use crate::support::program::Monas;

#[tokio::test]
async fn the_npm_client_signs_in_chats_and_follows() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/capnweb");
    let folder = folder.canonicalize().unwrap();
    assert!(
        folder.join("node_modules/capnweb").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix {}`",
        folder.display()
    );
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let mut command = Command::new(node);
    command
        .arg("door.mjs")
        .current_dir(&folder)
        .env(
            "DOOR_URL",
            format!("ws://{}/workspace/capnweb", monas.authority()),
        )
        .env("DOOR_TOKEN", token("ada", Role::Operator))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = timeout(SOON * 2, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.trim_end().ends_with("all passed"), "{said}{wrong}");
    let written = std::fs::read_to_string(home.path().join("workspace/notes.md")).unwrap();
    assert_eq!(written.trim_end(), "hello world");
    monas.stop().await;
}
