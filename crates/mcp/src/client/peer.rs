//! One tool server: its configuration and its connection, which is made when needed and again when it was lost.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use access::Secrets;
use dial::Dialer;
use http::{HeaderName, HeaderValue, header};
use oauth::Authorizer;
use rmcp::RoleClient;
use rmcp::model::{PaginatedRequestParams, ProtocolVersion, Tool};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService,
};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use skill::ToolServer;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::clean::{COMPLAINT, cause, line};
use super::host::{Host, ProgressTransport};
use super::http::HttpTransport;
use super::program::Program;
use crate::limits::ToolLimits;

/// How many times a broken event stream is resumed.
const RESUME: usize = 3;

/// Headers that the protocol or the connection sets; the configuration may not.
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

/// Why there is no connection to a tool server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program cannot be started.
    #[error("start {command}: {problem}")]
    Start { command: String, problem: String },
    /// A header of the configuration is not valid, or is one that the configuration may not set.
    #[error("header {0:?} is invalid or reserved")]
    Header(String),
    /// The connection or the handshake failed, or a reply was not valid.
    #[error("{0}")]
    Talk(String),
    /// The server did not answer within this time.
    #[error("no answer within {0:?}")]
    Slow(Duration),
    /// Its list of tools exceeds a limit.
    #[error("more than {0}")]
    TooMuch(String),
    /// A secret that its entry names is not found.
    #[error("could not {0}")]
    Secret(String),
    /// The tool servers were closed.
    #[error("the agent has stopped")]
    Closed,
}

/// One tool server. At most one connection to it is open; calls share it. [`ToolServers`](super::ToolServers) describes
/// its life.
///
/// `state` is locked while a connection is made, so calls that arrive meanwhile wait for it instead of starting the
/// program a second time. It is not locked during a call. A connection that failed is forgotten by the call that noticed
/// it, but only if it is still the current one: another call may have replaced it.
pub(super) struct Peer {
    name: String,
    server: ToolServer,
    environment: BTreeMap<String, String>,
    /// Where the secrets that its entry names are found.
    secrets: OnceLock<Secrets>,
    pub(super) limits: ToolLimits,
    dialer: Dialer,
    /// Gets tokens, for a server that asks for some.
    sign_in: Option<Arc<Authorizer>>,
    state: Mutex<State>,
    /// The server did not understand the handshake of 2026-07-28: the next connection begins with `initialize`.
    needs_initialize: AtomicBool,
    /// Cancelled by [`close`](Self::close): no new connection is made.
    closing: CancellationToken,
}

#[derive(Default)]
enum State {
    #[default]
    None,
    Open(Arc<Connection>),
    /// The last attempt, when and why it failed.
    Failed(Instant, ConnectError),
}

/// A connection that was made, and may have been lost since. Owns the program, if it is one, and the tasks that send its
/// cancellations.
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, Host>,
    program: std::sync::Mutex<Option<Program>>,
    /// Tasks that send the cancellation of a request; aborted with the connection.
    cancellations: std::sync::Mutex<JoinSet<()>>,
}

