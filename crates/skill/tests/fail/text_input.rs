//! An input that is no object.

use skill::{Context, SkillError, skill};

/// Does nothing.
#[skill(tags = ["test"], examples = ["do nothing"])]
async fn nothing(input: String, _ctx: Context) -> Result<String, SkillError> {
    Ok(input)
}

fn main() {}
