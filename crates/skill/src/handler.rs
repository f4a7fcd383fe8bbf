//! A skill without its types: what the fence runs.

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;

use crate::context::Context;
use crate::error::{Fault, SkillError};
use crate::reply::Reply;
use crate::skill::Skill;

/// What does the work of a skill that is defined at run time.
pub trait Handler: Send + Sync + 'static {
    /// Does it. The input fulfils the schema of the definition.
    fn run(
        &self,
        input: Value,
        ctx: Context,
    ) -> BoxFuture<'static, Result<Reply<Value>, SkillError>>;

    /// The input with the state it depends on written into it; see [`Skill::bind`].
    fn bind(&self, input: Value) -> BoxFuture<'static, Result<Option<Value>, SkillError>> {
        let _ = input;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// What it would do, for the person who is to agree to it; see [`Skill::preview`].
    fn preview(&self, input: Value) -> BoxFuture<'static, Result<Option<String>, SkillError>> {
        let _ = input;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// An output as a text for people; see [`Skill::tell`].
    fn tell(&self, output: &Value) -> Option<String> {
        let _ = output;
        None
    }
}

impl fmt::Debug for dyn Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

/// A typed skill as a handler.
pub(crate) struct Typed<S>(pub(crate) Arc<S>);

impl<S: Skill> Handler for Typed<S> {
    fn run(
        &self,
        input: Value,
        ctx: Context,
    ) -> BoxFuture<'static, Result<Reply<Value>, SkillError>> {
        let skill = self.0.clone();
        Box::pin(async move {
            let input = typed(input)?;
            skill.run(input, ctx).await?.try_map(|output| {
                serde_json::to_value(output).map_err(|error| SkillError::InvalidOutput {
                    id: S::SPEC.id.as_str().to_owned(),
                    faults: vec![Fault::new("", error.to_string())],
                })
            })
        })
    }

    fn bind(&self, input: Value) -> BoxFuture<'static, Result<Option<Value>, SkillError>> {
        let skill = self.0.clone();
        Box::pin(async move { skill.bind(typed(input)?).await })
    }

    fn preview(&self, input: Value) -> BoxFuture<'static, Result<Option<String>, SkillError>> {
        let skill = self.0.clone();
        Box::pin(async move { skill.preview(typed(input)?).await })
    }

    fn tell(&self, output: &Value) -> Option<String> {
        self.0.tell(output)
    }
}

/// A value as its type, which a schema may describe less strictly than the type does.
pub(crate) fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, SkillError> {
    serde_json::from_value(value)
        .map_err(|error| SkillError::InvalidInput(vec![Fault::new("", error.to_string())]))
}
