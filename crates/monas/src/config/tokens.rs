//! Where tokens are kept that this user was issued by others.

use std::path::PathBuf;

/// The folder for tokens: `$XDG_STATE_HOME/monas/tokens`, or that in `~/.local/state`. `None` if the user has no home.
pub(crate) fn folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    // The XDG specification ignores an empty or relative path.
    let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME").and_then(absolute);
    let home = || Some(variable("HOME").and_then(absolute)?.join(".local/state"));
    Some(state.or_else(home)?.join("monas/tokens"))
}
