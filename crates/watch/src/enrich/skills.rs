//! What a call can do, by the name of its skill and the abilities that the agent said it has. A journal knows of a skill only
//! whether it changes something; the rest is read from its words.

/// What a call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effects {
    Read,
    Write,
    Send,
    Pay,
    Run,
}

impl Effects {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Send => "send",
            Self::Pay => "pay",
            Self::Run => "run",
        }
    }

    /// Whether something is different after it.
    pub(crate) fn changes(self) -> bool {
        self != Self::Read
    }
}

const PAYS: &[&str] = &[
    "buy", "pay", "transfer", "order", "purchase", "checkout", "donate", "invest",
];
const SENDS: &[&str] = &[
    "send", "post", "forward", "reply", "publish", "submit", "invite", "upload", "share", "tweet",
    "comment", "notify", "push", "ask",
];
const RUNS: &[&str] = &["run", "exec", "shell", "eval", "script"];
const WRITES: &[&str] = &[
    "write", "edit", "delete", "move", "undo", "set", "update", "add", "create", "remove",
    "rename", "commit", "remember", "forget", "format", "patch", "put", "merge", "click", "type",
    "fill",
];
const OUTSIDE: &[&str] = &[
    "web", "browser", "http", "fetch", "url", "mail", "email", "inbox", "message", "slack", "chat",
    "feed", "rss", "page", "wiki", "issue", "ticket", "crm", "mcp", "agent", "download",
    "calendar", "news", "review",
];
const PRIVATE: &[&str] = &[
    "mail", "email", "inbox", "crm", "calendar", "contact", "contacts", "bank", "payroll", "hr",
    "medical", "recall", "secret",
];

fn has(skill: &str, list: &[&str]) -> bool {
    skill
        .split(['-', '_', '.', '/'])
        .any(|it| list.contains(&it))
}

/// What a call of a skill can do. `read_only` is what the agent said of it, if it did.
pub(crate) fn effects(skill: &str, read_only: Option<bool>) -> Effects {
    if read_only == Some(true) {
        return Effects::Read;
    }
    // The last word of an id is its verb: `mail-send`, `calendar-list`.
    match skill {
        _ if has(skill, PAYS) => Effects::Pay,
        _ if has(skill, SENDS) => Effects::Send,
        _ if has(skill, RUNS) => Effects::Run,
        _ if has(skill, WRITES) => Effects::Write,
        // Nothing is known of it, and the agent does not call it harmless.
        _ if read_only == Some(false) => Effects::Write,
        _ => Effects::Read,
    }
}

/// Whether what it gives was written by others.
pub(crate) fn is_outside(skill: &str, network: bool) -> bool {
    network || has(skill, OUTSIDE)
}

/// Whether what it gives is private to people.
pub(crate) fn is_private(skill: &str, path: &str) -> bool {
    has(skill, PRIVATE) || super::files::kind(path) == "credential"
}