impl Peer {
    pub(super) fn new(
        name: &str,
        server: &ToolServer,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
        dialer: &Dialer,
        sign_in: Option<Authorizer>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            server: server.clone(),
            environment: environment.clone(),
            secrets: OnceLock::new(),
            limits: limits.clone(),
            dialer: dialer.clone(),
            sign_in: sign_in.map(Arc::new),
            state: Mutex::default(),
            needs_initialize: AtomicBool::new(false),
            closing: CancellationToken::new(),
        }
    }

    /// Sets where secrets are found; the first one counts.
    pub(super) fn use_secrets(&self, secrets: &Secrets) {
        let _ = self.secrets.set(secrets.clone());
    }

    /// Values of its entry with the secrets that they name, as they are now.
    fn revealed(
        &self,
        values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, ConnectError> {
        let secrets = self.secrets.get().cloned().unwrap_or_default();
        let revealed = values.iter().map(|(name, value)| {
            let value = secrets.expand(value);
            let value = value.map_err(|error| ConnectError::Secret(error.to_string()))?;
            Ok((name.clone(), value))
        });
        revealed.collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where the server is, for people: its address, or the command that starts it.
    pub(super) fn place(&self) -> &str {
        let command = self.server.command.as_deref();
        command.or(self.server.url.as_deref()).unwrap_or_default()
    }

    pub(super) fn server(&self) -> &ToolServer {
        &self.server
    }

    /// Whether the allow list names a tool; without a list every tool is allowed.
    pub(super) fn allows(&self, tool: &str) -> bool {
        let allowed = self.server.allow.as_ref();
        allowed.is_none_or(|allowed| allowed.iter().any(|name| name == tool))
    }

    /// Lists all tools of the server, page by page.
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
                let repeated = "its list of tools repeats a page";
                return Err(ConnectError::Talk(repeated.to_owned()));
            }
            cursor = Some(next);
        }
        Err(ConnectError::TooMuch(format!(
            "{} pages of tools",
            self.limits.max_pages
        )))
    }

    /// The open connection, or a new one.
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
                tracing::info!(server = self.name, "connected to tool server");
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

    /// Drops a connection that failed, if it is still the current one.
    pub(super) async fn forget(&self, connection: &Arc<Connection>) {
        let mut state = self.state.lock().await;
        if matches!(&*state, State::Open(open) if Arc::ptr_eq(open, connection)) {
            *state = State::None;
        }
    }

    /// Closes the connection and waits for its program to exit. No other connection is made.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let state = std::mem::take(&mut *self.state.lock().await);
        if let State::Open(connection) = state {
            connection.end(self.limits.grace).await;
        }
    }

    /// Makes a connection in the newest revision that the server supports. A server that does not answer the discovery of
    /// 2026-07-28 as it should gets a new connection that begins with `initialize`.
    async fn open(&self) -> Result<Connection, ConnectError> {
        if !self.needs_initialize.load(Ordering::Relaxed) {
            match self.handshake(newest()).await? {
                Err(ClientInitializeError::ExpectedInitResult(_))
                | Err(ClientInitializeError::ConnectionClosed(_)) => {}
                made => return made.map_err(|error| talk(&error)),
            }
        }
        let made = self.handshake(ClientLifecycleMode::Initialize).await?;
        self.needs_initialize.store(made.is_ok(), Ordering::Relaxed);
        made.map_err(|error| talk(&error))
    }

    async fn handshake(&self, mode: ClientLifecycleMode) -> Result<Handshake, ConnectError> {
        if let Some(command) = &self.server.command {
            let server = ToolServer {
                env: self.revealed(&self.server.env)?,
                ..self.server.clone()
            };
            let started = Program::start(
                &self.name,
                command,
                &server,
                &self.environment,
                self.limits.max_message,
            );
            let (program, lines) = started.map_err(|error| ConnectError::Start {
                command: command.clone(),
                problem: error.to_string(),
            })?;
            return Ok(handshake(lines, Some(program), mode).await);
        }
        let url = self.server.url.clone().unwrap_or_default();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.custom_headers = self.headers()?;
        config.max_sse_event_size = self.limits.max_message;
        let mut resume = ExponentialBackoff::default();
        resume.max_times = Some(RESUME);
        config.retry_config = Arc::new(resume);
        let (connect, max_message) = (self.limits.connect, self.limits.max_message);
        let client = HttpTransport::new(&self.dialer, connect, max_message, self.sign_in.clone());
        let transport = StreamableHttpClientTransport::with_client(client, config);
        Ok(handshake(transport, None, mode).await)
    }

    fn headers(&self) -> Result<HashMap<HeaderName, HeaderValue>, ConnectError> {
        let mut headers = HashMap::new();
        for (name, value) in self.revealed(&self.server.headers)? {
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

/// The library's own error stays visible, since `open` decides by it.
type Handshake = Result<Connection, ClientInitializeError>;

async fn handshake<T: Transport<RoleClient> + 'static>(
    transport: T,
    program: Option<Program>,
    mode: ClientLifecycleMode,
) -> Handshake {
    let host = Host::default();
    let transport = ProgressTransport {
        transport,
        host: host.clone(),
    };
    Ok(Connection {
        service: host.serve_with_lifecycle(transport, mode).await?,
        program: std::sync::Mutex::new(program),
        cancellations: std::sync::Mutex::default(),
    })
}

fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

impl Connection {
    /// Runs a future that sends a cancellation. Does nothing where no runtime is left to run it.
    pub(super) fn spawn(&self, sending: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let tasks = self.cancellations.lock();
        let mut tasks = tasks.unwrap_or_else(std::sync::PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(sending, &runtime);
    }

    async fn end(&self, grace: Duration) {
        // Closes the input of a program, or ends the session over HTTP.
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

fn talk(error: &dyn std::error::Error) -> ConnectError {
    ConnectError::Talk(line(&cause(&error.to_string()), COMPLAINT))
}
