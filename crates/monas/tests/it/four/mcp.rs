//! The official Rust client of MCP: plain calls on either wire, and calls that become tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::handler::client::ClientHandler;
use rmcp::model::*;
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RequestContext, RoleClient, RunningService,
    ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::stands;
use super::wires::{Refused, View, Way};

pub(super) struct Mcp {
    client: Arc<RunningService<RoleClient, User>>,
    way: Way,
    hears: mpsc::UnboundedReceiver<Heard>,
    progress: Vec<String>,
    /// The call that was made and has not ended.
    call: Option<JoinHandle<Result<CallToolResult, ServiceError>>>,
    /// The form that is shown and not filled in.
    form: Option<oneshot::Sender<Value>>,
}

/// What a user hears from the client.
enum Heard {
    Progress(String),
    Question(String, oneshot::Sender<Value>),
}

/// Who sits at the client.
struct User {
    can: ClientCapabilities,
    hears: mpsc::UnboundedSender<Heard>,
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.can.clone(), Implementation::new("test", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let form = serde_json::to_value(&request).unwrap();
        let message = form["message"].as_str().unwrap().to_owned();
        let (fill_in, filled_in) = oneshot::channel();
        let _ = self.hears.send(Heard::Question(message, fill_in));
        let gone = || ErrorData::internal_error("nobody is here", None);
        tokio::select! {
            answer = filled_in => {
                let answer = answer.map_err(|_| gone())?;
                Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answer))
            }
            () = context.ct.cancelled() => Err(gone()),
        }
    }

    async fn on_progress(
        &self,
        param: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let said = param.message.unwrap_or_default();
        let _ = self.hears.send(Heard::Progress(said));
    }
}

