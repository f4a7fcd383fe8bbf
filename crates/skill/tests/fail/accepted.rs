//! The programs beside this one, without their faults.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, Id, OneOrMore, SkillError, SkillInput, Spec, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Input {
    text: String,
}

/// Does nothing.
#[skill(id = "do-nothing", tags = ["test"], examples = ["do nothing"])]
async fn nothing(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

#[skill(description = "Does nothing.", tags = ["test"], examples = ["do nothing"])]
async fn silent(input: Input, _ctx: Context) -> Result<String, SkillError> {
    Ok(input.text)
}

const _: Spec = Spec::new(
    Id::new("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    "Nothing",
    "Does nothing.",
    OneOrMore::new(&["test"]),
    OneOrMore::new(&["do nothing"]),
);

fn main() {}
