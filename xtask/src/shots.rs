//! `cargo xtask shots`: pictures of every view of the page, into `docs/page`.

use std::path::Path;
use std::process::Command;

use crate::bench::flags::Flags;
use crate::error::Result;
use crate::{process, tools};

/// Takes the pictures anew, with the program that is given or one that is built now.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let mut program = None;
    let mut flags = Flags::new(words);
    while let Some(flag) = flags.advance() {
        match flag {
            "--program" => program = Some(flags.value()?.into()),
            _ => return Err(flags.unknown()),
        }
    }
    let program = match program {
        Some(program) => program,
        None => process::build_measured(root, "monas", &["--bin"], "monas")?,
    };
    let node = tools::node(root)?;
    tools::npm_packages(root, "conformance/page", &node)?;
    let mut shots = Command::new(&node.path);
    node.offer_to(&mut shots);
    tools::chromium()?.offer_to(&mut shots);
    shots.current_dir(root.join("conformance/page"));
    shots.env("MONAS_PROGRAM", program).arg("shots.mjs");
    process::run(shots.arg(root.join("docs/page")))
}
