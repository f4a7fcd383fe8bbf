//! The requests of MCP, answered from skills and tasks.

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
mod prompt;
mod question;
mod reply;
mod resource;
mod session;
pub(crate) mod stdio;
mod task;
mod tool;

use question::Seal;

/// What a handler is made of.
pub struct Config {
    /// The skills that are tools.
    pub skills: Registry,
    /// Where they are called.
    pub tasks: Arc<dyn Service>,
    /// Who is meant in the URI of a result (RFC 4151): a domain or a word. The default is the agent's name.
    pub authority: String,
    /// What states that clients carry are signed with, at least 32 bytes. One that is kept lets a question be
    /// answered after a restart; the default is made for this process.
    pub key: Vec<u8>,
    /// Who calls where nothing says so.
    pub caller: Principal,
    /// The numbers.
    pub limits: Limits,
    /// Ends when the server stops: what is under way is left for the next one rather than cancelled.
    pub stopping: CancellationToken,
}

impl Config {
    /// The defaults, for these skills.
    pub fn new(skills: Registry, tasks: Arc<dyn Service>) -> Self {
        let authority = slug(&tasks.card().name);
        let random = [
            uuid::Uuid::new_v4(),
            uuid::Uuid::new_v4(),
            uuid::Uuid::new_v4(),
        ];
        Self {
            skills,
            tasks,
            authority,
            key: random.iter().flat_map(|id| *id.as_bytes()).collect(),
            caller: Principal::anonymous(),
            limits: Limits::default(),
            stopping: CancellationToken::new(),
        }
    }
}

/// Answers requests of MCP. Clones are the same handler.
#[derive(Clone)]
pub struct Handler {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// Every tool as the newer wire shows it, in the order of the skills.
    tools: Vec<Tool>,
    places: HashMap<String, usize>,
    seal: Seal,
}

impl Handler {
    /// A handler.
    pub fn new(config: Config) -> Self {
        let tools: Vec<Tool> = config.skills.iter().map(tool::of).collect();
        let places = tools.iter().enumerate();
        let places = places.map(|(place, tool)| (tool.name.to_string(), place));
        Self {
            inner: Arc::new(Inner {
                places: places.collect(),
                tools,
                seal: Seal::new(&config.key, config.limits.answer_time),
                config,
            }),
        }
    }

    /// The numbers it works by.
    pub fn limits(&self) -> &Limits {
        &self.inner.config.limits
    }

    fn tasks(&self) -> &dyn Service {
        &*self.inner.config.tasks
    }

    /// A call to the task server by whoever sent this request.
    fn call_by(&self, context: &RequestContext<RoleServer>) -> Call {
        let parts = context.extensions.get::<Parts>();
        let known = parts.and_then(|parts| parts.extensions.get::<Principal>());
        let mut call = Call::by(known.unwrap_or(&self.inner.config.caller).clone());
        call.extensions.push(skill::extension::URI.to_owned());
        call
    }
}

/// What is left of a URI's authority when a name becomes one.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => "agent".to_owned(),
        false => words.join("-").to_ascii_lowercase(),
    }
}

/// What a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Client {
    /// It speaks 2026-07-28 or later: every request stands alone.
    modern: bool,
    /// It can follow tasks.
    tasks: bool,
    /// It can show a form to its user.
    forms: bool,
}

impl Client {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        let can = context.client_capabilities().unwrap_or_default();
        Self {
            modern: version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str()),
            tasks: can.supports_tasks(),
            // One that names no mode means forms.
            forms: can
                .elicitation
                .is_some_and(|it| it.form.is_some() || it.url.is_none()),
        }
    }
}

/// A request is answered whatever happens: the library leaves one waiting whose handler panicked.
async fn fenced<T>(work: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    let crashed = |_| Err(ErrorData::internal_error("the server is broken", None));
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(crashed)
}

/// What a client is told about a failure of the task server.
fn refused(error: &a2a::Error) -> ErrorData {
    match error {
        a2a::Error::TaskNotFound(_) | a2a::Error::InvalidParams { .. } => {
            ErrorData::invalid_params(error.to_string(), None)
        }
        // What cannot be done to a task as it is.
        a2a::Error::UnsupportedOperation(_)
        | a2a::Error::TaskNotCancelable { .. }
        | a2a::Error::TaskGenerationMismatch { .. } => {
            ErrorData::invalid_request(error.to_string(), None)
        }
        _ => ErrorData::internal_error(error.to_string(), None),
    }
}

/// What is wrong with JSON that is no message.
fn no_message(said: &Value) -> &'static str {
    match said {
        Value::Array(_) => "batches are not taken: send one message at a time",
        _ => "this is no message of JSON-RPC 2.0",
    }
}

/// What is wrong with the parameters of a method that is known: to the library such a request is of no known method.
/// `None` where nothing is, or nothing is known.
fn misshapen(method: &str, params: Option<Value>) -> Option<String> {
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
        let name = Implementation::new(slug(&card.name), card.version.clone());
        ServerConfig::new(can)
            .with_server_info(name.with_title(card.name.clone()))
            .with_instructions(card.description.clone())
    }

    async fn on_initialized(&self, _context: NotificationContext<RoleServer>) {
        tracing::debug!("a session is open");
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.inner.tools.clone();
        if !Client::of(&context).modern {
            tools.iter_mut().for_each(tool::for_old_clients);
        }
        // Not for caches that many share: whoever is not let in has no business with it.
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
        fenced(self.call(request, context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        fenced(self.show_task(&request.task_id, &context)).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        fenced(self.answer_task(request, &context)).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        fenced(self.end_task(&request.task_id, &context)).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        fenced(self.resources(page, &context)).await
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
        fenced(self.read(&request.uri, &context)).await
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
        Err(match misshapen(&method, params) {
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
