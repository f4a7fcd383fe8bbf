//! What the conformance suites of MCP look for beside skills: tools, resources and prompts with names of
//! their choosing.

#![expect(deprecated, reason = "the suite asks for what is on its way out, too")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcp::{Answering, Handler, Identity, Request, RequestResult, Responder, RpcError};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, ContentBlock,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetTaskResult, JsonObject,
    RequestStateCodec, Tool, UpdateTaskParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

mod jobs;
mod rounds;
mod texts;
mod tools;

pub(super) use jobs::skills;

/// A handler that has what suites look for, and hands everything else on.
#[derive(Clone, Debug)]
pub(crate) struct Fixtures {
    skills: Handler,
    /// The tools beside the skills. Each call looks for its tool, so they are made once.
    tools: Arc<[Tool]>,
    /// The schemas of their inputs, by name.
    schemas: Arc<HashMap<String, Value>>,
    /// The subscriptions to changes of lists.
    listeners: Arc<Mutex<HashMap<u64, Listener>>>,
    /// The number of subscriptions so far. It is their key, because request ids of different clients can be equal.
    listened: Arc<AtomicU64>,
    seal: RequestStateCodec,
    jobs: jobs::Halves,
}

/// A request that stays open to hear of changes.
#[derive(Clone, Debug)]
struct Listener {
    request: Arc<Request>,
    /// What it asked for.
    wanted: Arc<Value>,
}

/// The key under which a notification says which request it is for.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Fixtures {
    pub(crate) fn beside(skills: Handler) -> Self {
        let key = uuid::Uuid::new_v4().as_bytes().repeat(2);
        let tools = tools::all().into_iter();
        let tools: Arc<[Tool]> = tools.chain(rounds::all()).chain(jobs::all()).collect();
        let schemas = tools.iter().map(|tool| {
            let schema = Value::Object((*tool.input_schema).clone());
            (tool.name.to_string(), schema)
        });
        Self {
            skills,
            schemas: Arc::new(schemas.collect()),
            tools,
            listeners: Arc::default(),
            listened: Arc::default(),
            seal: RequestStateCodec::new_unchecked(key),
            jobs: jobs::Halves::default(),
        }
    }

    /// Tells those who want to hear of it that a list changed.
    async fn tell(&self, wanted: &str, method: &str) {
        let listeners: Vec<Listener> = {
            let listeners = self.listeners.lock();
            let listeners = listeners.unwrap_or_else(PoisonError::into_inner);
            listeners.values().cloned().collect()
        };
        for Listener {
            request,
            wanted: all,
        } in listeners
        {
            if all[wanted] == true {
                let params = json!({ "_meta": { SUBSCRIPTION: request.id } });
                request.notify(method, &params).await;
            }
        }
    }
}

/// A tool with a schema.
fn tool(name: &'static str, description: &'static str, schema: &Value) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, description, schema)
}

/// A tool that takes nothing.
fn bare(name: &'static str, description: &'static str) -> Tool {
    tool(
        name,
        description,
        &json!({ "type": "object", "properties": {} }),
    )
}

/// A result of one text.
fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// An argument that is a text.
fn argument(arguments: Option<&JsonObject>, name: &str) -> String {
    let value = arguments.and_then(|arguments| arguments.get(name));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A form of fields, all of which must be filled in.
fn form(message: &str, fields: &Value) -> ElicitRequestParams {
    let names = fields.as_object().into_iter().flat_map(|it| it.keys());
    let names: Vec<&String> = names.collect();
    let schema = json!({ "type": "object", "properties": fields, "required": names });
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(schema).expect("the fields are simple"),
    }
}

/// What the library's types say, as an answer: which kind it is stands in the result itself.
fn answer(result: &impl Serialize) -> Result<RequestResult, RpcError> {
    let written = serde_json::to_value(result);
    let mut result = written.map_err(|error| RpcError::internal(error.to_string()))?;
    let kind = result
        .as_object_mut()
        .and_then(|it| it.remove("resultType"));
    match kind.as_ref().and_then(Value::as_str) {
        Some("input_required") => RequestResult::input_required(&result),
        Some("task") => RequestResult::task(&result),
        _ => RequestResult::complete(&result),
    }
}

fn refused(error: ErrorData) -> RpcError {
    let refused = RpcError::new(error.code.0, error.message);
    match error.data {
        Some(data) => refused.with_data(data),
        None => refused,
    }
}

fn called(response: &CallToolResponse) -> Result<RequestResult, RpcError> {
    match response {
        CallToolResponse::Complete(result) => answer(result),
        CallToolResponse::InputRequired(result) => answer(result),
        CallToolResponse::Task(result) => answer(result),
        _ => Err(RpcError::internal("a result of an unknown kind")),
    }
}

/// Reads parameters and leaves them in place.
fn peek<T: DeserializeOwned>(request: &mut Request) -> Result<T, RpcError> {
    let params: Value = request.params()?;
    request.set_params(params.clone());
    serde_json::from_value(params).map_err(|error| RpcError::invalid_params(error.to_string()))
}

impl Responder for Fixtures {
    fn identity(&self) -> Identity {
        let mut identity = self.skills.identity();
        let can = &mut identity.capabilities;
        can["logging"] = json!({});
        can["completions"] = json!({});
        can["prompts"] = json!({ "listChanged": true });
        can["tools"] = json!({ "listChanged": true });
        can["resources"] = json!({ "subscribe": true, "listChanged": true });
        identity
    }

