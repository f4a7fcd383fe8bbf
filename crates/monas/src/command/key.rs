//! `monas key`: API keys of users. Requests go to `/api/keys`.

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Value, json};
use workspace::api::reply::{KeyList, ListedKey, NewApiKey};

use crate::command::backend::{Backend, DataOptions};
use crate::command::client::print;
use crate::command::entries::{self, Action, flag, positional};
use crate::config::Config;
use crate::error::Error;

const PATH: &str = "/api/keys";

/// A command about API keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiKeyCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

/// The command line of `monas key`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let create = clap::Command::new("create")
        .about("Make an API key of a user, which is printed once")
        .after_help("monas key create --user ada --scope read_files --scope read-only --for 30d --name 'report script'")
        .args([
            flag("user", "NAME", "The user; without it, the caller itself"),
            flag(
                "scope",
                "SCOPE",
                "Allow only this: a permission such as read_files, read-only, method:NAME, task:ID, or scope:NAME; may be repeated",
            )
            .action(ArgAction::Append),
            flag("for", "TIME", "How long it lasts, as in 12h or 30d").default_value("90d"),
            flag("name", "LABEL", "What it is for, shown in the list"),
        ]);
    let list = clap::Command::new("list")
        .about("List the keys: of which user, what they allow, when they were used, when they end")
        .after_help("monas key list");
    let revoke = clap::Command::new("revoke")
        .about("Revoke a key at once, with the keys that were made with it")
        .after_help("monas key revoke key-0123456789ab")
        .arg(positional("id", "ID", "The id of the key"));
    entries::definition(
        "key",
        "Make, list and revoke API keys of users",
        [create, list, revoke],
        settings,
    )
}

impl ApiKeyCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        Ok(Self {
            action: Action::read(name, matches, wanted),
            options: DataOptions::read(matches, config, environment)?.without_agent(),
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| self.lines(backend).await;
        self.options.print(say, lines).await
    }

    async fn lines(&self, backend: &Backend) -> Result<Vec<String>, Error> {
        let reply = self.action.send(backend, PATH).await?;
        if self.options.json {
            return Ok(vec![reply]);
        }
        Ok(match &self.action {
            Action::Create(_) => {
                let NewApiKey { secret, key } = backend.parse(&reply)?;
                // The key stands alone on standard output.
                print::note(&shown(&key));
                vec![secret]
            }
            Action::List => {
                let list: KeyList = backend.parse(&reply)?;
                list.keys.iter().map(shown).collect()
            }
            Action::Revoke(_) => {
                let revoked: ListedKey = backend.parse(&reply)?;
                vec![format!("revoked {}", revoked.id)]
            }
        })
    }
}

/// The body of the request of `create`.
fn wanted(matches: &ArgMatches) -> Value {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let mut wanted = json!({ "for": text("for") });
    if let Some(scopes) = matches.get_many::<String>("scope") {
        wanted["scopes"] = scopes.cloned().collect();
    }
    for name in ["user", "name"] {
        if let Some(given) = text(name) {
            wanted[name] = given.into();
        }
    }
    wanted
}

/// A key in a line: its id, its user, what it allows, when it was used and when it ends.
pub(super) fn shown(key: &ListedKey) -> String {
    let allows = match &key.scopes[..] {
        [] => "everything its user may".to_owned(),
        scopes => scopes.join(", "),
    };
    let used = match &key.last_used {
        Some(used) => format!("used {used}"),
        None => "never used".to_owned(),
    };
    let mut line = format!("{}  of {}: {allows}; {used}", key.id, key.user);
    if let Some(expires) = &key.expires {
        line.push_str(&format!("; until {expires}"));
    }
    if let Some(parent) = &key.parent {
        line.push_str(&format!("; made with {parent}"));
    }
    if !key.name.is_empty() {
        line.push_str(&format!("; {}", key.name));
    }
    line
}
