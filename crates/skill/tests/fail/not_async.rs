//! Not an async function, and nothing is said about it.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Input {
    text: String,
}

#[skill(tags = ["test"], examples = ["do nothing"])]
fn nothing(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

#[skill(tags = ["test"], examples = ["do nothing"])]
async fn silent(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

fn main() {}
