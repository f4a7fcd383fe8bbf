//! Descriptions of the routes that the page needs beyond the documented ones: the journal, tasks, a search, the status of the
//! server, terminals, changes of files, the model, and proposals to change a law.

use super::{AGENT, Described, Fields, json};

const EVENT: Fields = &[
    ("agent!", "string"),
    ("event!", "integer"),
    ("at!", "string"),
    ("kind!", "string"),
    ("turn", "string"),
    ("text!", "string"),
    ("data!", "object"),
    ("why!", "Because[]"),
    ("changes!", "objects"),
];

const PROPOSAL: Fields = &[
    ("agent!", "string"),
    ("proposal", "integer"),
    ("standing!", "string"),
    ("says!", "string"),
    ("by!", "string"),
    ("target!", "string"),
    ("change!", "any"),
    ("justification!", "string"),
    ("major!", "boolean"),
    ("lines", "strings"),
    ("trial", "LawTest"),
    ("held_out", "LawTest"),
    ("version", "integer"),
    ("events!", "integers"),
];

const DECISION: Fields = &[
    ("proposal", "integer"),
    ("why", "string"),
    ("agent", "string"),
];

const TERMINAL: Fields = &[
    ("id!", "string"),
    ("agent!", "string"),
    ("holder", "string?"),
    ("opened!", "string"),
    ("by!", "string"),
    ("sandbox!", "string"),
    ("ended!", "boolean"),
];

const MODEL: Fields = &[
    ("provider", "string?"),
    ("name", "string?"),
    ("url", "string?"),
    ("has_key!", "boolean"),
    ("from!", "settings|kept|rules"),
];

pub(super) fn journal(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/api/journal") => json(
            "The events of the agent's journal, the newest first; with after, the oldest first.",
            &[
                AGENT,
                ("before", "the number of an event: those before it"),
                ("after", "the number of an event: those after it"),
                ("limit", "how many, from 1 to 500"),
                ("kinds", "the only kinds, with commas between them"),
            ],
            &[],
            &[
                ("agent!", "string"),
                ("events!", "JournalRecord[]"),
                ("next", "integer"),
                ("last!", "integer"),
            ],
        ),
        ("GET", "/api/journal/{event}") => json(
            "An event, what it changed, and why it happened.",
            &[AGENT],
            &[],
            EVENT,
        ),
        ("GET", "/api/journal/{event}/state") => json(
            "The state of the agent at an event: read, never replayed.",
            &[AGENT],
            &[],
            &[
                ("agent!", "string"),
                ("event!", "integer"),
                ("at!", "string"),
                ("state!", "idle|thinking|executing|awaiting_approval|error"),
                ("paused!", "boolean"),
                ("working!", "integer"),
                ("queue!", "list"),
                ("approvals!", "objects"),
                ("questions!", "objects"),
                ("grants!", "Grant[]"),
                ("plans!", "objects"),
                ("goals!", "strings"),
                ("law_version!", "integer"),
                ("law_hash!", "string"),
                ("law!", "string"),
            ],
        ),
        ("GET", "/api/journal/{event}/prompt") => json(
            "What the model was shown for the thought of an event.",
            &[AGENT],
            &[],
            &[
                ("agent!", "string"),
                ("event!", "integer"),
                ("system!", "string"),
                ("messages!", "objects"),
                ("tools!", "objects"),
            ],
        ),
        ("GET", "/api/search") => json(
            "Where something was said, in all sessions of the caller.",
            &[
                ("query!", "the words"),
                ("limit", "how many, from 1 to 200"),
            ],
            &[],
            &[("found!", "FoundMessage[]"), ("incomplete!", "boolean")],
        ),
        ("GET", "/api/tasks") => json(
            "The tasks of the caller, as A2A 1.0 has them, the last changed first.",
            &[
                AGENT,
                ("state", "a state, such as TASK_STATE_WORKING"),
                ("context", "a conversation"),
                ("limit", "how many, from 1 to 100"),
                ("after", "the next of the page before"),
            ],
            &[],
            &[
                ("tasks!", "objects"),
                ("next!", "string"),
                ("total!", "integer"),
            ],
        ),
        ("GET", "/api/tasks/{id}") => json(
            "A task, as A2A 1.0 has it.",
            &[AGENT],
            &[],
            &[
                ("id!", "string"),
                ("contextId!", "string"),
                ("status!", "object"),
                ("artifacts", "objects"),
                ("history", "objects"),
                ("metadata", "object"),
            ],
        ),
        ("POST", "/api/tasks/{id}/cancel") => json(
            "Cancels a task.",
            &[AGENT],
            &[],
            &[
                ("id!", "string"),
                ("contextId!", "string"),
                ("status!", "object"),
            ],
        ),
        _ => return None,
    })
}

