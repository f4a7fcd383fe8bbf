//! The program `sut`: serves the agent that conformance suites and measurements drive.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

use sut::command::{Command, Error};

/// The allocator of `monas`: measurements of this program are to hold for that one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Command::read(std::env::args_os(), |name| std::env::var(name).ok()) {
        Ok(Command::Serve(config, agent)) => match agent.serve() {
            Ok(serve) => monas::serve_until_signal(&config, serve),
            Err(error) => fail(&error, 1),
        },
        Ok(Command::Client(calls)) => call(&calls),
        Err(Error::Usage(usage)) => {
            // Help goes to standard output; a closed pipe is no failure.
            let _ = usage.print();
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
        Err(error) => fail(&error, 2),
    }
}

fn call(calls: &sut::client::Calls) -> ExitCode {
    let print = |line: &str| {
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error, 1),
    };
    match runtime.block_on(calls.perform(print)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, 1),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "only the program itself talks to its user"
)]
fn fail(error: &dyn Display, code: u8) -> ExitCode {
    eprintln!("sut: could not {error}");
    ExitCode::from(code)
}
