//! An id that is legal on some wires only.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Input {
    text: String,
}

/// Does nothing.
#[skill(id = "Do_Nothing", tags = ["test"], examples = ["do nothing"])]
async fn nothing(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

fn main() {}
