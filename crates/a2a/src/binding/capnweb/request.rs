//! From the arguments of a method to the request of an operation.

use ::capnweb::{Capability, Object, Value};
use access::Credentials;
use serde_json::{Map, Value as Json};

use super::value::to_json;
use crate::binding::Parameters;
use crate::error::Error;
use crate::operation::Operation;
use crate::types::wire::Kind;

/// A call as its arguments describe it.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// The request of the operation.
    pub(super) fields: Map<String, Json>,
    /// Service parameters of this call alone.
    pub(super) parameters: Parameters,
    /// The bytes, roughly, that its fields take.
    pub(super) weight: usize,
    /// The callback for events, where the method takes one.
    pub(super) callback: Option<Callback>,
}

/// A callback for events: an object with methods, or an object of functions.
#[derive(Clone, Debug)]
pub(super) enum Callback {
    Target(Capability),
    Functions(Vec<(String, Capability)>),
}

impl Request {
    /// Reads the arguments. Those that come before the positional ones are known already.
    pub(super) fn read(
        operation: &Operation,
        known: usize,
        arguments: Vec<Value>,
    ) -> Result<Self, Error> {
        let mut request = Self {
            weight: arguments.iter().map(Value::weight).sum(),
            ..Self::default()
        };
        let mut data = Vec::new();
        for argument in arguments {
            match Callback::of(argument) {
                Ok(callback) => request.callback = Some(callback),
                Err(argument) => data.push(argument),
            }
        }
        let positional = operation.positional.get(known..).unwrap_or_default();
        let mut data = data.into_iter();
        match data.next() {
            Some(Value::Object(whole)) if is_whole(operation, positional, &whole) => {
                for (name, value) in whole {
                    request.set(&name, value)?;
                }
                if let Some(parameters) = data.next() {
                    request.parameters = parameters_of(parameters)?;
                }
            }
            first => {
                for (name, value) in positional.iter().zip(first.into_iter().chain(data)) {
                    let field = operation.field(name).map_or(*name, |it| it.json_name);
                    request.set(field, value)?;
                }
            }
        }
        Ok(request)
    }

    /// What is not given is not there.
    pub(super) fn set(&mut self, name: &str, value: Value) -> Result<(), Error> {
        if !value.is_nullish() {
            let value = to_json(value, name)?;
            self.fields.insert(name.to_owned(), value);
        }
        Ok(())
    }
}

/// Whether an object is the request, rather than its first field. It is, unless that field is an object
/// itself; then it is if it has such a member.
fn is_whole(operation: &Operation, positional: &[&str], object: &Object) -> bool {
    let first = positional
        .first()
        .and_then(|name| operation.field(name))
        .filter(|field| matches!(field.kind, Kind::Message(_)));
    first.is_none_or(|field| object.get(field.json_name).is_some())
}

fn parameters_of(value: Value) -> Result<Parameters, Error> {
    let wrong = || Error::invalid("service parameters are an object of strings");
    let Value::Object(members) = value else {
        return if value.is_nullish() {
            Ok(Parameters::new())
        } else {
            Err(wrong())
        };
    };
    let mut parameters = Parameters::new();
    for (name, value) in members {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => return Err(wrong()),
        };
        parameters.insert(name, text);
    }
    Ok(parameters)
}

/// What a caller shows to be known: a token as a text, or an object with `token`, with `username` and
/// `password`, or with `key`. Its `type` says which, where it has one.
pub(in crate::binding) fn credentials(value: Value) -> Result<Credentials, Error> {
    let given = match value {
        Value::String(token) => return Ok(Credentials::Bearer(token)),
        Value::Object(members) => members,
        _ => return Err(unreadable()),
    };
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| given.get(name));
        match found {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        }
    };
    let kind = text(&["type", "scheme"]).unwrap_or_default();
    let bearer = || text(&["token", "accessToken"]).map(Credentials::Bearer);
    let key = || text(&["key", "apiKey"]).map(Credentials::ApiKey);
    let basic = || {
        Some(Credentials::Basic {
            user: text(&["username", "user"])?,
            password: text(&["password"])?,
        })
    };
    let found = match &*kind.to_ascii_lowercase() {
        "bearer" | "oauth2" | "openidconnect" => bearer(),
        "basic" => basic(),
        "apikey" => key(),
        "" => bearer().or_else(basic).or_else(key),
        _ => None,
    };
    found.ok_or_else(unreadable)
}

fn unreadable() -> Error {
    let expected = "is no token, and has neither token, username and password, nor key";
    Error::invalid_field("credentials", expected)
}

impl Callback {
    /// The callback that an argument is, or the argument.
    pub(super) fn of(argument: Value) -> Result<Self, Value> {
        match argument {
            Value::Stub(target) => Ok(Self::Target(target)),
            Value::Object(members)
                if !members.is_empty()
                    && members
                        .iter()
                        .all(|(_, member)| matches!(member, Value::Stub(_))) =>
            {
                let members = members.into_iter();
                let functions = members.filter_map(|(name, member)| match member {
                    Value::Stub(function) => Some((name, function)),
                    _ => None,
                });
                Ok(Self::Functions(functions.collect()))
            }
            other => Err(other),
        }
    }

    /// Whether both are the same object, as far as identities show: JavaScript gives an object a new one each time it is
    /// passed.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Target(one), Self::Target(other)) => one.is_same(other),
            (Self::Functions(ones), Self::Functions(others)) => {
                let same =
                    |((a, one), (b, other)): (&(String, Capability), &(String, Capability))| {
                        a == b && one.is_same(other)
                    };
                ones.len() == others.len() && ones.iter().zip(others).all(same)
            }
            _ => false,
        }
    }

    /// Calls it, and waits until it has taken the event.
    pub(super) async fn tell(&self, method: &str, event: Value) -> ::capnweb::Result<()> {
        match self {
            Self::Target(target) => target.call(method, (event,)).await.map(drop),
            Self::Functions(functions) => {
                match functions.iter().find(|(name, _)| name == method) {
                    Some((_, function)) => function.invoke((event,)).await.map(drop),
                    // It wants to know of other things only.
                    None => Ok(()),
                }
            }
        }
    }

    /// Ends when the callback's session has ended.
    pub(super) async fn gone(&self) {
        let one = match self {
            Self::Target(target) => Some(target),
            Self::Functions(functions) => functions.first().map(|(_, function)| function),
        };
        match one {
            Some(one) => drop(one.closed().await),
            None => std::future::pending().await,
        }
    }
}
