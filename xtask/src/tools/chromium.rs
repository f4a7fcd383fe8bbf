//! A browser for the tests of pages.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{find_on_path, is_root, why};
use crate::error::{Error, Result};
use crate::process;

/// The names under which systems install it.
const NAMES: [&str; 2] = ["chromium", "chromium-browser"];

#[derive(Debug, Clone)]
pub(crate) struct Chromium {
    path: PathBuf,
}

impl Chromium {
    /// Lets a program find this browser, as `MONAS_CHROMIUM`.
    pub(crate) fn offer_to(&self, command: &mut Command) {
        command.env("MONAS_CHROMIUM", &self.path);
    }
}

/// Finds Chromium: `MONAS_CHROMIUM`, or the machine's own, which is installed when there is none and we may.
pub(crate) fn chromium() -> Result<Chromium> {
    let named = std::env::var_os("MONAS_CHROMIUM").map(PathBuf::from);
    let found = || NAMES.into_iter().find_map(find_on_path);
    if let Some(path) = named.filter(|path| Path::is_file(path)).or_else(found) {
        return Ok(Chromium { path });
    }
    let mut installed = Ok(());
    if is_root() {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--no-install-recommends", "chromium"]);
        installed = process::run(&mut apt);
    }
    found()
        .map(|path| Chromium { path })
        .ok_or_else(|| Error::Missing {
            tool: "chromium",
            why: why(installed, "it is not in PATH"),
            install: "apt-get install chromium",
        })
}
