//! Version 0.3 of the protocol beside 1.0: old names for the rows of the table.
//!
//! A client of 0.3 calls other names, writes other JSON and keeps other rules. All of that is here: a
//! binding that finds an old name hands over the request and gets a reply in the old form. The code
//! further in sees 1.0 alone.
//!
//! The translation works on JSON values, not on a second set of types. It renames and regroups what it
//! knows and leaves out the rest; whether a request is valid is decided where 1.0 is read, and what is said
//! about a field is said under its old name.
//!
//! Layout:
//! - `table`: the old operations
//! - `request`, `reply`: one function for each of them, on the way in and on the way out
//! - `client_request`, `client_reply`: the same from the other end, for a client of ours that calls an old agent
//! - `content`: messages, parts and states, both ways
//! - `detect`, `lenient`: which version a request is written in, and shapes that are neither
//! - `card`: what an agent says about itself, for readers of 0.3 and for readers of both
//! - [`types`]: its messages in protobuf, which gRPC carries

use bytes::Bytes;
use futures_util::stream;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::event::Format;
use crate::generation::Hide as _;
use crate::operation::{self, Frame, Input, Reply, beside};
use crate::service::{Call, Service};
use crate::types::wire::Violation;
use crate::webhook;

mod card;
#[cfg(test)]
#[path = "v0_3/card_tests.rs"]
mod card_tests;
mod client_reply;
mod client_request;
mod content;
mod detect;
mod lenient;
#[cfg(test)]
#[path = "v0_3/lenient_tests.rs"]
mod lenient_tests;
mod reply;
mod request;
mod table;
#[cfg(test)]
#[path = "v0_3/translation_tests.rs"]
mod translation_tests;
pub mod types;

pub(crate) use card::renewed;
pub use card::{old as old_card, union};
pub use detect::version_of;
pub use table::{PREFIX, Row, Rpc, TABLE, at, named, of, rpc};
pub(crate) use table::{asking, card_or_public};

/// The version that is spoken here, as an interface of a card names it.
pub const VERSION: &str = "0.3";

/// The two ways in which clients of 0.3 write JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// That of its JSON schema: objects that name their `kind`, states and roles in small letters.
    Kind,
    /// That of its protobuf: `content`, `ROLE_USER`, resource names. Protobuf itself becomes it.
    Proto,
}

impl Dialect {
    /// That of a request over REST, where clients write either. A body shows it by its shape; what has no
    /// body is taken for protobuf's, which official clients write, unless a field `dialect` says `kind`.
    pub fn of(input: &Input) -> Self {
        let asked = |(name, text): &(String, String)| name == "dialect" && text == "kind";
        let body: Value = serde_json::from_slice(&input.body).unwrap_or_default();
        let message = &body["message"];
        let shown = message.get("kind").or(message.get("parts"));
        let shown = shown.or(body.get("taskId")).or(body.get("url"));
        if shown.is_some() || input.fields.iter().any(asked) {
            Self::Kind
        } else {
            Self::Proto
        }
    }
}

/// How webhooks are told that were registered in 0.3, over whichever binding: the task as it is.
pub static WEBHOOK: webhook::Dialect = webhook::Dialect {
    name: VERSION,
    media_type: "application/json",
    write: |task| {
        let mut task = task.clone();
        task.hide_generations();
        let task = serde_json::to_value(task).expect("a task is always JSON");
        content::old_task(task, Dialect::Kind).to_string().into()
    },
};

/// Where 0.3 has a rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// 0.3 has the rule of 1.0.
    Same,
    /// To subscribe to a task that has ended gives the task, and the end.
    EndedIsTheTask,
    /// An extended card that is not offered is one that is not configured.
    NotOfferedIsNotConfigured,
    /// Without an extended card it is the public one.
    ElsePublic,
}

/// What an old request asks for: an operation of 1.0, and its request.
struct Request {
    operation: &'static str,
    body: Map<String, Value>,
}

impl Row {
    /// Performs a call that is written in 0.3.
    pub async fn perform(
        &'static self,
        service: &dyn Service,
        call: Call,
        input: Input,
        dialect: Dialect,
    ) -> Result<Reply, Error> {
        let (format, bytes) = (input.format, input.body.len());
        let call = Call {
            dialect: WEBHOOK.name,
            ..call
        };
        let reading = || {
            let mut params = self.params(input)?;
            let tenant = params.remove("tenant");
            Ok::<_, Error>((tenant, (self.request)(params, dialect)?))
        };
        let (tenant, mut request) = beside(bytes, reading).await?;
        // 0.3 has none, but a caller who comes by an interface with one may still name it.
        request
            .body
            .extend(tenant.map(|tenant| ("tenant".to_owned(), tenant)));
        let performed = match ask(service, call.clone(), &request).await {
            Err(error) => self.instead(service, call, &request, error).await,
            reply => reply,
        };
        let (translate, rpc) = (self.reply, self.rpc.as_ref());
        let performed = performed.map_err(|error| self.told(error))?;
        performed.translated(move |body| {
            let old = translate(read(body)?, dialect)?;
            match (format, rpc) {
                (Format::Protobuf, Some(rpc)) => (rpc.write)(old),
                _ => Ok(old.to_string().into()),
            }
        })
    }

    /// The same for a caller who writes loosely, and is answered so.
    pub async fn perform_loosely(
        &'static self,
        service: &dyn Service,
        call: Call,
        input: Input,
    ) -> Result<Reply, Error> {
        let bytes = input.body.len();
        let reading = || Ok::<_, Error>(Input::json(&lenient::request(self.params(input)?)));
        let input = beside(bytes, reading).await?;
        let reply = self.perform(service, call, input, Dialect::Kind).await?;
        reply.translated(|body| Ok(lenient::reply(read(body)?).to_string().into()))
    }

