//! What every server stands on, and the routes that follow from it.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use a2a::binding::{self, Address, BINDINGS, Offer, Wire};
use a2a::service::Tenant;
use a2a::signature::SigningKey;
use a2a::types::AgentCard;
use access::{Door, Principal};
use agent::Agent;
use axum::Router;
use store::Store;
use tokio_util::sync::CancellationToken;
use workspace::api::Rights;

use super::listening;
use super::parts::{limit, open};
use crate::config::Config;
use crate::error::Error;
use crate::listen::Listener;
use crate::serve::agents::host::AgentHost;
use crate::serve::agents::{Agents, DEFAULT_AGENT};
use crate::serve::door::Need;
use crate::serve::mcp::{self, Endpoint, ServeMcp};
use crate::serve::page::{self, Page};
use crate::serve::{door, large, metrics, operator, signing};

/// The address, the store, the access rules and the signing key of a server.
pub(super) struct Base<'a> {
    config: &'a Config,
    pub(super) listener: Listener,
    pub(super) store: Store,
    /// The URL that clients are told to call.
    pub(super) url: String,
    address: Address,
    signer: Option<SigningKey>,
    door: Arc<Door>,
}

/// The routes of the agents, and their sessions of MCP.
pub(super) struct Ways {
    pub(super) router: Router,
    pub(super) sessions: Vec<::mcp::Http>,
}

/// An agent, and where its paths begin.
struct Place<'a> {
    agent: &'a Agent,
    card: AgentCard,
    below: String,
    wire: Wire,
}

/// Where commands on this machine reach the server: a public address may lead through a proxy, or nowhere from here. With
/// TLS there is none, because the certificate is for the public name.
fn own_address(listener: &Listener) -> Option<String> {
    let mut address = listener.address();
    if address.ip().is_unspecified() {
        address.set_ip(match address.is_ipv4() {
            true => Ipv4Addr::LOCALHOST.into(),
            false => Ipv6Addr::LOCALHOST.into(),
        });
    }
    (listener.scheme() == "http").then(|| format!("http://{address}"))
}

impl<'a> Base<'a> {
    pub(super) async fn lay(config: &'a Config) -> Result<Self, Error> {
        let door = Arc::new(door::build(&config.access)?);
        let key = config.signing_key.as_deref();
        let signer = key.map(signing::read).transpose()?;
        let listener = Listener::bind(config.listen, listening::options(config, &door)?).await?;
        let (scheme, authority, path) = match &config.public_url {
            Some(url) => {
                let origin = url.origin();
                (origin.scheme(), origin.authority(), url.path())
            }
            None => (listener.scheme(), listener.address().to_string(), ""),
        };
        let (scheme, path) = (scheme.to_owned(), path.to_owned());
        let url = format!("{scheme}://{authority}{path}");
        let own = own_address(&listener).unwrap_or_else(|| url.clone());
        let store = open(config, &format!("the server {own}")).await?;
        Ok(Self {
            config,
            listener,
            store,
            url,
            address: Address {
                encrypted: scheme == "https",
                authority,
                path,
                tenant: None,
            },
            signer,
            door,
        })
    }

    /// Completes the configuration of the task server: what its cards declare, their signatures, and its limits.
    pub(super) fn prepare(
        &self,
        mut served: a2a::server::Config,
    ) -> Result<a2a::server::Config, Error> {
        limit(self.config, &mut served)?;
        let cards = [Some(&mut served.card), served.extended_card.as_mut()];
        for card in cards.into_iter().flatten() {
            self.declare(card, None)?;
        }
        if let Some(key) = &self.signer {
            tracing::info!(key = key.id(), "the card is signed");
        }
        Ok(served)
    }

    /// Writes into a card where its agent is reached and how its callers authenticate, then signs it.
    fn declare(&self, card: &mut AgentCard, tenant: Option<&str>) -> Result<(), Error> {
        let address = Address {
            tenant: tenant.map(str::to_owned),
            ..self.address.clone()
        };
        binding::declare(card, &self.config.bindings, &address);
        door::declare(&self.config.access, card);
        if let Some(key) = &self.signer {
            key.sign_card(card).map_err(signing::Error::Make)?;
        }
        Ok(())
    }

    /// Every way to every agent: the first is at the root and below its id, the others are below theirs.
    pub(super) fn ways(
        &self,
        agents: &Agents,
        card: &AgentCard,
        wire: &Wire,
        serve_mcp: ServeMcp,
    ) -> Result<Ways, Error> {
        let endpoint = Endpoint {
            config: self.config,
            url: &self.url,
            door: self.door.clone(),
            stopping: CancellationToken::new(),
        };
        let mut ways = Ways {
            router: Router::new(),
            sessions: Vec::new(),
        };
        for place in self.places(agents, card, wire)? {
            let below = place.below.clone();
            let (routes, session) = self.ways_to(place, &endpoint, serve_mcp)?;
            ways.router = match &*below {
                "" => ways.router.merge(routes),
                below => ways.router.nest(below, routes),
            };
            ways.sessions.push(session);
        }
        Ok(ways)
    }

