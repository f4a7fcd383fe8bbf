//! Writes the TypeScript declarations of `/workspace/capnweb`, from the table of routes, to standard output.
//! `cargo xtask types` runs it.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let rows: Vec<_> = monas::serve::rules::all().copied().collect();
    let text = workspace::door::declarations::typescript(&rows);
    io::stdout().write_all(text.as_bytes())
}
