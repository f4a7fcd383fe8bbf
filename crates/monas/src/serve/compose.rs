//! The composition of a server: every part is constructed here, from the configuration, and handed to the parts that use
//! it. [`Serve::start`] is the only way to start one; its steps stand in [`Serve::start`] in their order.
//!
//! Layout: `compose/base.rs` has what every server stands on: address, store, access rules, signing key, and the routes
//! that follow from them; `compose/parts.rs` opens the store and the memory, also for commands; `compose/listening.rs`
//! has the options of the listener; `compose/stdio.rs` serves an agent on standard input and output.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use a2a::binding::{self, Wire};
use a2a::types::AgentCard;
use access::SignatureRule;
use access::own_token::LIFETIME;
use agent::{Agent, Manifest};
use axum::Router;
use capnweb::Tasks;
use store::Store;
use tokio_util::sync::CancellationToken;
use workspace::chat::Chat;

use crate::config::{Config, Data};
use crate::error::Error;
use crate::listen::{self, Listener};
use crate::serve::agents::Agents;
use crate::serve::agents::host::{AgentHost, AgentSource};
use crate::serve::audit::Trail;
use crate::serve::issuers::Issuers;
use crate::serve::mcp::{self, ServeMcp};
use crate::serve::page;
use crate::serve::tokens::{self, TokenSecrets};
use crate::serve::traces::Exporter;
use base::Base;

mod base;
mod listening;
mod parts;
mod stdio;

pub(crate) use parts::{DATABASE, files, memory, open, open_folder, remote, tables};
pub(crate) use stdio::serve_stdio;

/// How the lock of the data names a server that lets in callers without credentials; its address follows.
pub(crate) const OPEN_SERVER: &str = "the open server";

/// A server that has its address and its data, and waits to be run.
///
/// It owns everything that lives as long as the server: the listener, the routes, the task server of A2A, the agents with
/// their memory, and the sessions of MCP and Cap'n Web. [`Serve::start`] constructs the parts bottom up, in this order,
/// and each gets the ones it uses as arguments: access rules, listener, store, memory, agents, task server, bindings,
/// page. The address is taken before the store is opened, so a second server on the same port fails before it touches
/// data; the card is signed after the address is known, because it holds the address.
///
/// [`Server::run`] serves and then stops in the opposite order, which matters:
/// 1. `tasks.drain()`: event streams end, which would otherwise keep their connections open.
/// 2. The listener stops accepting; sessions of MCP end; sockets get their pending answers, for a limited time.
/// 3. `tasks.halt()`: runs of agents end, and their last events are written.
/// 4. `host.close()`: the agents, then the memory: agents write to the memory, so it must outlive them.
/// 5. `trail.close()`: the last calls are written to the audit trail.
/// 6. `exporter.close()`: the last spans are sent, for a limited time.
/// 7. `tasks.stop()` closes the store. Anything that wrote after it would fail.
///
/// Nothing is global: two servers can run in one process, and a test starts as many as it likes.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    router: Router,
    tasks: a2a::Server,
    /// Open WebSockets, of JSON-RPC and of Cap'n Web.
    sockets: Tasks,
    sessions: Vec<::mcp::Http>,
    chat: Chat,
    host: AgentHost,
    trail: Trail,
    /// What signs the owner's link; none where no link is needed or where it is not for the person at this machine.
    owner: Option<TokenSecrets>,
    exporter: Option<Exporter>,
    /// Their tasks end with the server.
    _issuers: Issuers,
    url: String,
}

impl Server {
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Its TLS configuration, which can be told to read its files again.
    pub(crate) fn tls(&self) -> Option<listen::Tls> {
        self.listener.tls().cloned()
    }

    pub fn tasks(&self) -> &a2a::Server {
        &self.tasks
    }

    /// The URL that clients are told to call.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A link to the page with a token of the owner, for the person at this machine: where callers need credentials and the
    /// address is a loopback one.
    pub fn owner_link(&self) -> Option<String> {
        let secrets = self.owner.as_ref()?;
        let token = tokens::for_owner(&secrets.own, LIFETIME).ok()?;
        Some(tokens::link(&self.url, &token))
    }

    /// Serves until `shutdown` ends, then stops. No connection and no task is left when this returns.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let stop = CancellationToken::new();
        let stopping = async {
            shutdown.await;
            // Event streams would keep their connections open until their tasks end.
            self.tasks.drain();
            self.trail.stopping.cancel();
            stop.cancel();
            let sessions = self.sessions.iter().map(::mcp::Http::stop);
            futures_util::future::join_all(sessions).await;
            self.chat.stop().await;
            // Peers are told, and get the answers of calls under way.
            self.sockets.drain(listen::Limits::default().drain).await;
        };
        let serving = self.listener.serve(self.router, stop.cancelled());
        tokio::join!(serving, stopping);
        self.tasks.halt().await;
        self.host.close().await;
        self.trail.close().await;
        if let Some(exporter) = self.exporter {
            exporter.close().await;
        }
        self.tasks.stop().await;
    }
}

