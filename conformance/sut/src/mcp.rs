//! What the conformance suites of MCP look for beside skills: tools, resources and prompts with names of
//! their choosing.

#![expect(deprecated, reason = "the suite asks for what is on its way out, too")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcp::Handler;
use mcp::rmcp::model::*;
use mcp::rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use mcp::rmcp::{ErrorData, RoleServer, ServerHandler};
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
    /// The subscriptions to changes of lists.
    listeners: Arc<Mutex<HashMap<u64, SubscriptionSink>>>,
    /// The number of subscriptions so far. It is their key, because request ids of different clients can be equal.
    listened: Arc<AtomicU64>,
    seal: RequestStateCodec,
    jobs: jobs::Halves,
}

impl Fixtures {
    pub(crate) fn beside(skills: Handler) -> Self {
        let key = uuid::Uuid::new_v4().as_bytes().repeat(2);
        let tools = tools::all().into_iter();
        Self {
            skills,
            tools: tools.chain(rounds::all()).chain(jobs::all()).collect(),
            listeners: Arc::default(),
            listened: Arc::default(),
            seal: RequestStateCodec::new_unchecked(key),
            jobs: jobs::Halves::default(),
        }
    }

    fn listeners(&self) -> Vec<SubscriptionSink> {
        let listeners = self.listeners.lock();
        let listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.values().cloned().collect()
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

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.skills.get_info();
        let can = &mut info.capabilities;
        can.logging = Some(JsonObject::new());
        can.completions = Some(JsonObject::new());
        let prompts = can.prompts.get_or_insert_default();
        prompts.list_changed = Some(true);
        let tools = can.tools.get_or_insert_default();
        tools.list_changed = Some(true);
        let resources = can.resources.get_or_insert_default();
        resources.subscribe = Some(true);
        resources.list_changed = Some(true);
        info
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.skills.list_tools(page, context).await?;
        list.tools.extend(self.tools.iter().cloned());
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let found = self.tools.iter().find(|tool| tool.name == name).cloned();
        found.or_else(|| self.skills.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(answer) = self.round(&request, &context) {
            return answer;
        }
        if let Some(answer) = self.test(&request, &context).await {
            return answer.map(CallToolResponse::from);
        }
        match self.job(&request, &context)? {
            jobs::Begun::Asks(round) => Ok(round.into()),
            jobs::Begun::Calls(request) => {
                let halved = request.name == jobs::HALVED;
                let answer = self.skills.call_tool(request, context).await?;
                if let (true, CallToolResponse::Task(created)) = (halved, &answer) {
                    self.jobs.halve(&created.task.task_id);
                }
                Ok(answer)
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.skills.on_custom_request(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let mut shown = self.skills.get_task(request, context).await?;
        self.jobs.show(&mut shown.task);
        Ok(shown)
    }

    async fn update_task(
        &self,
        mut request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.jobs.take(&mut request);
        self.skills.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.skills.cancel_task(request, context).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let first = page.as_ref().is_none_or(|page| page.cursor.is_none());
        let mut list = self.skills.list_resources(page, context).await?;
        if first {
            list.resources.splice(0..0, texts::resources());
        }
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.skills.list_resource_templates(page, context).await?;
        list.resource_templates.push(texts::template());
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match texts::read(&request.uri) {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => self.skills.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.skills.list_prompts(page, context).await?;
        list.prompts.extend(texts::prompts());
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match texts::prompt(&request) {
            Some(prompt) => Ok(prompt),
            None => self.skills.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = &request.argument.value;
        let known = ["test", "text", "template"].map(str::to_owned);
        let fitting = known.into_iter().filter(|word| word.starts_with(begun));
        let info = CompletionInfo::new(fitting.collect());
        let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let lock = || {
            self.listeners
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let number = self.listened.fetch_add(1, Ordering::Relaxed);
        lock().insert(number, context.sink().clone());
        context.cancelled().await;
        lock().remove(&number);
        Ok(())
    }
}
