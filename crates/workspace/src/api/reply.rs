//! The replies of `/api`, as types: the server writes them, and commands such as `monas law` and `monas memory` read
//! them.
//!
//! JSON that a client only passes on (a whole law, the relations of a graph) stays JSON here.

use std::collections::BTreeMap;

mod access;

pub use access::{
    AddedUser, IssuedToken, KeyList, ListedKey, ListedSecret, ListedUser, NewApiKey, SavedLink,
    SecretList, Session, UserList,
};

use memory::{Draft, Layer, Mode, RecordId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One version of an agent's law.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LawVersion {
    /// The first version has the number 1.
    pub version: usize,
    pub hash: String,
    pub by: String,
    pub why: String,
    /// The number of the event in the agent's journal by which it became law.
    pub event: u64,
    /// When that was, as RFC 3339 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// What a client reads of the reply to `GET /api/agent/status`, and of those to `pause` and `resume`. The reply has more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AgentState {
    pub id: String,
    pub state: String,
    pub paused: bool,
    /// Why it cannot go on.
    pub fault: Option<String>,
    /// How many requests it works on.
    pub working: usize,
    /// The requests that wait, each with its priority.
    pub queue: Vec<(String, u8)>,
    /// The calls that wait for a person.
    pub approvals: Vec<Value>,
    /// The last event of its journal.
    pub event: u64,
    /// The hash of its law, and which version it is.
    pub law: (String, u64),
    /// The command that accepts an edited manifest or law file.
    #[serde(default)]
    pub accept: Option<String>,
}

/// The reply to `GET /api/agents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentList {
    pub agents: Vec<ListedAgent>,
}

/// An agent of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedAgent {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Where it is served, below the address of the server. None: it is not served at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub paused: bool,
    /// The state of the agent at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The name of the model that answers for it; none: rules do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The reply to `GET /api/agent/law`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LawText {
    pub agent: String,
    #[serde(flatten)]
    pub version: LawVersion,
    /// The rules in sentences.
    pub text: String,
    /// The rules as data.
    pub law: Value,
}

/// The reply to `GET /api/agent/laws`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LawHistory {
    pub agent: String,
    pub versions: Vec<LawVersion>,
}

/// The reply to `GET /api/agent/law/proposals`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LawProposals {
    pub agent: String,
    /// The oldest first.
    pub proposals: Vec<agent::ProposalView>,
}

/// The reply to the requests that propose a change of the law, test a proposal, and decide about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LawProposal {
    pub agent: String,
    #[serde(flatten)]
    pub proposal: agent::ProposalView,
}

/// The reply to `GET /api/agent/diff`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LawDiff {
    pub agent: String,
    pub from: usize,
    pub to: usize,
    /// The author of the newer version, and the reason for it.
    pub by: String,
    pub why: String,
    /// One line for each rule that differs.
    pub lines: Vec<String>,
    /// What the edited manifest or law file would change, a line for each value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<String>,
    /// The command that accepts what is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingApproval {
    /// A UUID, version 4.
    pub id: String,
    pub skill: String,
    /// The caller that the call is made for.
    pub by: String,
    pub task: String,
    pub conversation: String,
    pub input: Value,
    /// What the person is told besides the call.
    pub notes: Vec<String>,
    /// When it was asked and until when an answer counts, in milliseconds since 1970.
    pub at: i64,
    pub until: i64,
    /// The change or the command, as a person is shown it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The event of the journal by which it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}

/// A question that waits for a person and is no approval: of a skill, of a tool server, of another agent, or of the agent
/// itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingQuestion {
    /// A UUID, version 4.
    pub id: String,
    /// The caller who is asked.
    pub by: String,
    pub task: String,
    pub conversation: String,
    pub question: String,
    /// When it was asked, in milliseconds since 1970.
    pub at: i64,
}

/// The reply to `GET /api/approvals`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingApprovals {
    pub agent: String,
    pub approvals: Vec<WaitingApproval>,
    #[serde(default)]
    pub questions: Vec<WaitingQuestion>,
}

/// The reply to `POST /api/approvals/{id}`: the answer was delivered to this task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub id: String,
    pub task: String,
}

/// A decision that counts for later calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedGrant {
    pub id: String,
    pub skill: String,
    /// The caller that it counts for.
    pub by: String,
    /// The person who agreed to it.
    #[serde(default)]
    pub agreed: String,
    /// Only in this conversation.
    pub conversation: Option<String>,
    /// Only where this field of the input ...
    pub field: Option<String>,
    /// ... begins so.
    pub prefix: Option<String>,
    /// Until when it counts, in milliseconds since 1970; 0 is without an end.
    pub until: i64,
    /// How many calls were made because of it, as far as the journal was looked at; none: they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// The event by which it was given; none: it is further back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}

/// The reply to `GET /api/grants`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantList {
    pub agent: String,
    pub grants: Vec<ListedGrant>,
}

