//! Everything is constructed here, from the configuration, and handed to those who use it.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use ::memory::Memory;
use a2a::binding::{self, Address, BINDINGS, Offer, Offers, Wire};
use a2a::server::{TABLES, Targets};
use a2a::service::Tenant;
use a2a::signature::SigningKey;
use a2a::types::AgentCard;
use access::{Door, Strangers};
use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use capnweb::Tasks;
use model::Model;
use skill::{Agent, Manifest};
use store::{Store, Table};
use tokio_util::sync::CancellationToken;

use crate::agents::Agents;
use crate::config::{Access, Bindings, Config, Data};
use crate::demo;
use crate::error::Error;
use crate::listen::{self, Beyond, Guard, Listener, Tls};
use crate::mcp::{self, Site};
use crate::memory::DEFAULT_AGENT;
use crate::page::{self, Page};
use crate::sut::{self, Sut};
use crate::{door, metrics, models, operator, signing};

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;

/// A server that has its address and its data, and waits to be run.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    router: Router,
    tasks: a2a::Server,
    agents: Agents,
    /// Sockets that stay open.
    sockets: Tasks,
    /// Sessions of MCP.
    sessions: Vec<::mcp::Http>,
    /// What agents remember.
    memory: Memory,
    url: String,
}

impl Server {
    /// The agents that `monas serve` serves.
    pub async fn start(config: &Config) -> Result<Self, Error> {
        Self::start_agents(config, demo::app().agents(config).await?).await
    }

    /// Takes the address and the data. From here on clients can connect; they are served once it runs.
    pub async fn start_agents(config: &Config, agents: impl Into<Agents>) -> Result<Self, Error> {
        let agents = agents.into();
        agents.claim()?;
        let base = Base::lay(config).await?;
        let mut card = agents.first().card();
        base.declare(&mut card, None);
        let served = a2a::server::Config::new(card);
        base.build(config, served, agents, Router::new(), mcp::as_it_is)
            .await
    }

    /// The same with the agent that conformance suites and measurements drive.
    pub async fn start_sut(config: &Config, sut: Sut) -> Result<Self, Error> {
        let agent = sut.agent()?;
        let base = Base::lay(config).await?;
        let mut card = sut::card(&agent);
        base.declare(&mut card, None);
        let mut served = a2a::server::Config::new(card);
        served.label = "sut".to_owned();
        served.extended_card = Some(sut::extended(&served.card));
        let routes = sut::routes(base.store.clone());
        base.build(config, served, agent.into(), routes, sut::serve_mcp)
            .await
    }

    /// The same with something that answers and has no skills. Where it is reached is written into its cards.
    pub async fn start_answerer(
        config: &Config,
        mut served: a2a::server::Config,
        answerer: Arc<dyn a2a::server::Agent>,
    ) -> Result<Self, Error> {
        let mut options = skill::Options::default();
        options.answerer = Some(answerer);
        let agent = Agent::create(Manifest::new(served.card.name.clone()), options)?;
        let base = Base::lay(config).await?;
        base.declare(&mut served.card, None);
        if let Some(card) = &mut served.extended_card {
            base.declare(card, None);
        }
        base.build(config, served, agent.into(), Router::new(), mcp::as_it_is)
            .await
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Its tasks.
    pub fn tasks(&self) -> &a2a::Server {
        &self.tasks
    }

    /// What clients are told to call.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until `shutdown` ends, then stops: no connection and no task is left when this returns.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let stop = CancellationToken::new();
        let stopping = async {
            shutdown.await;
            // Streams would keep their connections open for as long as their tasks go on.
            self.tasks.drain();
            stop.cancel();
            let sessions = self.sessions.iter().map(::mcp::Http::stop);
            futures_util::future::join_all(sessions).await;
            // Whoever is connected is told, and gets the answers that are owed.
            self.sockets.drain(listen::Limits::default().drain).await;
        };
        let serving = self.listener.serve(self.router, stop.cancelled());
        tokio::join!(serving, stopping);
        self.memory.close().await;
        self.tasks.stop().await;
        self.agents.close().await;
    }
}

