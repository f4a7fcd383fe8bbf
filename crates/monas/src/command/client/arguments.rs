//! The commands, and what is asked for by them.

use clap::builder::PathBufValueParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};

use super::flags::{self, Options, Secret};
use crate::command::send::{Hearing, Sending};
use crate::command::task::{Download, Listing, PushAction, TaskAction};

/// What is asked of an agent, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) options: Options,
    /// What to do.
    pub(crate) action: Action,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The agent's card.
    Card,
    /// To say something.
    Send(Box<Sending>),
    /// Something about a task.
    Task(TaskAction),
    /// A conversation.
    Chat {
        /// The conversation to go on with.
        context: Option<String>,
    },
    /// What is set.
    Config,
}

/// The commands that call an agent.
pub(crate) fn commands() -> Vec<Command> {
    let calling = |command: Command| command.args(flags::arguments());
    vec![
        group(
            "card",
            "What an agent says about itself, and the key that signs it",
        )
        .subcommand(calling(
            Command::new("get").about("Show the card of an agent"),
        ))
        .subcommands(crate::serve::signing::definitions()),
        calling(send()),
        task(),
        calling(
            Command::new("chat")
                .about("Talk with an agent, line by line")
                .arg(option("context-id", "ID", "The conversation to go on with")),
        ),
        group("config", "How agents are called").subcommand(calling(
            Command::new("show").about("Show what is set, and where; secrets are not shown"),
        )),
    ]
}

fn group(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .subcommand_required(true)
        .arg_required_else_help(true)
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn many(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    option(name, value, help).action(ArgAction::Append)
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::SetTrue)
}

fn id() -> Arg {
    Arg::new("id")
        .value_name("TASK")
        .required(true)
        .help("The task, by its id")
}

fn send() -> Command {
    Command::new("send")
        .about("Say something to an agent")
        .long_about(
            "Sends a message and prints the answer: a message, or the task that the agent made of it. The \
             exit code tells whether the call succeeded, not whether the task did.",
        )
        .arg(Arg::new("text").value_name("TEXT").num_args(0..).help("What to say; - reads standard input"))
        .args([
            many("file", "PATH|URL", "A file to send along, or where one is"),
            many("data", "JSON|@FILE", "JSON to send along"),
            option("task-id", "ID", "The task to go on with"),
            option("context-id", "ID", "The conversation to go on with"),
            option("message-id", "ID", "The id of the message; the same one again gets the same answer"),
            option("metadata", "JSON", "Whatever else belongs to the request: an object"),
            option("history-length", "N", "How many messages of its history a task is shown with")
                .value_parser(value_parser!(i32)),
            switch("stream", "Print what happens as it happens"),
            switch("wait", "Wait until the task has ended, looking now and then"),
            switch("async", "Do not wait: print the task as soon as there is one"),
        ])
        .group(ArgGroup::new("hearing").args(["stream", "wait", "async"]))
}

