//! The revisions of MCP, and what a client of one of them supports.

use serde_json::{Map, Value, json};

use super::rpc::{RpcError, code};

/// A revision that is served.
///
/// 2026-07-28 has no sessions: every request names its revision and the client's capabilities. In the others a session
/// begins with `initialize`, where both are agreed upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// The newest revision with sessions: what an `initialize` with an unknown revision is answered with.
const NEWEST_WITH_SESSIONS: Revision = Revision::V2025_11_25;

impl Revision {
    pub(crate) const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// The revision of a session that a client opens with this one.
    pub(crate) fn of_session(asked: &str) -> Self {
        let known = Self::named(asked).filter(|it| !it.is_stateless());
        known.unwrap_or(NEWEST_WITH_SESSIONS)
    }

    /// Whether every request stands alone.
    pub fn is_stateless(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether a name that is not known would be that of a revision without sessions: names are dates.
    pub(crate) fn is_stateless_name(name: &str) -> bool {
        name >= Self::V2026_07_28.as_str()
    }

    /// The error for a revision that is not served.
    pub(crate) fn unsupported(requested: &str) -> RpcError {
        let supported = Self::ALL.map(Self::as_str);
        let error = RpcError::new(
            code::UNSUPPORTED_VERSION,
            format!("revision {requested:?} of MCP is not supported"),
        );
        error.with_data(json!({ "supported": supported, "requested": requested }))
    }
}

/// The extension that lets a call be answered with a task.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The revision that a client speaks, and what it supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientInfo {
    pub revision: Revision,
    /// A call may be answered with a task.
    pub tasks: bool,
    /// A question can be shown to the user as a form.
    pub forms: bool,
    pub sampling: bool,
    pub roots: bool,
}

impl ClientInfo {
    /// A client of this revision with these capabilities.
    pub(crate) fn new(revision: Revision, capabilities: &Map<String, Value>) -> Self {
        let has = |name: &str| capabilities.get(name).is_some_and(|it| !it.is_null());
        let extensions = capabilities.get("extensions");
        let forms = capabilities.get("elicitation").filter(|it| !it.is_null());
        Self {
            revision,
            tasks: extensions.is_some_and(|it| it.get(TASKS).is_some()),
            // A client that declares elicitation without a mode supports forms.
            forms: forms.is_some_and(|it| it.get("form").is_some() || it.get("url").is_none()),
            sampling: has("sampling"),
            roots: has("roots"),
        }
    }

    /// Whether the client speaks 2026-07-28 or later.
    pub fn is_modern(&self) -> bool {
        self.revision.is_stateless()
    }
}

/// The keys of `_meta` that a request of revision 2026-07-28 must have.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The revision that a request names in its `_meta`.
pub(crate) fn named_in(meta: &Map<String, Value>) -> Option<&str> {
    meta.get(VERSION)?.as_str()
}

/// The client of a request that stands alone.
pub(crate) fn stateless_client(meta: &Map<String, Value>) -> Result<ClientInfo, RpcError> {
    let version = named_in(meta);
    let capabilities = meta.get(CAPABILITIES).and_then(Value::as_object);
    let missing = [
        (VERSION, version.is_none()),
        (CAPABILITIES, capabilities.is_none()),
    ];
    let missing: Vec<_> = missing
        .into_iter()
        .filter(|it| it.1)
        .map(|it| it.0)
        .collect();
    let (Some(version), Some(capabilities)) = (version, capabilities) else {
        let why = format!(
            "_meta lacks {}, or it is of the wrong kind",
            missing.join(" and ")
        );
        return Err(RpcError::invalid_params(why));
    };
    let revision = Revision::named(version).ok_or_else(|| Revision::unsupported(version))?;
    Ok(ClientInfo::new(revision, capabilities))
}
