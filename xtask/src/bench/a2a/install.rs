//! Getting the peers ready: what a folder holds of them, built or with its packages beside it.
//!
//! The folder itself is only read. What is made of it goes to `target/peers/a2a`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::error::{Doing, Error, Result};
use crate::tools::{self, Node};
use crate::{process, workspace};

const NPM_PACKAGES: [&str; 4] = [
    "@a2a-js/sdk@1",
    "express@5",
    "@grpc/grpc-js@1",
    "@bufbuild/protobuf@2",
];

const PYTHON_PACKAGES: [&str; 2] = ["a2a-sdk[all]>=1,<2", "uvicorn"];

/// A server on the official Rust crates.
#[derive(Debug)]
pub(super) struct Rust {
    pub(super) program: PathBuf,
    pub(super) version: String,
}

/// A server on the official npm package.
#[derive(Debug)]
pub(super) struct Js {
    pub(super) node: Node,
    pub(super) script: PathBuf,
    pub(super) version: String,
}

/// A server on the official Python package.
#[derive(Debug)]
pub(super) struct Python {
    pub(super) program: PathBuf,
    pub(super) script: PathBuf,
    pub(super) version: String,
}

/// Builds the package `rs_official`, if the folder has it.
pub(super) fn rust(root: &Path, peers: &Path) -> Result<Option<Rust>> {
    let source = peers.join("rs_official");
    if !source.join("Cargo.toml").is_file() {
        return Ok(None);
    }
    let folder = folder(root, "rust")?;
    copy(&source.join("src"), &folder.join("src"))?;
    // Lying inside our workspace, it must say that it is none of it.
    let manifest = read(&source.join("Cargo.toml"))?;
    write(
        &folder.join("Cargo.toml"),
        &format!("{manifest}\n[workspace]\n"),
    )?;
    let manifest = folder.join("Cargo.toml").display().to_string();
    let target = folder.join("target").display().to_string();
    let built = process::build(
        root,
        &[
            "--release",
            "--manifest-path",
            &manifest,
            "--target-dir",
            &target,
        ],
    )?;
    let program = built
        .into_iter()
        .find(|program| program.name == "rs_official");
    let program = program.ok_or_else(|| Error::Answer("cargo built no rs_official".to_owned()))?;
    let lock = read(&folder.join("Cargo.lock"))?;
    let version = workspace::locked_version(&lock, "a2a-server-lf").unwrap_or("?");
    Ok(Some(Rust {
        program: program.path,
        version: format!("a2a-server-lf {version} with TCP_NODELAY"),
    }))
}

/// Installs what `js_server.mjs` needs, if the folder has it.
pub(super) fn js(root: &Path, peers: &Path) -> Result<Option<Js>> {
    let source = peers.join("js_server.mjs");
    if !source.is_file() {
        return Ok(None);
    }
    let node = tools::node(root)?;
    let folder = folder(root, "js")?;
    let script = folder.join("js_server.mjs");
    write(&script, &read(&source)?)?;
    let manifest = folder.join("node_modules/@a2a-js/sdk/package.json");
    once(&folder, &NPM_PACKAGES, || {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]);
        npm.arg(&folder).args(NPM_PACKAGES);
        node.offer_to(&mut npm);
        process::run(&mut npm)
    })?;
    let manifest: Value = serde_json::from_str(&read(&manifest)?).unwrap_or_default();
    let version = manifest["version"].as_str().unwrap_or("?");
    let version = format!("@a2a-js/sdk {version}, node {}", node.version);
    Ok(Some(Js {
        node,
        script,
        version,
    }))
}

/// Installs what `py_server.py` needs, if the folder has it.
pub(super) fn python(root: &Path, peers: &Path) -> Result<Option<Python>> {
    let script = peers.join("py_server.py");
    if !script.is_file() {
        return Ok(None);
    }
    let folder = folder(root, "python")?;
    let program = folder.join("bin/python");
    once(&folder, &PYTHON_PACKAGES, || {
        let mut venv = Command::new("python3");
        process::run(venv.args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(&program);
        pip.args(["-m", "pip", "install", "--quiet"]);
        process::run(pip.args(PYTHON_PACKAGES))
    })?;
    let mut asked = Command::new(&program);
    asked.args(["-c", VERSIONS]);
    let version = process::output(&mut asked)?.trim().to_owned();
    Ok(Some(Python {
        program,
        script,
        version,
    }))
}

const VERSIONS: &str = "import importlib.metadata as m, platform; \
     print('a2a-sdk', m.version('a2a-sdk') + ', Python', platform.python_version())";

fn folder(root: &Path, name: &str) -> Result<PathBuf> {
    let folder = root.join("target/peers/a2a").join(name);
    fs::create_dir_all(&folder).doing(|| format!("create {}", folder.display()))?;
    Ok(folder)
}

/// Installs packages into a folder, unless that very list was installed there before.
fn once(folder: &Path, packages: &[&str], install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder.join(".installed");
    let wanted = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    install()?;
    write(&stamp, &wanted)
}

/// Copies the files of a folder and of those in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).doing(|| format!("create {}", to.display()))?;
    for entry in fs::read_dir(from).doing(|| format!("list {}", from.display()))? {
        let entry = entry.doing(|| format!("list {}", from.display()))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to)?,
            false => write(&to, &read(&from)?)?,
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).doing(|| format!("read {}", path.display()))
}

/// Writes a file unless it is as wanted; cargo would take it for changed.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).doing(|| format!("write {}", path.display()))
}