    fn places<'b>(
        &self,
        agents: &'b Agents,
        card: &AgentCard,
        wire: &Wire,
    ) -> Result<Vec<Place<'b>>, Error> {
        let first = |below: String| Place {
            agent: agents.first(),
            card: card.clone(),
            below,
            wire: wire.clone(),
        };
        let mut places = vec![first(String::new()), first(binding::below(DEFAULT_AGENT))];
        for (id, agent) in agents.others() {
            let mut card = agent.card();
            self.declare(&mut card, Some(id))?;
            let service = Tenant::new(wire.service.clone(), id, card.clone());
            places.push(Place {
                agent,
                card,
                below: binding::below(id),
                wire: Wire {
                    service: Arc::new(service),
                    ..wire.clone()
                },
            });
        }
        Ok(places)
    }

    /// Every way to one agent, behind a door for the callers that its manifest lists.
    fn ways_to(
        &self,
        place: Place<'_>,
        endpoint: &Endpoint<'_>,
        serve_mcp: ServeMcp,
    ) -> Result<(Router, ::mcp::Http), Error> {
        let Place {
            agent,
            card,
            below,
            mut wire,
        } = place;
        let url = format!("{}{below}", self.url);
        let callers = agent.manifest().access.callers.as_deref();
        wire.door = door::of_agent(&self.door, callers)?;
        let service = wire.service.clone();
        let handler = mcp::handler(self.config, agent, service, &endpoint.stopping)?;
        let endpoint = Endpoint {
            door: wire.door.clone(),
            ..endpoint.clone()
        };
        let session = serve_mcp(&endpoint, handler);
        let routes = binding::card::routes(&card)
            .merge(binding::routes(&wire, &self.config.bindings))
            .merge(acp::routes(wire, agent.skills().clone(), &url))
            .merge(session.routes());
        Ok((routes, session))
    }

    /// The page and `/healthz`. Like the card they need no credentials; bindings check them in the form of their
    /// protocol.
    pub(super) fn page(&self, card: &AgentCard) -> Router {
        let deprecated = BINDINGS
            .iter()
            .filter(|it| self.config.bindings.get(it) == Offer::Deprecated);
        let deprecated: Vec<_> = deprecated.map(|binding| binding.name).collect();
        let page = Page::of(card, self.address.encrypted, &deprecated).beside(&self.url);
        page::routes(&page, self.store.clone())
    }

    /// The routes for all callers that the access rules admit: metrics, memory, and those that the program adds.
    pub(super) fn checked_routes(&self, wire: &Wire, host: &AgentHost, more: Router) -> Router {
        let metrics = metrics::routes(wire.metrics.clone(), self.store.clone());
        let rights = rights(host.agents());
        let population = host.population().clone();
        let memory = workspace::api::memory::routes(population.clone(), rights.clone());
        let memory = large::beside_serving(memory);
        let boards = agent::Boards::open(self.store.clone());
        let boards = workspace::api::boards::routes(boards, rights.clone(), self.door.asks());
        let known = metrics.merge(memory).merge(boards);
        // The words of callers and the load of the server are not for strangers, also where the door is open.
        let known = door::behind(&self.door, Need::Known, known);
        // Without authentication all callers are one.
        let open = !self.door.asks();
        let oversees = move |caller: &Principal| open || caller.has_scope(door::OPERATOR);
        let approvals = workspace::api::approvals::routes(population, rights, oversees);
        let admitted = door::behind(&self.door, Need::Admitted, more.merge(approvals));
        known.merge(admitted)
    }

    /// The routes for operators. The journal of an agent has the requests of all callers, so only they may read it.
    pub(super) fn operator_routes(&self, tasks: &a2a::Server, host: &AgentHost) -> Router {
        let population = host.population().clone();
        let agents = workspace::api::agent::routes(population, rights(host.agents()));
        let routes = operator::routes(tasks.clone()).merge(agents);
        door::behind(&self.door, Need::Scope(door::OPERATOR), routes)
    }
}

/// The right to an agent below `/api`: that of the callers which its manifest lists.
fn rights(agents: &Agents) -> Rights {
    let agents = agents.clone();
    // A plain agent at the root has an id of its own.
    let root = agents.first().handle().map(|it| it.id().to_owned());
    let root = root.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
    Rights::unrestricted(&root).only(move |caller, agent| {
        let agent = if agent == root { DEFAULT_AGENT } else { agent };
        agents.is_for(agent, caller)
    })
}
