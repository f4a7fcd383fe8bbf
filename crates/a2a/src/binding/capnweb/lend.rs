//! Lending: an agent object with less, the handle by which its lender takes it back, and tokens that restore it.

use std::sync::Arc;
use std::time::SystemTime;

use ::capnweb::{
    Arguments, Capability, Description, Member, Object, Reply as CapnwebReply, Target, Value,
};
use access::capability::{self, Lent, PREFIX};
use access::{Attenuation, Bounds, Credentials, Permissions, Refusal};
use serde_json::{Value as Json, json};

use super::server::AgentObject;
use super::value::{failure, from_json, to_json};
use crate::error::Error;
use crate::operation;
use crate::types::Timestamp;

/// What `attenuate` returns: an agent object with less, held by its lender.
///
/// It owns the capability, so that releasing its last reference revokes it: every object that [`lend`](Self::LEND) gave,
/// every task object and stream reached through them, and calls under way. Calls are made on a copy of the agent, not on
/// this object, so that a call under way does not hold what is to be revoked.
pub(super) struct GrantObject {
    agent: AgentObject,
    lent: Lent,
}

impl GrantObject {
    const LEND: &str = "lend";
    const REVOKE: &str = "revoke";

    /// Lends a part of what the caller of an agent object may do.
    pub(super) fn new(agent: &AgentObject, arguments: Vec<Value>) -> Result<Self, Error> {
        let caller = agent.caller()?;
        let wanted = attenuation(arguments)?;
        let capabilities = agent.wire.door.capabilities();
        let lent = capabilities.lend(caller, &wanted, SystemTime::now())?;
        let agent = agent.for_caller(lent.principal().clone());
        Ok(Self { agent, lent })
    }
}

impl Target for GrantObject {
    fn member(&self, name: &str) -> Member {
        match name {
            Self::LEND | Self::REVOKE => Member::Method,
            name => self.agent.member(name),
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> CapnwebReply {
        match method {
            Self::LEND => {
                let lent = self.agent.borrowed();
                CapnwebReply::ready(Value::Stub(Capability::new(lent)))
            }
            Self::REVOKE => {
                self.lent.revoke();
                CapnwebReply::ready(())
            }
            method => Arc::new(self.agent.clone()).call(method, arguments),
        }
    }

    fn interface(&self) -> &'static str {
        "Grant"
    }

    fn describe(&self) -> Description {
        self.agent.describe()
    }
}

/// Saves what the caller of an agent object may do, or a part of it, as a token.
pub(super) async fn save(agent: &AgentObject, arguments: Vec<Value>) -> Result<Value, Error> {
    let caller = agent.caller()?;
    if agent.is_borrowed() {
        let why = "this object was lent: only the caller that lent it can save it, with the object that attenuate returned";
        return Err(Error::UnsupportedOperation(why.to_owned()));
    }
    let wanted = attenuation(arguments)?;
    let capabilities = agent.wire.door.capabilities();
    let saved = capabilities.save(caller, &wanted, SystemTime::now());
    let saved = saved.await?;
    let until = saved.capability.until.map(|until| {
        let millis = until.saturating_mul(1_000);
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)).to_string()
    });
    Ok(from_json(json!({
        "id": saved.capability.id,
        "token": saved.token(),
        "expires": until,
    })))
}

/// The credentials of `restore`: the token of a capability.
pub(super) fn token(arguments: Vec<Value>) -> Result<Credentials, Error> {
    match arguments.into_iter().next() {
        Some(Value::String(token)) if token.starts_with(PREFIX) => Ok(Credentials::Bearer(token)),
        _ => Err(Error::invalid_field("token", "is no token of a capability")),
    }
}

/// Reads `{methods, readOnly, task, expires, permissions, note}`, each of which may be missing. A member of another name
/// is an error: a restriction that was misspelt would be no restriction.
fn attenuation(arguments: Vec<Value>) -> Result<Attenuation, Error> {
    let members = match arguments.into_iter().next() {
        Some(Value::Object(members)) => members,
        None | Some(Value::Undefined | Value::Null) => Object::default(),
        Some(_) => return Err(Error::invalid_field("attenuation", "is not an object")),
    };
    let mut wanted = Attenuation::none();
    for (name, value) in members {
        if value.is_nullish() {
            continue;
        }
        let value = match value {
            // What Date.now() gives.
            Value::Number(millis) if name == "expires" => {
                Timestamp::from_millis(millis as i64).to_string().into()
            }
            value => to_json(value, &name)?,
        };
        set(&mut wanted, &name, value)?;
    }
    Ok(wanted)
}

fn set(wanted: &mut Attenuation, name: &str, value: Json) -> Result<(), Error> {
    let wrong = |problem: &str| Err(Error::invalid_field(name, problem));
    let Bounds {
        methods,
        read_only,
        task,
    } = &mut wanted.bounds;
    match (name, value) {
        ("methods", Json::Array(names)) => *methods = Some(operations(&names)?.into()),
        ("readOnly", Json::Bool(only)) => *read_only = only,
        ("task", Json::String(id)) => *task = Some(id),
        ("note", Json::String(text)) => wanted.note = text,
        ("permissions", Json::Array(names)) => {
            let mut permissions = Permissions::NONE;
            for name in &names {
                let name = name.as_str().unwrap_or_default();
                let read = name.parse();
                let problem =
                    |it: access::UnknownName| Error::invalid_field("permissions", it.to_string());
                permissions = permissions.with(read.map_err(problem)?);
            }
            wanted.permissions = Some(permissions);
        }
        ("expires", Json::String(text)) => match text.parse::<Timestamp>() {
            Ok(time) => {
                let seconds = time.millis().div_euclid(1_000);
                wanted.until = Some(u64::try_from(seconds).unwrap_or(0));
            }
            Err(_) => {
                return wrong("is no time: expected a Date, milliseconds since 1970, or RFC 3339");
            }
        },
        ("methods" | "permissions", _) => return wrong("is not an array of names"),
        ("readOnly", _) => return wrong("is neither true nor false"),
        ("task" | "note" | "expires", _) => return wrong("is not a text"),
        _ => {
            return wrong(
                "is unknown: there are methods, readOnly, task, expires, permissions and note",
            );
        }
    }
    Ok(())
}

/// The rows that a list of methods stands for, by their names in the table.
fn operations(names: &[Json]) -> Result<Vec<String>, Error> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let name = name.as_str().unwrap_or_default();
        let row = operation::method(name).or_else(|| operation::calling_back(name));
        let Some(row) = row else {
            let problem = format!("has {name:?}, which is no operation");
            return Err(Error::invalid_field("methods", problem));
        };
        found.push(row.name.to_owned());
    }
    Ok(found)
}

impl From<capability::Error> for Error {
    fn from(error: capability::Error) -> Self {
        use capability::Error as Fault;
        match error {
            Fault::Invalid { field, problem } => Self::invalid_field(field, problem),
            Fault::LenderIsOver => Refusal::revoked().into(),
            Fault::TooMany(_) => Self::Unavailable(format!("could not {error}")),
            Fault::NotKept => Self::UnsupportedOperation(format!("could not {error}")),
            Fault::Store(error) => error.into(),
            other => Self::Internal(format!("could not {other}")),
        }
    }
}

/// An answer that fails.
pub(super) fn failed(error: &Error) -> CapnwebReply {
    CapnwebReply::error(failure(error))
}
