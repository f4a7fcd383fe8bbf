//! `monas task`: shows, lists, cancels and follows tasks, downloads artifacts, and manages webhooks.

use std::fmt::Write as _;
use std::path::PathBuf;

use a2a::client::Client;
use a2a::types::{
    AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Role, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
};
use clap::builder::PathBufValueParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;

use super::client::arguments::{calling, group, option, switch};
use super::client::failure::Failure;
use super::client::files;
use super::client::flags::{Options, Secret};
use super::client::print::{self, Printer};
use super::send::{self, FAIL_HELP};

/// A command about tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskAction {
    Get {
        id: String,
        /// How many messages of its history to return.
        history: Option<i32>,
        /// Whether a task that did not complete is a failure of the command.
        fail: bool,
    },
    List(Listing),
    Cancel(String),
    Subscribe {
        id: String,
        /// Whether a task that does not complete is a failure of the command.
        fail: bool,
    },
    Download(Download),
    Push(String, PushAction),
}

/// The filter and page of a list of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(super) context: Option<String>,
    pub(super) status: Option<String>,
    pub(super) size: Option<i32>,
    pub(super) token: Option<String>,
}

/// The artifacts to download, and the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Download {
    pub(super) id: String,
    pub(super) artifact: Option<String>,
    pub(super) folder: PathBuf,
    pub(super) replace: bool,
}

/// A command about the webhooks of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PushAction {
    Set {
        url: String,
        id: Option<String>,
        /// A token by which the receiver recognises the agent.
        token: Option<Secret>,
        /// Scheme and credentials for the receiver.
        authentication: Option<(String, Secret)>,
    },
    Get(String),
    List,
    Delete(String),
}

impl TaskAction {
    /// Reads the subcommand `name`; gives the matches that hold its flags, too.
    pub(super) fn read<'a>(name: &str, matches: &'a ArgMatches) -> (Self, &'a ArgMatches) {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let action = match name {
            "list" => Self::List(Listing {
                context: text("context-id"),
                status: text("status"),
                size: matches.get_one("page-size").copied(),
                token: text("page-token"),
            }),
            "push-config" => {
                let Some((name, matches)) = matches.subcommand() else {
                    return (Self::List(Listing::default()), matches);
                };
                let text = |name: &str| matches.get_one::<String>(name).cloned();
                let config = || text("config-id").unwrap_or_default();
                let action = match name {
                    "set" => PushAction::Set {
                        url: text("url").unwrap_or_default(),
                        id: text("config-id"),
                        token: text("token").map(Secret::new),
                        authentication: text("auth-scheme")
                            .zip(text("auth-credentials").map(Secret::new)),
                    },
                    "get" => PushAction::Get(config()),
                    "delete" => PushAction::Delete(config()),
                    _ => PushAction::List,
                };
                let task = text("id").unwrap_or_default();
                return (Self::Push(task, action), matches);
            }
            name => {
                let id = text("id").unwrap_or_default();
                match name {
                    "cancel" => Self::Cancel(id),
                    "subscribe" => Self::Subscribe {
                        id,
                        fail: matches.get_flag("fail"),
                    },
                    "download" => Self::Download(Download {
                        id,
                        artifact: text("artifact"),
                        folder: matches.get_one("out").cloned().unwrap_or_default(),
                        replace: matches.get_flag("force"),
                    }),
                    _ => Self::Get {
                        id,
                        history: matches.get_one("history-length").copied(),
                        fail: matches.get_flag("fail"),
                    },
                }
            }
        };
        (action, matches)
    }
}

fn id() -> Arg {
    Arg::new("id")
        .value_name("TASK")
        .required(true)
        .help("The task, by its id")
}

