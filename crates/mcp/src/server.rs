//! The requests of MCP, answered from skills and tasks.
//!
//! The wire is ours, as A2A's is (`docs/decisions.md` has the reasons). From bytes to a task and back there is one path:
//! - `rpc` reads a message once, and writes responses; `revision` knows what each revision of MCP has
//! - `http` (with `post`), `old_sse` and `stdio` are the transports. They judge a message (`guard`, `headers`, `session`) and know its
//!   client (`exchange`); `reply` decides whether a reply is JSON or a stream (`events`), `pipe` serves one stream for all
//! - `request` is what a transport hands to a [`Responder`], and what it gets back
//! - everything else is the responder for skills, [`Handler`]

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use a2a::{Call, Service};
use access::{Calls, Principal};
use serde::Serialize;
use serde_json::{Value, json};
use skill::Registry;
use tokio_util::sync::CancellationToken;

use crate::limits::{LIST_TIME, Limits};

mod call;
mod content;
mod events;
mod exchange;
mod guard;
pub(crate) mod headers;
pub(crate) mod http;
mod method;
mod old_sse;
mod outcome;
mod outlet;
mod pipe;
mod post;
mod prompt;
mod question;
mod reply;
pub(crate) mod request;
mod resource;
pub(crate) mod revision;
pub(crate) mod rpc;
mod session;
mod state;
pub(crate) mod stdio;
mod task;
mod tool;

pub use method::METHODS;
use request::{Answering, Identity, Request, RequestResult, Responder};
use rpc::RpcError;
use state::StateSeal;
use tool::Tool;

/// What a [`Handler`] needs.
pub struct Config {
    /// The skills to offer as tools.
    pub skills: Registry,
    /// The task server that runs them.
    pub tasks: Arc<dyn Service>,
    /// The authority of the tag URIs in results (RFC 4151): a domain or a word. The default is the agent's name.
    pub authority: String,
    /// The key that seals the `requestState` which clients send back, at least 32 bytes. A key that is stored lets a
    /// question be answered after a restart; the default is a [`random_key`], valid for this process only.
    pub key: Vec<u8>,
    /// The caller of requests without a principal: on standard input, and over HTTP without a door.
    pub caller: Principal,
    pub limits: Limits,
    /// Where requests are announced; by default nowhere.
    pub calls: Calls,
    /// Cancelled when the server stops. Requests that end because of it do not cancel their tasks: the next server
    /// continues them.
    pub stopping: CancellationToken,
}

impl Config {
    /// The defaults for these skills on this task server.
    pub fn new(skills: Registry, tasks: Arc<dyn Service>) -> Self {
        let authority = label_or_agent(&tasks.card().name);
        Self {
            skills,
            tasks,
            authority,
            key: random_key(),
            caller: Principal::anonymous(),
            limits: Limits::default(),
            calls: Calls::default(),
            stopping: CancellationToken::new(),
        }
    }
}

/// A new key for [`Config::key`]: 48 bytes, 366 of their bits random.
pub fn random_key() -> Vec<u8> {
    let parts = std::iter::repeat_with(uuid::Uuid::new_v4).take(3);
    parts.flat_map(uuid::Uuid::into_bytes).collect()
}

