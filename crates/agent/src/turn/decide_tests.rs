//! A model that is silent, by the clock of the runtime.

use std::sync::Arc;
use std::time::Duration;

use model::scripted::{Failure, Scripted, Turn};
use model::{Model, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill::{Context, MemoryCall, Registry, SkillError, SkillInput, skill};

use super::{Interrupted, hear};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Nothing {}

/// Hears a model out within a call.
struct Listen {
    model: Arc<dyn Model>,
}

#[skill(tags = ["test"], examples = ["listen"], description = "Hears a model out.")]
impl Listen {
    async fn run(&self, _input: Nothing, ctx: Context) -> Result<String, SkillError> {
        match hear(&self.model, &ctx, Request::new("?")).await {
            Ok(thought) => Ok(thought.text),
            Err(Interrupted::Caller(error)) => Err(error),
            Err(Interrupted::Model { error, .. }) => Err(SkillError::failed(error.to_string())),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_model_is_told_of_while_it_is_waited_for() {
    let model = Scripted::new([Turn::fails(Failure::Silence)]);
    let listen = Listen {
        model: Arc::new(model),
    };
    let call = MemoryCall::new(Registry::new().with(listen).expect("it is one"));
    let waiting = call.reply("listen", json!({}));
    let waited = tokio::time::timeout(Duration::from_secs(40), waiting).await;
    assert!(waited.is_err(), "nothing comes");
    let [first, second] = &call.reports()[..] else {
        panic!("told twice: {:?}", call.reports());
    };
    assert!(
        first.contains("Still waiting for the language model"),
        "{first}"
    );
    assert!(
        first.contains("15 s") && second.contains("30 s"),
        "{second}"
    );
}
