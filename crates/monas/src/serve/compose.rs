//! The composition of a server: every part is constructed here, from the configuration, and handed to the parts that use
//! it.
//!
//! Layout: `compose/parts.rs` opens the store and the memory, also for commands; `compose/listening.rs` has the options of
//! the listener; `compose/stdio.rs` serves an agent on standard input and output.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use ::memory::Memory;
use a2a::binding::{self, Address, BINDINGS, Offer, Offers, Wire};
use a2a::service::Tenant;
use a2a::signature::SigningKey;
use a2a::types::AgentCard;
use access::Door;
use agent::Agent;
use axum::Router;
use capnweb::Tasks;
use skill::Manifest;
use store::Store;
use tokio_util::sync::CancellationToken;
use workspace::api::Rights;

use crate::app::App;
use crate::config::{Access, Config, Data};
use crate::error::Error;
use crate::listen::{self, Listener};
use crate::serve::agents::Agents;
use crate::serve::agents::DEFAULT_AGENT;
use crate::serve::agents::host::AgentHost;
use crate::serve::demo;
use crate::serve::mcp::{self, Endpoint, ServeMcp};
use crate::serve::page::{self, Page};
use crate::serve::{door, metrics, operator, signing};
use parts::{files, limit};

mod listening;
mod parts;
mod stdio;

pub(crate) use parts::{memory, open};
pub(crate) use stdio::serve_stdio;

/// A server that has its address and its data, and waits to be run.
///
/// It owns everything that lives as long as the server: the listener, the routes, the task server of A2A, the agents, the
/// memory, and the sessions of MCP and Cap'n Web. Parts are constructed bottom up, in this order, and each gets the ones it
/// uses as arguments: access rules, listener, store, memory, agents, task server, bindings, page. The address is taken
/// before the store is opened, so a second server on the same port fails before it touches data; the card is signed after the
/// address is known, because it holds the address.
///
/// [`Server::run`] serves and then stops in the opposite order, which matters:
/// 1. `tasks.drain()`: event streams end, which would otherwise keep their connections open.
/// 2. The listener stops accepting; sessions of MCP end; sockets get their pending answers, for a limited time.
/// 3. `tasks.halt()`: runs of agents end, and their last events are written.
/// 4. The agents, then the memory: agents write to the memory, so it must outlive them.
/// 5. `tasks.stop()` closes the store. Anything that wrote after it would fail.
///
/// Nothing is global: two servers can run in one process, and a test starts as many as it likes.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    router: Router,
    tasks: a2a::Server,
    agents: Agents,
    /// Open WebSockets, of JSON-RPC and of Cap'n Web.
    sockets: Tasks,
    sessions: Vec<::mcp::Http>,
    memory: Memory,
    /// None for agents without memory and law.
    host: Option<AgentHost>,
    url: String,
}

impl Server {
    /// Starts a server with the demo agent.
    pub async fn start(config: &Config) -> Result<Self, Error> {
        Self::start_app(config, demo::app()).await
    }

    /// Starts a server with the agents of an app.
    pub async fn start_app(config: &Config, app: App) -> Result<Self, Error> {
        if !app.lives() {
            return Self::start_agents(config, app.agents(config).await?).await;
        }
        let base = Base::lay(config).await?;
        let (agents, memory, host) = raise(config, &base.store, true, app).await?;
        let mut card = agents.first().card();
        base.declare(&mut card, None);
        let around = Around {
            memory,
            host: Some(host),
            more: Router::new(),
            serve_mcp: mcp::skills_only,
        };
        base.build(config, a2a::server::Config::new(card), agents, around)
            .await
    }

    /// Takes the address and the data. From here on clients can connect; they are served once it runs.
    pub async fn start_agents(config: &Config, agents: impl Into<Agents>) -> Result<Self, Error> {
        Serve::new(agents).start(config).await
    }

    /// Starts a server with an answerer that has no skills. Its interfaces are written into the cards.
    pub async fn start_answerer(
        config: &Config,
        served: a2a::server::Config,
        answerer: Arc<dyn a2a::server::Agent>,
    ) -> Result<Self, Error> {
        let mut options = agent::Options::default();
        options.answerer = Some(answerer);
        let agent = Agent::create(Manifest::new(served.card.name.clone()), options)?;
        let agents = Agents::from(agent).with_any_tenant();
        Serve::new(agents).served(served).start(config).await
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    pub fn tasks(&self) -> &a2a::Server {
        &self.tasks
    }

    /// The URL that clients are told to call.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until `shutdown` ends, then stops. No connection and no task is left when this returns.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let stop = CancellationToken::new();
        let stopping = async {
            shutdown.await;
            // Event streams would keep their connections open until their tasks end.
            self.tasks.drain();
            stop.cancel();
            let sessions = self.sessions.iter().map(::mcp::Http::stop);
            futures_util::future::join_all(sessions).await;
            // Peers are told, and get the answers of calls under way.
            self.sockets.drain(listen::Limits::default().drain).await;
        };
        let serving = self.listener.serve(self.router, stop.cancelled());
        tokio::join!(serving, stopping);
        self.tasks.halt().await;
        if let Some(host) = &self.host {
            host.close().await;
        }
        self.memory.close().await;
        self.tasks.stop().await;
        self.agents.close().await;
    }
}

