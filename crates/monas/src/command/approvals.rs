//! `monas approvals` and `monas grant`: the calls that wait for a person, answers to them, and the decisions that count for
//! later calls. Requests go to `/api/approvals` and `/api/grants`.

use axum::http::Method;
use clap::{Arg, ArgMatches};
use serde_json::json;
use skill::visible;
use workspace::api::reply::{
    Answered, GrantList, ListedGrant, WaitingApproval, WaitingApprovals, WaitingQuestion,
};

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about approvals or grants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApprovalsCommand {
    action: Action,
    pub(crate) options: DataOptions,
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
        .about("Answer a call or a question that waits")
        .after_help(
            "monas approvals answer ID yes\nmonas approvals answer ID no, use another folder",
        )
        .arg(id(
            "The approval or question, by the id that `monas approvals` lists",
        ))
        .arg(
            Arg::new("decision")
                .value_name("DECISION")
                .required(true)
                .num_args(1..)
                .help("yes; no and a reason; session; modify and another input; or a JSON object"),
        );
    let approvals = clap::Command::new("approvals")
        .about("List the calls and questions that wait for a person, or answer one")
        .after_help("monas approvals\nmonas approvals answer ID yes")
        .subcommand_negates_reqs(true)
        // A flag before the subcommand would be read and not used.
        .args_conflicts_with_subcommands(true)
        .subcommand(common(answer));
    let list = clap::Command::new("list")
        .about("List the decisions that count for later calls")
        .after_help("monas grant list --for scout");
    let revoke = clap::Command::new("revoke")
        .about("End a grant")
        .after_help("monas grant revoke ID")
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
    ) -> Result<Self, clap::Error> {
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
        Ok(Self {
            action,
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
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
        let path = format!("/api/{path}?{query}");
        let lines = async |backend: &Backend| {
            let reply = backend.text(method, &path, body).await?;
            match self.options.json {
                true => Ok(vec![reply]),
                false => self.show(backend, &reply),
            }
        };
        self.options.print(say, lines).await
    }

    fn show(&self, backend: &Backend, reply: &str) -> Result<Vec<String>, Error> {
        Ok(match &self.action {
            Action::List => {
                let waiting: WaitingApprovals = backend.parse(reply)?;
                let approvals = waiting.approvals.iter().flat_map(approval);
                let lines = approvals.chain(waiting.questions.iter().flat_map(question));
                let lines: Vec<String> = lines.collect();
                match lines.is_empty() {
                    true => vec!["nothing waits for an answer".to_owned()],
                    false => lines,
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
    // What is agreed to is what is seen.
    let preview = it.preview.iter().flat_map(|it| it.lines());
    lines.extend(preview.map(|line| format!("  | {}", visible(line))));
    lines
}

fn question(it: &WaitingQuestion) -> Vec<String> {
    let head = format!(
        "{} question for {}, task {}",
        it.id,
        visible(&it.by),
        it.task
    );
    let lines = it
        .question
        .lines()
        .map(|line| format!("  {}", visible(line)));
    std::iter::once(head).chain(lines).collect()
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
