//! `monas mcp`: serves the agent's skills over MCP on standard input and output.

use clap::{Arg, ArgMatches, Command};

use crate::command::client::Secret;
use crate::config::Config;

/// What `monas mcp` was asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct McpCommand {
    pub(crate) config: Config,
    /// The token for a server that runs on the same data.
    pub(crate) bearer: Option<Secret>,
}

/// The command line of `monas mcp`, without the flags of settings.
pub(super) fn definition() -> Command {
    Command::new("mcp")
        .about("Serve the agent's skills over MCP, on standard input and output")
        .long_about(
            "Serves the agent's skills over MCP to the process that started this one, on standard input and \
             output, with the data of this machine. If a server runs on this data, messages are passed on to it: \
             it offers the same at /mcp.",
        )
        .arg(
            Arg::new("bearer")
                .long("bearer")
                .value_name("TOKEN")
                .help("The bearer token for a running server [A2ACLI_BEARER]"),
        )
        .after_help("{\"mcpServers\": {\"monas\": {\"command\": \"monas\", \"args\": [\"mcp\"]}}}\nmonas mcp --workspace notes")
}

/// Reads the flags that [`definition`] added.
pub(super) fn read(
    matches: &ArgMatches,
    config: Config,
    environment: &dyn Fn(&str) -> Option<String>,
) -> McpCommand {
    let bearer = matches.get_one::<String>("bearer").cloned();
    let bearer = bearer.or_else(|| environment("A2ACLI_BEARER"));
    McpCommand {
        config,
        bearer: bearer.map(Secret::new),
    }
}