/// Serves an agent's skills over MCP on standard input and output, until that ends or `shutdown` does.
pub async fn serve_stdio(
    config: &Config,
    agent: Agent,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    agent.claim()?;
    let store = open(config, "the server on standard input").await?;
    let mut served = a2a::server::Config::new(agent.card());
    limit(config, &mut served);
    let tasks = a2a::Server::start(served, Arc::new(agent.clone()), store).await?;
    let stopping = CancellationToken::new();
    let handler = mcp::handler(config, &agent, Arc::new(tasks.clone()), &stopping)?;
    let session = ::mcp::stdio(handler, config.limits.max_body, stopping.clone());
    tokio::pin!(session);
    let ended = tokio::select! {
        ended = &mut session => ended,
        () = shutdown => {
            stopping.cancel();
            session.await
        }
    };
    tasks.stop().await;
    agent.close().await;
    Ok(ended?)
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
        let listener = Listener::bind(config.listen, listen_options(config)?).await?;
        let (scheme, authority) = match &config.public_url {
            Some(url) => (url.scheme().to_owned(), url.authority()),
            None => (listener.scheme().to_owned(), listener.address().to_string()),
        };
        let url = format!("{scheme}://{authority}");
        let store = open(config, &format!("the server {url}")).await?;
        Ok(Self {
            listener,
            store,
            offers: offers(&config.bindings),
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

    async fn build(
        self,
        config: &Config,
        mut served: a2a::server::Config,
        agents: Agents,
        more: Router,
        serve_mcp: mcp::Serve,
    ) -> Result<Server, Error> {
        limit(config, &mut served);
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
        let reader = agent.model().filter(|_| config.models.reads_memory);
        let memory = memory(config, self.store.clone(), reader.cloned())?;
        let tasks =
            a2a::Server::start(served, Arc::new(agents.clone()), self.store.clone()).await?;
        let site = Site {
            config,
            url: &self.url,
            door: self.door.clone(),
            stopping: CancellationToken::new(),
        };

        let wire = Wire::new(Arc::new(tasks.clone()), limits);
        let sockets = wire.tasks.clone();
        let metrics = metrics::routes(wire.metrics.clone());
        let served = Served {
            agent,
            card: &card,
            below: "",
        };
        let (mut router, session) = self.wires(&served, wire.clone(), &site, serve_mcp)?;
        let mut sessions = vec![session];
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
            let (routes, session) = self.wires(&served, wire, &site, serve_mcp)?;
            router = router.nest(&below, routes);
            sessions.push(session);
        }

        let deprecated = BINDINGS
            .iter()
            .filter(|it| self.offers.get(it) == Offer::Deprecated);
        let deprecated: Vec<_> = deprecated.map(|binding| binding.name).collect();
        let page = Page::of(&card, self.address.encrypted, &deprecated).beside(&self.url);
        // The page, the sign of life and the card are for everybody. Bindings ask in their own words who calls.
        let operator = operator::routes(tasks.clone());
        let remembering = workspace::api::memory::routes(memory.clone(), DEFAULT_AGENT);
        let router = page::routes(&page)
            .merge(router)
            .merge(door::behind(
                &self.door,
                None,
                metrics.merge(more).merge(remembering),
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
            url: self.url,
        })
    }
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
        site: &Site<'_>,
        serve_mcp: mcp::Serve,
    ) -> Result<(Router, ::mcp::Http), Error> {
        let Served { agent, card, below } = served;
        let url = format!("{}{below}", self.url);
        let callers = agent.manifest().access.callers.as_deref();
        wire.door = door::of_agent(&self.door, callers)?;
        let service = wire.service.clone();
        let handler = mcp::handler(site.config, agent, service, &site.stopping)?;
        let site = Site {
            door: wire.door.clone(),
            ..site.clone()
        };
        let sessions = serve_mcp(&site, handler);
        let routes = binding::card::routes(card)
            .merge(binding::routes(&wire, &self.offers))
            .merge(acp::routes(wire, agent.skills().clone(), &url))
            .merge(sessions.routes());
        Ok((routes, sessions))
    }
}

