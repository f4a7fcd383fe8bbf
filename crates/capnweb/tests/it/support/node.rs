//! The unmodified npm package: its suites run against servers of ours, its server for clients of ours.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// The oldest node that has all the npm package needs.
const OLDEST: u32 = 22;

/// A command that runs a script of `conformance/capnweb`, in that folder.
pub(crate) fn script(name: &str) -> Command {
    let mut command = Command::new(node());
    // Not through `node --test`: that would run the script in a grandchild, which outlives a kill.
    command
        .arg("--test-reporter=spec")
        .arg(name)
        .current_dir(folder());
    command
}

/// Runs a suite to its end. It must pass whole: nothing failed, nothing skipped.
pub(crate) async fn run_suite(name: &str, variables: &[(&str, &str)]) {
    let mut command = tokio::process::Command::from(script(name));
    command
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let count = |label: &str| -> u32 {
        let line = text
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("ℹ ")?.strip_prefix(label));
        line.and_then(|number| number.trim().parse().ok())
            .unwrap_or(u32::MAX)
    };
    let [tests, passed, skipped] = ["tests ", "pass ", "skipped "].map(count);
    let whole = output.status.success() && tests == passed && skipped == 0 && tests != u32::MAX;
    let rest: Vec<_> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('✔'))
        .collect();
    assert!(
        whole,
        "{name} did not pass:\n{}\n{}",
        rest.join("\n"),
        String::from_utf8_lossy(&output.stderr)
    );
    // Written past the capture of the test runner: how much ran is worth a line in every log.
    let _ = writeln!(std::io::stderr(), "{name}: {passed} tests passed");
}

/// A running `server.mjs`. It ends with this handle, and at the latest with this process.
pub(crate) struct NpmServer {
    url: String,
    /// Holds its standard input open; the server ends when that does.
    child: Mutex<Child>,
}

impl NpmServer {
    pub(crate) fn start() -> Self {
        let mut command = script("server.mjs");
        command
            .arg("--until-eof")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        let url = ready["url"].as_str().unwrap().to_owned();
        Self {
            url,
            child: Mutex::new(child),
        }
    }

    /// The one that all tests may use which look at no state of the whole server.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<NpmServer> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Where its WebSockets are.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn address(&self) -> SocketAddr {
        let rest = self.url.strip_prefix("ws://").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }
}

impl NpmServer {
    /// Ends it at once.
    pub(crate) fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for NpmServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The folder with the scripts, its packages installed.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/capnweb");
    let folder = folder.canonicalize().unwrap();
    assert!(
        folder.join("node_modules/capnweb").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix {}`",
        folder.display()
    );
    folder
}

/// A node that is new enough. There is no test without one.
pub(crate) fn node() -> &'static Path {
    static NODE: OnceLock<PathBuf> = OnceLock::new();
    NODE.get_or_init(|| {
        let named = std::env::var_os("MONAS_NODE").map(PathBuf::from);
        let node = named.unwrap_or_else(|| PathBuf::from("node"));
        let version = version_of(&node);
        assert!(
            version.is_some_and(|major| major >= OLDEST),
            "{} is not node {OLDEST} or newer: run `cargo xtask test`, which sets it up, or install it with \
             `npm install --prefix conformance/.node node@{OLDEST}` and set MONAS_NODE to the absolute path of \
             conformance/.node/node_modules/node/bin/node",
            node.display()
        );
        node
    })
}

fn version_of(node: &Path) -> Option<u32> {
    let output = Command::new(node).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}
