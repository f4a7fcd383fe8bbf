//! `monas capability`: lends a part of what the caller may do as a token, lists what is lent, and takes it back. Requests go
//! to `/api/capabilities`.

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Value, json};
use workspace::api::reply::{CapabilityList, ListedCapability, SavedCapability};

use crate::command::backend::{Backend, DataOptions};
use crate::command::client::print;
use crate::command::entries::{self, Action, flag, positional};
use crate::config::Config;
use crate::error::Error;

const PATH: &str = "/api/capabilities";

/// A command about capabilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CapabilityCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

/// The command line of `monas capability`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let create = clap::Command::new("create")
        .about("Make a token with a part of your permissions; it is printed once")
        .after_help(
            "monas capability create --read-only --task TASK --for 10m\n\
             monas capability create --read-only --session SESSION --for 10m",
        )
        .args([
            flag(
                "method",
                "NAME",
                "Allow only this operation; may be repeated",
            )
            .action(ArgAction::Append),
            Arg::new("read-only")
                .long("read-only")
                .action(ArgAction::SetTrue)
                .help("Allow only operations that change nothing"),
            flag("task", "ID", "Allow only this task"),
            flag(
                "session",
                "ID",
                "Allow only this session of the chat: its messages, its window, what waits in it",
            )
            .conflicts_with("task"),
            flag("for", "TIME", "How long it lasts, as in 10m or 7d").default_value("24h"),
            flag("note", "TEXT", "What it is for, shown in the list"),
        ]);
    let list = clap::Command::new("list")
        .about("List the capabilities: lender, what each allows, last use, expiry")
        .after_help("monas capability list");
    let revoke = clap::Command::new("revoke")
        .about("Revoke a capability at once, with all that were derived from it")
        .after_help("monas capability revoke cap-0123456789ab")
        .arg(positional("id", "ID", "The id of the capability"));
    entries::definition(
        "capability",
        "Give another program a part of your permissions as a token, list and revoke these tokens",
        [create, list, revoke],
        settings,
    )
}

impl CapabilityCommand {
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
                let SavedCapability { token, capability } = backend.parse(&reply)?;
                // The token stands alone on standard output.
                print::note(&shown(&capability));
                vec![token]
            }
            Action::List => {
                let list: CapabilityList = backend.parse(&reply)?;
                list.capabilities.iter().map(shown).collect()
            }
            Action::Revoke(_) => {
                let revoked: ListedCapability = backend.parse(&reply)?;
                vec![format!("revoked {}", revoked.id)]
            }
        })
    }
}

/// The body of the request of `create`.
fn wanted(matches: &ArgMatches) -> Value {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let mut wanted = json!({ "read_only": matches.get_flag("read-only"), "for": text("for") });
    if let Some(methods) = matches.get_many::<String>("method") {
        wanted["methods"] = methods.cloned().collect();
    }
    for name in ["task", "session", "note"] {
        if let Some(given) = text(name) {
            wanted[name] = given.into();
        }
    }
    wanted
}

/// A capability in a line: its id, its lender, what it allows, when it was used and when it ends.
fn shown(capability: &ListedCapability) -> String {
    let mut allows = Vec::new();
    if capability.read_only {
        allows.push("read only".to_owned());
    }
    if let Some(methods) = &capability.methods {
        allows.push(methods.join(" "));
    }
    if let Some(task) = &capability.task {
        allows.push(format!("task {task}"));
    }
    if let Some(session) = &capability.session {
        allows.push(format!("session {session}"));
    }
    if allows.is_empty() {
        allows.push("everything its lender may".to_owned());
    }
    let mut line = format!(
        "{}  by {}: {}",
        capability.id,
        capability.by,
        allows.join(", ")
    );
    let used = capability.last_used.as_deref();
    let used = match (&*capability.kind, used) {
        ("session", _) => "held in a session".to_owned(),
        (_, Some(used)) => format!("used {used}"),
        (_, None) => "never used".to_owned(),
    };
    line.push_str(&format!("; {used}"));
    if let Some(expires) = &capability.expires {
        line.push_str(&format!("; until {expires}"));
    }
    if let Some(parent) = &capability.parent {
        line.push_str(&format!("; made with {parent}"));
    }
    if !capability.note.is_empty() {
        line.push_str(&format!("; {}", capability.note));
    }
    line
}
