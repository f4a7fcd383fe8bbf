//! Tools from outside that the tests and benches need: node, python, their packages, other clients, a
//! browser, a database, cargo-deny.
//!
//! Each is used where it is found and installed where it is not. Where that fails, the error names
//! the line that installs it; nothing is skipped.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Doing, Error, Result};
use crate::{process, workspace};

mod chromium;
mod postgres;
mod python;

pub(crate) use chromium::{Chromium, chromium};
pub(crate) use postgres::{Postgres, postgres};
pub(crate) use python::{A2A_V0_3, A2A_V1_0, ACP, BOLT, OPENAPI, Python, python};

/// The oldest node that has the global `WebSocket` which the npm package expects.
const NODE_MAJOR: u32 = 22;

/// A node that is new enough, and its version as it says it: `v22.1.0`.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) path: PathBuf,
    pub(crate) version: String,
}

impl Node {
    /// Lets a program find this node: as `MONAS_NODE`, and first among what it finds by name.
    pub(crate) fn offer_to(&self, command: &mut Command) {
        command.env("MONAS_NODE", &self.path);
        let folder = self.path.parent().map(Path::to_owned);
        let known = std::env::var_os("PATH").unwrap_or_default();
        let paths = folder.into_iter().chain(std::env::split_paths(&known));
        let joined = std::env::join_paths(paths);
        command.env("PATH", joined.unwrap_or(known));
    }
}

/// Finds node 22 or newer: `MONAS_NODE`, the machine's own, or the npm package `node`, which is
/// installed into `conformance/.node` when neither will do.
pub(crate) fn node(root: &Path) -> Result<Node> {
    let folder = root.join("conformance/.node");
    let packaged = folder.join("node_modules/node/bin/node");
    let named = std::env::var_os("MONAS_NODE").map(PathBuf::from);
    let on_path = find_on_path("node");
    let found = named.into_iter().chain(on_path).chain([packaged.clone()]);
    if let Some(node) = found.into_iter().find_map(|path| new_enough(&path)) {
        return Ok(node);
    }
    if find_on_path("npm").is_none() {
        return Err(Error::Missing {
            tool: "node 22",
            why: "there is no npm to install it with".to_owned(),
            install: "apt-get install nodejs npm (or see https://nodejs.org)",
        });
    }
    fs::create_dir_all(&folder).doing(|| format!("create {}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--prefix",
    ]);
    npm.arg(&folder).arg(format!("node@{NODE_MAJOR}"));
    let installed = process::run(&mut npm);
    new_enough(&packaged).ok_or_else(|| Error::Missing {
        tool: "node 22",
        why: why(installed, "the package has no program"),
        install: "npm install --prefix conformance/.node node@22",
    })
}

/// Installs what the lock file of a folder asks for, unless that very file was installed before.
/// Returns the folder's `node_modules`.
pub(crate) fn npm_packages(root: &Path, folder: &str, node: &Node) -> Result<PathBuf> {
    let folder = root.join(folder);
    let modules = folder.join("node_modules");
    let stamp = modules.join(".installed-lock.json");
    let lock = folder.join("package-lock.json");
    let wanted = fs::read(&lock).doing(|| format!("read {}", lock.display()))?;
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(modules);
    }
    let npm = |words: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(words).args(["--no-audit", "--no-fund"]);
        npm.current_dir(&folder);
        node.offer_to(&mut npm);
        process::run(&mut npm)
    };
    // A lock file that was written where packages for other platforms cannot be had does not satisfy `ci`.
    let installed = npm(&["ci"]).or_else(|_| npm(&["install", "--no-save"]));
    installed.map_err(|error| Error::Missing {
        tool: "a package of the npm registry",
        why: format!("{}: {error}", folder.display()),
        install: "npm ci, in that folder",
    })?;
    fs::write(&stamp, wanted).doing(|| format!("write {}", stamp.display()))?;
    Ok(modules)
}

/// Builds the driver of the official Rust A2A client, which is no part of our workspace, and returns
/// its program. What it is built from is kept in a folder of its own beside our builds.
pub(crate) fn rust_client(root: &Path) -> Result<PathBuf> {
    let manifest = "conformance/a2a/rust/Cargo.toml";
    process::run(process::cargo(root).args(["fmt", "--check", "--manifest-path", manifest]))?;
    let target = workspace::target(root)?.join("a2a-interop");
    let target = target.to_string_lossy();
    let options = [
        "--locked",
        "--manifest-path",
        manifest,
        "--target-dir",
        &*target,
    ];
    let programs = process::build(root, &options)?;
    let program = programs
        .into_iter()
        .find(|built| built.name == "a2a-interop");
    let program = program.ok_or_else(|| Error::Answer("cargo built no a2a-interop".into()))?;
    Ok(program.path)
}

/// Makes sure that `cargo deny` can be called. Building it takes some minutes, once for a machine.
pub(crate) fn cargo_deny(root: &Path) -> Result<()> {
    let there = || {
        let mut command = process::cargo(root);
        command.args(["deny", "--version"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if there() {
        return Ok(());
    }
    let mut command = process::cargo(root);
    command.args(["install", "cargo-deny", "--locked", "--quiet"]);
    let installed = process::run(&mut command);
    if there() {
        return Ok(());
    }
    Err(Error::Missing {
        tool: "cargo-deny",
        why: why(
            installed,
            "its program is not found; is cargo's bin folder in PATH?",
        ),
        install: "cargo install cargo-deny --locked",
    })
}

/// Whether this machine has a copy of the advisory database where `cargo deny` keeps it.
pub(crate) fn has_advisories() -> bool {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    let folder = cargo.or(home).map(|folder| folder.join("advisory-dbs"));
    let copies = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut copies = copies.into_iter().flatten().flatten();
    copies.any(|copy| copy.path().join(".git").exists())
}

fn new_enough(path: &Path) -> Option<Node> {
    let output = Command::new(path).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    let major = version.strip_prefix('v')?.split('.').next()?;
    let node = Node {
        path: path.to_owned(),
        version: version.clone(),
    };
    (major.parse::<u32>().ok()? >= NODE_MAJOR).then_some(node)
}

fn find_on_path(name: &str) -> Option<PathBuf> {
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn why(installed: Result<()>, otherwise: &str) -> String {
    match installed {
        Ok(()) => otherwise.to_owned(),
        Err(error) => error.to_string(),
    }
}
