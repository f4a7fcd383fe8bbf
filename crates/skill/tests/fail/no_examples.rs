//! A skill that says nothing of examples.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Input {
    text: String,
}

/// Does nothing.
#[skill(tags = ["test"])]
async fn nothing(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

fn main() {}