pub(super) fn things(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/api/status") => json(
            "The server: its build, its models and its agents.",
            &[],
            &[],
            &[
                ("build!", "string"),
                ("version!", "string"),
                ("started!", "string"),
                ("models!", "ModelState[]"),
                ("agents!", "Agent[]"),
                ("ollama", "object"),
            ],
        ),
        ("GET", "/api/files/changes") => json(
            "What agents changed in the project and can be taken back, the last first.",
            &[AGENT, ("limit", "how many, from 1 to 500")],
            &[],
            &[("changes!", "KeptChange[]")],
        ),
        ("POST", "/api/files/undo") => json(
            "Takes back a change of a file; without change, the last one.",
            &[AGENT],
            &[("change", "string"), ("agent", "string")],
            &[
                ("success!", "boolean"),
                ("change!", "string"),
                ("path!", "string"),
                ("id!", "string"),
            ],
        ),
        ("POST", "/api/files/diff") => json(
            "Applies a unified diff to a file, whole or in parts: at once, or by the agent after an approval; with preview, only \
             says what it would do.",
            &[AGENT],
            &[
                ("path!", "string"),
                ("diff!", "string"),
                ("hunks", "integers"),
                ("seen", "string"),
                ("preview", "boolean"),
                ("requires_approval", "boolean"),
                ("agent", "string"),
            ],
            &[
                ("success!", "boolean"),
                ("path!", "string"),
                ("lines_added!", "integer"),
                ("lines_removed!", "integer"),
                ("content", "string"),
                ("hash", "string"),
                ("hunks!", "objects"),
                ("status", "pending_approval|written"),
                ("approval_id", "string"),
                ("task_id", "string"),
            ],
        ),
        ("GET", "/api/model") => json("The model that answers.", &[], &[], MODEL),
        ("PUT", "/api/model") => json(
            "Uses another model. It is tried first, and the key is kept sealed.",
            &[],
            &[
                ("provider!", "string"),
                ("name!", "string"),
                ("url", "string"),
                ("key", "string"),
            ],
            MODEL,
        ),
        ("DELETE", "/api/model") => json(
            "Forgets the model that was chosen: that of the settings answers again.",
            &[],
            &[],
            MODEL,
        ),
        ("GET", "/api/terminals") => json(
            "The terminals that are open.",
            &[AGENT],
            &[],
            &[("terminals!", "TerminalState[]")],
        ),
        ("POST", "/api/terminals") => json(
            "Opens a terminal in the project; the caller holds it.",
            &[AGENT],
            &[
                ("columns", "integer"),
                ("rows", "integer"),
                ("agent", "string"),
            ],
            TERMINAL,
        ),
        ("DELETE", "/api/terminals/{id}") => json(
            "Closes a terminal: its shell and all that it started end.",
            &[AGENT],
            &[],
            &[("success!", "boolean"), ("id!", "string")],
        ),
        _ => return None,
    })
}

/// Proposals to change a law.
pub(super) fn proposals(verb: &str, path: &str) -> Option<Described> {
    const PROPOSALS: Fields = &[("agent!", "string"), ("proposals!", "Proposal[]")];
    Some(match (verb, path) {
        ("GET", "/api/agent/law/proposals") => json(
            "The proposals to change the law, the oldest first.",
            &[AGENT],
            &[],
            PROPOSALS,
        ),
        ("POST", "/api/agent/law/propose") => json(
            "Proposes a change of the law, which is tested on recorded episodes.",
            &[AGENT],
            &[
                ("target!", "string"),
                ("change!", "any"),
                ("justification!", "string"),
                ("evidence", "integers"),
                ("agent", "string"),
            ],
            PROPOSAL,
        ),
        ("POST", "/api/agent/law/reflect") => json(
            "Has the agent look for a change of its law that its journal speaks for.",
            &[AGENT],
            &[("agent", "string")],
            PROPOSALS,
        ),
        ("POST", "/api/agent/law/test") => json(
            "Tests a proposal once more.",
            &[AGENT],
            &[("proposal", "integer"), ("agent", "string")],
            PROPOSAL,
        ),
        ("POST", "/api/agent/law/approve") => {
            json("Adopts a proposal.", &[AGENT], DECISION, PROPOSAL)
        }
        ("POST", "/api/agent/law/reject") => {
            json("Rejects a proposal.", &[AGENT], DECISION, PROPOSAL)
        }
        ("POST", "/api/agent/law/rollback") => json(
            "Puts an older version of the law in force again; without version, the one before.",
            &[AGENT],
            &[
                ("version", "integer"),
                ("why", "string"),
                ("agent", "string"),
            ],
            super::DIFF,
        ),
        _ => return None,
    })
}
