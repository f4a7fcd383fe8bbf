//! `monas user`: the users of a server and their roles. Requests go to `/api/users`.

use axum::http::Method;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Value, json};
use workspace::api::reply::{AddedUser, ListedUser, SavedLink, UserList};

use crate::command::backend::{Backend, DataOptions};
use crate::command::client::print;
use crate::command::entries::{self, entry_path, given, positional};
use crate::command::key;
use crate::config::Config;
use crate::error::Error;

const PATH: &str = "/api/users";

/// A command about users.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UserCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// With the body of the request.
    Add(Value),
    List,
    Link(String),
    Role {
        name: String,
        role: String,
    },
    Remove(String),
}

/// The command line of `monas user`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let name = || positional("name", "NAME", "The name of the user");
    let roles = || PossibleValuesParser::new(access::Role::ALL.map(access::Role::name));
    let add = clap::Command::new("add")
        .about("Add a user, and print a link that signs it in once within 24 hours")
        .after_help("monas user add ada --role operator\nmonas user add robot --role viewer --key")
        .args([
            name(),
            Arg::new("role")
                .long("role")
                .value_name("ROLE")
                .value_parser(roles())
                .default_value("user")
                .help("What it may do"),
            Arg::new("key")
                .long("key")
                .action(ArgAction::SetTrue)
                .help("Print an API key instead of a link; it is shown once"),
        ]);
    let list = clap::Command::new("list")
        .about("List the users with their roles")
        .after_help("monas user list");
    let link = clap::Command::new("link")
        .about("Print a new link that signs a user in once within 24 hours; an earlier one ends")
        .after_help("monas user link ada")
        .arg(name());
    let role = clap::Command::new("role")
        .about("Change the role of a user at once")
        .after_help("monas user role ada viewer")
        .args([
            name(),
            Arg::new("role")
                .value_name("ROLE")
                .required(true)
                .value_parser(roles())
                .help("What it may do"),
        ]);
    let remove = clap::Command::new("remove")
        .about("Remove a user at once, with its keys, its tokens and what it has lent; also one of a token alone")
        .after_help("monas user remove ada")
        .arg(name());
    entries::definition(
        "user",
        "Add, list and remove users, and change their roles",
        [add, list, link, role, remove],
        settings,
    )
}

impl UserCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let text = |name: &str| given(matches, name);
        let options = DataOptions::read(matches, config, environment)?;
        let (action, options) = match name {
            "add" => {
                let key = matches.get_flag("key");
                let wanted = json!({ "name": text("name"), "role": text("role"), "key": key });
                (Action::Add(wanted), options.making_data())
            }
            "link" => (Action::Link(text("name")), options),
            "role" => {
                let (name, role) = (text("name"), text("role"));
                (Action::Role { name, role }, options)
            }
            "remove" => (Action::Remove(text("name")), options),
            _ => (Action::List, options),
        };
        Ok(Self { action, options })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| self.lines(backend).await;
        self.options.print(say, lines).await
    }

    async fn lines(&self, backend: &Backend) -> Result<Vec<String>, Error> {
        let none = String::new;
        let (method, path, body) = match &self.action {
            Action::Add(body) => (Method::POST, PATH.to_owned(), body.to_string()),
            Action::List => (Method::GET, PATH.to_owned(), none()),
            Action::Link(name) => (
                Method::POST,
                format!("{}/link", entry_path(PATH, name)),
                none(),
            ),
            Action::Role { name, role } => {
                let body = json!({ "role": role }).to_string();
                (Method::PUT, entry_path(PATH, name), body)
            }
            Action::Remove(name) => (Method::DELETE, entry_path(PATH, name), none()),
        };
        let reply = backend.text(method, &path, body).await?;
        if self.options.json {
            return Ok(vec![reply]);
        }
        Ok(match &self.action {
            Action::Add(_) => added(backend.parse(&reply)?),
            Action::List => {
                let list: UserList = backend.parse(&reply)?;
                list.users.iter().map(shown).collect()
            }
            Action::Link(_) => linked(backend.parse(&reply)?),
            Action::Role { .. } => {
                let user: ListedUser = backend.parse(&reply)?;
                vec![shown(&user)]
            }
            Action::Remove(_) => {
                let user: ListedUser = backend.parse(&reply)?;
                if let Some(note) = &user.note {
                    print::note(note);
                }
                vec![format!("removed {}", user.name)]
            }
        })
    }
}

/// What is printed of a new user: its link or its key stands alone on standard output.
fn added(AddedUser { user, link, key }: AddedUser) -> Vec<String> {
    print::note(&shown(&user));
    match (link, key) {
        (_, Some(key)) => {
            print::note(&key::shown(&key.key));
            vec![key.secret]
        }
        (Some(link), None) => linked(link),
        (None, None) => Vec::new(),
    }
}

fn linked(link: SavedLink) -> Vec<String> {
    let SavedLink { url, user, expires } = link;
    print::note(&format!(
        "signs {user} in once, until {expires}; give it to that user only"
    ));
    vec![url]
}

/// A user in a line.
fn shown(user: &ListedUser) -> String {
    let keys = match user.keys {
        0 => String::new(),
        1 => "; 1 key".to_owned(),
        many => format!("; {many} keys"),
    };
    format!("{}  {}; since {}{keys}", user.name, user.role, user.created)
}