fn listen_options(config: &Config) -> Result<listen::Options, Error> {
    let authorities = door::authorities(&config.access, config.tls.is_some())?;
    let tls = match &config.tls {
        Some(files) => {
            let (certificate, key) = (&files.certificate, &files.key);
            Some(match authorities {
                None => Tls::from_files(certificate, key)?,
                Some(authorities) => Tls::with_clients(certificate, key, authorities)?,
            })
        }
        None => None,
    };
    let public = config.public_url.iter();
    Ok(listen::Options {
        tls,
        guard: Guard {
            hosts: public.clone().map(|url| url.host().to_owned()).collect(),
            origins: config.allow_origins.iter().chain(public).cloned().collect(),
        },
        limits: listen::Limits {
            connections: config.limits.max_connections,
            ..listen::Limits::default()
        },
        beyond: beyond(config),
        words,
    })
}

/// Others than this machine may be listened to where nobody is let in unknown and nobody shows what they know in the
/// clear: the address they are told to call is encrypted, here or by what stands in front.
fn beyond(config: &Config) -> Beyond {
    let Access {
        schemes, strangers, ..
    } = &config.access;
    let asks = !schemes.is_empty() && *strangers == Strangers::Refused;
    let encrypted = config.public_url.as_ref();
    let encrypted = encrypted.is_some_and(|url| url.scheme() == "https");
    match asks && encrypted {
        true => Beyond::Allowed,
        false => Beyond::NotSo,
    }
}

/// Says no in the words of the protocol that is at a path.
fn words(path: &str, status: StatusCode, why: &'static str) -> Response {
    match path {
        ::mcp::PATH => ::mcp::refusal(status, why),
        path if acp::is_ours(path) => acp::refusal(status, why),
        path => listen::plainly(path, status, why),
    }
}

/// The data of a server, or of a command that does something to it.
pub(crate) async fn open(config: &Config, holder: &str) -> Result<Store, Error> {
    let tables: Vec<&'static Table> = [TABLES, ::memory::TABLES].concat();
    let Data::Folder(folder) = &config.data else {
        return Ok(Store::memory(&tables));
    };
    let mut options = store::Options::new(folder)
        .tables(&tables)
        .durability(config.store.durability);
    options.holder = holder.to_owned();
    options.max_bytes = config.store.max_bytes;
    options.commit_delay = config.store.commit_delay;
    let opened = tokio::task::spawn_blocking(move || Store::open(&options)).await;
    Ok(opened.expect("opening a store does not panic")?)
}

/// What agents remember in a store, with the embedder that is configured or at hand.
pub(crate) fn memory(
    config: &Config,
    store: Store,
    reader: Option<Arc<dyn Model>>,
) -> Result<Memory, Error> {
    let folder = match &config.data {
        Data::Folder(folder) => Some(folder.as_path()),
        Data::Memory => None,
    };
    let embedder = models::embedder(&config.models, folder)?;
    if let Some(embedder) = &embedder {
        tracing::info!(embedder = embedder.name(), "memory compares meanings");
    }
    let options = ::memory::Options {
        embedder,
        reader,
        ..::memory::Options::default()
    };
    Ok(Memory::open(store, options))
}

fn offers(bindings: &Bindings) -> Offers {
    let mut offers = Offers::default();
    for (key, offer) in bindings.all() {
        offers.set(key, offer).expect("these bindings are built in");
    }
    offers
}

/// What the configuration says about tasks.
fn limit(config: &Config, served: &mut a2a::server::Config) {
    if config.push_private {
        served.push_targets = Targets::Any;
    }
    let limits = &mut served.limits;
    limits.max_body = config.limits.max_body;
    // The listener watches over bodies, pauses included.
    limits.body_time = listen::Limits::default().body_total;
    limits.max_running = config.limits.max_running;
    limits.push_attempts = config.push_attempts;
    limits.cancel_grace = config.limits.cancel_grace;
    limits.retention.max_age = config.store.keep_for;
    limits.retention.max_count = config.store.keep_count;
    limits.retention.compact_after = config.store.compact_after;
}