    /// Whether a request shows that its caller writes loosely. What is no request is not loose.
    pub fn is_loose(&self, body: &[u8]) -> bool {
        let params: Option<Map<String, Value>> = serde_json::from_slice(body).ok();
        params.is_some_and(|params| lenient::is_loose(&params))
    }

    /// A request with field names of 1.0, under the names of 0.3.
    pub fn renamed(&self, mut new: Map<String, Value>) -> Map<String, Value> {
        // The task is what only 1.0 calls so there, unless the configuration lies inside.
        if !new.contains_key("taskId") || new.contains_key("pushNotificationConfig") {
            return new;
        }
        let fields = self.fields.iter();
        let taken: Vec<_> = fields
            .filter_map(|(name, old)| Some((*old, new.remove(*name)?)))
            .collect();
        for (old, value) in taken {
            match old.split_once('.') {
                Some((outer, inner)) => {
                    let outer = new.entry(outer).or_insert_with(|| Map::new().into());
                    outer[inner] = value;
                }
                None => _ = new.insert(old.to_owned(), value),
            }
        }
        new
    }

    /// The request as an object. What came beside the body wins.
    fn params(&self, input: Input) -> Result<Map<String, Value>, Error> {
        let given = match (input.format, &self.rpc) {
            _ if input.body.is_empty() => Value::Object(Map::new()),
            (Format::Protobuf, Some(rpc)) => (rpc.read)(input.body)?,
            _ => serde_json::from_slice(&input.body)
                .map_err(|error| Error::Parse(error.to_string()))?,
        };
        let Value::Object(mut params) = given else {
            return Err(Error::invalid("the request must be an object"));
        };
        let fields = input.fields.into_iter();
        params.extend(fields.map(|(name, text)| (name, text.into())));
        Ok(params)
    }

    /// A request of 1.0 as an old agent reads it.
    pub(crate) fn ask(&self, new: Value, dialect: Dialect, format: Format) -> Result<Bytes, Error> {
        let old = Value::Object((self.ask)(content::object(new), dialect));
        match (format, &self.rpc) {
            (Format::Protobuf, Some(rpc)) => (rpc.write_request)(old),
            _ => Ok(old.to_string().into()),
        }
    }

    /// What an old agent replied, as JSON of 1.0.
    pub(crate) fn hear(&self, reply: Bytes, format: Format) -> Result<Bytes, Error> {
        let old = match (format, &self.rpc) {
            (Format::Protobuf, Some(rpc)) => (rpc.read_reply)(reply)?,
            _ if reply.is_empty() => Value::Null,
            _ => serde_json::from_slice(&reply).map_err(|error| Error::Parse(error.to_string()))?,
        };
        Ok((self.hear)(old)?.to_string().into())
    }

    /// What the old rule makes of an error.
    async fn instead(
        &self,
        service: &dyn Service,
        call: Call,
        request: &Request,
        error: Error,
    ) -> Result<Reply, Error> {
        match (self.rule, &error) {
            (Rule::EndedIsTheTask, Error::UnsupportedOperation(_)) if streams(service) => {
                let request = Request {
                    operation: "GetTask",
                    body: request.body.clone(),
                };
                let Reply::One(task) = ask(service, call, &request).await? else {
                    return Err(error);
                };
                let body = [b"{\"task\":", &*task, b"}"].concat().into();
                let portion = vec![Frame::translated(None, body)];
                Ok(Reply::Many(Box::pin(stream::iter([Ok(portion)]))))
            }
            (Rule::NotOfferedIsNotConfigured, Error::UnsupportedOperation(_)) => {
                Err(Error::ExtendedAgentCardNotConfigured)
            }
            (
                Rule::ElsePublic,
                Error::UnsupportedOperation(_) | Error::ExtendedAgentCardNotConfigured,
            ) => {
                use crate::types::wire::WireMessage as _;
                Ok(Reply::One(service.card().to_json()))
            }
            _ => Err(error),
        }
    }

    /// The error with the old names of the fields that are to blame.
    fn told(&self, error: Error) -> Error {
        let violations = match &error {
            Error::InvalidParams { violations, .. } if !violations.is_empty() => violations,
            _ => return error,
        };
        let violations = violations.iter().map(|violation| Violation {
            field: self.old_name(&violation.field),
            description: violation.description.clone(),
        });
        Error::violated(violations.collect())
    }

    fn old_name(&self, field: &str) -> String {
        let (first, rest) = field.split_at(field.find(['.', '[']).unwrap_or(field.len()));
        let first = self.fields.iter().find(|(new, _)| *new == first);
        let mut field = match first {
            Some((_, old)) => format!("{old}{rest}"),
            None => field.to_owned(),
        };
        for (new, old) in request::FIELDS {
            field = field.replace(new, old);
        }
        field
    }
}

/// The ids in the resource names of a request, as fields of a path.
pub(crate) fn path_fields(request: &Map<String, Value>) -> Map<String, Value> {
    let mut request = request.clone();
    let config = request::config_id(&request);
    let task = request::task_id(&mut request);
    let fields = [("id", task), ("pushNotificationConfigId", config)];
    let fields = fields.into_iter();
    fields
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

async fn ask(service: &dyn Service, call: Call, request: &Request) -> Result<Reply, Error> {
    let operation =
        operation::named(request.operation).expect("old operations name rows of the table");
    let input = Input::json(&request.body);
    operation.perform(service, call, input).await
}

fn read(body: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::Internal(format!("translate a reply: {error}")))
}

fn streams(service: &dyn Service) -> bool {
    let capabilities = service.card().capabilities.as_ref();
    capabilities.and_then(|it| it.streaming) == Some(true)
}
