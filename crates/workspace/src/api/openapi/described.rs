//! What is said of each route: a sentence, its query, its body and its reply. A name that ends in `!` is required.
//! A type is a word of `openapi::schema`, or the name of an object of [`named`].

mod administration;
mod coming;
pub(crate) mod named;

/// A field with its type in a word, or a parameter with a sentence.
pub(crate) type Fields = &'static [(&'static str, &'static str)];

/// What is said of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    pub(crate) summary: &'static str,
    pub(crate) query: Fields,
    pub(crate) body: Fields,
    pub(crate) reply: Kind,
}

/// The reply of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// An object with these fields.
    Json(Fields),
    /// Something else: its media type, or several with commas between them.
    Other(&'static str),
    /// The connection becomes a WebSocket.
    Upgrade,
}

/// The query parameter of nearly all routes.
const AGENT: (&str, &str) = ("agent", "the id of the agent; the default one without it");

/// The sentence of a route of which nothing is said.
pub(crate) const UNDESCRIBED: &str = "No description yet.";

const fn json(summary: &'static str, query: Fields, body: Fields, reply: Fields) -> Described {
    Described {
        summary,
        query,
        body,
        reply: Kind::Json(reply),
    }
}

const fn other(summary: &'static str, query: Fields, kind: &'static str) -> Described {
    Described {
        summary,
        query,
        body: &[],
        reply: Kind::Other(kind),
    }
}

const SESSION: Fields = &[
    ("session_id!", "string"),
    ("agent!", "string"),
    ("title!", "string"),
    ("archived!", "boolean"),
    ("created!", "string"),
    ("updated!", "string"),
    (
        "agent_state",
        "idle|thinking|executing|awaiting_approval|error",
    ),
    ("waiting", "strings"),
];

const STATUS: Fields = &[
    ("id!", "string"),
    ("state!", "idle|thinking|executing|awaiting_approval|error"),
    ("current_task", "string?"),
    ("queue_length!", "integer"),
    ("paused!", "boolean"),
    ("fault", "string?"),
    ("working!", "integer"),
    ("approvals!", "objects"),
    ("questions!", "objects"),
    ("grants!", "objects"),
    ("queue!", "list"),
    ("plans!", "objects"),
    ("law!", "list"),
    ("timers!", "object"),
    ("offered", "strings"),
    ("accept", "string"),
    ("event!", "integer"),
];

const DIFF: Fields = &[
    ("agent!", "string"),
    ("from!", "integer"),
    ("to!", "integer"),
    ("by!", "string"),
    ("why!", "string"),
    ("lines!", "strings"),
    ("offered", "strings"),
    ("accept", "string"),
];

const CAPABILITY: Fields = &[
    ("id!", "string"),
    ("kind!", "string"),
    ("by!", "string"),
    ("methods", "strings"),
    ("read_only!", "boolean"),
    ("permissions!", "strings"),
    ("created!", "string"),
    ("token", "string"),
];

/// What is said of a route. One of which nothing is said is in the document by its path alone.
pub(crate) fn described(verb: &str, path: &str) -> Described {
    agent(verb, path)
        .or_else(|| people(verb, path))
        .or_else(|| files(verb, path))
        .or_else(|| memory(verb, path))
        .or_else(|| administration::administration(verb, path))
        .or_else(|| server(verb, path))
        .or_else(|| coming::journal(verb, path))
        .or_else(|| coming::things(verb, path))
        .or_else(|| coming::proposals(verb, path))
        .unwrap_or_else(|| json(UNDESCRIBED, &[AGENT], &[], &[]))
}

