//! `monas completion`: a script that completes command lines in a shell.

use clap::{Arg, Command, value_parser};
use clap_complete::Shell;

/// The command line of `monas completion`.
pub(super) fn definition() -> Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("The shell");
    Command::new("completion")
        .about("Print a script that completes command lines in a shell")
        .after_help("monas completion bash > ~/.local/share/bash-completion/completions/monas")
        .arg(shell)
}

/// The script for a shell.
pub(crate) fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::definition(), "monas", &mut script);
    script
}
