//! The server as a process that can be killed, and the compiled page.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::browser::soon;

/// The root of the repository.
pub(crate) fn checkout() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    folder.canonicalize().unwrap()
}

/// Compiles the client and the page against the declarations.
pub(crate) async fn compile_page() {
    let root = checkout();
    let compiler = root.join("clients/typescript/node_modules/typescript/bin/tsc");
    assert!(
        compiler.is_file(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix clients/typescript`"
    );
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    for project in ["clients/typescript", "examples/live_feed/page"] {
        let mut tsc = Command::new(&node);
        tsc.arg(&compiler).arg("--project").arg(root.join(project));
        let output = tsc.output().await.unwrap();
        assert!(
            output.status.success(),
            "{project}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// A server with its own data folder and a fixed address.
pub(crate) struct Program {
    pub(crate) address: String,
    process: Child,
    data: TempDir,
}

impl Program {
    pub(crate) async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let (process, address) = start("127.0.0.1:0", data.path()).await;
        Self {
            address,
            process,
            data,
        }
    }

    /// Kills it at once.
    pub(crate) async fn kill(&mut self) {
        self.process.kill().await.unwrap();
    }

    /// Starts it again with the same address and folder.
    pub(crate) async fn restart(&mut self) {
        (self.process, _) = start(&self.address, self.data.path()).await;
    }
}

async fn start(listen: &str, data: &Path) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_live_feed"));
    command
        .args(["--listen", listen, "--data"])
        .arg(data)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let said = soon("the server's address", lines.next_line()).await;
    let said = said.unwrap().expect("the server says where it listens");
    let address = said.strip_prefix("listening on http://").unwrap();
    (process, address.trim_end_matches('/').to_owned())
}
