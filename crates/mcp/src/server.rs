//! The requests of MCP, answered from skills and tasks.
//!
//! The protocol itself is read and written by the library `rmcp`: message types, both handshakes, HTTP and its sessions.
//! Where it does not do what we need, the work is done around it. Each item can go when `rmcp` does it:
//! - It answers every request in a session with an event stream, also when the stream holds one message only. Many HTTP
//!   clients handle plain JSON better, so `reply` reads the stream back and replies with JSON.
//! - It reports a request with parameters that do not deserialize as an unknown method (-32601). `params_fault` deserializes
//!   the parameters of known methods once more, to answer -32602 with the field at fault.
//! - It answers a body that is not JSON, or not a JSON-RPC message, with 415 (wrong media type). `http::forward` keeps a
//!   copy of the body, to answer -32700 or -32600.
//! - On standard input it drops a line that is not JSON or is too long, and the client waits for a reply. `stdio` has
//!   its own reader, which answers such a line with an error.
//! - A handler that panics leaves its request unanswered, and the client waits forever. `catch_panics` is around every
//!   handler that runs more than a lookup.
//! - Two open requests with the same id in a session, or a second `initialize`, leave one of them unanswered. `session`
//!   refuses the second one.
//! - A session belongs to every caller that knows its id, and their number has no limit. `http::admit` ties a session to
//!   the principal that opened it, and refuses new ones above the limit.
//! - Its refusals outside JSON-RPC (host, origin, size) are plain text. `http::as_json_rpc_error` rewrites them.
//! - Its HTTP client reads bodies of any size. `client/http` is our own, with limits.
//! - It handles each notification in a task of its own, so progress can be seen after the result of its call.
//!   `client/host` takes progress from the transport, before the library sees it.
//!
//! What this costs is in `docs/decisions.md`.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use ::http::request::Parts;
use a2a::{Call, Service};
use access::Principal;
use futures_util::FutureExt as _;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skill::Registry;
use tokio_util::sync::CancellationToken;

use crate::limits::{LIST_TIME, Limits};

mod call;
pub(crate) mod http;
mod outcome;
mod owner;
mod prompt;
mod question;
mod reply;
mod resource;
mod session;
pub(crate) mod stdio;
mod task;
mod tool;

use question::StateSeal;

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
    /// Every tool as revision 2026-07-28 shows it, in the order of the skills.
    tools: Vec<Tool>,
    /// The index in `tools`, by name.
    places: HashMap<String, usize>,
    seal: StateSeal,
}

