//! The connection to one server of tools: made when it is needed, and again when it is gone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{HeaderName, HeaderValue, header};
use rmcp::RoleClient;
use rmcp::model::{PaginatedRequestParams, ProtocolVersion, Tool};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService,
};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use skill::ToolServer;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::clean::{COMPLAINT, line};
use super::host::{Host, Watched};
use super::http::Client;
use super::program::Program;
use crate::limits::ToolLimits;

/// How often a stream that broke off is taken up again.
const RESUME: usize = 3;

/// Headers that are for the protocol and the connection to set.
const RESERVED: &[HeaderName] = &[
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Why a server is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program cannot be started.
    #[error("start {command}: {problem}")]
    Start {
        /// Which program.
        command: String,
        /// What the system says.
        problem: String,
    },
    /// A header cannot be sent, or is not for the configuration to set.
    #[error("the header {0:?} cannot be sent")]
    Header(String),
    /// It does not speak as it should, or not at all.
    #[error("{0}")]
    Talk(String),
    /// It took too long.
    #[error("no answer within {0:?}")]
    Slow(Duration),
    /// It sends more than anybody would.
    #[error("it has more than {0}")]
    TooMuch(String),
    /// Nobody needs it any more.
    #[error("the agent has stopped")]
    Closed,
}

/// One server of tools.
pub(super) struct Peer {
    name: String,
    server: ToolServer,
    environment: BTreeMap<String, String>,
    pub(super) limits: ToolLimits,
    state: Mutex<State>,
    /// It does not understand the newest way.
    is_old: AtomicBool,
    /// Nobody needs it any more.
    closing: CancellationToken,
}

/// What is known of the connection.
#[derive(Default)]
enum State {
    #[default]
    None,
    Open(Arc<Connection>),
    /// It could not be made, at this time.
    Failed(Instant, ConnectError),
}

/// A connection that was made, and may be gone by now.
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, Host>,
    program: std::sync::Mutex<Option<Program>>,
}

impl Peer {
    pub(super) fn new(
        name: &str,
        server: &ToolServer,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
    ) -> Self {
        Self {
            name: name.to_owned(),
            server: server.clone(),
            environment: environment.clone(),
            limits: limits.clone(),
            state: Mutex::default(),
            is_old: AtomicBool::new(false),
            closing: CancellationToken::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn server(&self) -> &ToolServer {
        &self.server
    }

    /// Whether a tool may be used.
    pub(super) fn allows(&self, tool: &str) -> bool {
        let allowed = self.server.allow.as_ref();
        allowed.is_none_or(|allowed| allowed.iter().any(|name| name == tool))
    }

    /// All its tools.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, ConnectError> {
        let connection = self.connect().await?;
        let listing = timeout(self.limits.list, self.list(&connection));
        let listed = listing
            .await
            .unwrap_or(Err(ConnectError::Slow(self.limits.list)));
        if listed.is_err() {
            self.forget(&connection).await;
        }
        listed
    }

    async fn list(&self, connection: &Connection) -> Result<Vec<Tool>, ConnectError> {
        let mut tools = Vec::new();
        let mut cursors = HashSet::new();
        let mut cursor = None;
        for _ in 0..self.limits.max_pages {
            let asked = PaginatedRequestParams::default().with_cursor(cursor);
            let page = connection.service.list_tools(Some(asked)).await;
            let page = page.map_err(|error| talk(&error))?;
            tools.extend(page.tools);
            if tools.len() > self.limits.max_tools {
                return Err(ConnectError::TooMuch(format!(
                    "{} tools",
                    self.limits.max_tools
                )));
            }
            let Some(next) = page.next_cursor else {
                return Ok(tools);
            };
            if !cursors.insert(next.clone()) {
                let circle = "its list of tools goes round in a circle";
                return Err(ConnectError::Talk(circle.to_owned()));
            }
            cursor = Some(next);
        }
        Err(ConnectError::TooMuch(format!(
            "{} pages of tools",
            self.limits.max_pages
        )))
    }

    /// The connection, which is made if there is none that lives.
    pub(super) async fn connect(&self) -> Result<Arc<Connection>, ConnectError> {
        let mut state = self.state.lock().await;
        if self.closing.is_cancelled() {
            return Err(ConnectError::Closed);
        }
        match &*state {
            State::Open(connection) if !connection.service.is_transport_closed() => {
                return Ok(connection.clone());
            }
            State::Failed(at, error) if at.elapsed() < self.limits.pause => {
                return Err(error.clone());
            }
            _ => {}
        }
        let opened = tokio::select! {
            opened = timeout(self.limits.connect, self.open()) => {
                opened.unwrap_or(Err(ConnectError::Slow(self.limits.connect)))
            }
            () = self.closing.cancelled() => Err(ConnectError::Closed),
        };
        match opened {
            Ok(connection) => {
                tracing::info!(server = self.name, "connected to a server of tools");
                let connection = Arc::new(connection);
                *state = State::Open(connection.clone());
                Ok(connection)
            }
            Err(error) => {
                *state = State::Failed(Instant::now(), error.clone());
                Err(error)
            }
        }
    }

    /// A connection is of no use; another one that was made meanwhile stays.
    pub(super) async fn forget(&self, connection: &Arc<Connection>) {
        let mut state = self.state.lock().await;
        if matches!(&*state, State::Open(open) if Arc::ptr_eq(open, connection)) {
            *state = State::None;
        }
    }

    /// Ends the connection, and with it the program, in good order. None is made again.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let state = std::mem::take(&mut *self.state.lock().await);
        if let State::Open(connection) = state {
            connection.end(self.limits.grace).await;
        }
    }

