//! A tuple is no object.

use schemars::JsonSchema;
use serde::Deserialize;
use skill::SkillInput;

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Pair(String, String);

fn main() {}
