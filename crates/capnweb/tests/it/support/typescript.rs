//! Programs in TypeScript, compiled and run in `clients/typescript`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::sync::OnceCell;

use super::node::node;

/// The folder of the TypeScript client, its packages installed.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/typescript");
    let folder = folder.canonicalize().unwrap();
    assert!(
        folder.join("node_modules/typescript").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix {}`",
        folder.display()
    );
    folder
}

/// Compiles the package and the test programs that use it, once for all tests. A line that is marked as wrong
/// and compiles is an error as well.
pub(crate) async fn compiled() {
    static COMPILED: OnceCell<()> = OnceCell::const_new();
    let compile = async || {
        for project in ["tsconfig.json", "tests/tsconfig.json"] {
            run("node_modules/typescript/bin/tsc", &["--project", project]).await;
        }
    };
    COMPILED.get_or_init(compile).await;
}

/// Runs a script to its end, which must be a good one, and gives what it printed.
pub(crate) async fn run(script: &str, arguments: &[&str]) -> String {
    let mut command = tokio::process::Command::new(node());
    command
        .arg(script)
        .args(arguments)
        .current_dir(folder())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{script}: {}\n{printed}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}
