//! The trait of language models.

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use jsonschema::Validator;

use crate::error::Error;
use crate::limits::quote;
use crate::reply::{Deltas, End, Reply};
use crate::request::Request;

/// A language model: answers a request with text and calls of tools.
///
/// ```
/// use model::{Model, Request};
///
/// async fn brief(model: &dyn Model, text: &str) -> Result<String, model::Error> {
///     let question = Request::new(text).system("Say it in one sentence.");
///     Ok(model.ask(question).await?.text)
/// }
/// ```
pub trait Model: fmt::Debug + Send + Sync + 'static {
    /// The name, with its origin before a colon: `openai:gpt-5`, `rules`.
    fn name(&self) -> &str;

    /// Starts a reply; [`Deltas`] describes the stream.
    fn reply(&self, request: Request) -> Deltas;

    /// Waits for the whole reply. If the request has a schema, the text is checked to be JSON of that schema, unless the
    /// model asks for calls instead.
    fn ask(&self, request: Request) -> BoxFuture<'static, Result<Reply, Error>> {
        let validator = request.output.as_ref().map(jsonschema::validator_for);
        let deltas = self.reply(request);
        Box::pin(async move {
            let validator = validator.transpose().map_err(|error| {
                Error::Refused(format!("the output schema is not a JSON schema: {error}"))
            })?;
            let reply = Reply::of(deltas).await?;
            match validator.filter(|_| reply.calls.is_empty()) {
                Some(schema) => fulfils(&schema, reply),
                None => Ok(reply),
            }
        })
    }
}

/// The reply, if its text fulfils the schema.
fn fulfils(schema: &Validator, reply: Reply) -> Result<Reply, Error> {
    if reply.end == End::Length {
        let why = "the length limit was reached before the JSON was complete";
        return Err(Error::Malformed(why.to_owned()));
    }
    let value: serde_json::Value = reply.parse()?;
    match schema.iter_errors(&value).next() {
        None => Ok(reply),
        Some(fault) => {
            let place = fault.instance_path();
            Err(Error::Malformed(quote(&format!("{place}: {fault}"))))
        }
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(&self, request: Request) -> Deltas {
        (**self).reply(request)
    }
}
