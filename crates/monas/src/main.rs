//! The `monas` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    monas::program::main()
}
