//! Where the workspace is and what its manifests say, by `cargo metadata`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::process;

/// The folder of the workspace's `Cargo.toml`.
///
/// Cargo tells it at run time, so that one build in a shared target folder serves several clones.
pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let parent = Path::new(&manifest).parent();
    parent.expect("xtask is a folder of the root").to_owned()
}

/// One member of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// What it is for, in one sentence.
    pub(crate) description: String,
    /// The folder of its manifest, relative to the root: `crates/capnweb`.
    pub(crate) folder: PathBuf,
    /// Packages of this workspace that it needs to be built or run, not counting its tests.
    pub(crate) arrows: Vec<String>,
    /// Its features, `default` left out.
    pub(crate) features: Vec<String>,
    /// Features that are turned on, each with what does it: a feature of its own, or that it depends on something.
    pub(crate) turns_on: Vec<(String, String)>,
    /// Programs among its examples.
    pub(crate) examples: Vec<String>,
}

/// The folder cargo builds into.
pub(crate) fn target(root: &Path) -> Result<PathBuf> {
    let metadata = metadata(root)?;
    let target = metadata["target_directory"].as_str();
    let target = target.ok_or_else(|| Error::Answer("cargo metadata: no target folder".into()))?;
    Ok(PathBuf::from(target))
}

/// All members, in the order of their folders.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    let metadata = metadata(root)?;
    let mut packages: Vec<Package> = items(&metadata["packages"])
        .filter_map(|package| read(package, root))
        .collect();
    packages.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(packages)
}

fn metadata(root: &Path) -> Result<Value> {
    let mut command = process::cargo(root);
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let text = process::output(&mut command)?;
    serde_json::from_str(&text).map_err(|error| Error::Answer(format!("cargo metadata: {error}")))
}

fn read(package: &Value, root: &Path) -> Option<Package> {
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
    // Dependencies by path are ours; those only for tests reach no user and are not arrows.
    let arrows = items(&package["dependencies"])
        .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev")
        .filter_map(|dependency| dependency["name"].as_str())
        .map(str::to_owned)
        .collect();
    let features = package["features"].as_object()?.keys();
    let own = package["features"].as_object()?.iter();
    let own = own.flat_map(|(by, on)| items(on).map(|on| (by.clone(), text(on))));
    let of_others = items(&package["dependencies"]).flat_map(|dependency| {
        let by = format!("its dependency on {}", text(&dependency["name"]));
        items(&dependency["features"]).map(move |on| (by.clone(), text(on)))
    });
    let examples = items(&package["targets"])
        .filter(|target| items(&target["kind"]).any(|kind| kind == "example"))
        .filter_map(|target| target["name"].as_str())
        .map(str::to_owned)
        .collect();
    Some(Package {
        name: package["name"].as_str()?.to_owned(),
        description: text(&package["description"]),
        folder: folder.strip_prefix(root).unwrap_or(folder).to_owned(),
        arrows,
        features: features
            .filter(|name| *name != "default")
            .cloned()
            .collect(),
        turns_on: own.chain(of_others).collect(),
        examples,
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The version of a package in a `Cargo.lock`.
pub(crate) fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let (_, rest) = lock.split_once(&name)?;
    rest.split('"').nth(1)
}

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod tests;
