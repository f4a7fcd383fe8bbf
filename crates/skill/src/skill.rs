//! The typed skill: what one implements.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::Context;
use crate::error::SkillError;
use crate::reply::Reply;
use crate::spec::Spec;

/// Something an agent can do. [`skill`](macro@crate::skill) on an async function writes the implementation.
///
/// It is one thing on every wire: a skill of the agent's card, a tool of MCP, an agent of ACP, a function of a
/// language model.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a skill",
    note = "put `#[skill(tags = [...], examples = [...])]` on an async function, or implement `Skill`"
)]
pub trait Skill: Send + Sync + 'static {
    /// What it says of itself. Refer to it from a free constant (`const _: Spec = <It as Skill>::SPEC;`) and
    /// faults of it are found by `cargo check`.
    const SPEC: Spec;

    /// What it takes.
    type Input: SkillInput;

    /// What it gives.
    type Output: SkillOutput;

    /// Does it. The input was found to be one before this is called.
    fn run(
        &self,
        input: Self::Input,
        ctx: Context,
    ) -> impl Future<Output = Result<Reply<Self::Output>, SkillError>> + Send;

    /// The input with the state it depends on written into it, so that a later [`run`](Self::run) fails if that state has
    /// changed, and with names replaced by the places they stand for. An approval is asked, remembered and used for this
    /// input. It changes nothing. None: the input depends on no state.
    fn bind(
        &self,
        input: Self::Input,
    ) -> impl Future<Output = Result<Option<Value>, SkillError>> + Send {
        let _ = input;
        std::future::ready(Ok(None))
    }

    /// What it would do with this input, in words or as a diff, for the person who is to agree to it. It changes
    /// nothing. None: the input says it all. An error is what running it would come to.
    fn preview(
        &self,
        input: Self::Input,
    ) -> impl Future<Output = Result<Option<String>, SkillError>> + Send {
        let _ = input;
        std::future::ready(Ok(None))
    }

    /// An output of this skill as a text for people, who are not shown JSON. None: what the output has in its field `says`.
    fn tell(&self, output: &Value) -> Option<String> {
        let _ = output;
        None
    }
}

/// What a skill takes: an object. `#[derive(SkillInput)]` on a struct with named fields says so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a skill",
    note = "inputs are objects: derive `Deserialize`, `JsonSchema` and `SkillInput` for a struct with named fields"
)]
pub trait SkillInput: DeserializeOwned + JsonSchema + Send + 'static {}

/// What a skill gives: any type that can be written as JSON and has a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a skill",
    note = "derive `Serialize` and `JsonSchema` for it"
)]
pub trait SkillOutput: Serialize + JsonSchema + Send + 'static {}

impl<T: Serialize + JsonSchema + Send + 'static> SkillOutput for T {}