/// The command line of `monas task`.
pub(super) fn definition() -> Command {
    let hook = || {
        Arg::new("config-id")
            .value_name("ID")
            .required(true)
            .help("The webhook, by its id")
    };
    group(
        "task",
        "Show, list, cancel and follow tasks; download artifacts",
    )
    .subcommand(calling(
        Command::new("get")
            .about("Show a task: how it stands, what it says and what it has made")
            .after_help("monas task get ID --history-length 10")
            .arg(id())
            .arg(
                option(
                    "history-length",
                    "N",
                    "How many messages of its history to return",
                )
                .value_parser(value_parser!(i32)),
            )
            .arg(switch("fail", FAIL_HELP)),
    ))
    .subcommand(calling(
        Command::new("list")
            .about("List tasks, the last changed first: how they stand, since when, and what they are about")
            .after_help("monas task list --status input-required")
            .args([
                option("context-id", "ID", "Only tasks of this conversation"),
                option(
                    "status",
                    "STATE",
                    "Only tasks in this state, such as working",
                ),
                option("page-size", "N", "How many, from 1 to 100")
                    .value_parser(value_parser!(i32)),
                option(
                    "page-token",
                    "TOKEN",
                    "The token of the next page, from the page before",
                ),
            ]),
    ))
    .subcommand(calling(
        Command::new("cancel")
            .about("Cancel a task")
            .after_help("monas task cancel ID")
            .arg(id()),
    ))
    .subcommand(calling(
        Command::new("subscribe")
            .about("Print the events of a task as they happen")
            .after_help("monas task subscribe ID --fail")
            .arg(id())
            .arg(switch("fail", FAIL_HELP)),
    ))
    .subcommand(calling(
        Command::new("download")
            .about("Write the artifacts of a task into files")
            .after_help("monas task download ID --out results")
            .arg(id())
            .args([
                option("artifact", "ID", "Only this artifact"),
                option("out", "DIR", "The folder to write to")
                    .default_value(".")
                    .value_parser(PathBufValueParser::new()),
                switch("force", "Replace existing files"),
            ]),
    ))
    .subcommand(
        group("push-config", "Manage the webhooks of a task")
            .subcommand(calling(
                Command::new("set")
                    .about("Have the events of a task posted to a URL")
                    .after_help("monas task push-config set ID --url https://example.com/hook")
                    .arg(id())
                    .args([
                        option("url", "URL", "The URL").required(true),
                        option("config-id", "ID", "The id of the webhook"),
                        option(
                            "token",
                            "TOKEN",
                            "A token by which the receiver recognises the agent",
                        ),
                        option(
                            "auth-scheme",
                            "SCHEME",
                            "The authentication scheme, such as Bearer",
                        )
                        .requires("auth-credentials"),
                        option("auth-credentials", "TEXT", "The credentials of that scheme")
                            .requires("auth-scheme"),
                    ]),
            ))
            .subcommand(calling(
                Command::new("get")
                    .about("Show a webhook")
                    .after_help("monas task push-config get ID WEBHOOK")
                    .arg(id())
                    .arg(hook()),
            ))
            .subcommand(calling(
                Command::new("list")
                    .about("List all webhooks")
                    .after_help("monas task push-config list ID")
                    .arg(id()),
            ))
            .subcommand(calling(
                Command::new("delete")
                    .about("Delete a webhook")
                    .after_help("monas task push-config delete ID WEBHOOK")
                    .arg(id())
                    .arg(hook()),
            )),
    )
}

pub(super) async fn perform(
    options: &Options,
    action: &TaskAction,
    printer: &Printer,
) -> Result<(), Failure> {
    let client = options.connect().await?;
    match action {
        TaskAction::Get { id, history, fail } => {
            let request = GetTaskRequest {
                id: id.clone(),
                history_length: *history,
                ..GetTaskRequest::default()
            };
            let task = client.get_task(request).await?;
            printer.reply(&task, print::task);
            let state = task.state();
            send::check(Some((task.id, state)), *fail)?;
        }
        TaskAction::List(listing) => list(&client, listing, printer).await?,
        TaskAction::Cancel(id) => {
            let request = CancelTaskRequest {
                id: id.clone(),
                ..CancelTaskRequest::default()
            };
            printer.reply(&client.cancel_task(request).await?, print::task);
        }
        TaskAction::Subscribe { id, fail } => {
            let request = SubscribeToTaskRequest {
                id: id.clone(),
                ..SubscribeToTaskRequest::default()
            };
            let events = client.subscribe_to_task(request).await?;
            send::check(send::follow(events, printer).await?, *fail)?;
        }
        TaskAction::Download(download) => fetch(&client, download, printer).await?,
        TaskAction::Push(task, action) => push(&client, task, action, printer).await?,
    }
    Ok(())
}

async fn list(client: &Client, listing: &Listing, printer: &Printer) -> Result<(), Failure> {
    let status = match &listing.status {
        None => TaskState::Unspecified,
        Some(word) => {
            let name = word.to_ascii_uppercase().replace('-', "_");
            let name = name.trim_start_matches("TASK_STATE_");
            let state = TaskState::named(&format!("TASK_STATE_{name}"));
            state.ok_or_else(|| Failure::Usage(unknown_state(word)))?
        }
    };
    let request = ListTasksRequest {
        context_id: listing.context.clone().unwrap_or_default(),
        status,
        page_size: listing.size,
        page_token: listing.token.clone().unwrap_or_default(),
        // As text, a task is shown by what was asked first.
        history_length: printer.is_text().then_some(MESSAGES),
        ..ListTasksRequest::default()
    };
    let page = client.list_tasks(request).await?;
    if printer.is_text() {
        print::note(&format!("tasks of {}", client.card().name));
    }
    printer.reply(&page, |page| {
        let mut text = String::new();
        for task in &page.tasks {
            let _ = writeln!(text, "{}", listed(task));
        }
        if page.tasks.is_empty() {
            text.push_str("no tasks\n");
        }
        if !page.next_page_token.is_empty() {
            let _ = writeln!(text, "more: --page-token {}", page.next_page_token);
        }
        text
    });
    Ok(())
}

/// How many messages of each task are fetched to find the one that began it, and how much of it is shown.
const MESSAGES: i32 = 50;
const WORDS: usize = 60;

