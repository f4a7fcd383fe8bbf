//! `monas board`: lists, reads and adds to the boards that agents share. Requests go to `/api/boards`.

use axum::http::Method;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, value_parser};
use serde_json::{Value, json};
use workspace::api::reply::{BoardLetter, BoardList, BoardPage, Posted};

use crate::command::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about boards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoardCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    List,
    Read {
        board: String,
        after: u64,
        limit: u64,
    },
    /// With the body of the request.
    Post {
        board: String,
        body: Value,
    },
}

/// The command line of `monas board`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let common = |command| DataOptions::arguments(command, settings);
    let board = || {
        Arg::new("board")
            .value_name("BOARD")
            .required(true)
            .help("The name of the board")
    };
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value(default)
            .help(help)
    };
    let list = clap::Command::new("list")
        .about("List the boards")
        .after_help("monas board list");
    let read = clap::Command::new("read")
        .about("Print the letters of a board")
        .after_help("monas board read plans --after 10")
        .arg(board())
        .args([
            number("after", "0", "Begin after this place"),
            number("limit", "50", "The most letters"),
        ]);
    let post = clap::Command::new("post")
        .about("Add a letter to a board")
        .after_help("monas board post plans 'the door is open' --confidence 0.8")
        .arg(board())
        .arg(
            Arg::new("text")
                .value_name("TEXT")
                .required(true)
                .help("The text"),
        )
        .args([
            Arg::new("kind")
                .long("kind")
                .value_parser(PossibleValuesParser::new(["claim", "proposal", "request"]))
                .default_value("claim")
                .help("What the letter is"),
            Arg::new("confidence")
                .long("confidence")
                .value_name("0..1")
                .value_parser(value_parser!(f64))
                .default_value("0.9")
                .help("How certain a claim is, from 0 to 1"),
            text("why", "WHY", "The reason of a proposal"),
            text(
                "as",
                "NAME",
                "The writer, if that is not the caller; for operators",
            ),
        ]);
    clap::Command::new("board")
        .about("List, read and add to the boards that agents share")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([list, read, post].map(common))
}

impl BoardCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or_default();
        let board = || text("board").unwrap_or_default();
        let action = match name {
            "read" => Action::Read {
                board: board(),
                after: number("after"),
                limit: number("limit"),
            },
            "post" => Action::Post {
                board: board(),
                body: letter(matches),
            },
            _ => Action::List,
        };
        Ok(Self {
            action,
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| self.lines(backend).await;
        self.options.print(say, lines).await
    }

    async fn lines(&self, backend: &Backend) -> Result<Vec<String>, Error> {
        let (method, path, body) = match &self.action {
            Action::List => (Method::GET, "/api/boards".to_owned(), String::new()),
            Action::Read {
                board,
                after,
                limit,
            } => {
                let path = format!("{}?after={after}&limit={limit}", path_of(board));
                (Method::GET, path, String::new())
            }
            Action::Post { board, body } => (Method::POST, path_of(board), body.to_string()),
        };
        let reply = backend.text(method, &path, body).await?;
        if self.options.json {
            return Ok(vec![reply]);
        }
        Ok(match &self.action {
            Action::List => backend.parse::<BoardList>(&reply)?.boards,
            Action::Read { .. } => {
                let page: BoardPage = backend.parse(&reply)?;
                page.letters.iter().map(shown).collect()
            }
            Action::Post { .. } => {
                let Posted { board, place, .. } = backend.parse(&reply)?;
                vec![format!("letter {place} of {board}")]
            }
        })
    }
}

/// The path of a board. Its name may have signs that a path must not have.
fn path_of(board: &str) -> String {
    let name: String = form_urlencoded::byte_serialize(board.as_bytes()).collect();
    format!("/api/boards/{}", name.replace('+', "%20"))
}

/// The body of the request of `post`.
fn letter(matches: &ArgMatches) -> Value {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let kind = text("kind").unwrap_or_default();
    let mut body = json!({ "kind": kind, "text": text("text") });
    match &*kind {
        "claim" => body["confidence"] = json!(matches.get_one::<f64>("confidence")),
        "proposal" => body["justification"] = json!(text("why").unwrap_or_default()),
        _ => {}
    }
    if let Some(writer) = text("as") {
        body["agent"] = writer.into();
    }
    body
}

/// A letter in a line: its place, its writer, its kind and its text.
fn shown(letter: &BoardLetter) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let value = &letter.letter;
    let sure = value["confidence"].as_f64();
    let sure = sure.map_or_else(String::new, |it| format!(", {it:.2} sure"));
    let caller = value["provenance"]["for"].as_str();
    let caller = caller.map_or_else(String::new, |it| format!(" for {it}"));
    format!(
        "{}  {}{caller} ({}{sure}): {}",
        letter.place,
        text(&value["provenance"]["agent"]),
        text(&value["kind"]),
        text(&value["text"])
    )
}
