//! A task server with an agent of skills, served over HTTP, and clients of both revisions.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use a2a::types::Task;
use agent::{Agent, Manifest, Options};
use mcp::{Config, Handler, Http, HttpConfig};
use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::*;
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RequestContext, RoleClient, RunningService,
    ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, Registry, Reply, SkillError, SkillInput, reply, skill};
use store::Store;
pub(crate) use testkit::state;
use testkit::{Kit, memory_store};
use tokio::sync::mpsc;

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Nothing {}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Greet {
    /// The name to greet.
    who: String,
    #[schemars(range(min = 1, max = 3))]
    #[serde(default = "one")]
    times: u8,
}

fn one() -> u8 {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Greeting {
    text: String,
}

/// Greets a person by name.
#[skill(tags = ["demo"], examples = ["greet Ada", "greet Bob twice"], read_only)]
async fn greet(input: Greet) -> Result<Greeting, SkillError> {
    let text = vec![format!("Hello, {}!", input.who); usize::from(input.times)].join(" ");
    Ok(Greeting { text })
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Text {
    text: String,
}

/// Says it louder.
#[skill(tags = ["demo"], examples = ["shout hello"])]
async fn shout(input: Text) -> Result<String, SkillError> {
    Ok(input.text.to_uppercase())
}

/// Tells something and does nothing.
#[skill(tags = ["demo"], examples = ["tell me"])]
async fn tell(_input: Nothing) -> Result<Reply<()>, SkillError> {
    Ok(reply::info("It is late."))
}

/// Cannot do it.
#[skill(tags = ["demo"], examples = ["fail"])]
async fn fail(_input: Nothing) -> Result<Greeting, SkillError> {
    Err(SkillError::coded("no-paper", "There is no paper."))
}

/// Crashes.
#[skill(tags = ["demo"], examples = ["crash"])]
async fn crash(input: Nothing) -> Result<Greeting, SkillError> {
    let Nothing {} = input;
    panic!("on purpose");
}

/// Counts to three and hands over a file.
#[skill(tags = ["demo"], examples = ["count"])]
async fn count(_input: Nothing, ctx: Context) -> Result<Greeting, SkillError> {
    for step in 1..=3 {
        ctx.progress(f64::from(step), Some(3.0), format!("step {step}"))
            .await?;
        tokio::task::yield_now().await;
    }
    let file = reply::file_artifact("a file.bin", "application/x-count", &b"\x01\x02\x03"[..]);
    ctx.artifact(file).await?;
    Ok(Greeting {
        text: "three".to_owned(),
    })
}

/// Waits until it is cancelled.
#[skill(tags = ["demo"], examples = ["wait"])]
async fn wait(_input: Nothing, ctx: Context) -> Result<Greeting, SkillError> {
    ctx.progress(0.0, None, "waiting").await?;
    ctx.cancelled().cancelled().await;
    Err(SkillError::Cancelled)
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Approval {
    approved: bool,
    why: Option<String>,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Order {
    what: String,
}

/// Orders something, once it is approved, twice.
#[skill(tags = ["shop"], examples = ["order a lamp"], replayable)]
async fn order(input: Order, ctx: Context) -> Result<Greeting, SkillError> {
    let first: Approval = ctx.ask(format!("Order {}?", input.what)).await?;
    let second: Approval = ctx.ask("Really?").await?;
    let sure = match second {
        Approval { approved: true, .. } => "sure".to_owned(),
        Approval { why, .. } => why.unwrap_or_default(),
    };
    let text = format!("{}: {}, {sure}", input.what, first.approved);
    Ok(Greeting { text })
}

pub(crate) fn skills() -> Registry {
    let skills = Registry::new().with(greet).unwrap().with(shout).unwrap();
    let skills = skills.with(tell).unwrap().with(fail).unwrap();
    let skills = skills.with(crash).unwrap().with(count).unwrap();
    skills.with(wait).unwrap().with(order).unwrap()
}

/// An MCP server that listens, and the task server behind it.
pub(crate) struct Bench {
    pub(crate) url: String,
    kit: Kit,
    pub(crate) http: Http,
    pub(crate) handler: Handler,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}, |_| {}).await
    }

    pub(crate) async fn with(
        change: impl FnOnce(&mut Config),
        change_http: impl FnOnce(&mut HttpConfig),
    ) -> Self {
        Self::on(memory_store(), change, change_http).await
    }

    pub(crate) async fn on(
        store: Store,
        change: impl FnOnce(&mut Config),
        change_http: impl FnOnce(&mut HttpConfig),
    ) -> Self {
        Self::over(store, |config, _| change(config), change_http).await
    }

    /// The same; the change may also replace the task service.
    pub(crate) async fn over(
        store: Store,
        change: impl FnOnce(&mut Config, &a2a::Server),
        change_http: impl FnOnce(&mut HttpConfig),
    ) -> Self {
        let mut options = Options::default();
        options.skills = skills();
        let manifest = Manifest::new("Test Agent").describe("Is tested.");
        let agent = Agent::create(manifest, options).unwrap();
        let served = a2a::server::Config::new(agent.card());
        let kit = Kit::start(served, Arc::new(agent.clone()), store).await;
        let mut config = Config::new(agent.skills().clone(), Arc::new(kit.server.clone()));
        change(&mut config, &kit.server);
        let handler = Handler::new(config);
        let mut config = HttpConfig::default();
        change_http(&mut config);
        let http = Http::new(handler.clone(), config);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{}", listener.local_addr().unwrap(), mcp::PATH);
        let router = http.routes();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            url,
            kit,
            http,
            handler,
        }
    }

    /// Connects a client of this revision.
    pub(crate) async fn client(&self, wire: Wire, user: User) -> Client {
        let transport = StreamableHttpClientTransport::from_uri(self.url.as_str());
        let mode = match wire {
            Wire::Sessions => ClientLifecycleMode::Initialize,
            Wire::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        serve_client_with_lifecycle(user, transport, mode)
            .await
            .unwrap()
    }

    /// Waits until the question with this key is not open.
    pub(crate) async fn past(&self, id: &str, key: &str) {
        let open = |task: &Task| key == format!("question-{}", task.generation);
        self.until(id, |task| !open(task)).await;
    }
}

impl Deref for Bench {
    type Target = Kit;

    fn deref(&self) -> &Kit {
        &self.kit
    }
}

pub(crate) type Client = RunningService<RoleClient, User>;

/// The two revisions of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Revision 2025-11-25.
    Sessions,
    /// Revision 2026-07-28, which has no sessions.
    Stateless,
}