fn agent(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/api/agents") => json(
            "The agents that the caller may use.",
            &[],
            &[],
            &[("agents!", "Agent[]")],
        ),
        ("POST", "/api/agent/initialize") => json(
            "Begins a session, with what is chosen for it.",
            &[AGENT],
            &[
                ("session_id", "string"),
                ("config", "object"),
                ("agent", "string"),
            ],
            &[
                ("session_id!", "string"),
                (
                    "agent_state!",
                    "idle|thinking|executing|awaiting_approval|error",
                ),
                ("capabilities!", "strings"),
                ("agent!", "string"),
                ("model", "string?"),
                ("note", "string"),
            ],
        ),
        ("POST", "/api/agent/command") => json(
            "Sends a command to the agent.",
            &[AGENT],
            &[
                ("command!", "string"),
                ("context", "project|file|system"),
                ("session_id", "string"),
                ("urgency", "immediate|high|normal|low"),
                ("priority", "low|normal|high|critical"),
                ("attachments", "objects"),
                ("id", "string"),
                ("agent", "string"),
            ],
            &[
                ("task_id!", "string"),
                ("status!", "queued|processing"),
                ("session_id!", "string"),
            ],
        ),
        ("GET", "/api/agent/tools") => json(
            "What the agent can do: its skills, with what each takes and needs.",
            &[AGENT],
            &[],
            &[("agent!", "string"), ("tools!", "Tool[]")],
        ),
        ("GET", "/api/agent/status") => {
            json("What the agent does at the moment.", &[AGENT], &[], STATUS)
        }
        ("POST", "/api/agent/pause") => json(
            "Has the agent stop where it is.",
            &[AGENT],
            &[("agent", "string")],
            &[
                ("success!", "boolean"),
                ("previous_state!", "string"),
                ("state!", "string"),
                ("paused!", "boolean"),
            ],
        ),
        ("POST", "/api/agent/resume") => json(
            "Has the agent go on.",
            &[AGENT],
            &[("agent", "string")],
            &[("success!", "boolean"), ("current_state!", "string")],
        ),
        ("GET", "/api/agent/law") => json(
            "The law of the agent, in sentences and as data.",
            &[AGENT, ("version", "an earlier version, by its number")],
            &[],
            &[
                ("agent!", "string"),
                ("version!", "integer"),
                ("hash!", "string"),
                ("by!", "string"),
                ("why!", "string"),
                ("event!", "integer"),
                ("text!", "string"),
                ("law!", "object"),
            ],
        ),
        ("PUT", "/api/agent/law") => json(
            "Proposes a change of the law.",
            &[AGENT],
            &[
                ("path!", "string"),
                ("value!", "any"),
                ("why!", "string"),
                ("agent", "string"),
            ],
            DIFF,
        ),
        ("POST", "/api/agent/law/accept") => json(
            "Accepts what the edited manifest or law file says.",
            &[AGENT],
            &[("why!", "string"), ("agent", "string")],
            DIFF,
        ),
        ("GET", "/api/agent/laws") => json(
            "Every law that the agent had.",
            &[AGENT],
            &[],
            &[("agent!", "string"), ("versions!", "LawVersion[]")],
        ),
        ("GET", "/api/agent/diff") => json(
            "What changed between two versions of the law.",
            &[AGENT, ("from", "a version"), ("to", "a version")],
            &[],
            DIFF,
        ),
        ("GET", "/api/agent/why") => json(
            "Why the agent did, said or holds something.",
            &[AGENT, ("question!", "what is to be explained")],
            &[],
            &[
                ("agent!", "string"),
                ("known!", "boolean"),
                ("because!", "Because[]"),
                ("text!", "string"),
            ],
        ),
        _ => return None,
    })
}

