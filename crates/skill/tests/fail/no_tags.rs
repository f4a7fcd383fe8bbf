//! A skill without tags.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Input {
    text: String,
}

/// Does nothing.
#[skill(tags = [], examples = ["do nothing"])]
async fn nothing(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

fn main() {}
