//! The `monas` command.

use std::process::ExitCode;

use clap::Parser as _;
use monas::command::Command;

#[tokio::main]
async fn main() -> ExitCode {
    match monas::command::run(Command::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "only the program itself talks to its user"
)]
fn complain(error: &monas::listen::Error) {
    eprintln!("monas: could not {error}");
}
