//! The model: what is asked.

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use jsonschema::Validator;

use crate::error::Error;
use crate::limits::quote;
use crate::reply::{Deltas, End, Reply};
use crate::request::Request;

/// Something that answers in words and calls.
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
    /// What it is called, where it comes from before a colon: `openai:gpt-5`, `rules`.
    fn name(&self) -> &str;

    /// Begins to answer. What the stream holds is said at [`Deltas`].
    fn reply(&self, request: Request) -> Deltas;

    /// Waits for all of an answer. Where the request has a schema, the text of the reply is JSON that fulfils
    /// it, unless the model asks for calls instead.
    fn ask(&self, request: Request) -> BoxFuture<'static, Result<Reply, Error>> {
        let validator = request.output.as_ref().map(jsonschema::validator_for);
        let deltas = self.reply(request);
        Box::pin(async move {
            let validator = validator.transpose().map_err(|error| {
                Error::Refused(format!("the schema of the output is none: {error}"))
            })?;
            let reply = Reply::of(deltas).await?;
            match validator.filter(|_| reply.calls.is_empty()) {
                Some(schema) => fulfils(&schema, reply),
                None => Ok(reply),
            }
        })
    }
}

/// The reply, if its text is what the schema asks for.
fn fulfils(schema: &Validator, reply: Reply) -> Result<Reply, Error> {
    if reply.end == End::Length {
        let why = "it became too long before it was whole";
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

/// A shared model is one.
impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(&self, request: Request) -> Deltas {
        (**self).reply(request)
    }
}