fn people(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/ws/chat") => Described {
            summary: "The chat, as a WebSocket; docs/chat.md has its messages.",
            query: &[
                AGENT,
                ("files", "follow: be told what changes in the project"),
            ],
            body: &[],
            reply: Kind::Upgrade,
        },
        ("POST", "/ag-ui") => Described {
            summary: "A run of the Agent User Interaction protocol, as an event stream; docs/ag-ui.md has its events.",
            query: &[AGENT],
            body: &[
                ("threadId!", "string"),
                ("runId!", "string"),
                ("messages!", "objects"),
                ("tools", "objects"),
                ("context", "objects"),
                ("state", "any"),
                ("forwardedProps", "any"),
                ("resume", "objects"),
            ],
            reply: Kind::Other("text/event-stream"),
        },
        ("GET", "/api/sessions") => json(
            "The sessions of the caller, the last used first.",
            &[
                ("query", "words in the title or in what was said"),
                ("archived", "true, false or all"),
            ],
            &[],
            &[("sessions!", "ChatSession[]")],
        ),
        ("GET", "/api/sessions/{id}") => {
            json("A session, and what waits in it.", &[AGENT], &[], SESSION)
        }
        ("PATCH", "/api/sessions/{id}") => json(
            "Renames or archives a session.",
            &[AGENT],
            &[("title", "string"), ("archived", "boolean")],
            SESSION,
        ),
        ("DELETE", "/api/sessions/{id}") => json(
            "Deletes a session; the journal keeps what happened.",
            &[AGENT],
            &[],
            &[("success!", "boolean"), ("session_id!", "string")],
        ),
        ("GET", "/api/sessions/{id}/messages") => json(
            "The messages of a session.",
            &[
                AGENT,
                ("after", "a cursor, as metadata.cursor has it"),
                ("limit", "how many, from 1 to 1000"),
            ],
            &[],
            &[
                ("session_id!", "string"),
                ("messages!", "Envelope[]"),
                ("agent_state!", "string"),
                ("waiting!", "strings"),
                ("more!", "boolean"),
            ],
        ),
        ("GET", "/api/sessions/{id}/export") => other(
            "A whole session, as JSON or Markdown.",
            &[AGENT, ("format", "json or markdown")],
            "application/json, text/markdown",
        ),
        ("GET", "/api/approvals") => json(
            "The calls and questions that wait for the caller.",
            &[AGENT],
            &[],
            &[
                ("agent!", "string"),
                ("approvals!", "Approval[]"),
                ("questions!", "Question[]"),
            ],
        ),
        ("POST", "/api/approvals/{id}") => json(
            "Answers what waits.",
            &[AGENT],
            &[
                ("decision", "approve|reject|modify|session"),
                ("modified", "any"),
                ("field", "string"),
                ("prefix", "string"),
                ("reason", "string"),
                ("answer", "string"),
            ],
            &[("id!", "string"), ("task!", "string")],
        ),
        ("GET", "/api/grants") => json(
            "The decisions that count for later calls.",
            &[AGENT],
            &[],
            &[("agent!", "string"), ("grants!", "Grant[]")],
        ),
        ("DELETE", "/api/grants/{id}") => {
            json("Ends a grant.", &[AGENT], &[], &[("id!", "string")])
        }
        ("GET", "/api/capabilities") => json(
            "What the caller has lent to other programs.",
            &[],
            &[],
            &[("capabilities!", "Capability[]")],
        ),
        ("POST", "/api/capabilities") => json(
            "Lends a part of what the caller may do.",
            &[],
            &[
                ("methods", "strings"),
                ("read_only", "boolean"),
                ("task", "string"),
                ("session", "string"),
                ("permissions", "strings"),
                ("note", "string"),
                ("for", "any"),
            ],
            CAPABILITY,
        ),
        ("DELETE", "/api/capabilities/{id}") => json("Takes back what was lent.", &[], &[], &[]),
        ("GET", "/api/watch/alerts") => json(
            "The alerts of the watchdog, the last one first.",
            &[
                ("agent", "of this agent"),
                (
                    "state",
                    "open, repeated, resolved, acknowledged, muted or false_alarm",
                ),
                ("severity", "info, low, medium, high or critical"),
                ("rule", "of the rule with this id"),
                ("limit", "how many"),
            ],
            &[],
            &[("alerts!", "any"), ("total!", "integer")],
        ),
        ("POST", "/api/watch/alerts/{id}") => json(
            "Says of an alert that it was seen, is not wanted for a time, or is a false alarm.",
            &[],
            &[
                ("judgement!", "acknowledge|mute|false_alarm"),
                ("minutes", "integer"),
            ],
            &[("success!", "boolean"), ("alert!", "any")],
        ),
        ("GET", "/api/watch/rules") => json(
            "The rules of the watchdog with their counts.",
            &[],
            &[],
            &[("rules!", "any"), ("packs!", "integer")],
        ),
        ("POST", "/api/watch/rules/{id}") => json(
            "Mutes a rule for a time; 0 minutes end it.",
            &[],
            &[("minutes", "integer")],
            &[
                ("success!", "boolean"),
                ("rule!", "string"),
                ("until!", "string"),
            ],
        ),
        ("GET", "/api/boards") => json("The boards.", &[], &[], &[("boards!", "strings")]),
        ("GET", "/api/boards/{name}") => json(
            "The letters of a board.",
            &[("after", "a place"), ("limit", "how many")],
            &[],
            &[("board!", "string"), ("letters!", "BoardLetter[]")],
        ),
        ("POST", "/api/boards/{name}") => json(
            "Adds a letter to a board.",
            &[],
            &[("kind", "string"), ("text", "string"), ("agent", "string")],
            &[
                ("success!", "boolean"),
                ("board!", "string"),
                ("place!", "integer"),
                ("id!", "string"),
            ],
        ),
        _ => return None,
    })
}

