//! Credentials that were lent for one session: the routes that they may call, and what those show.
//!
//! The bound of a credential names a task; for a session it says `session:ID`, which no task is called. So every wire that
//! asks for a task refuses such a credential, and only what is listed here lets it in.

use access::{Principal, Refusal, Rule};

/// How the bound of a credential names a session.
const PREFIX: &str = "session:";

/// The routes about the session, with `{id}` for its id.
const ITS_OWN: [&str; 3] = [
    "/api/sessions/{id}",
    "/api/sessions/{id}/messages",
    "/api/sessions/{id}/export",
];

/// The routes that show no more than the session: about the caller, the agents' names, the list of sessions with this one
/// in it, and what waits in it.
const AROUND_IT: [&str; 6] = [
    "/api/session",
    "/api/agents",
    "/api/status",
    "/api/sessions",
    "/api/approvals",
    "/ws/chat",
];

/// The bound of a credential for a session.
pub(super) fn bound(session: &str) -> String {
    format!("{PREFIX}{session}")
}

/// The session of a bound, if it is one of a session.
pub(super) fn in_bound(task: &str) -> Option<&str> {
    task.strip_prefix(PREFIX)
}

/// The only session of a caller, if its credential was lent for one.
pub fn only_session(caller: &Principal) -> Option<&str> {
    in_bound(caller.bounds().task.as_deref()?)
}

/// Whether a session is within what a caller may see: every one, or the only one of its credential.
pub(crate) fn covers(caller: &Principal, session: &str) -> bool {
    only_session(caller).is_none_or(|only| only == session)
}

/// Whether a caller may call a route with this path. What an answer or a message is about is checked where it is read.
pub fn check_route(rule: &Rule, caller: &Principal, path: &str) -> Result<(), Refusal> {
    rule.check(caller)?;
    let within = only_session(caller).is_some_and(|only| is_open_to(only, rule, path));
    let task = caller.bounds().task.as_deref().filter(|_| within);
    rule.check_task(caller, task)
}

fn is_open_to(session: &str, rule: &Rule, path: &str) -> bool {
    if rule.is_change() {
        let answered = path.strip_prefix("/api/approvals/");
        return path == "/api/agent/command" || answered.is_some_and(|id| !id.contains('/'));
    }
    let own = |it: &&str| it.replace("{id}", session) == path;
    AROUND_IT.contains(&path) || ITS_OWN.iter().any(own)
}