/// Answers the requests of MCP, for all clients of one agent. Clones share one state.
///
/// How a `tools/call` becomes a task:
/// 1. The tool's name is looked up among the skills, and the arguments become an A2A message that names the skill
///    (`skill::extension::call`). The message id is the client's name for the call if it gave one in `_meta`, so a
///    repeated request finds the first one's task; otherwise it is random.
/// 2. The message goes to the task server as a streaming send, with the caller's principal. From here on the call is a
///    task: it is in the journal before the skill runs, and other protocols see it.
/// 3. The stream is followed (`call::ToolCall::follow`). Progress of the skill becomes progress notifications, where the
///    client asked for them. The events are folded into a copy of the task until the task is at rest: it ended, or it
///    waits for input.
/// 4. A client that supports MCP tasks gets the task instead, when the call takes longer than [`Limits::patience`]; it
///    then polls with `tasks/get`, answers with `tasks/update` and ends it with `tasks/cancel`.
/// 5. A question of the skill is shown as a form: as an MCP task that needs input, as an `InputRequiredResult` with a
///    sealed `requestState` (2026-07-28), or as an `elicitation/create` request while the call waits (2025-11-25). A
///    client that can do none of these gets an error result that names the task; the task keeps waiting.
/// 6. The task at its end becomes a result (`outcome`).
///
/// The handler keeps nothing about a call: what must survive a request is in the task or in the sealed state. So a call
/// continues after a restart, and any server with the same key and store can continue it. A request that is cancelled
/// cancels its task, except when the server stops ([`Config::stopping`]). Following the task's stream, instead of
/// calling the skill directly, is what makes that possible; a direct call would be faster and would end with its
/// connection.
#[derive(Clone)]
pub struct Handler {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// Every tool, in the order of the skills.
    tools: Vec<Tool>,
    /// The index in `tools`, by name.
    places: HashMap<String, usize>,
    /// The result of `tools/list`, written once: since 2026-07-28, and before.
    lists: [RequestResult; 2],
    seal: StateSeal,
}

impl Handler {
    /// Describes the skills as tools once; a handler does not see skills that are registered later.
    pub fn new(config: Config) -> Self {
        let tools: Vec<Tool> = config.skills.iter().map(tool::of).collect();
        let mut before = tools.clone();
        before.iter_mut().for_each(tool::for_sessions);
        let places = tools.iter().enumerate();
        let places = places.map(|(place, tool)| (tool.name.clone(), place));
        Self {
            inner: Arc::new(Inner {
                places: places.collect(),
                lists: [list(&tools), list(&before)],
                tools,
                seal: StateSeal::new(&config.key, config.limits.answer_time),
                config,
            }),
        }
    }

    /// The limits from its configuration.
    pub fn limits(&self) -> &Limits {
        &self.inner.config.limits
    }

    fn tasks(&self) -> &dyn Service {
        &*self.inner.config.tasks
    }

    /// The caller of a request: the principal that the transport admitted, or the configured one.
    fn caller<'a>(&'a self, request: &'a Request) -> &'a Principal {
        request.caller.as_ref().unwrap_or(&self.inner.config.caller)
    }

    /// The call context for the task server.
    fn call_by(&self, request: &Request) -> Call {
        let mut call = Call::by(self.caller(request).clone());
        call.origin.clone_from(&request.origin);
        call.extensions.push(skill::extension::URI.to_owned());
        // A client that names a call may repeat it, and then gets the answer of the first time.
        match request.meta.contains_key(call::NAME) {
            true => call.repeatable(),
            false => call,
        }
    }

    /// Answers one request.
    async fn handle(self, mut request: Request) -> Result<RequestResult, RpcError> {
        method::check(&request, self.caller(&request))?;
        let method = request.method.clone();
        let skills = &self.inner.config.skills;
        match &*method {
            "tools/call" => {
                let params = request.params()?;
                self.call(params, &request).await
            }
            "tools/list" => {
                let _: resource::PageParams = request.params()?;
                let [modern, before] = &self.inner.lists;
                let list = if request.client.is_modern() {
                    modern
                } else {
                    before
                };
                Ok(list.clone())
            }
            "prompts/list" => {
                let _: resource::PageParams = request.params()?;
                listed("prompts", &prompt::all(skills), 0)
            }
            "prompts/get" => {
                let params: prompt::PromptParams = request.params()?;
                RequestResult::complete(&prompt::get(skills, &params.name)?)
            }
            "resources/list" => {
                let page = request.params()?;
                RequestResult::complete(&self.resources(page, &request).await?)
            }
            "resources/templates/list" => {
                let _: resource::PageParams = request.params()?;
                listed("resourceTemplates", &resource::templates(), 0)
            }
            "resources/read" => {
                let params = request.params()?;
                RequestResult::complete(&self.read(params, &request).await?)
            }
            "tasks/get" => {
                let params = request.params()?;
                require_tasks(&request)?;
                RequestResult::complete(&self.show_task(params, &request).await?)
            }
            "tasks/update" => {
                let params = request.params()?;
                require_tasks(&request)?;
                self.answer_task(params, &request).await?;
                Ok(RequestResult::empty())
            }
            "tasks/cancel" => {
                let params = request.params()?;
                require_tasks(&request)?;
                self.end_task(params, &request).await?;
                Ok(RequestResult::empty())
            }
            method => Err(RpcError::unknown_method(method)),
        }
    }
}

