//! `monas undo`: takes back a change of a file by an agent, or lists these changes. Requests go to `/api/files`.

use axum::http::Method;
use clap::{Arg, ArgAction, ArgMatches};
use serde::Deserialize;
use serde_json::json;
use skill::visible;

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A change to take back, or a look at all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UndoCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    List,
    /// The change with this id; without one the last.
    Undo(Option<String>),
}

/// The command line of `monas undo`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let command = clap::Command::new("undo")
        .about(
            "Take back a change of a file by an agent, if its place in the file is unchanged since",
        )
        .after_help("monas undo\nmonas undo --list\nmonas undo CHANGE")
        .arg(
            Arg::new("change")
                .value_name("CHANGE")
                .help("The change, by the id that --list shows, else the last one"),
        )
        .arg(
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .conflicts_with("change")
                .help("List the changes, the last first, and change nothing"),
        );
    DataOptions::arguments(command, settings)
}

impl UndoCommand {
    /// Reads the matches of [`definition`].
    pub(crate) fn read(
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        Ok(Self {
            action: match matches.get_flag("list") {
                true => Action::List,
                false => Action::Undo(matches.get_one::<String>("change").cloned()),
            },
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| self.lines(backend).await;
        self.options.print(say, lines).await
    }

    async fn lines(&self, backend: &Backend) -> Result<Vec<String>, Error> {
        if let Backend::OpenedStore { .. } = backend {
            let problem = "a running server takes changes back; begin one with `monas`";
            return Err(backend.refused(problem.to_owned()));
        }
        let query = self.options.query().finish();
        let (method, path, body) = match &self.action {
            Action::List => (Method::GET, "changes", String::new()),
            Action::Undo(change) => (
                Method::POST,
                "undo",
                json!({ "change": change }).to_string(),
            ),
        };
        let path = format!("/api/files/{path}?{query}");
        let reply = backend.text(method, &path, body).await?;
        if self.options.json {
            return Ok(vec![reply]);
        }
        Ok(match &self.action {
            Action::List => {
                let listed: ChangeList = backend.parse(&reply)?;
                match listed.changes.is_empty() {
                    true => vec!["no change of a file by an agent is kept".to_owned()],
                    false => listed.changes.iter().map(change).collect(),
                }
            }
            Action::Undo(_) => vec![undone(&backend.parse(&reply)?)],
        })
    }
}

#[derive(Deserialize)]
struct ChangeList {
    changes: Vec<ListedChange>,
}

#[derive(Deserialize)]
struct ListedChange {
    id: String,
    at: String,
    by: String,
    skill: String,
    operation: String,
    path: String,
    from: Option<String>,
}

#[derive(Deserialize)]
struct Undone {
    path: String,
    /// The id by which this is taken back itself; empty where nothing was left to change.
    id: String,
}

/// A change in a line: its id, when it was made, what it did, with which skill and for which caller.
fn change(it: &ListedChange) -> String {
    let path = match &it.from {
        Some(from) => format!("{from} to {}", it.path),
        None => it.path.clone(),
    };
    let (path, by) = (visible(&path), visible(&it.by));
    format!(
        "{}  {}  {} {path}, by {} for {by}",
        it.id, it.at, it.operation, it.skill
    )
}

fn undone(it: &Undone) -> String {
    let path = visible(&it.path);
    match &*it.id {
        "" => format!("{path} is as it was before the change"),
        id => format!("{path} is as it was before the change; monas undo {id} takes this back"),
    }
}
