//! The helper of the sandbox as a program of its own, for the tests of this crate. In `monas` it is a hidden subcommand.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    tools::sandbox::helper(std::env::args_os().skip(1))
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
