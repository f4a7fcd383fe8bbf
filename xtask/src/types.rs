//! Declarations for TypeScript and references, written from Rust targets and messages by programs that have them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::{Doing, Error, Result};
use crate::process;

/// A file, and which program says with which arguments what belongs into it.
struct Written {
    path: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
}

/// All there are. Declarations that only a crate's tests need are written by those tests.
const WRITTEN: [Written; 4] = [
    Written {
        path: "clients/typescript/src/a2a/types.ts",
        program: "a2a-declarations",
        arguments: &[],
    },
    Written {
        path: "web/src/api/types.ts",
        program: "workspace-declarations",
        arguments: &[],
    },
    Written {
        path: "examples/live_feed/page/feed.d.ts",
        program: "live_feed",
        arguments: &["types"],
    },
    Written {
        path: "examples/live_feed/REFERENCE.md",
        program: "live_feed",
        arguments: &["reference"],
    },
];

/// What to do with the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// They must be as they would be written.
    Check,
    Write,
}

pub(crate) fn run(root: &Path, files: Files) -> Result<()> {
    // With the features that the whole workspace and its tests ask for: what they have compiled is not compiled again.
    let programs = process::build(root, &["--workspace", "--bins", "--tests"])?;
    let mut stale = Vec::new();
    for written in &WRITTEN {
        let program = programs
            .iter()
            .find(|built| built.name == written.program && !built.is_test());
        let program = program
            .ok_or_else(|| Error::Answer(format!("cargo built no program {}", written.program)))?;
        let text = process::output(Command::new(&program.path).args(written.arguments))?;
        let path = root.join(written.path);
        let is_fresh = fs::read_to_string(&path).is_ok_and(|old| old == text);
        match files {
            _ if is_fresh => {}
            Files::Check => stale.push(written.path),
            Files::Write => {
                fs::write(&path, text).doing(|| format!("write {}", path.display()))?;
                println!("{}", written.path);
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(Error::Found(format!(
        "not as their targets are: {}\nTo write them again: cargo xtask types",
        stale.join(", ")
    )))
}
