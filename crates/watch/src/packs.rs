//! The rules that are part of the program, in packs.

use crate::Error;
use crate::rule::{Author, Rules};

pub(crate) const SECRETS: &str = include_str!("../packs/secrets.toml");
pub(crate) const THEMES: &str = include_str!("../packs/themes.toml");

/// The packs, each with its rules.
pub const PACKS: &[(&str, &str)] = &[
    ("loops", include_str!("../packs/loops.yml")),
    ("failures", include_str!("../packs/failures.yml")),
    ("spend", include_str!("../packs/spend.yml")),
    ("secrets", include_str!("../packs/secrets.yml")),
    ("injection", include_str!("../packs/injection.yml")),
    ("law", include_str!("../packs/law.yml")),
    ("files", include_str!("../packs/files.yml")),
    ("graph", include_str!("../packs/graph.yml")),
];

/// All shipped rules.
pub fn rules() -> Result<Rules, Error> {
    let mut rules = Rules::default();
    for (name, text) in PACKS {
        rules.add(Rules::parse(name, Author::Shipped, text)?);
    }
    Ok(rules)
}
