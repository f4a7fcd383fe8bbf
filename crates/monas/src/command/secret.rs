//! `monas secret`: secrets that agents use by name. Requests go to `/api/secrets`. A value is read from standard input, so that
//! it is in no list of processes and in no history of a shell.

use std::io::{self, IsTerminal as _, Read as _};

use axum::http::Method;
use clap::{Arg, ArgMatches};
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config as Terminal, Editor, Helper};
use serde_json::json;
use workspace::api::reply::{ListedSecret, SecretList};

use crate::command::backend::{Backend, DataOptions};
use crate::command::entries::{self, entry_path, given, positional};
use crate::config::Config;
use crate::error::Error;

const PATH: &str = "/api/secrets";

/// More than this is not read of standard input.
const MAX_INPUT: u64 = 128 << 10;

/// A command about secrets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SecretCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Set(String),
    List,
    Remove(String),
}

/// The command line of `monas secret`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let name = || positional("name", "NAME", "The name of the secret");
    let set = clap::Command::new("set")
        .about("Keep a secret, sealed; its value is read from standard input, or asked for")
        .long_about(
            "Keeps a secret, sealed, in place of the one before. Its value is read from standard input, or asked for on a \
             terminal. Where a key or a header is configured, secret:NAME stands for it, and ${secret:NAME} for a part of it.",
        )
        .after_help("monas secret set openai < key.txt && MONAS_MODEL_KEY=secret:openai monas --model openai:gpt-5")
        .arg(name());
    let list = clap::Command::new("list")
        .about("List the names of the secrets; values are never shown")
        .after_help("monas secret list");
    let remove = clap::Command::new("remove")
        .about("Remove a secret; what uses it fails from then on")
        .after_help("monas secret remove openai")
        .arg(name());
    entries::definition(
        "secret",
        "Keep secrets that agents use by name, such as keys of models",
        [set, list, remove],
        settings,
    )
}

impl SecretCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let secret = given(matches, "name");
        let options = DataOptions::read(matches, config, environment)?;
        let (action, options) = match name {
            "set" => (Action::Set(secret), options.making_data()),
            "remove" => (Action::Remove(secret), options),
            _ => (Action::List, options),
        };
        Ok(Self { action, options })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        // Read before the data is opened, which a server may need meanwhile.
        let value = match &self.action {
            Action::Set(name) => {
                let name = name.clone();
                let read = tokio::task::spawn_blocking(move || value(&name)).await;
                let read = read.map_err(io::Error::other).flatten();
                Some(read.map_err(|source| Error::System {
                    what: "read the secret",
                    source,
                })?)
            }
            Action::List | Action::Remove(_) => None,
        };
        let lines = async |backend: &Backend| self.lines(backend, value).await;
        self.options.print(say, lines).await
    }

    async fn lines(&self, backend: &Backend, value: Option<String>) -> Result<Vec<String>, Error> {
        let (method, path, body) = match &self.action {
            Action::Set(name) => {
                let body = json!({ "value": value.unwrap_or_default() });
                (Method::PUT, entry_path(PATH, name), body.to_string())
            }
            Action::List => (Method::GET, PATH.to_owned(), String::new()),
            Action::Remove(name) => (Method::DELETE, entry_path(PATH, name), String::new()),
        };
        let reply = backend.text(method, &path, body).await?;
        if self.options.json {
            return Ok(vec![reply]);
        }
        let name = |secret: ListedSecret| secret.name;
        Ok(match &self.action {
            Action::Set(_) => vec![format!("set {}", name(backend.parse(&reply)?))],
            Action::List => {
                let list: SecretList = backend.parse(&reply)?;
                list.secrets.iter().map(shown).collect()
            }
            Action::Remove(_) => vec![format!("removed {}", name(backend.parse(&reply)?))],
        })
    }
}

fn shown(secret: &ListedSecret) -> String {
    format!("{}  set {}", secret.name, secret.changed)
}

/// The value: what a person types, which is not shown, or all of standard input without a line break at its end.
fn value(name: &str) -> io::Result<String> {
    if io::stdin().is_terminal() {
        return typed(name);
    }
    let mut value = String::new();
    io::stdin().take(MAX_INPUT).read_to_string(&mut value)?;
    let kept = value.trim_end_matches(['\n', '\r']).len();
    value.truncate(kept);
    Ok(value)
}

fn typed(name: &str) -> io::Result<String> {
    let editor = Editor::<Hidden, _>::with_history(Terminal::default(), MemHistory::new());
    let mut editor = editor.map_err(io::Error::other)?;
    editor.set_helper(Some(Hidden));
    let typed = editor.readline(&format!("value of {name} (not shown): "));
    typed.map_err(io::Error::other)
}

/// Shows a star for each character that is typed.
struct Hidden;

impl Completer for Hidden {
    type Candidate = String;
}
impl Hinter for Hidden {
    type Hint = String;
}
impl Validator for Hidden {}
impl Helper for Hidden {}

impl Highlighter for Hidden {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> std::borrow::Cow<'l, str> {
        "*".repeat(line.chars().count()).into()
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}
