//! Which server a command asks: the one that is named, the one that runs on the data, or the one at the default address.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::FlagValues;
use super::list::{FLAGS, Flag, Scope};
use crate::command::backend::address_in;
use crate::serve::compose::OPEN_SERVER;

/// Where a server is looked for when none is named and none runs on the data.
const DEFAULT: &str = "http://127.0.0.1:8080";

/// Where the card of an agent is, below its address.
const CARD: &str = "/.well-known/agent-card.json";
/// Where the agents of a server are, below its address.
const AGENTS: &str = "/agents/";

/// The address of a server or an agent, and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As it was written, with a scheme, without a slash at its end.
    pub(crate) url: String,
    /// The flag, the variable, or in words how it was found.
    source: String,
}

impl Target {
    fn new(url: &str, source: String) -> Self {
        let url = url.trim_end_matches('/');
        let url = match url.contains("://") {
            true => url.to_owned(),
            false => format!("http://{url}"),
        };
        Self { url, source }
    }

    /// The server that flags or variables name. A flag that names the data counts more than a variable that names a
    /// server.
    pub(super) fn named(
        matches: &ArgMatches,
        environment: &dyn Fn(&str) -> Option<String>,
        scope: Scope,
    ) -> Result<Option<Self>, String> {
        let flag = |name: &str| FLAGS.iter().find(|flag| flag.name == name);
        let values = |flag: &Flag| FlagValues::of(flag, matches, environment);
        let found = ["agent-card", "server"].map(|name| {
            let found = values(flag(name)?);
            Some((found.values.into_iter().next()?, found.source))
        });
        let [card, server] = found.map(|it| it.map(|(url, source)| Self::new(&url, source)));
        match (card, server) {
            (Some(card), Some(server)) if card.is_flag() && server.is_flag() => {
                Err("--server and --agent-card both name what to ask; give one of them".to_owned())
            }
            (card, server) => {
                let (flags, variables): (Vec<_>, Vec<_>) = [card, server]
                    .into_iter()
                    .flatten()
                    .partition(Self::is_flag);
                let variables = variables
                    .into_iter()
                    .filter(|_| !names_data(matches, scope));
                Ok(flags.into_iter().chain(variables).next())
            }
        }
    }

    /// The server that runs on a data folder, by the address in its lock.
    pub(crate) fn running(data: &Path) -> Option<Self> {
        let holder = store::holder(data)?;
        Some(Self::on(data, &address_in(&holder)?.to_string()))
    }

    /// The server that runs on a data folder and lets no caller in without credentials. To one that is open, commands are what
    /// the other callers are, too: the anonymous caller, with the same tasks.
    pub(crate) fn closed(data: &Path) -> Option<Self> {
        let holder = store::holder(data)?;
        let open = holder.starts_with(OPEN_SERVER);
        let address = address_in(&holder).filter(|_| !open)?;
        Some(Self::on(data, &address.to_string()))
    }

    /// The server at this address, which runs on a data folder.
    pub(crate) fn on(data: &Path, address: &str) -> Self {
        Self::new(address, format!("it runs on {}", data.display()))
    }

    /// The default address, for when nothing else is known.
    pub(super) fn default(data: Option<&Path>) -> Self {
        let source = match data {
            Some(data) => format!("the default: no server runs on {}", data.display()),
            None => "the default".to_owned(),
        };
        Self::new(DEFAULT, source)
    }

    /// Whether the user named it in this command line.
    pub(crate) fn is_flag(&self) -> bool {
        self.source.starts_with("--")
    }

    /// The line on standard error that names the server.
    pub(crate) fn announcement(&self) -> String {
        format!("asking {} ({})", self.url, self.source)
    }

    /// The address of the server, and the agent that the address names: cards and agents are below a server.
    pub(crate) fn server(&self) -> (String, Option<String>) {
        let url = self.url.strip_suffix(CARD).unwrap_or(&self.url);
        match url.rsplit_once(AGENTS) {
            Some((server, agent)) if !agent.contains('/') => {
                (server.to_owned(), Some(agent.to_owned()))
            }
            _ => (url.to_owned(), None),
        }
    }

    /// The address of an agent of this server.
    pub(super) fn agent(&self, id: Option<&str>) -> String {
        match id {
            Some(id) => format!("{}{AGENTS}{id}", self.server().0),
            None => self.url.clone(),
        }
    }
}

/// Whether the command line names the data or the file that does. `send --data` is part of a message.
fn names_data(matches: &ArgMatches, scope: Scope) -> bool {
    let given = |name: &str| {
        let known = matches.try_contains_id(name).is_ok();
        known && matches.value_source(name) == Some(ValueSource::CommandLine)
    };
    given("config") || (scope == Scope::Servers && given("data"))
}
