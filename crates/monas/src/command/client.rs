//! Monas as a client: what people and scripts ask of any agent, from the command line.
//!
//! The names of commands, flags, variables and exit codes are those that command lines of A2A share. It keeps
//! nothing between two runs.
//!
//! Layout:
//! - `flags`: what every command understands, from flags and environment
//! - `arguments`: the commands
//! - `card`, `send`, `task`, `chat`: what they do
//! - `files`: parts of a message from files, and files from parts
//! - `print`: answers as text and as JSON; `failure`: what went wrong, and what to do about it

use std::process::ExitCode;

mod arguments;
pub(super) mod failure;
pub(super) mod files;
#[cfg(test)]
#[path = "client/files_tests.rs"]
mod files_tests;
pub(super) mod flags;
pub(super) mod print;

pub(crate) use arguments::{Action, Request};
pub(crate) use arguments::{commands, read};
pub(crate) use flags::Secret;

use failure::Failure;
use print::Printer;

use crate::command::{card, chat, send, task};
use crate::signals::Signals;

/// Does what was asked; gives what the process ends with.
pub(crate) async fn run(request: &Request, mut signals: Signals) -> ExitCode {
    let printer = Printer::new(request.options.output);
    let doing = perform(request, &printer, &mut signals);
    match doing.await {
        Ok(()) if print::all_written() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

async fn perform(
    request: &Request,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let options = &request.options;
    if let Action::Chat { context } = &request.action {
        let client = options.connect().await?;
        return chat::talk(&client, context.clone(), printer, signals).await;
    }
    let acting = async {
        match &request.action {
            Action::Card => card::get(options, printer).await,
            Action::Send(sending) => send::send(options, sending, printer).await,
            Action::Task(action) => task::perform(options, action, printer).await,
            Action::Config => {
                printer.settings(&options.shown);
                Ok(())
            }
            Action::Chat { .. } => Ok(()),
        }
    };
    tokio::select! {
        done = acting => done,
        signal = signals.next() => Err(Failure::Signal(signal)),
    }
}
