//! Prints the protocol's types for TypeScript, for `cargo xtask types`.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    io::stdout().write_all(a2a::typescript::declarations().as_bytes())
}
