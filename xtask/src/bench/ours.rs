//! Our server under test, and the load generator: both built with the profile of everything that is measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::process;

/// The server that conformance suites and benches drive.
#[derive(Debug)]
pub(crate) struct Ours(PathBuf);

impl Ours {
    pub(crate) fn build(root: &Path) -> Result<Ours> {
        process::build_measured(root, "sut", &["--bin"], "sut").map(Ours)
    }

    /// The command that serves on a port of this machine.
    pub(crate) fn command(&self, port: u16) -> Command {
        let mut command = Command::new(&self.0);
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        command
    }
}

/// This program again, as the load generator.
pub(crate) fn build_load(root: &Path) -> Result<PathBuf> {
    process::build_measured(root, "xtask", &["--bin"], "xtask")
}
