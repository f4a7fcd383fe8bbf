//! Nothing but the proof breaks requirements: the feature for it is turned on by hand, and by nothing else.

use std::path::Path;

use crate::error::Result;
use crate::workspace::{self, Package};

/// The feature, in every package that has it.
const FEATURE: &str = "sabotage";

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    Ok(found(&workspace::packages(root)?))
}

/// Packages that turn it on by default or through a dependency.
pub(super) fn found(packages: &[Package]) -> Vec<String> {
    let findings = packages.iter().flat_map(|package| {
        let turned_on = package.turns_on.iter();
        let found = turned_on.filter(|(by, what)| by != FEATURE && is_it(what));
        found.map(|(by, what)| format!("{}: {by} turns on {what}", package.name))
    });
    findings.collect()
}

/// Whether this is the feature: of the package itself, or of another.
fn is_it(what: &str) -> bool {
    what.rsplit('/').next() == Some(FEATURE)
}