pub(crate) const BOTH: [Wire; 2] = [Wire::Sessions, Wire::Stateless];

/// The handler of a test client: the features it declares, the answers it gives, and the progress it received.
#[derive(Clone)]
pub(crate) struct User {
    can: ClientCapabilities,
    answers: Arc<Mutex<VecDeque<ElicitResult>>>,
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    told: mpsc::UnboundedSender<ProgressNotificationParam>,
}

impl User {
    /// A client without optional features.
    pub(crate) fn plain() -> Self {
        Self::told().0
    }

    /// The same, and a receiver of the progress it gets.
    pub(crate) fn told() -> (Self, mpsc::UnboundedReceiver<ProgressNotificationParam>) {
        let (told, hears) = mpsc::unbounded_channel();
        let user = Self {
            can: ClientCapabilities::default(),
            answers: Arc::default(),
            asked: Arc::default(),
            told,
        };
        (user, hears)
    }

    /// A client that fills in forms.
    pub(crate) fn answering(answers: impl IntoIterator<Item = ElicitResult>) -> Self {
        let mut user = Self::plain();
        user.can = ClientCapabilities::builder().enable_elicitation().build();
        user.answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        user
    }

    /// A client that supports tasks.
    pub(crate) fn following() -> Self {
        let mut user = Self::plain();
        user.can = ClientCapabilities::builder().enable_tasks().build();
        user
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.can.clone(), Implementation::new("test", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked
            .lock()
            .unwrap()
            .push(serde_json::to_value(&request).unwrap());
        let answer = self.answers.lock().unwrap().pop_front();
        answer.ok_or_else(|| ErrorData::internal_error("nobody is here", None))
    }

    async fn on_progress(
        &self,
        param: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.told.send(param);
    }
}

pub(crate) fn accept(content: Value) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(content)
}

pub(crate) fn approved() -> ElicitResult {
    accept(json!({ "approved": true }))
}

pub(crate) fn request(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// The texts of a result.
pub(crate) fn texts(result: &CallToolResult) -> Vec<&str> {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    texts.map(|text| &*text.text).collect()
}

/// The URI and the object of the embedded resource of a result.
pub(crate) fn envelope(result: &CallToolResult) -> (String, Value) {
    let mut found = result.content.iter().filter_map(ContentBlock::as_resource);
    let envelope = found.next().expect("a result has an envelope");
    assert!(found.next().is_none(), "a result has one envelope");
    let ResourceContents::TextResourceContents {
        uri,
        mime_type,
        text,
        ..
    } = &envelope.resource
    else {
        panic!("not text: {envelope:?}");
    };
    assert_eq!(mime_type.as_deref(), Some("application/json"));
    (uri.clone(), serde_json::from_str(text).unwrap())
}

/// The error that a request was refused with.
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, ServiceError>) -> ErrorData {
    match answer {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("it was not refused: {other:?}"),
    }
}
