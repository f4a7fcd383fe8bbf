//! Terminals over the door: a person opens one or attaches to one, sees what it shows, and types while holding it.

use std::sync::Arc;

use ::capnweb::{
    Arguments, Capability, Description, Error as RpcError, Member, Reply, Target, Type, Value,
};
use a2a::binding::capnweb::value::from_json;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value as Json, json};
use tools::sandbox::Network;
use tools::terminal::{Terminal, Terminals, Typed};

use super::follow::{Callback, Follower, Over, Subscription};
use super::workspace::{What, WorkspaceObject, said};
use crate::api::invalid;
use crate::api::terminals::{find, missing, refused, shown, size};

/// How much of the output is told at once, in bytes.
const PIECE: usize = 64 << 10;

/// How many of the last things that were typed are told at first.
const LAST_TYPED: usize = 100;

/// The names of the methods of a terminal.
const METHODS: [&str; 7] = ["id", "write", "resize", "take", "release", "close", "ended"];

pub(super) async fn list(workspace: &WorkspaceObject, what: &What) -> Result<Value, RpcError> {
    let parts = &workspace.shared().parts;
    let caller = workspace.as_caller();
    let named = what.text("agent")?;
    let found = find(&parts.chat, &parts.projects, &caller, named);
    let (agent, terminals) = found.await.map_err(|it| said(&it))?;
    let terminals = terminals.list();
    let terminals: Vec<Json> = terminals.iter().map(|it| shown(&agent, it)).collect();
    Ok(from_json(terminals.into()))
}

pub(super) async fn open(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let size = size(what.number("columns")?, what.number("rows")?).map_err(|it| said(&it))?;
    let terminals = terminals(workspace, what).await?;
    let by = workspace.caller().to_string();
    let opened = terminals.open(&by, size, Network::default()).await;
    let terminal = opened.map_err(|error| said(&refused(&error)))?;
    Ok(attached(workspace, terminals, terminal, 0, follower))
}

pub(super) async fn attach(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let id = what.text("id")?;
    let id = id.ok_or_else(|| said(&invalid("id", "id is missing")))?;
    let after = what.number("after")?.unwrap_or_default();
    let terminals = terminals(workspace, what).await?;
    let terminal = terminals.get(id).ok_or_else(|| said(&missing(id)))?;
    Ok(attached(workspace, terminals, terminal, after, follower))
}

async fn terminals(workspace: &WorkspaceObject, what: &What) -> Result<Terminals, RpcError> {
    let parts = &workspace.shared().parts;
    let caller = workspace.as_caller();
    let named = what.text("agent")?;
    let found = find(&parts.chat, &parts.projects, &caller, named);
    let (_, terminals) = found.await.map_err(|it| said(&it))?;
    Ok(terminals)
}

fn attached(
    workspace: &WorkspaceObject,
    terminals: Terminals,
    terminal: Terminal,
    after: u64,
    follower: Follower,
) -> Value {
    let followed = terminal.clone();
    let subscription = follower.run(|callback| follow(followed, callback, after));
    Value::Stub(Capability::new(TerminalObject {
        by: workspace.caller().to_string(),
        terminals,
        terminal,
        subscription,
    }))
}

