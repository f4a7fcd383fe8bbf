//! `monas send`: sends a message to an agent.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use a2a::client::{Client, Events};
use a2a::types::{
    Answer, Event as Payload, GetTaskRequest, ListTasksRequest, Message, Part, Role,
    SendMessageConfiguration, SendMessageRequest, Struct, Task, TaskState,
};
use clap::{Arg, ArgGroup, ArgMatches, Command, value_parser};
use futures_util::StreamExt as _;
use skill::extension;
use tokio::time::{interval, sleep, timeout};

use super::client::arguments::{calling, many, option, switch};
use super::client::failure::Failure;
use super::client::files;
use super::client::flags::Options;
use super::client::print::{self, Manner, Printer};

/// The message, and when the command ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sending {
    /// The text; `-` is standard input.
    pub(super) text: Option<String>,
    pub(super) files: Vec<String>,
    pub(super) data: Vec<String>,
    pub(super) task: Option<String>,
    pub(super) context: Option<String>,
    pub(super) metadata: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) message_id: Option<String>,
    pub(super) history: Option<i32>,
    pub(super) reply: ReplyMode,
    /// Whether a task that does not complete is a failure of the command.
    pub(super) fail: bool,
}

/// When the command ends, and what it prints until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyMode {
    /// With the answer of the agent.
    Answer,
    /// With the end of the event stream, which it prints.
    Stream,
    /// With the end of the task, which it polls.
    Wait,
    /// As soon as the task exists.
    Async,
}

impl Sending {
    /// Reads the matches of [`definition`].
    pub(super) fn read(matches: &ArgMatches) -> Self {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let texts = |name: &str| -> Vec<String> {
            matches
                .get_many(name)
                .into_iter()
                .flatten()
                .cloned()
                .collect()
        };
        let words = texts("text");
        let reply = match ["stream", "wait", "async"].map(|name| matches.get_flag(name)) {
            [true, ..] => ReplyMode::Stream,
            [_, true, _] => ReplyMode::Wait,
            [.., true] => ReplyMode::Async,
            _ => ReplyMode::Answer,
        };
        Self {
            text: (!words.is_empty()).then(|| words.join(" ")),
            files: texts("file"),
            data: texts("data"),
            task: text("task-id"),
            context: text("context-id"),
            metadata: text("metadata"),
            mode: text("mode"),
            message_id: text("message-id"),
            history: matches.get_one("history-length").copied(),
            reply,
            fail: matches.get_flag("fail"),
        }
    }
}

/// The command line of `monas send`.
pub(super) fn definition() -> Command {
    let command = Command::new("send")
        .about("Send a message to an agent")
        .long_about(
            "Sends a message and prints the answer on standard output: a message, or what the task that the agent began has \
             made. The exit code tells whether the call succeeded, with --fail also whether the task did.",
        )
        .after_help(
            "monas send 'what can you do?'\n\
             monas send --fail 'check the build' && deploy\n\
             monas send --task-id ID yes",
        )
        .arg(Arg::new("text").value_name("TEXT").num_args(0..).help("The text; - reads standard input"))
        .args([
            many("file", "PATH|URL", "A file to attach, or the URL of one"),
            many("data", "JSON|@FILE", "JSON to attach"),
            option("task-id", "ID", "The task to continue"),
            option("context-id", "ID", "The conversation to continue"),
            option("message-id", "ID", "The id of the message; sent again, it gets the same answer"),
            option("metadata", "JSON", "Metadata of the request, an object"),
            option("mode", "NAME", MODE_HELP),
            option("history-length", "N", "How many messages of the task's history to return")
                .value_parser(value_parser!(i32)),
            switch("stream", "Print events as they happen"),
            switch("wait", "Wait until the task has ended, by polling"),
            switch("async", "Do not wait; print the task as soon as it exists"),
            switch("fail", FAIL_HELP),
        ])
        .group(ArgGroup::new("reply").args(["stream", "wait", "async"]));
    calling(command)
}

pub(super) async fn send(
    options: &Options,
    sending: &Sending,
    printer: &Printer,
) -> Result<(), Failure> {
    let request = request(sending)?;
    let client = options.connect().await?;
    if sending.reply == ReplyMode::Stream {
        let events = client.send_streaming_message(request).await?;
        let ended = follow(events, printer).await?;
        return check(ended, sending.fail);
    }
    let begun = Instant::now();
    let message = request.message.as_ref();
    let message = message.map(|it| it.message_id.clone()).unwrap_or_default();
    let answering = client.send_message(request);
    let mut answer = match shown(answering, printer).await {
        // The task goes on without this command: its id is what the user needs now.
        Err(late @ a2a::client::Error::Late(_)) => {
            let task = task_of(&client, &message).await;
            return Err(task.map_or_else(|| late.into(), Failure::Waiting));
        }
        answer => answer?,
    };
    if sending.reply == ReplyMode::Wait
        && let Answer::Task(task) = answer.payload
    {
        let left = options.timeout.saturating_sub(begun.elapsed());
        let task = wait(&client, task, options.poll, left, printer).await?;
        answer = task.into();
    }
    printer.answer(&answer);
    let Answer::Task(task) = answer.payload else {
        return Ok(());
    };
    let state = task.state();
    if state == TaskState::InputRequired && !sending.fail {
        let id = &task.id;
        print::note(&format!("answer with: monas send --task-id {id} ANSWER"));
    }
    let waits = sending.reply == ReplyMode::Async;
    check(Some((task.id, state)), sending.fail && !waits)
}