impl Mcp {
    pub(super) async fn open(way: Way, url: &str) -> Self {
        let mode = match way {
            Way::Mcp2025 => ClientLifecycleMode::Initialize,
            _ => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        let can = ClientCapabilities::builder();
        let can = match way {
            Way::Mcp2026Tasks => can.enable_tasks().build(),
            _ => can.enable_elicitation().build(),
        };
        let (told, hears) = mpsc::unbounded_channel();
        let user = User { can, hears: told };
        let transport = StreamableHttpClientTransport::from_uri(format!("{url}/mcp"));
        let client = serve_client_with_lifecycle(user, transport, mode).await;
        Self {
            client: Arc::new(client.unwrap()),
            way,
            hears,
            progress: Vec::new(),
            call: None,
            form: None,
        }
    }

    pub(super) async fn begin(
        &mut self,
        skill: &'static str,
        input: Value,
        until: Option<&str>,
    ) -> Result<View, Refused> {
        self.progress.clear();
        let input = input.as_object().unwrap().clone();
        let call = CallToolRequestParams::new(skill).with_arguments(input);
        if self.way != Way::Mcp2026Tasks {
            let client = self.client.clone();
            self.call = Some(tokio::spawn(async move { client.call_tool(call).await }));
            return self.listen(until).await;
        }
        match self.client.call_tool_once(call).await {
            Ok(CallToolResponse::Task(created)) if until.is_some() => {
                self.show(&created.task.task_id).await
            }
            Ok(CallToolResponse::Task(created)) => self.follow(&created.task.task_id).await,
            Ok(CallToolResponse::Complete(result)) => self.read(&result).await,
            other => panic!("neither a task nor a result: {other:?}"),
        }
    }

    /// Hears what is said until the call ends, something is asked, or `until` was said.
    async fn listen(&mut self, until: Option<&str>) -> Result<View, Refused> {
        let mut call = self.call.take().unwrap();
        loop {
            tokio::select! {
                biased;
                heard = self.hears.recv() => match heard.unwrap() {
                    Heard::Progress(said) => {
                        self.progress.push(said);
                        if until.is_some() && until == self.progress.last().map(|it| &**it) {
                            self.call = Some(call);
                            return Ok(stands("working", until));
                        }
                    }
                    Heard::Question(asked, form) => {
                        self.call = Some(call);
                        self.form = Some(form);
                        return Ok(stands("asks", Some(&asked)));
                    }
                },
                ended = &mut call => {
                    let result = ended.unwrap().map_err(|error| error.to_string())?;
                    return self.read(&result).await;
                }
            }
        }
    }

    pub(super) async fn answer(&mut self, task: &str, answer: Value) -> Result<View, Refused> {
        if let Some(form) = self.form.take() {
            form.send(answer).unwrap();
            return self.listen(None).await;
        }
        let TaskPayload::InputRequired { input_requests } = self.task(task).await?.payload else {
            panic!("nothing is asked");
        };
        let key = input_requests.keys().next().unwrap().clone();
        let accepted = json!({ "action": "accept", "content": answer });
        let answers = InputResponses::from([(key.clone(), accepted)]);
        let update = UpdateTaskParams::new(task, answers);
        self.client.update_task(update).await.unwrap();
        // It is taken later than it is acknowledged.
        loop {
            let TaskPayload::InputRequired { input_requests } = self.task(task).await?.payload
            else {
                return self.follow(task).await;
            };
            assert!(input_requests.contains_key(&key), "it asks again");
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn cancel(&mut self, task: &str) -> Result<(), Refused> {
        if let Some(call) = self.call.take() {
            // To stop waiting for a call cancels it.
            call.abort();
            return Ok(());
        }
        let cancelled = self.client.cancel_task(CancelTaskParams::new(task)).await;
        cancelled.map_err(|error| error.to_string())
    }

    pub(super) async fn show(&mut self, task: &str) -> Result<View, Refused> {
        if self.way != Way::Mcp2026Tasks {
            let task = self.resource(&format!("monas://tasks/{task}")).await?;
            return Ok(of_json(&serde_json::from_str(&task).unwrap()));
        }
        let DetailedTask { task, payload, .. } = self.task(task).await?;
        let said = task.status_message.as_deref();
        match payload {
            TaskPayload::Working => Ok(stands("working", said)),
            TaskPayload::InputRequired { .. } => Ok(stands("asks", said)),
            TaskPayload::Cancelled => Ok(stands("cancelled", None)),
            TaskPayload::Completed { result } => {
                let result = serde_json::from_value(Value::Object(result)).unwrap();
                self.read(&result).await
            }
            other => panic!("no end that was expected: {other:?}"),
        }
    }

    pub(super) async fn follow(&mut self, task: &str) -> Result<View, Refused> {
        loop {
            let shown = self.show(task).await?;
            if shown.state != "working" {
                return Ok(shown);
            }
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn end(&mut self, task: &str) -> Result<View, Refused> {
        let Some(mut call) = self.call.take() else {
            return self.follow(task).await;
        };
        let form = self.form.take();
        if self.way == Way::Mcp2026
            && let Some(form) = form
        {
            // This client was not told that the question is settled; its answer comes too late.
            form.send(json!({ "approved": false })).unwrap();
        }
        let result = (&mut call).await.unwrap();
        self.read(&result.map_err(|error| error.to_string())?).await
    }

    pub(super) async fn heard(&mut self, times: usize) -> Vec<String> {
        while self.progress.len() < times {
            match self.hears.recv().await.unwrap() {
                Heard::Progress(said) => self.progress.push(said),
                Heard::Question(asked, _) => panic!("it asks: {asked}"),
            }
        }
        self.progress.clone()
    }

    async fn task(&self, id: &str) -> Result<DetailedTask, Refused> {
        let found = self.client.get_task(GetTaskParams::new(id)).await;
        found
            .map(|found| found.task)
            .map_err(|error| error.to_string())
    }

    /// What a result says. One without a task is a refusal.
    async fn read(&self, result: &CallToolResult) -> Result<View, Refused> {
        let texts = result.content.iter().filter_map(ContentBlock::as_text);
        let texts: Vec<&str> = texts.map(|text| &*text.text).collect();
        let mut held = result.content.iter().filter_map(ContentBlock::as_resource);
        let Some(task) = held.next() else {
            return Err(texts.join("\n"));
        };
        let ResourceContents::TextResourceContents { text, .. } = &task.resource else {
            panic!("no task: {task:?}");
        };
        let task: Value = serde_json::from_str(text).unwrap();
        let mut view = of_json(&task);
        if result.is_error == Some(true) && view.state == "failed" {
            assert_eq!(view.said.as_deref(), texts.first().copied());
        }
        view.output = result.structured_content.clone();
        let links = result.content.iter().filter_map(|it| it.as_resource_link());
        view.files = BTreeMap::new();
        for link in links {
            let text = self.resource(&link.uri).await?;
            view.files.insert(link.name.clone(), text);
        }
        Ok(view)
    }

    async fn resource(&self, uri: &str) -> Result<String, Refused> {
        let request = ReadResourceRequestParams::new(uri);
        let read = self.client.read_resource(request).await;
        let read = read.map_err(|error| error.to_string())?;
        match &read.contents[..] {
            [ResourceContents::TextResourceContents { text, .. }] => Ok(text.clone()),
            other => panic!("not one text: {other:?}"),
        }
    }
}

/// A task as A2A writes it.
pub(super) fn of_json(task: &Value) -> View {
    let state = task["status"]["state"].as_str().unwrap_or_default();
    let state = match state.trim_start_matches("TASK_STATE_") {
        "SUBMITTED" | "WORKING" => "working".to_owned(),
        "INPUT_REQUIRED" => "asks".to_owned(),
        "CANCELED" => "cancelled".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    let said = task["status"]["message"]["parts"][0]["text"].as_str();
    let mut view = stands(&state, said);
    let made = task["artifacts"].as_array().into_iter().flatten();
    for artifact in made {
        let part = &artifact["parts"][0];
        match artifact["artifactId"].as_str().unwrap() {
            "output" => view.output = Some(part["data"].clone()),
            name => {
                let text = part["text"].as_str().unwrap().to_owned();
                view.files.insert(name.to_owned(), text);
            }
        }
    }
    view
}
