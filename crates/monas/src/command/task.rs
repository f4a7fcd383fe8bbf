//! `task`: looks at tasks, ends them, takes what they made.

use std::fmt::Write as _;
use std::path::PathBuf;

use a2a::client::Client;
use a2a::types::{
    AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState,
};
use futures_util::StreamExt as _;
use serde_json::json;

use super::client::failure::Failure;
use super::client::files;
use super::client::flags::{Options, Secret};
use super::client::print::{self, Printer};

/// What to do with a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskAction {
    /// Show it.
    Get {
        /// Which one.
        id: String,
        /// How many messages of its history.
        history: Option<i32>,
    },
    /// Show many.
    List(Listing),
    /// End it.
    Cancel(String),
    /// Show what happens to it.
    Subscribe(String),
    /// Write what it made into files.
    Download(Download),
    /// Its webhooks.
    Push(String, PushAction),
}

/// Which tasks to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(super) context: Option<String>,
    pub(super) status: Option<String>,
    pub(super) size: Option<i32>,
    pub(super) token: Option<String>,
}

/// What to write, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Download {
    pub(super) id: String,
    pub(super) artifact: Option<String>,
    pub(super) folder: PathBuf,
    pub(super) replace: bool,
}

/// What to do with webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PushAction {
    /// Make one.
    Set {
        /// Where it is.
        url: String,
        /// Its id.
        id: Option<String>,
        /// What it is told to know us by.
        token: Option<Secret>,
        /// How we say who we are: scheme and credentials.
        authentication: Option<(String, Secret)>,
    },
    /// Show one.
    Get(String),
    /// Show all.
    List,
    /// End one.
    Delete(String),
}

pub(super) async fn perform(
    options: &Options,
    action: &TaskAction,
    printer: &Printer,
) -> Result<(), Failure> {
    let client = options.connect().await?;
    match action {
        TaskAction::Get { id, history } => {
            let request = GetTaskRequest {
                id: id.clone(),
                history_length: *history,
                ..GetTaskRequest::default()
            };
            printer.reply(&client.get_task(request).await?, print::task);
        }
        TaskAction::List(listing) => list(&client, listing, printer).await?,
        TaskAction::Cancel(id) => {
            let request = CancelTaskRequest {
                id: id.clone(),
                ..CancelTaskRequest::default()
            };
            printer.reply(&client.cancel_task(request).await?, print::task);
        }
        TaskAction::Subscribe(id) => {
            let request = SubscribeToTaskRequest {
                id: id.clone(),
                ..SubscribeToTaskRequest::default()
            };
            let mut events = client.subscribe_to_task(request).await?;
            while let Some(event) = events.next().await {
                printer.event(&event?);
            }
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
            state.ok_or_else(|| Failure::Usage(format!("{word:?} is no state of a task")))?
        }
    };
    let request = ListTasksRequest {
        context_id: listing.context.clone().unwrap_or_default(),
        status,
        page_size: listing.size,
        page_token: listing.token.clone().unwrap_or_default(),
        ..ListTasksRequest::default()
    };
    let page = client.list_tasks(request).await?;
    printer.reply(&page, |page| {
        let mut text = String::new();
        for task in &page.tasks {
            let _ = writeln!(text, "{}", print::headline(task));
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
            None => format!("task {} has made nothing", task.id),
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

/// A webhook without its secrets.
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