/// The reply to `DELETE /api/grants/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    pub id: String,
}

/// The reply to `GET /api/agent/why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explained {
    pub agent: String,
    /// False if the journal has nothing about the question.
    pub known: bool,
    pub because: Vec<Because>,
    /// The same as one text.
    pub text: String,
}

/// A sentence of an explanation, and the event that it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Because {
    pub says: String,
    /// The number of the event in the agent's journal.
    pub event: u64,
}

/// The reply to `POST /api/memory/store`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    pub success: bool,
    pub node_id: RecordId,
    pub layer: Layer,
    /// What became of it: `observed`, or what the memory decided about something to keep.
    pub outcome: String,
    /// The records that it contradicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<Contradicted>,
}

/// A record that another one contradicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradicted {
    pub id: RecordId,
    pub content: String,
}

/// The reply to `GET /api/boards`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardList {
    pub boards: Vec<String>,
}

/// The reply to `GET /api/boards/NAME`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardPage {
    pub board: String,
    pub letters: Vec<BoardLetter>,
}

/// A letter on a board. The first one has the place 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardLetter {
    pub place: u64,
    #[serde(flatten)]
    pub letter: Value,
}

/// The reply to `POST /api/boards/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    pub success: bool,
    pub board: String,
    pub place: u64,
    /// The id of the letter.
    pub id: String,
}

/// The reply to `POST /api/memory/query`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    pub entities: Vec<String>,
    pub relationships: Value,
    /// The records that answer, best first.
    pub sources: Vec<RecordHit>,
    pub mode: Mode,
    pub retriever: String,
}

/// The reply to `POST /api/memory/vector-search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VectorHits {
    pub results: Vec<RecordHit>,
    pub retriever: String,
}

/// A record that answers a question: how well, and by which signs it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordHit {
    #[serde(flatten)]
    pub record: RecordView,
    /// From 0 to 1, where 1 is the best of the reply.
    pub relevance: f64,
    pub score: f64,
    /// What the score is made of, the strongest sign first.
    pub explanation: Vec<SignPart>,
    /// What the record was concluded from.
    pub provenance: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
}

/// What one sign added to a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignPart {
    pub sign: String,
    pub part: f64,
}

/// A record of an agent's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordView {
    pub id: RecordId,
    #[serde(rename = "type")]
    pub kind: String,
    pub content: String,
    pub layer: Layer,
    pub recorded_at: String,
    pub metadata: Map<String, Value>,
    /// How often it was recalled.
    pub uses: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why it is kept; only records of the long term have this and what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Draft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certain: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicted_by: Option<Contradiction>,
    /// The caller that it belongs to; the anonymous caller has an empty name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether all callers of the agent see it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
}

/// The record that puts another one in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    pub id: RecordId,
    pub because: String,
}

/// The reply to `POST /api/memory/forget`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub success: bool,
    /// How many records are gone: the one named, and those that rested on it alone.
    pub forgotten: usize,
}

/// The reply to `GET /api/memory/context`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskContext {
    pub task_id: String,
    pub related_concepts: Vec<String>,
    pub previous_conversations: Vec<RecordView>,
    pub code_references: Vec<RecordView>,
}

/// The reply to `GET /api/memory/graph`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    pub nodes: Value,
    pub edges: Value,
}

/// `GET /api/memory/audit`: counts of [`memory::Audit`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditCounts {
    pub agent: String,
    pub clean: bool,
    pub contradictions: usize,
    pub duplicates: usize,
    pub echoes: usize,
    pub embedded: usize,
    pub forgotten: usize,
    pub layers: BTreeMap<String, usize>,
    pub never_read: usize,
    pub recall_loops: usize,
    pub records: usize,
    pub uncertain: usize,
    /// Contradictions between records that are both certain.
    #[serde(default)]
    pub unsettled: usize,
    #[serde(default)]
    pub hypotheses: usize,
    pub without_reason: usize,
}

/// The reply to `POST /api/memory/import`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    pub success: bool,
    pub imported: usize,
    /// Records that were there before.
    pub known: usize,
    /// Records that the law of the agent discards.
    #[serde(default)]
    pub discarded: usize,
}

/// The reply to `GET /api/capabilities`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityList {
    pub capabilities: Vec<ListedCapability>,
}

/// Something that a caller has lent to other programs. Times are RFC 3339.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedCapability {
    pub id: String,
    /// `token` or `session`.
    pub kind: String,
    /// The caller that lent it, in whose name its holder acts.
    pub by: String,
    /// The capability that it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The only operations that may be called; none stands for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
    pub read_only: bool,
    /// The only task that may be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The only session that may be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub permissions: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    pub created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<String>,
}

/// The reply to `POST /api/capabilities`: the only place where the token stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCapability {
    pub token: String,
    #[serde(flatten)]
    pub capability: ListedCapability,
}
