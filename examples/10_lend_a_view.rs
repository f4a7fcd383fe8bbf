//! An agent lends another one a view of one of its tasks: read-only, for ten minutes.
//!
//! You learn to hand on less than you have. The scribe authenticates over Cap'n Web, and `attenuate` gives it an object that
//! can do less: read, one task, until a time. `lend` gives what the editor gets, over a connection of their own. The editor
//! needs no account at the server, and cannot make more of what it was lent. The scribe takes it back when it likes, and with
//! the scribe's own connection it ends anyway.
//!
//!     cargo run -p examples --example 10_lend_a_view

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::client::{Client, Settings};
use a2a::types::{Answer, Task};
use access::{Callers, Hash};
use capnweb::transport::websocket;
use capnweb::{Any, Arguments, Capability, Member, Options, Reply, Target, Value, pair};
use monas::config::Access;
use monas::config::access::{Kind, Scheme};
use monas::testkit::Kit;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill::{SkillError, SkillInput, extension, skill};

/// The scribe's token. A real one is long, random and secret.
const TOKEN: &str = "the-token-of-scribe";

const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Draft {
    /// What the draft is about.
    about: String,
}

/// Writes a draft.
#[skill(tags = ["writing"], examples = ["draft a note about rain"])]
async fn draft(wanted: Draft) -> Result<String, SkillError> {
    Ok(format!("A note about {}.", wanted.about))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = Kit::config();
    config.access = only_the_scribe()?;
    let server = monas::app().skill(draft).start_with(&config).await?;
    let rain = task(server.url(), "rain").await?;
    let diary = task(server.url(), "the scribe's own secrets").await?;

    // The scribe's object at the server, and one of it that does less.
    let address = server.url().replace("http://", "ws://") + "/a2a/capnweb";
    let session = websocket::connect(&address, Capability::nothing(), &Options::default()).await?;
    let agent: Capability = session.remote::<Any>().into();
    let scribe = object(agent.call("authenticate", (TOKEN,)).await?)?;
    let until = SystemTime::now() + TEN_MINUTES;
    let until = until.duration_since(UNIX_EPOCH)?.as_millis() as f64;
    let view = Value::object([
        ("readOnly", Value::Bool(true)),
        ("task", rain.id.as_str().into()),
        ("expires", until.into()),
    ]);
    let view = object(scribe.call("attenuate", (view,)).await?)?;

    // The scribe and the editor have a connection of their own, over which the object is handed.
    let editor = Arc::new(Editor::default());
    let (to_editor, _kept) = pair(
        Capability::nothing(),
        Capability::from_target(editor.clone()),
        &Options::default(),
    );
    let to_editor: Capability = to_editor.remote::<Any>().into();
    let lent = object(view.call("lend", ()).await?)?;
    to_editor.call("take", (lent,)).await?;
    let lent = editor.lent().ok_or("the editor was handed nothing")?;

    println!("the scribe lends the editor a view of one task for ten minutes");
    show("read it", lent.call("getTask", (&*rain.id,)).await);
    show("cancel it", lent.call("cancelTask", (&*rain.id,)).await);
    show("read another", lent.call("getTask", (&*diary.id,)).await);
    let seen = lent.call("listTasks", ()).await?;
    let seen = seen.field("tasks").and_then(Value::as_array);
    println!(
        "  the editor sees {} of 2 tasks",
        seen.map_or(0, <[_]>::len)
    );
    let wider = Value::object([("readOnly", Value::Bool(false))]);
    let wider = object(lent.call("attenuate", (wider,)).await?)?;
    let cancelled = wider.call("cancelTask", (&*rain.id,)).await;
    show("make more of it", cancelled);

    println!("the scribe takes it back");
    view.call("revoke", ()).await?;
    show("read it", lent.call("getTask", (&*rain.id,)).await);
    server.stop().await;
    Ok(())
}

/// The editor: it keeps the object that it is handed.
#[derive(Default)]
struct Editor(Mutex<Option<Capability>>);

impl Editor {
    fn lent(&self) -> Option<Capability> {
        let lent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lent.clone()
    }
}

impl Target for Editor {
    fn member(&self, _: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, _: &str, arguments: Arguments) -> Reply {
        let handed = arguments.rest().into_iter().next();
        let handed = handed.and_then(|it| object(it).ok());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = handed;
        Reply::ready(())
    }
}

fn object(value: Value) -> Result<Capability, &'static str> {
    match value {
        Value::Stub(object) => Ok(object),
        _ => Err("expected an object"),
    }
}

/// Prints what came of what the editor tries.
fn show(what: &str, result: Result<Value, capnweb::Error>) {
    match result {
        Ok(task) => {
            let state = task.field("status").and_then(|it| it.field("state"));
            let state = state.and_then(Value::as_str).unwrap_or_default();
            println!("  {what}: {state}");
        }
        Err(error) => println!("  {what}: {error}"),
    }
}

/// A task of the scribe.
async fn task(url: &str, about: &str) -> Result<Task, Box<dyn std::error::Error>> {
    let settings = Settings::default().bearer(TOKEN)?;
    let agent = Client::discover(url, settings).await?;
    let id = about.replace(' ', "-");
    let call = extension::call(id, "draft", json!({ "about": about }));
    match agent.send_message(call.into()).await?.payload {
        Answer::Task(task) => Ok(task),
        _ => Err("expected a task".into()),
    }
}

/// A server that knows the scribe and no other caller.
fn only_the_scribe() -> Result<Access, access::Error> {
    let mut callers = Callers::default();
    callers.add("scribe", Hash::of(TOKEN), &[])?;
    let scheme = Scheme {
        name: "tokens".to_owned(),
        description: String::new(),
        kind: Kind::Bearer(callers),
    };
    Ok(Access {
        schemes: vec![scheme],
        unauthenticated: access::Unauthenticated::Refused,
        ..Access::open()
    })
}