fn task() -> Command {
    let calling = |command: Command| command.args(flags::arguments());
    let hook = || {
        Arg::new("config-id")
            .value_name("ID")
            .required(true)
            .help("The webhook, by its id")
    };
    group("task", "Look at tasks, end them, take what they made")
        .subcommand(calling(
            Command::new("get").about("Show a task").arg(id()).arg(
                option("history-length", "N", "How many messages of its history")
                    .value_parser(value_parser!(i32)),
            ),
        ))
        .subcommand(calling(
            Command::new("list")
                .about("Show tasks, those that changed last first")
                .args([
                    option("context-id", "ID", "Only those of this conversation"),
                    option(
                        "status",
                        "STATE",
                        "Only those in this state, such as working",
                    ),
                    option("page-size", "N", "How many at once, from 1 to 100")
                        .value_parser(value_parser!(i32)),
                    option("page-token", "TOKEN", "Where the page before ended"),
                ]),
        ))
        .subcommand(calling(
            Command::new("cancel").about("End a task").arg(id()),
        ))
        .subcommand(calling(
            Command::new("subscribe")
                .about("Print what happens to a task as it happens")
                .arg(id()),
        ))
        .subcommand(calling(
            Command::new("download")
                .about("Write what a task made into files")
                .arg(id())
                .args([
                    option("artifact", "ID", "Only this artifact"),
                    option("out", "DIR", "The folder to write to")
                        .default_value(".")
                        .value_parser(PathBufValueParser::new()),
                    switch("force", "Replace files that are there"),
                ]),
        ))
        .subcommand(
            group("push-config", "The webhooks of a task")
                .subcommand(calling(
                    Command::new("set")
                        .about("Have what happens posted to an address")
                        .arg(id())
                        .args([
                            option("url", "URL", "The address").required(true),
                            option("config-id", "ID", "The id of the webhook"),
                            option("token", "TOKEN", "What the receiver knows the agent by"),
                            option(
                                "auth-scheme",
                                "SCHEME",
                                "How the agent says who it is, such as Bearer",
                            )
                            .requires("auth-credentials"),
                            option("auth-credentials", "TEXT", "The credentials for that")
                                .requires("auth-scheme"),
                        ]),
                ))
                .subcommand(calling(
                    Command::new("get")
                        .about("Show a webhook")
                        .arg(id())
                        .arg(hook()),
                ))
                .subcommand(calling(
                    Command::new("list").about("Show all webhooks").arg(id()),
                ))
                .subcommand(calling(
                    Command::new("delete")
                        .about("End a webhook")
                        .arg(id())
                        .arg(hook()),
                )),
        )
}

/// What was asked for; nothing if the command is none of these.
pub(crate) fn read(
    name: &str,
    matches: &ArgMatches,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Request>, clap::Error> {
    let text = |matches: &ArgMatches, name: &str| matches.get_one::<String>(name).cloned();
    let (action, matches) = match (name, matches.subcommand()) {
        ("card", Some(("get", matches))) => (Action::Card, matches),
        ("config", Some(("show", matches))) => (Action::Config, matches),
        ("chat", _) => {
            let context = text(matches, "context-id");
            (Action::Chat { context }, matches)
        }
        ("send", _) => (Action::Send(Box::new(sending(matches))), matches),
        ("task", Some((name, matches))) => {
            let (action, matches) = about_task(name, matches);
            (Action::Task(action), matches)
        }
        _ => return Ok(None),
    };
    let options = Options::read(matches, environment)?;
    Ok(Some(Request { options, action }))
}

fn sending(matches: &ArgMatches) -> Sending {
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
    let hearing = match ["stream", "wait", "async"].map(|name| matches.get_flag(name)) {
        [true, ..] => Hearing::Stream,
        [_, true, _] => Hearing::Wait,
        [.., true] => Hearing::Async,
        _ => Hearing::Answer,
    };
    Sending {
        text: (!words.is_empty()).then(|| words.join(" ")),
        files: texts("file"),
        data: texts("data"),
        task: text("task-id"),
        context: text("context-id"),
        metadata: text("metadata"),
        message_id: text("message-id"),
        history: matches.get_one("history-length").copied(),
        hearing,
    }
}

fn about_task<'a>(name: &str, matches: &'a ArgMatches) -> (TaskAction, &'a ArgMatches) {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let action = match name {
        "list" => TaskAction::List(Listing {
            context: text("context-id"),
            status: text("status"),
            size: matches.get_one("page-size").copied(),
            token: text("page-token"),
        }),
        "push-config" => {
            let Some((name, matches)) = matches.subcommand() else {
                return (TaskAction::List(Listing::default()), matches);
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
            return (TaskAction::Push(task, action), matches);
        }
        name => {
            let id = text("id").unwrap_or_default();
            match name {
                "cancel" => TaskAction::Cancel(id),
                "subscribe" => TaskAction::Subscribe(id),
                "download" => TaskAction::Download(Download {
                    id,
                    artifact: text("artifact"),
                    folder: matches.get_one("out").cloned().unwrap_or_default(),
                    replace: matches.get_flag("force"),
                }),
                _ => TaskAction::Get {
                    id,
                    history: matches.get_one("history-length").copied(),
                },
            }
        }
    };
    (action, matches)
}
