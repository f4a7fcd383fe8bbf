//! The `monas` command.

use std::process::ExitCode;

/// Requests begin on one thread and end on another; this allocator minds that less than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    monas::app().alive().run()
}