impl Responder for Handler {
    fn identity(&self) -> Identity {
        let card = self.tasks().card();
        Identity {
            server: json!({
                "name": label_or_agent(&card.name),
                "title": card.name,
                "version": card.version,
            }),
            capabilities: json!({
                "tools": {},
                "prompts": {},
                "resources": {},
                "extensions": { revision::TASKS: {} },
            }),
            instructions: card.description.clone(),
        }
    }

    fn input_schema(&self, tool: &str) -> Option<&Value> {
        let place = *self.inner.places.get(tool)?;
        Some(&self.inner.tools.get(place)?.input_schema)
    }

    fn calls(&self) -> Calls {
        self.inner.config.calls.clone()
    }

    fn answer(&self, request: Request) -> Answering {
        Box::pin(self.clone().handle(request))
    }
}

/// Refuses a request about a task of a client that did not declare tasks.
fn require_tasks(request: &Request) -> Result<(), RpcError> {
    if request.client.tasks {
        return Ok(());
    }
    let needed = json!({ "extensions": { revision::TASKS: {} } });
    Err(RpcError::missing_capability(&needed))
}

/// How long a client may keep a result, and that no other caller may see it: a shared cache would show it to callers that
/// the door refuses.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CacheHints {
    ttl_ms: u64,
    cache_scope: &'static str,
}

impl CacheHints {
    const NONE: Self = Self {
        ttl_ms: 0,
        cache_scope: "private",
    };
}

/// A list of one page, under the name that its method has for it, which may be kept for so many milliseconds.
fn listed(name: &str, list: &impl Serialize, ttl_ms: u64) -> Result<RequestResult, RpcError> {
    let hints = CacheHints {
        ttl_ms,
        ..CacheHints::NONE
    };
    let mut result = json!(hints);
    result[name] = json!(list);
    RequestResult::complete(&result)
}

/// The result of `tools/list`.
fn list(tools: &[Tool]) -> RequestResult {
    let millis = u64::try_from(LIST_TIME.as_millis()).unwrap_or(u64::MAX);
    listed("tools", &tools, millis).unwrap_or_else(|error| {
        tracing::error!(%error, "the list of tools cannot be written");
        RequestResult::empty()
    })
}

/// A display name as the authority of a URI.
fn label_or_agent(name: &str) -> String {
    match skill::to_label(name) {
        label if label.is_empty() => "agent".to_owned(),
        label => label,
    }
}

/// An error of the task server as an error of JSON-RPC.
fn refused(error: &a2a::Error) -> RpcError {
    match error {
        a2a::Error::TaskNotFound(_) | a2a::Error::InvalidParams { .. } => {
            RpcError::invalid_params(error.to_string())
        }
        // The task exists, but not in a state that allows the operation.
        a2a::Error::UnsupportedOperation(_)
        | a2a::Error::TaskNotCancelable { .. }
        | a2a::Error::TaskGenerationMismatch { .. } => RpcError::invalid_request(error.to_string()),
        a2a::Error::Unauthorized(refusal) => RpcError::forbidden(refusal),
        a2a::Error::BudgetExceeded(exceeded) => RpcError::limited(&(*exceeded).into()),
        _ => RpcError::internal(error.to_string()),
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("authority", &self.authority)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("tools", &self.inner.tools.len())
            .finish_non_exhaustive()
    }
}