/// Tells what the terminal shows, and which name may type.
async fn follow(terminal: Terminal, callback: Callback, mut cursor: u64) -> Result<(), Over> {
    let mut holders = terminal.holders();
    let holder = holders.borrow_and_update().clone();
    let typed = terminal.typed();
    let mut seen = typed.iter().map(|it| it.number).max().unwrap_or_default();
    let last = typed.len().saturating_sub(LAST_TYPED);
    let typed: Vec<Json> = typed.iter().skip(last).map(shown_typed).collect();
    let first = json!([{ "cursor": cursor, "bytes": "", "holder": holder, "typed": typed }]);
    callback.tell(first).await?;
    loop {
        tokio::select! {
            changed = holders.changed() => {
                changed.map_err(Over::because)?;
                let holder = holders.borrow_and_update().clone();
                let piece = json!([{ "cursor": cursor, "bytes": "", "holder": holder }]);
                callback.tell(piece).await?;
            }
            followed = terminal.follow(cursor) => {
                let begin = followed.cursor - followed.bytes.len() as u64;
                let mut at = begin;
                let mut missed = followed.missed;
                for part in followed.bytes.chunks(PIECE) {
                    at += part.len() as u64;
                    let mut piece = json!({ "cursor": at, "bytes": BASE64_STANDARD.encode(part) });
                    if missed > 0 {
                        piece["missed"] = std::mem::take(&mut missed).into();
                    }
                    let typed = terminal.typed_after(seen);
                    if let Some(newest) = typed.last() {
                        seen = newest.number;
                        let typed: Vec<Json> = typed.iter().map(shown_typed).collect();
                        piece["typed"] = typed.into();
                    }
                    callback.tell(json!([piece])).await?;
                }
                cursor = followed.cursor;
                if let Some(ended) = followed.ended {
                    let ended = format!("{ended:?}").to_lowercase();
                    let piece = json!([{ "cursor": cursor, "bytes": "", "ended": ended }]);
                    callback.tell(piece).await?;
                    return Ok(());
                }
            }
        }
    }
}

/// Something that was typed.
fn shown_typed(typed: &Typed) -> Json {
    json!({ "by": typed.by, "text": String::from_utf8_lossy(&typed.text), "at": typed.at })
}

/// A terminal, as a caller holds it.
struct TerminalObject {
    /// The name by which the caller types.
    by: String,
    terminals: Terminals,
    terminal: Terminal,
    subscription: Subscription,
}

impl Target for TerminalObject {
    fn member(&self, name: &str) -> Member {
        match METHODS.contains(&name) {
            true => Member::Method,
            false => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, mut arguments: Arguments) -> Reply {
        match method {
            "id" => Reply::ready(Value::String(self.terminal.id().to_owned())),
            "write" => match arguments.take::<String>("text") {
                Ok(text) => Reply::future(async move {
                    let written = self.terminal.write(&self.by, text.as_bytes()).await;
                    written.map_err(|error| said(&refused(&error)))
                }),
                Err(error) => Reply::error(error),
            },
            "resize" => Reply::ready(self.resize(arguments)),
            "take" => {
                let before = self.terminal.take(&self.by);
                Reply::ready(from_json(json!({ "before": before })))
            }
            "release" => Reply::ready(self.release()),
            "close" => {
                self.terminals.close(self.terminal.id());
                Reply::ready(())
            }
            "ended" => self.subscription.ended(),
            _ => Reply::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "Terminal"
    }

    fn describe(&self) -> Description {
        let terminal = Description::new(
            "Terminal",
            "A shell that several can look at and one types in.",
        );
        METHODS.into_iter().fold(terminal, |terminal, name| {
            terminal.method(name, "", Vec::new(), Type::Any)
        })
    }
}

impl TerminalObject {
    fn resize(&self, mut arguments: Arguments) -> Result<(), RpcError> {
        let mut number = |name: &str| -> Result<Option<u64>, RpcError> {
            let given: f64 = arguments.take(name)?;
            // A number of letters is whole; others are refused by the bounds.
            let fits = (1.0..=65_535.0).contains(&given);
            Ok(Some(if fits { given as u64 } else { 0 }))
        };
        let (columns, rows) = (number("columns")?, number("rows")?);
        let size = size(columns, rows).map_err(|it| said(&it))?;
        let resized = self.terminal.resize(size);
        resized.map_err(|error| said(&refused(&error)))
    }

    fn release(&self) -> Result<(), RpcError> {
        if self.terminal.release(&self.by) {
            return Ok(());
        }
        let holder = self.terminal.holder().unwrap_or_default();
        let why = format!("{holder} holds the terminal");
        Err(RpcError::new(why)
            .with_code("conflict")
            .with_prop("status", 409.0))
    }
}