/// A task in a line: its state, since when, its id and conversation, and the first words of its first message.
fn listed(task: &Task) -> String {
    let status = task.status.as_ref();
    let since = status.and_then(|status| status.timestamp.as_ref());
    let since = since.map(|at| at.to_string().chars().take(19).collect::<String>());
    let asked = task.history.iter().find(|it| it.role == Role::User);
    let asked = asked.map(print::message).unwrap_or_default();
    let asked = asked.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words: String = asked.chars().take(WORDS).collect();
    if words.len() < asked.len() {
        words.push('…');
    }
    format!(
        "{:<14} {:<19} task {} context {}  {words}",
        print::word(task.state()),
        since.unwrap_or_default(),
        task.id,
        task.context_id
    )
}

/// The error for a word that is no state, with the states that there are.
fn unknown_state(word: &str) -> String {
    let states = [
        TaskState::Submitted,
        TaskState::Working,
        TaskState::InputRequired,
        TaskState::AuthRequired,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::Rejected,
    ];
    let states = states.map(print::word).join(", ");
    format!("{word:?} is not a state of a task; there are {states}")
}

async fn fetch(client: &Client, download: &Download, printer: &Printer) -> Result<(), Failure> {
    let request = GetTaskRequest {
        id: download.id.clone(),
        ..GetTaskRequest::default()
    };
    let task = client.get_task(request).await?;
    let wanted = download.artifact.as_deref();
    let is_wanted = |id: &str| wanted.is_none_or(|wanted| wanted == id);
    let made = task.artifacts.iter();
    let made: Vec<_> = made.filter(|it| is_wanted(&it.artifact_id)).collect();
    if made.is_empty() {
        let why = match wanted {
            Some(artifact) => format!("task {} has no artifact {artifact:?}", task.id),
            None => format!("task {} has no artifacts", task.id),
        };
        return Err(Failure::Usage(why));
    }
    let mut written = Vec::new();
    let mut text = String::new();
    for file in made.into_iter().flat_map(files::of) {
        let path = files::write(&download.folder, &file, download.replace)?;
        let _ = writeln!(text, "{} ({} bytes)", path.display(), file.bytes.len());
        written.push(json!({ "path": path, "bytes": file.bytes.len() }));
    }
    printer.value(&json!({ "files": written }), &text);
    Ok(())
}

async fn push(
    client: &Client,
    task: &str,
    action: &PushAction,
    printer: &Printer,
) -> Result<(), Failure> {
    let task_id = task.to_owned();
    let line = |it: &TaskPushNotificationConfig| format!("{} {}", it.id, it.url);
    match action {
        PushAction::Set {
            url,
            id,
            token,
            authentication,
        } => {
            let authentication =
                authentication
                    .as_ref()
                    .map(|(scheme, credentials)| AuthenticationInfo {
                        scheme: scheme.clone(),
                        credentials: credentials.reveal().to_owned(),
                    });
            let request = TaskPushNotificationConfig {
                task_id,
                url: url.clone(),
                id: id.clone().unwrap_or_default(),
                token: token
                    .as_ref()
                    .map(Secret::reveal)
                    .unwrap_or_default()
                    .to_owned(),
                authentication,
                ..TaskPushNotificationConfig::default()
            };
            let made = client.create_push_config(request).await?;
            printer.reply(&redacted(made), line);
        }
        PushAction::Get(id) => {
            let request = GetTaskPushNotificationConfigRequest {
                task_id,
                id: id.clone(),
                ..GetTaskPushNotificationConfigRequest::default()
            };
            printer.reply(&redacted(client.get_push_config(request).await?), line);
        }
        PushAction::List => {
            let request = ListTaskPushNotificationConfigsRequest {
                task_id,
                ..ListTaskPushNotificationConfigsRequest::default()
            };
            let mut page = client.list_push_configs(request).await?;
            page.configs = page.configs.into_iter().map(redacted).collect();
            printer.reply(&page, |page| {
                let lines: Vec<_> = page.configs.iter().map(line).collect();
                if lines.is_empty() {
                    "no webhooks".to_owned()
                } else {
                    lines.join("\n")
                }
            });
        }
        PushAction::Delete(id) => {
            let request = DeleteTaskPushNotificationConfigRequest {
                task_id,
                id: id.clone(),
                ..DeleteTaskPushNotificationConfigRequest::default()
            };
            let gone = client.delete_push_config(request).await?;
            printer.reply(&gone, |_| format!("{id} is gone"));
        }
    }
    Ok(())
}

/// A webhook as text, without its secrets.
fn redacted(mut config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    const HIDDEN: &str = "(not shown)";
    if !config.token.is_empty() {
        config.token = HIDDEN.to_owned();
    }
    if let Some(authentication) = &mut config.authentication
        && !authentication.credentials.is_empty()
    {
        authentication.credentials = HIDDEN.to_owned();
    }
    config
}
