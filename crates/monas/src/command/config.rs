//! `monas config show`: the flags of the commands that call an agent, with their values and where they come from.

use clap::Command;

use super::client::arguments::{calling, group};
use super::client::flags::Options;
use super::client::print::Printer;

/// The command line of `monas config`.
pub(super) fn definition() -> Command {
    let show = Command::new("show");
    let show = show.about("Show all values and where they are set; secrets are hidden");
    let show = show.after_help("monas config show -o json");
    group("config", "Show how agents are called").subcommand(calling(show))
}

pub(super) fn show(options: &Options, printer: &Printer) {
    printer.settings(&options.shown);
}