/// A server before it is started: its agents, and in what it differs from `monas serve`.
///
/// Programs that serve an agent of their own with routes, a card or MCP tools beside its skills (the agent that
/// conformance suites drive is one) build it, then call [`Serve::start`] or [`crate::serve_until_signal`].
pub struct Serve {
    agents: Agents,
    served: a2a::server::Config,
    routes: Box<dyn FnOnce(&Store) -> Router + Send>,
    serve_mcp: ServeMcp,
}

impl Serve {
    /// The agents of a server, the first of them with the card that its manifest gives.
    pub fn new(agents: impl Into<Agents>) -> Self {
        let agents = agents.into();
        Self {
            served: a2a::server::Config::new(agents.first().card()),
            agents,
            routes: Box::new(|_| Router::new()),
            serve_mcp: mcp::skills_only,
        }
    }

    /// Replaces the cards and the label of the task server. Interfaces and security schemes are written into both
    /// cards at the start; limits come from the configuration.
    pub fn served(mut self, served: a2a::server::Config) -> Self {
        self.served = served;
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
        let mut served = self.served;
        let cards = [Some(&mut served.card), served.extended_card.as_mut()];
        for card in cards.into_iter().flatten() {
            base.declare(card, None);
        }
        let around = Around {
            more: (self.routes)(&base.store),
            serve_mcp: self.serve_mcp,
            ..base.around(config, &self.agents)?
        };
        base.build(config, served, self.agents, around).await
    }
}

impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve")
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}

/// Makes the agents of an app, with memory and a law.
async fn raise(
    config: &Config,
    store: &Store,
    together: bool,
    app: App,
) -> Result<(Agents, Memory, AgentHost), Error> {
    let plans = app.plans(config)?;
    let model = plans.iter().find_map(|plan| plan.options.model.clone());
    let reader = model.clone().filter(|_| config.models.reads_memory);
    let memory = memory(config, store.clone(), reader)?;
    let files = files(config)?;
    let host = AgentHost::begin(store.clone(), memory.clone(), model, files, together);
    let agents = host.raise(plans).await?;
    Ok((agents, memory, host))
}

/// What every server stands on.
struct Base {
    listener: Listener,
    store: Store,
    offers: Offers,
    address: Address,
    url: String,
    signer: Option<SigningKey>,
    door: Arc<Door>,
    access: Access,
}

impl Base {
    async fn lay(config: &Config) -> Result<Self, Error> {
        let door = Arc::new(door::build(&config.access)?);
        let key = config.signing_key.as_deref();
        let signer = key.map(signing::read).transpose()?;
        let listener = Listener::bind(config.listen, listening::options(config)?).await?;
        let (scheme, authority) = match &config.public_url {
            Some(url) => (url.scheme().to_owned(), url.authority()),
            None => (listener.scheme().to_owned(), listener.address().to_string()),
        };
        let url = format!("{scheme}://{authority}");
        let store = open(config, &format!("the server {url}")).await?;
        Ok(Self {
            listener,
            store,
            offers: config.bindings.clone(),
            address: Address {
                encrypted: scheme == "https",
                authority,
                tenant: None,
            },
            url,
            signer,
            door,
            access: config.access.clone(),
        })
    }

    /// Writes into a card where its agent is reached, and what its callers prove themselves with.
    fn declare(&self, card: &mut AgentCard, tenant: Option<&str>) {
        let address = Address {
            tenant: tenant.map(str::to_owned),
            ..self.address.clone()
        };
        binding::declare(card, &self.offers, &address);
        door::declare(&self.access, card);
    }

    fn sign(&self, card: &mut AgentCard) -> Result<(), Error> {
        match &self.signer {
            Some(key) => Ok(key.sign_card(card).map_err(signing::Error::Make)?),
            None => Ok(()),
        }
    }

    /// What is around agents that have no life of their own.
    fn around(&self, config: &Config, agents: &Agents) -> Result<Around, Error> {
        let model = agents.first().model();
        let reader = model.filter(|_| config.models.reads_memory);
        Ok(Around {
            memory: memory(config, self.store.clone(), reader.cloned())?,
            host: None,
            more: Router::new(),
            serve_mcp: mcp::skills_only,
        })
    }

