//! The server (`sut`) and the load generator, which is a bench of the same package: the client of `a2a` speaks all wires.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::bench::server::Server;
use crate::bench::usage::ProcessorTime;
use crate::error::{Doing, Error, Result};
use crate::process;

/// Both programs, built for speed.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) server: PathBuf,
    pub(crate) load: PathBuf,
}

impl Programs {
    /// Builds them together, so that what they share is compiled once.
    pub(crate) fn build(root: &Path) -> Result<Programs> {
        let wanted = ["--package", "sut", "--bin", "sut", "--bench", "load"];
        let built = process::build(
            root,
            &[&["--profile", process::MEASURED_PROFILE], &wanted[..]].concat(),
        )?;
        let find = |name: &str| {
            let found = built.iter().find(|program| program.name == name);
            let path = found.map(|program| program.path.clone());
            path.ok_or_else(|| Error::Answer(format!("cargo built no program {name}")))
        };
        Ok(Programs {
            server: find("sut")?,
            load: find("load")?,
        })
    }

    /// Writes a certificate and its key into a folder.
    pub(super) fn make_certificate(&self, folder: &Path) -> Result<()> {
        let mut command = process::with_many_files(&self.load);
        process::output(command.arg("certificate").arg(folder)).map(drop)
    }

    /// Runs one measurement: what the generator says, and the nanoseconds of processor time that it cost the server.
    pub(super) fn run(&self, words: &[String], server: &Server) -> Result<(Value, u64)> {
        let mut command = process::with_many_files(&self.load);
        command.args(words).stdout(Stdio::piped());
        let line = process::line(&command);
        let mut child = command.spawn().doing(|| format!("start {line}"))?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let (mut before, mut after, mut last) = (None, None, String::new());
        for text in BufReader::new(stdout).lines() {
            let text = text.doing(|| format!("read from {line}"))?;
            match text.as_str() {
                "measuring" => before = Some(ProcessorTime::read(server.pid())?),
                "measured" => after = Some(ProcessorTime::read(server.pid())?),
                _ => last = text,
            }
        }
        let after = after.map_or_else(|| ProcessorTime::read(server.pid()), Ok)?;
        let status = child.wait().doing(|| format!("wait for {line}"))?;
        let figures = serde_json::from_str(&last);
        match (figures, before) {
            (Ok(figures), Some(before)) if status.success() => Ok((figures, after.since(&before))),
            _ => Err(Error::Answer(format!("`{line}` said {last:?}"))),
        }
    }
}