    /// Makes a connection in the newest way that the server knows. One that does not even understand that it is asked
    /// which it knows is spoken to in the old way, from the beginning.
    async fn open(&self) -> Result<Connection, ConnectError> {
        if !self.is_old.load(Ordering::Relaxed) {
            match self.greet(newest()).await? {
                Err(ClientInitializeError::ExpectedInitResult(_))
                | Err(ClientInitializeError::ConnectionClosed(_)) => {}
                greeted => return greeted.map_err(|error| talk(&error)),
            }
        }
        let greeted = self.greet(ClientLifecycleMode::Initialize).await?;
        self.is_old.store(greeted.is_ok(), Ordering::Relaxed);
        greeted.map_err(|error| talk(&error))
    }

    async fn greet(&self, way: ClientLifecycleMode) -> Result<Greeted, ConnectError> {
        if let Some(command) = &self.server.command {
            let started = Program::start(
                &self.name,
                command,
                &self.server,
                &self.environment,
                self.limits.max_message,
            );
            let (program, lines) = started.map_err(|error| ConnectError::Start {
                command: command.clone(),
                problem: error.to_string(),
            })?;
            return Ok(greet(lines, Some(program), way).await);
        }
        let url = self.server.url.clone().unwrap_or_default();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.custom_headers = self.headers()?;
        config.max_sse_event_size = self.limits.max_message;
        let mut resume = ExponentialBackoff::default();
        resume.max_times = Some(RESUME);
        config.retry_config = Arc::new(resume);
        let client = Client::new(self.limits.connect, self.limits.max_message);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        Ok(greet(transport, None, way).await)
    }

    fn headers(&self) -> Result<HashMap<HeaderName, HeaderValue>, ConnectError> {
        let mut headers = HashMap::new();
        for (name, value) in &self.server.headers {
            let wrong = || ConnectError::Header(name.clone());
            let key: HeaderName = name.parse().map_err(|_| wrong())?;
            let is_ours = key.as_str().starts_with("mcp-") || key == "last-event-id";
            if is_ours || RESERVED.contains(&key) {
                return Err(wrong());
            }
            let mut value: HeaderValue = value.parse().map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        Ok(headers)
    }
}

/// What came of a greeting.
type Greeted = Result<Connection, ClientInitializeError>;

/// Comes to terms with a server.
async fn greet<T: Transport<RoleClient> + 'static>(
    transport: T,
    program: Option<Program>,
    way: ClientLifecycleMode,
) -> Greeted {
    let host = Host::default();
    let watched = Watched {
        transport,
        host: host.clone(),
    };
    Ok(Connection {
        service: host.serve_with_lifecycle(watched, way).await?,
        program: std::sync::Mutex::new(program),
    })
}

fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

impl Connection {
    async fn end(&self, grace: Duration) {
        // Its input ends, or its session does.
        self.service.cancellation_token().cancel();
        let program = self.program.lock();
        let program = program
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(program) = program {
            program.end(grace).await;
        }
    }
}

/// What went wrong, in words that can be shown.
fn talk(error: &dyn std::error::Error) -> ConnectError {
    ConnectError::Talk(line(&error.to_string(), COMPLAINT))
}
