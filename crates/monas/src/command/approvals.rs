//! `monas approvals` and `monas grant`: the calls that wait for a person, answers to them, and the decisions that count for
//! later calls. Requests go to `/api/approvals` and `/api/grants`.

use axum::http::Method;
use clap::{Arg, ArgMatches};
use serde_json::json;
use skill::visible;
use workspace::api::reply::{Answered, GrantList, ListedGrant, WaitingApproval, WaitingApprovals};

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about approvals or grants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApprovalsCommand {
    action: Action,
    options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    List,
    /// An approval, and what is said to it.
    Answer(String, String),
    Grants,
    Revoke(String),
}

/// The command lines of `monas approvals` and `monas grant`; `settings` are the flags of the server, which name the data.
pub(crate) fn definitions(settings: &[Arg]) -> [clap::Command; 2] {
    let common = |command| DataOptions::arguments(command, settings);
    let id = |help: &'static str| Arg::new("id").value_name("ID").required(true).help(help);
    let answer = clap::Command::new("answer")
        .about("Answer a call that waits for an approval")
        .arg(id("The approval, by the id that `monas approvals` lists"))
        .arg(
            Arg::new("decision")
                .value_name("DECISION")
                .required(true)
                .num_args(1..)
                .help("yes; no and a reason; session; modify and another input; or a JSON object"),
        );
    let approvals = clap::Command::new("approvals")
        .about("List the calls that wait for an approval, or answer one")
        .subcommand_negates_reqs(true)
        // A flag before the subcommand would be read and not used.
        .args_conflicts_with_subcommands(true)
        .subcommand(common(answer));
    let list = clap::Command::new("list").about("List the decisions that count for later calls");
    let revoke = clap::Command::new("revoke")
        .about("End a grant")
        .arg(id("The grant, by the id that `monas grant list` lists"));
    let grant = clap::Command::new("grant")
        .about("List or end the decisions that count for later calls")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([list, revoke].map(common));
    [common(approvals), grant]
}

impl ApprovalsCommand {
    /// Reads the matches of one of [`definitions`]; `name` is `approvals` or that of its subcommand.
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
        let action = match name {
            "answer" => {
                let words = matches.get_many::<String>("decision").into_iter().flatten();
                let words: Vec<&str> = words.map(String::as_str).collect();
                Action::Answer(text("id"), words.join(" "))
            }
            "list" => Action::Grants,
            "revoke" => Action::Revoke(text("id")),
            _ => Action::List,
        };
        Self {
            action,
            options: DataOptions::read(matches, config, environment),
        }
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        self.options.require_data()?;
        let query = self.options.query().finish();
        let (method, path, body) = match &self.action {
            Action::List => (Method::GET, "approvals".to_owned(), String::new()),
            Action::Answer(id, words) => {
                let body = match words.trim_start().starts_with('{') {
                    true => words.clone(),
                    false => json!({ "answer": words }).to_string(),
                };
                (Method::POST, format!("approvals/{}", encoded(id)), body)
            }
            Action::Grants => (Method::GET, "grants".to_owned(), String::new()),
            Action::Revoke(id) => {
                let path = format!("grants/{}", encoded(id));
                (Method::DELETE, path, String::new())
            }
        };
        let backend = Backend::open(&self.options).await?;
        let path = format!("/api/{path}?{query}");
        let reply = backend.text(method, &path, body).await;
        let lines = reply.and_then(|reply| match self.options.json {
            true => Ok(vec![reply]),
            false => self.show(&backend, &reply),
        });
        backend.close().await;
        lines?.iter().all(|line| say(line));
        Ok(())
    }

    fn show(&self, backend: &Backend, reply: &str) -> Result<Vec<String>, Error> {
        Ok(match &self.action {
            Action::List => {
                let waiting: WaitingApprovals = backend.parse(reply)?;
                match waiting.approvals.is_empty() {
                    true => vec!["no call waits for an approval".to_owned()],
                    false => waiting.approvals.iter().flat_map(approval).collect(),
                }
            }
            Action::Answer(..) => {
                let answered: Answered = backend.parse(reply)?;
                vec![format!("answered, see task {}", answered.task)]
            }
            Action::Grants => {
                let listed: GrantList = backend.parse(reply)?;
                match listed.grants.is_empty() {
                    true => vec!["no grants".to_owned()],
                    false => listed.grants.iter().map(grant).collect(),
                }
            }
            Action::Revoke(_) => vec!["revoked".to_owned()],
        })
    }
}

/// An id as part of a path.
fn encoded(id: &str) -> String {
    form_urlencoded::byte_serialize(id.as_bytes()).collect()
}

fn approval(it: &WaitingApproval) -> Vec<String> {
    let mut lines = vec![
        format!(
            "{} {} for {}, task {}",
            it.id,
            it.skill,
            visible(&it.by),
            it.task
        ),
        format!("  {}", visible(&it.input.to_string())),
    ];
    lines.extend(it.notes.iter().map(|note| format!("  {}", visible(note))));
    lines
}

fn grant(it: &ListedGrant) -> String {
    let place = match (&it.conversation, &it.field, &it.prefix) {
        (Some(conversation), ..) => format!("in the conversation {conversation}"),
        (None, Some(field), Some(prefix)) => format!("where {field} begins with {prefix:?}"),
        _ => "everywhere".to_owned(),
    };
    let by = visible(&it.by);
    format!("{} {} for {by}, {}", it.id, it.skill, visible(&place))
}