/// A server before it is started: its agents, and in what it differs from `monas serve`.
///
/// `monas serve`, tests and programs with a server of their own all build one. Programs that serve an agent with routes, a
/// card or MCP tools beside its skills (the agent that conformance suites drive is one) add them, then call
/// [`Serve::start`] or [`crate::serve_until_signal`].
pub struct Serve {
    agents: AgentSource,
    served: Option<a2a::server::Config>,
    routes: Box<dyn FnOnce(&Store) -> Router + Send>,
    serve_mcp: ServeMcp,
}

impl Serve {
    /// A server of an app, or of agents that exist already; the agent at the root has the card that its manifest gives.
    pub fn new(agents: impl Into<AgentSource>) -> Self {
        Self {
            agents: agents.into(),
            served: None,
            routes: Box::new(|_| Router::new()),
            serve_mcp: mcp::skills_only,
        }
    }

    /// A server of an answerer that has no skills, for every tenant.
    pub fn answerer(
        served: a2a::server::Config,
        answerer: Arc<dyn a2a::server::Agent>,
    ) -> Result<Self, Error> {
        let mut options = agent::Options::default();
        options.answerer = Some(answerer);
        let agent = Agent::create(Manifest::new(served.card.name.clone()), options)?;
        Ok(Self::new(Agents::from(agent).with_any_tenant()).served(served))
    }

    /// Replaces the cards and the label of the task server. Interfaces and security schemes are written into both
    /// cards at the start; limits come from the configuration.
    pub fn served(mut self, served: a2a::server::Config) -> Self {
        self.served = Some(served);
        self
    }

    /// Adds routes, made once the store is open. They are behind the same access rules as `/metrics`.
    pub fn routes(mut self, make: impl FnOnce(&Store) -> Router + Send + 'static) -> Self {
        self.routes = Box::new(make);
        self
    }

    /// Replaces how the skills of an agent are served over MCP.
    pub fn mcp(mut self, serve: ServeMcp) -> Self {
        self.serve_mcp = serve;
        self
    }

    /// Takes the address and the data. From here on clients can connect; they are served once it runs.
    pub async fn start(self, config: &Config) -> Result<Server, Error> {
        let base = Base::lay(config).await?;
        let more = (self.routes)(&base.store);
        let host = AgentHost::start(config, &base.store, &base.secrets, self.agents).await?;

        let served = self.served;
        let served = match served {
            Some(served) => served,
            None => parts::cards(config, host.agents().first())?,
        };
        let served = base.prepare(served)?;
        let (card, limits) = (served.card.clone(), served.limits.clone());
        let answering = Arc::new(host.agents().clone());
        let tasks = a2a::Server::start(served, answering, base.store.clone()).await?;
        host.serve(&tasks);

        let mut wire = Wire::new(Arc::new(tasks.clone()), limits);
        wire.calls = base.calls.clone();
        let ways = base.ways(host.agents(), &card, &wire, self.serve_mcp)?;
        let chat = base.chat(&wire, &host);
        let people = base.checked_routes(&wire, &ways.sessions, &tasks, &host, &chat, more);
        let door = base.workspace_door(&wire, &people, &chat);
        let router = base
            .page(&card, host.agents())
            .merge(ways.router)
            .merge(people.router)
            .merge(door);
        announce(config, &base.url, &card, host.agents().first());
        Ok(Server {
            listener: base.listener,
            router: base
                .issuers
                .before(&base.door, page::with_fallbacks(router, &base.door)),
            tasks,
            sockets: wire.tasks,
            sessions: ways.sessions,
            chat,
            host,
            trail: base.trail,
            owner: base.token_secrets.filter(|_| prints_link(config)),
            exporter: base.exporter,
            _issuers: base.issuers,
            url: base.url,
        })
    }
}

impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve")
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}

/// Whether the link of the owner is for the terminal that the server was started in. Browsers do not sign requests.
fn prints_link(config: &Config) -> bool {
    config.listen.ip().is_loopback()
        && config.access.is_closed()
        && config.access.signatures == SignatureRule::Optional
}

/// Logs what is served, and where.
fn announce(config: &Config, url: &str, card: &AgentCard, first: &Agent) {
    match first.model() {
        Some(model) => tracing::info!(model = model.name(), "language model configured"),
        None => tracing::info!(
            "no language model configured: the agent understands direct requests only"
        ),
    }
    let bindings: Vec<_> = card
        .supported_interfaces
        .iter()
        .filter(|it| it.protocol_version == binding::VERSION)
        .map(|it| &*it.protocol_binding)
        .collect();
    let bindings = bindings.join(", ");
    let data = match &config.data {
        Data::Folder(folder) => folder.display().to_string(),
        Data::Memory => "memory".to_owned(),
    };
    if let Some(database) = &config.store.url {
        tracing::info!(%database, "the store is in a database");
    }
    tracing::info!(url, data, bindings, agent = card.name, "serving");
}