    async fn build(
        self,
        config: &Config,
        mut served: a2a::server::Config,
        agents: Agents,
        around: Around,
    ) -> Result<Server, Error> {
        agents.claim()?;
        let Around {
            memory,
            host,
            more,
            serve_mcp,
        } = around;
        limit(config, &mut served)?;
        let cards = [Some(&mut served.card), served.extended_card.as_mut()];
        for card in cards.into_iter().flatten() {
            self.sign(card)?;
        }
        if let Some(key) = &self.signer {
            tracing::info!(key = key.id(), "the card is signed");
        }
        let agent = agents.first();
        match agent.model() {
            Some(model) => tracing::info!(model = model.name(), "there is a language model"),
            None => tracing::info!("there is no language model"),
        }
        let card = served.card.clone();
        let limits = served.limits.clone();
        let tasks =
            a2a::Server::start(served, Arc::new(agents.clone()), self.store.clone()).await?;
        if let Some(host) = &host {
            host.serve(&tasks);
        }
        let endpoint = Endpoint {
            config,
            url: &self.url,
            door: self.door.clone(),
            stopping: CancellationToken::new(),
        };

        let wire = Wire::new(Arc::new(tasks.clone()), limits);
        let sockets = wire.tasks.clone();
        let metrics = metrics::routes(wire.metrics.clone(), self.store.clone());
        let served = Served {
            agent,
            card: &card,
            below: "",
        };
        let (mut router, session) = self.wires(&served, wire.clone(), &endpoint, serve_mcp)?;
        let mut sessions = vec![session];
        if host.is_some() {
            // The agent at the root is also served below its id.
            let below = binding::below(DEFAULT_AGENT);
            let served = Served {
                below: &below,
                ..served
            };
            let (routes, session) = self.wires(&served, wire.clone(), &endpoint, serve_mcp)?;
            router = router.nest(&below, routes);
            sessions.push(session);
        }
        for (id, agent) in agents.others() {
            let mut card = agent.card();
            self.declare(&mut card, Some(id));
            self.sign(&mut card)?;
            let below = binding::below(id);
            let wire = Wire {
                service: Arc::new(Tenant::new(wire.service.clone(), id, card.clone())),
                ..wire.clone()
            };
            let served = Served {
                agent,
                card: &card,
                below: &below,
            };
            let (routes, session) = self.wires(&served, wire, &endpoint, serve_mcp)?;
            router = router.nest(&below, routes);
            sessions.push(session);
        }

        let deprecated = BINDINGS
            .iter()
            .filter(|it| self.offers.get(it) == Offer::Deprecated);
        let deprecated: Vec<_> = deprecated.map(|binding| binding.name).collect();
        let page = Page::of(&card, self.address.encrypted, &deprecated).beside(&self.url);
        // The page, `/healthz` and the card need no credentials. Bindings check them in the form of their protocol.
        let operator = operator::routes(tasks.clone());
        let known = agents.clone();
        let rights =
            Rights::everybody(DEFAULT_AGENT).only(move |caller, agent| known.is_for(agent, caller));
        let people = workspace::api::memory::routes(memory.clone(), rights.clone());
        let mut operator = operator;
        if let Some(host) = &host {
            // The journal of an agent has the requests of all callers, so only operators may read it.
            let living = workspace::api::agent::routes(host.population().clone(), rights);
            operator = operator.merge(living);
        }
        let router = page::routes(&page)
            .merge(router)
            .merge(door::behind(
                &self.door,
                None,
                metrics.merge(more).merge(people),
            ))
            .merge(door::behind(&self.door, Some(door::OPERATOR), operator));

        let bindings: Vec<_> = card
            .supported_interfaces
            .iter()
            .filter(|it| it.protocol_version == binding::VERSION)
            .map(|it| &*it.protocol_binding)
            .collect();
        let data = match &config.data {
            Data::Folder(folder) => folder.display().to_string(),
            Data::Memory => "memory".to_owned(),
        };
        let bindings = bindings.join(", ");
        tracing::info!(url = self.url, data, bindings, agent = card.name, "serving");
        Ok(Server {
            listener: self.listener,
            router: page::with_fallbacks(router),
            tasks,
            agents,
            sockets,
            sessions,
            memory,
            host,
            url: self.url,
        })
    }
}

/// What is around the agents of a server.
struct Around {
    memory: Memory,
    host: Option<AgentHost>,
    /// Routes besides those that every server has.
    more: Router,
    serve_mcp: ServeMcp,
}

/// An agent, and where its paths begin.
struct Served<'a> {
    agent: &'a Agent,
    card: &'a AgentCard,
    below: &'a str,
}

impl Base {
    /// Every way to one agent, from where its paths begin.
    fn wires(
        &self,
        served: &Served<'_>,
        mut wire: Wire,
        endpoint: &Endpoint<'_>,
        serve_mcp: ServeMcp,
    ) -> Result<(Router, ::mcp::Http), Error> {
        let Served { agent, card, below } = served;
        let url = format!("{}{below}", self.url);
        let callers = agent.manifest().access.callers.as_deref();
        wire.door = door::of_agent(&self.door, callers)?;
        let service = wire.service.clone();
        let handler = mcp::handler(endpoint.config, agent, service, &endpoint.stopping)?;
        let endpoint = Endpoint {
            door: wire.door.clone(),
            ..endpoint.clone()
        };
        let sessions = serve_mcp(&endpoint, handler);
        let routes = binding::card::routes(card)
            .merge(binding::routes(&wire, &self.offers))
            .merge(acp::routes(wire, agent.skills().clone(), &url))
            .merge(sessions.routes());
        Ok((routes, sessions))
    }
}