impl Handler {
    /// Describes the skills as tools once; a handler does not see skills that are registered later.
    pub fn new(config: Config) -> Self {
        let tools: Vec<Tool> = config.skills.iter().map(tool::of).collect();
        let places = tools.iter().enumerate();
        let places = places.map(|(place, tool)| (tool.name.to_string(), place));
        Self {
            inner: Arc::new(Inner {
                places: places.collect(),
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

    /// The call context for the task server: the principal that HTTP admitted, or the configured one.
    fn call_by(&self, context: &RequestContext<RoleServer>) -> Call {
        let parts = context.extensions.get::<Parts>();
        let known = parts.and_then(|parts| parts.extensions.get::<Principal>());
        let mut call = Call::by(known.unwrap_or(&self.inner.config.caller).clone());
        call.extensions.push(skill::extension::URI.to_owned());
        call
    }
}

/// A display name as the authority of a URI.
fn label_or_agent(name: &str) -> String {
    match skill::to_label(name) {
        label if label.is_empty() => "agent".to_owned(),
        label => label,
    }
}

/// What the client of a request supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClientFeatures {
    /// Revision 2026-07-28 or later: no sessions, questions are answered by repeating the call.
    modern: bool,
    /// MCP tasks: a call may be answered with a task.
    tasks: bool,
    /// Elicitation by form: a question can be shown to the user.
    forms: bool,
}

impl ClientFeatures {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        let can = context.client_capabilities().unwrap_or_default();
        Self {
            modern: version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str()),
            tasks: can.supports_tasks(),
            // A client that declares elicitation without a mode supports forms.
            forms: can
                .elicitation
                .is_some_and(|it| it.form.is_some() || it.url.is_none()),
        }
    }
}

/// Answers with an internal error when a handler panics: the library would leave the request unanswered.
async fn catch_panics<T>(work: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    let crashed = |_| {
        Err(ErrorData::internal_error(
            "internal error: the request handler panicked",
            None,
        ))
    };
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(crashed)
}

/// An error of the task server as an error of JSON-RPC.
fn refused(error: &a2a::Error) -> ErrorData {
    match error {
        a2a::Error::TaskNotFound(_) | a2a::Error::InvalidParams { .. } => {
            ErrorData::invalid_params(error.to_string(), None)
        }
        // The task exists, but not in a state that allows the operation.
        a2a::Error::UnsupportedOperation(_)
        | a2a::Error::TaskNotCancelable { .. }
        | a2a::Error::TaskGenerationMismatch { .. } => {
            ErrorData::invalid_request(error.to_string(), None)
        }
        _ => ErrorData::internal_error(error.to_string(), None),
    }
}

/// The error text for JSON that is not a message.
fn invalid_message(json: &Value) -> &'static str {
    match json {
        Value::Array(_) => "batches are not supported: send one message at a time",
        _ => "not a JSON-RPC 2.0 message",
    }
}

/// Why the parameters of a known method do not deserialize. `None` if they do, or if the method is unknown. The library
/// hands us both cases as a custom request.
fn params_fault(method: &str, params: Option<Value>) -> Option<String> {
    fn fault<T: DeserializeOwned>(params: Value) -> Option<String> {
        let read = serde_json::from_value::<T>(params);
        Some(read.err()?.to_string())
    }
    let params = params.unwrap_or_else(|| json!({}));
    match method {
        "tools/call" => fault::<CallToolRequestParams>(params),
        "resources/read" => fault::<ReadResourceRequestParams>(params),
        "prompts/get" => fault::<GetPromptRequestParams>(params),
        "tasks/get" => fault::<GetTaskParams>(params),
        "tasks/update" => fault::<UpdateTaskParams>(params),
        "tasks/cancel" => fault::<CancelTaskParams>(params),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
            fault::<PaginatedRequestParams>(params)
        }
        _ => None,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let card = self.tasks().card();
        let can = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .enable_tasks()
            .build();
        let name = Implementation::new(label_or_agent(&card.name), card.version.clone());
        ServerConfig::new(can)
            .with_server_info(name.with_title(card.name.clone()))
            .with_instructions(card.description.clone())
    }

    async fn on_initialized(&self, _context: NotificationContext<RoleServer>) {
        tracing::debug!("MCP client initialized");
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.inner.tools.clone();
        if !ClientFeatures::of(&context).modern {
            tools.iter_mut().for_each(tool::for_2025_11_25);
        }
        // Private: a shared cache would show the list to callers that the door refuses.
        let list = ListToolsResult::with_all_items(tools);
        let millis = u64::try_from(LIST_TIME.as_millis()).unwrap_or(u64::MAX);
        Ok(list
            .with_ttl_ms(millis)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let place = *self.inner.places.get(name)?;
        self.inner.tools.get(place).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        catch_panics(self.call(request, context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        catch_panics(self.show_task(&request.task_id, &context)).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        catch_panics(self.answer_task(request, &context)).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        catch_panics(self.end_task(&request.task_id, &context)).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        catch_panics(self.resources(page, &context)).await
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resource::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        catch_panics(self.read(&request.uri, &context)).await
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = prompt::all(&self.inner.config.skills);
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompt::get(&self.inner.config.skills, &request.name)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        Err(match params_fault(&method, params) {
            Some(fault) => ErrorData::invalid_params(format!("params of {method}: {fault}"), None),
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
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