    fn input_schema(&self, tool: &str) -> Option<&Value> {
        self.schemas
            .get(tool)
            .or_else(|| self.skills.input_schema(tool))
    }

    fn answer(&self, request: Request) -> Answering {
        Box::pin(self.clone().handle(request))
    }
}

impl Fixtures {
    async fn handle(self, mut request: Request) -> Result<RequestResult, RpcError> {
        let has_sessions = !request.client.is_modern();
        match &*request.method {
            "tools/list" => self.list(request, "tools", &self.tools).await,
            "prompts/list" => self.list(request, "prompts", &texts::prompts()).await,
            "resources/templates/list" => {
                self.list(request, "resourceTemplates", &[texts::template()])
                    .await
            }
            "resources/list" => {
                let params: Value = peek(&mut request)?;
                match params["cursor"].is_null() {
                    true => self.list(request, "resources", &texts::resources()).await,
                    false => self.skills.answer(request).await,
                }
            }
            "resources/read" => {
                let params: Value = peek(&mut request)?;
                match texts::read(params["uri"].as_str().unwrap_or_default()) {
                    Some(contents) => RequestResult::complete(&json!({
                        "contents": [contents], "ttlMs": 0, "cacheScope": "private",
                    })),
                    None => self.skills.answer(request).await,
                }
            }
            "prompts/get" => {
                let params: GetPromptRequestParams = peek(&mut request)?;
                match texts::prompt(&params) {
                    Some(GetPromptResponse::Complete(prompt)) => answer(&prompt),
                    Some(GetPromptResponse::InputRequired(asked)) => answer(&asked),
                    _ => self.skills.answer(request).await,
                }
            }
            "tools/call" => self.call(request).await,
            "tasks/get" => {
                let shown = self.skills.answer(request).await?.value();
                let shown = serde_json::from_value::<GetTaskResult>(shown);
                let mut shown = shown.map_err(|error| RpcError::internal(error.to_string()))?;
                self.jobs.show(&mut shown.task);
                answer(&shown)
            }
            "tasks/update" => {
                let mut params: UpdateTaskParams = peek(&mut request)?;
                self.jobs.take(&mut params);
                request.set_params(json!(params));
                self.skills.answer(request).await
            }
            "completion/complete" => complete(&request.params()?),
            "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
                if has_sessions =>
            {
                Ok(RequestResult::empty())
            }
            "subscriptions/listen" if !has_sessions => self.listen(request).await,
            _ => self.skills.answer(request).await,
        }
    }

    /// A list of the skills' handler, with more at its end; of resources at its beginning, where the suite looks.
    async fn list(
        &self,
        request: Request,
        name: &str,
        more: &[impl Serialize],
    ) -> Result<RequestResult, RpcError> {
        let mut list = self.skills.answer(request).await?.value();
        if let (Some(listed), Value::Array(more)) = (list[name].as_array_mut(), json!(more)) {
            let place = if name == "resources" { 0 } else { listed.len() };
            listed.splice(place..place, more);
        }
        RequestResult::complete(&list)
    }

    async fn call(&self, mut request: Request) -> Result<RequestResult, RpcError> {
        let params: CallToolRequestParams = peek(&mut request)?;
        if let Some(answer) = self.round(&params, &request) {
            return called(&answer.map_err(refused)?);
        }
        if let Some(result) = self.test(&params, &request).await {
            return answer(&result.map_err(refused)?);
        }
        match self.job(&params, &request).map_err(refused)? {
            jobs::Begun::Asks(round) => answer(&round),
            jobs::Begun::Calls(params) => {
                let halved = params.name == jobs::HALVED;
                request.set_params(json!(params));
                let answer = self.skills.answer(request).await?;
                if halved && answer.is_task() {
                    let task = answer.value();
                    self.jobs.halve(task["taskId"].as_str().unwrap_or_default());
                }
                Ok(answer)
            }
        }
    }

    /// Stays open and hears of changes until it is cancelled.
    async fn listen(&self, mut request: Request) -> Result<RequestResult, RpcError> {
        let lock = || {
            self.listeners
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut params: Value = request.params()?;
        let wanted = params["notifications"].take();
        let meta = json!({ SUBSCRIPTION: request.id });
        let acknowledged = json!({ "notifications": wanted, "_meta": meta });
        let method = "notifications/subscriptions/acknowledged";
        request.notify(method, &acknowledged).await;
        let number = self.listened.fetch_add(1, Ordering::Relaxed);
        let listener = Listener {
            request: Arc::new(request),
            wanted: Arc::new(wanted),
        };
        lock().insert(number, listener.clone());
        listener.request.cancelled.cancelled().await;
        lock().remove(&number);
        RequestResult::complete(&json!({ "_meta": meta }))
    }
}

/// Proposes what an argument could be.
fn complete(params: &CompleteRequestParams) -> Result<RequestResult, RpcError> {
    let begun = &params.argument.value;
    let known = ["test", "text", "template"];
    let fitting: Vec<_> = known
        .iter()
        .filter(|word| word.starts_with(begun))
        .collect();
    RequestResult::complete(&json!({
        "completion": { "values": fitting, "total": fitting.len(), "hasMore": false },
    }))
}