fn files(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/api/files/tree") => json(
            "The folders and files of the project.",
            &[AGENT, ("path", "a folder"), ("depth", "from 1 to 32")],
            &[],
            &[
                ("path!", "string"),
                ("type!", "directory"),
                ("children!", "FileNode[]"),
                ("incomplete", "boolean"),
            ],
        ),
        ("GET", "/api/files/content") => json(
            "A file of the project.",
            &[AGENT, ("path!", "the file")],
            &[],
            &[
                ("path!", "string"),
                ("content!", "string"),
                ("language!", "string"),
                ("size!", "integer"),
                ("modified", "string?"),
                ("hash!", "string"),
            ],
        ),
        ("PUT", "/api/files/content") => json(
            "Writes a file, at once or after an approval.",
            &[AGENT],
            &[
                ("path!", "string"),
                ("content!", "string"),
                ("requires_approval", "boolean"),
                ("seen", "string"),
                ("agent", "string"),
            ],
            &[
                ("success!", "boolean"),
                ("status!", "written|pending_approval"),
                ("path", "string"),
                ("created", "boolean"),
                ("changed", "boolean"),
                ("size", "integer"),
                ("hash", "string"),
                ("approval_id", "string"),
                ("task_id", "string"),
            ],
        ),
        ("GET", "/api/files/search") => json(
            "Searches the files of the project.",
            &[
                AGENT,
                ("query!", "what to look for"),
                ("type", "code, text or name"),
                ("path", "a folder"),
                ("limit", "from 1 to 500"),
            ],
            &[],
            &[("results!", "FileHit[]"), ("incomplete!", "boolean")],
        ),
        _ => return None,
    })
}