/// The help of `--fail`.
pub(super) const FAIL_HELP: &str =
    "Exit with code 6 if the task fails, is rejected or canceled, or waits for an answer";

/// The last state of a task, by its id.
pub(super) type Ended = Option<(String, TaskState)>;

/// Prints the events of a stream; gives how its task stands at the end.
pub(super) async fn follow(mut events: Events, printer: &Printer) -> Result<Ended, Failure> {
    let mut shown = printer.follow(Manner::Stream);
    let mut ended = None;
    while let Some(event) = events.next().await {
        let event = event?;
        shown.event(&event);
        ended = match &event.response().payload {
            Payload::Task(task) => Some((task.id.clone(), task.state())),
            Payload::StatusUpdate(update) => {
                let status = update.status.as_ref();
                status.map(|status| (update.task_id.clone(), status.state))
            }
            _ => ended,
        };
    }
    Ok(ended)
}

/// With `--fail`, a task that came to another end than it should is a failure.
pub(super) fn check(ended: Ended, fail: bool) -> Result<(), Failure> {
    match ended {
        Some((id, state)) if fail && state != TaskState::Completed => {
            Err(Failure::Unfinished { id, state })
        }
        _ => Ok(()),
    }
}

/// How long to look for the task of a message that was not answered in time, and among how many tasks and messages.
const LOOK: Duration = Duration::from_secs(5);
const TASKS: i32 = 10;
const MESSAGES: i32 = 10;

/// The id of the task that a message belongs to, among the tasks that changed last.
async fn task_of(client: &Client, message: &str) -> Option<String> {
    let request = ListTasksRequest {
        page_size: Some(TASKS),
        history_length: Some(MESSAGES),
        ..ListTasksRequest::default()
    };
    let listed = timeout(LOOK, client.list_tasks(request)).await.ok()?.ok()?;
    let mut tasks = listed.tasks.into_iter();
    let task = tasks.find(|task| task.history.iter().any(|it| it.message_id == message));
    task.map(|task| task.id)
}

/// Polls a task until it has ended or needs input.
async fn wait(
    client: &Client,
    mut task: Task,
    poll: Duration,
    left: Duration,
    printer: &Printer,
) -> Result<Task, Failure> {
    let id = task.id.clone();
    let waiting = async {
        while !is_over(&task) {
            sleep(poll).await;
            let request = GetTaskRequest {
                id: task.id.clone(),
                ..GetTaskRequest::default()
            };
            task = client.get_task(request).await?;
        }
        Ok(task)
    };
    match timeout(left, shown(waiting, printer)).await {
        Ok(task) => task,
        Err(_) => Err(Failure::Waiting(id)),
    }
}

fn is_over(task: &Task) -> bool {
    task.is_settled()
}

/// Waits, and shows the seconds on a terminal.
async fn shown<T>(waiting: impl Future<Output = T>, printer: &Printer) -> T {
    if !printer.is_watched() {
        return waiting.await;
    }
    let begun = Instant::now();
    let mut ticks = interval(Duration::from_millis(500));
    tokio::pin!(waiting);
    loop {
        tokio::select! {
            done = &mut waiting => {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
                return done;
            }
            _ = ticks.tick() => {
                let seconds = begun.elapsed().as_secs();
                if seconds > 0 {
                    let _ = write!(std::io::stderr(), "\rworking, {seconds} s");
                }
            }
        }
    }
}

/// The help of `--mode`.
pub(super) const MODE_HELP: &str = "The mode of the agent, of those that its card lists";

/// The metadata of a message that names a mode.
pub(super) fn mode(name: &str) -> Struct {
    let mut metadata = Struct::default();
    metadata.insert(agent::MODE.to_owned(), name.into());
    metadata
}

fn request(sending: &Sending) -> Result<SendMessageRequest, Failure> {
    let mut parts = Vec::new();
    match sending.text.as_deref() {
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Failure::Usage(format!("standard input: {error}")))?;
            parts.push(Part::text(text));
        }
        Some(text) if !text.is_empty() => parts.push(Part::text(text)),
        _ => {}
    }
    for name in &sending.files {
        parts.push(files::part(name)?);
    }
    for text in &sending.data {
        parts.push(files::data(text)?);
    }
    if parts.is_empty() {
        let why = "nothing to send; give a text, --file or --data";
        return Err(Failure::Usage(why.to_owned()));
    }
    let metadata = match &sending.metadata {
        Some(text) => match files::json(text, "--metadata")? {
            serde_json::Value::Object(members) => Some(members.into()),
            _ => return Err(Failure::Usage("--metadata must be an object".to_owned())),
        },
        None => None,
    };
    let id = sending.message_id.clone();
    let mut message = Message {
        message_id: id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
        context_id: sending.context.clone().unwrap_or_default(),
        task_id: sending.task.clone().unwrap_or_default(),
        role: Role::User,
        parts,
        metadata: sending.mode.as_deref().map(mode),
        ..Message::default()
    };
    if sending.reply == ReplyMode::Stream {
        extension::show_calls(&mut message);
    }
    Ok(SendMessageRequest {
        configuration: Some(SendMessageConfiguration {
            return_immediately: sending.reply == ReplyMode::Async,
            history_length: sending.history,
            ..SendMessageConfiguration::default()
        }),
        metadata,
        ..message.into()
    })
}
