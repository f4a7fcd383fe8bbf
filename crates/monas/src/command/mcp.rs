//! `monas mcp`: serves the agent's skills over MCP on standard input and output.

use clap::Command;

/// The command line of `monas mcp`, without the flags of settings.
pub(super) fn definition() -> Command {
    Command::new("mcp")
        .about("Serve the agent's skills over MCP, on standard input and output")
        .long_about(
            "Serves the agent's skills over MCP to the process that started this one, on standard input and \
             output, with the data of this machine. A running server offers the same at /mcp.",
        )
}