fn memory(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("POST", "/api/memory/query") => json(
            "What the agent remembers about a question.",
            &[],
            &[
                ("query!", "string"),
                ("mode", "hybrid|local|global"),
                ("top_k", "integer"),
                ("layers", "strings"),
                ("sources", "strings"),
                ("since", "string"),
                ("until", "string"),
                ("task_id", "string"),
                ("max_tokens", "integer"),
                ("noted", "boolean"),
                ("agent", "string"),
            ],
            &[
                ("entities!", "strings"),
                ("relationships!", "objects"),
                ("sources!", "MemoryRecord[]"),
                ("mode!", "string"),
                ("retriever!", "string"),
            ],
        ),
        ("POST", "/api/memory/vector-search") => json(
            "The records that are nearest to a text.",
            &[],
            &[
                ("query!", "string"),
                ("top_k", "integer"),
                ("agent", "string"),
            ],
            &[("results!", "MemoryRecord[]"), ("retriever!", "string")],
        ),
        ("POST", "/api/memory/store") => json(
            "Has the agent remember something.",
            &[],
            &[
                ("type", "string"),
                ("content!", "string"),
                ("metadata", "object"),
                ("layer", "string"),
                ("reason", "object"),
                ("from", "strings"),
                ("public", "boolean"),
                ("agent", "string"),
            ],
            &[
                ("success!", "boolean"),
                ("node_id!", "string"),
                ("layer!", "string"),
                ("outcome!", "string"),
                ("contradicts", "objects"),
            ],
        ),
        ("POST", "/api/memory/forget") => json(
            "Has the agent forget a record.",
            &[],
            &[("id!", "string"), ("why", "string"), ("agent", "string")],
            &[("success!", "boolean"), ("forgotten!", "integer")],
        ),
        ("GET", "/api/memory/context") => json(
            "What the agent remembers that has to do with a task.",
            &[AGENT, ("task_id!", "the task")],
            &[],
            &[
                ("task_id!", "string"),
                ("related_concepts!", "strings"),
                ("previous_conversations!", "MemoryRecord[]"),
                ("code_references!", "MemoryRecord[]"),
            ],
        ),
        ("GET", "/api/memory/graph") => json(
            "The knowledge graph, or a part of it.",
            &[
                AGENT,
                ("topic", "what the part is about"),
                ("limit", "how many nodes"),
            ],
            &[],
            &[("nodes!", "list"), ("edges!", "list")],
        ),
        ("GET", "/api/memory/records") => json(
            "The records of the memory, the newest first.",
            &[
                AGENT,
                (
                    "layer",
                    "of one layer: observation, working, belief, procedure or axiom",
                ),
                ("type", "of one type, such as conversation, code or concept"),
                ("before", "the id of a record; what was recorded before it"),
                ("limit", "how many, from 1 to 500"),
            ],
            &[],
            &[
                ("agent!", "string"),
                ("records!", "MemoryRecord[]"),
                ("total!", "integer"),
                ("next", "string"),
            ],
        ),
        ("GET", "/api/memory/audit") => json(
            "Counts of what is in the memory, and of what is wrong with it.",
            &[AGENT],
            &[],
            &[
                ("agent!", "string"),
                ("clean!", "boolean"),
                ("records!", "integer"),
                ("layers!", "object"),
                ("contradictions!", "integer"),
                ("duplicates!", "integer"),
                ("echoes!", "integer"),
                ("embedded!", "integer"),
                ("forgotten!", "integer"),
                ("never_read!", "integer"),
                ("recall_loops!", "integer"),
                ("uncertain!", "integer"),
                ("unsettled!", "integer"),
                ("hypotheses!", "integer"),
                ("without_reason!", "integer"),
            ],
        ),
        ("GET", "/api/memory/export") => other(
            "The records of the memory.",
            &[AGENT, ("format", "jsonl or cypher")],
            "application/jsonl, text/plain",
        ),
        ("POST", "/api/memory/import") => json(
            "Writes exported records into the memory.",
            &[AGENT],
            &[],
            &[
                ("success!", "boolean"),
                ("imported!", "integer"),
                ("known!", "integer"),
            ],
        ),
        _ => return None,
    })
}

fn server(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/metrics") => other(
            "Metrics, as Prometheus reads them.",
            &[],
            "application/openmetrics-text, text/plain",
        ),
        ("GET", "/api/audit") => other(
            "The audit trail: the calls on every wire.",
            &[
                ("user", "of one caller"),
                (
                    "since",
                    "a time such as 2026-01-31T12:00:00Z, or an age such as 1h",
                ),
                ("limit", "the newest, so many"),
                ("follow", "true: also those to come"),
            ],
            "application/json, application/x-ndjson",
        ),
        ("GET", "/api/audit/verify") => json(
            "Whether the chain of the audit trail is whole.",
            &[],
            &[],
            &[],
        ),
        ("GET", "/operator/webhooks/dead") => json(
            "The webhooks that were given up.",
            &[("after", "an id")],
            &[],
            &[("webhooks!", "objects"), ("next!", "string")],
        ),
        ("POST", "/operator/webhooks/replay") => {
            json("Starts webhooks again that were given up.", &[], &[], &[])
        }
        ("GET", "/operator/backup") => other(
            "A backup of all data, in one file.",
            &[],
            "application/vnd.sqlite3",
        ),
        _ => return None,
    })
}
