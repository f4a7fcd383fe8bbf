//! What every server stands on, and the routes that follow from it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use ::tools::FileCache;
use a2a::binding::{self, Address, BINDINGS, BindingUse, Wire};
use a2a::service::Tenant;
use a2a::signature::SigningKey;
use a2a::types::AgentCard;
use access::{Calls, Capabilities, Door, Secrets, Users};
use agent::{Agent, Population};
use axum::Router;
use axum::middleware::from_fn;
use dial::Dialer;
use skill::Registry;
use store::Store;
use tokio_util::sync::CancellationToken;
use workspace::api::Rights;
use workspace::api::files::{ProjectParts, Projects};
use workspace::api::reply::ListedAgent;
use workspace::chat::{AboutAgent, Chat, ChatParts};
use workspace::door::{AboutServer, DoorParts};

use super::parts::{extended_by, history, limit, open, project};
use super::{OPEN_SERVER, listening};
use crate::config::{Config, Data};
use crate::error::Error;
use crate::listen::Listener;
use crate::serve::agents::host::AgentHost;
use crate::serve::agents::{Agents, DEFAULT_AGENT};
use crate::serve::audit::{self, Trail};
use crate::serve::calls::CallDesk;
use crate::serve::issuers::Issuers;
use crate::serve::mcp::{self, Endpoint, ServeMcp};
use crate::serve::metrics::Measured;
use crate::serve::models::chosen::{self, ModelDesk};
use crate::serve::page::{self, Page, Shown};
use crate::serve::tokens::{self, TokenSecrets};
use crate::serve::traces::Exporter;
use crate::serve::web;
use crate::serve::{
    administration, backup, door, large, metrics, operator, resource, rules, secrets, signing,
    tools,
};

/// The name of the rules that answer where there is no model.
const RULES: &str = "rules";

/// The address, the store, the access rules and the signing key of a server.
pub(super) struct Base<'a> {
    config: &'a Config,
    pub(super) listener: Listener,
    pub(super) store: Store,
    /// The URL that clients are told to call.
    pub(super) url: String,
    address: Address,
    signer: Option<SigningKey>,
    pub(super) door: Arc<Door>,
    /// What fetches the keys of issuers.
    pub(super) issuers: Issuers,
    pub(super) dialer: Dialer,
    /// What agents use by name.
    pub(super) secrets: Secrets,
    /// What signs the server's own tokens.
    pub(super) token_secrets: Option<TokenSecrets>,
    pub(super) trail: Trail,
    pub(super) exporter: Option<Exporter>,
    desk: Arc<CallDesk>,
    pub(super) calls: Calls,
}

/// The routes of the agents, and their sessions of MCP.
pub(super) struct Ways {
    pub(super) router: Router,
    pub(super) sessions: Vec<::mcp::Http>,
}

/// The routes for people, behind their access check, and the projects that they are about.
pub(super) struct People {
    pub(super) router: Router,
    projects: Projects,
}

/// An agent, and where its paths begin.
struct MountedAgent<'a> {
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

/// What the lock of the data says: where commands reach the server, and whether they need credentials.
fn holder(config: &Config, own: &str) -> String {
    match config.access.is_closed() {
        true => format!("the server {own}"),
        false => format!("{OPEN_SERVER} {own}"),
    }
}

impl<'a> Base<'a> {
    pub(super) async fn lay(config: &'a Config) -> Result<Self, Error> {
        let mut issuers = Issuers::of(&config.access);
        let schemes = door::schemes(&config.access, &issuers)?;
        let known = Arc::new(OnceLock::new());
        let key = config.signing_key.as_deref();
        let signer = key.map(signing::read).transpose()?;
        let listener = Listener::bind(config.listen, listening::options(config, &known)?).await?;
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
        let store = open(config, &holder(config, &own)).await?;
        let now = SystemTime::now();
        let capabilities = Capabilities::open(store.clone(), now).await?;
        let users = Users::open(store.clone(), capabilities.clone(), now).await?;
        let token_secrets = TokenSecrets::of(&config.data, &config.access.own_tokens)?;
        let door = door::build(&config.access, schemes, token_secrets.as_ref())?
            .with_capabilities(capabilities)
            .with_users(users);
        let door = Arc::new(door);
        known.get_or_init(|| door.clone());
        let secrets = secrets::open(config, &store).await?;
        let dialer = config.outbound.dialer()?;
        issuers.start(&config.access, &dialer)?;
        let trail = Trail::start(config, &store).await?;
        let exporter = Exporter::start(config)?;
        let tracer = exporter.as_ref().map(Exporter::tracer);
        let desk = Arc::new(CallDesk::new(config, trail.recorder(), tracer));
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
            secrets,
            token_secrets,
            issuers,
            dialer,
            trail,
            exporter,
            calls: Calls::new(desk.clone()),
            desk,
        })
    }

    /// Completes the configuration of the task server: what its cards declare, their signatures, and its limits.
    pub(super) fn prepare(
        &self,
        mut served: a2a::server::Config,
    ) -> Result<a2a::server::Config, Error> {
        limit(self.config, &mut served)?;
        served.budgets = self.desk.budgets.clone();
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
            calls: self.calls.clone(),
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
    ) -> Result<Vec<MountedAgent<'b>>, Error> {
        let first = |below: String| MountedAgent {
            agent: agents.first(),
            card: card.clone(),
            below,
            wire: wire.clone(),
        };
        let mut places = vec![first(String::new()), first(binding::below(DEFAULT_AGENT))];
        for (id, agent) in agents.others() {
            let mut card = a2a::server::Config::new(agent.card()).card;
            let extended = agent.manifest().extended_card.as_deref().map(Path::new);
            let extended = extended.map(|path| extended_by(path, &mut card));
            let mut extended = extended.transpose()?;
            for card in std::iter::once(&mut card).chain(&mut extended) {
                self.declare(card, Some(id))?;
            }
            let service = Tenant::new(wire.service.clone(), id, card.clone());
            let service = service.extended_card(extended);
            places.push(MountedAgent {
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
        place: MountedAgent<'_>,
        endpoint: &Endpoint<'_>,
        serve_mcp: ServeMcp,
    ) -> Result<(Router, ::mcp::Http), Error> {
        let MountedAgent {
            agent,
            card,
            below,
            mut wire,
        } = place;
        let url = format!("{}{below}", self.url);
        let callers = agent.manifest().access.callers.as_deref();
        wire.door = door::of_agent(&self.door, callers)?;
        let service = wire.service.clone();
        let handler = mcp::handler(
            self.config,
            agent,
            service,
            &endpoint.calls,
            &endpoint.stopping,
        )?;
        let metadata = resource::address(&self.url, &format!("{below}{}", ::mcp::PATH));
        let endpoint = Endpoint {
            door: Arc::new(wire.door.with_resource_metadata(&metadata)),
            ..endpoint.clone()
        };
        let session = serve_mcp(&endpoint, handler);
        let routes = binding::card::routes(&card, self.config.card_view)
            .merge(binding::routes(&wire, &self.config.bindings))
            .merge(acp::routes(&wire, agent.skills(), &url))
            .merge(session.routes());
        Ok((routes, session))
    }

    /// The page, `/healthz`, `/readyz` and where tokens for this server are got. Like the card they need no credentials; bindings check them in the form of their
    /// protocol.
    pub(super) fn page(&self, card: &AgentCard, agents: &Agents) -> Router {
        let deprecated = BINDINGS
            .iter()
            .filter(|it| self.config.bindings.get(it) == BindingUse::Deprecated);
        let deprecated: Vec<_> = deprecated.map(|binding| binding.name).collect();
        let others = agents.others().map(|(id, agent)| {
            let path = format!("{}{}", self.address.path, binding::below(id));
            (agent.manifest().name.clone(), path)
        });
        let ids = std::iter::once(DEFAULT_AGENT).chain(agents.others().map(|(id, _)| id));
        let below = ids.map(|id| format!("{}{}", binding::below(id), ::mcp::PATH));
        let endpoints: Vec<String> = std::iter::once(::mcp::PATH.to_owned())
            .chain(below)
            .collect();
        let about = resource::routes(&self.config.access, &self.url, &card.name, &endpoints);
        let shown = match self.config.access.is_closed() {
            true => Shown::Token,
            false => Shown::Nothing,
        };
        let page = Page::of(card, self.address.encrypted, &deprecated, shown)
            .beside(&self.url, shown)
            .with_agents(others.collect());
        let rows: Vec<_> = rules::all().copied().collect();
        let reference = workspace::api::openapi::routes(&rows, &self.url);
        page::routes(&page, self.store.clone())
            .merge(web::routes(&self.address.path))
            .merge(reference)
            .merge(about)
    }

    /// The projects of the agents. One that cannot be opened is logged, and its files are not served.
    fn projects(&self, agents: &Agents, cache: &FileCache) -> Projects {
        let mut projects = BTreeMap::new();
        let root = agents.first().handle().map(|it| it.id().to_owned());
        let first = std::iter::once((DEFAULT_AGENT, agents.first()));
        for (id, agent) in first.chain(agents.others()) {
            // A plain agent has no skills for files.
            if agent.skills().get("file-read").is_none() {
                continue;
            }
            match self.project_parts(id, agent, cache) {
                Ok(Some(parts)) => {
                    projects.insert(id.to_owned(), parts);
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(agent = id, %error, "could not open the project"),
            }
        }
        Arc::new(move |id| {
            let id = if root.as_deref() == Some(id) {
                DEFAULT_AGENT
            } else {
                id
            };
            projects.get(id).cloned()
        })
    }

    /// The project of an agent, with what agents changed in it, and its terminals.
    fn project_parts(
        &self,
        id: &str,
        agent: &Agent,
        cache: &FileCache,
    ) -> Result<Option<ProjectParts>, Error> {
        let shared = agent.manifest().workspace.as_deref();
        let Some(project) = project(self.config, id, shared, cache)? else {
            return Ok(None);
        };
        let history = history(self.config, id, shared, &project)?;
        let runs_commands = agent.skills().get("terminal-run").is_some();
        let helper = std::env::current_exe().ok().filter(|_| runs_commands);
        let terminals = helper.and_then(|it| tools::terminals(project.clone(), self.config, &it));
        Ok(Some(ProjectParts {
            project,
            history,
            terminals,
        }))
    }

    /// What everyone may know of the server.
    fn about(&self) -> AboutServer {
        AboutServer {
            build: (*web::BUILD).to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            open: !self.config.access.is_closed(),
            base: self.address.path.clone(),
        }
    }

    /// The door of the page: the routes as methods, and the streams.
    pub(super) fn workspace_door(&self, wire: &Wire, routes: &People, chat: &Chat) -> Router {
        workspace::door::routes(DoorParts {
            wire: Wire {
                door: self.door.clone(),
                ..wire.clone()
            },
            routes: routes.router.clone(),
            rows: rules::all().copied().collect(),
            chat: chat.clone(),
            projects: routes.projects.clone(),
            tap: self.desk.tap.clone(),
            about: self.about(),
        })
    }

    /// The chat of people with the agents.
    pub(super) fn chat(&self, wire: &Wire, host: &AgentHost) -> Chat {
        Chat::new(ChatParts {
            population: host.population().clone(),
            service: wire.service.clone(),
            rights: rights(host.agents()),
            store: self.store.clone(),
            calls: self.calls.clone(),
            max_frame: self.config.limits.max_body,
            about: about(host.agents(), host.population()),
            skills: skills(host.agents()),
        })
    }

    /// The routes outside of the bindings: metrics, `/api`, `/operator`, and those that the program adds. What each needs of
    /// its caller is a row of `serve/rules.rs`.
    pub(super) fn checked_routes(
        &self,
        wire: &Wire,
        mcp: &[::mcp::Http],
        tasks: &a2a::Server,
        host: &AgentHost,
        chat: &Chat,
        more: Router,
    ) -> People {
        let projects = self.projects(host.agents(), host.files());
        let rights = rights(host.agents());
        let population = host.population().clone();
        let memory = workspace::api::memory::routes(
            population.clone(),
            rights.clone(),
            Some(host.code().clone()),
        );
        let boards = agent::Boards::open(self.store.clone());
        let boards = workspace::api::boards::routes(boards, rights.clone());
        let administered = administration::routes(
            self.door.capabilities(),
            self.door.users(),
            &self.secrets,
            &rights,
            &self.url,
        );
        let users = self.door.users().clone();
        let issue = self.token_secrets.as_ref();
        let issue = issue.map(|it| tokens::for_users(it.own.clone()));
        let sessions = workspace::api::session::routes(users, rights.clone(), issue);
        let desk = ModelDesk {
            population: population.clone(),
            secrets: self.secrets.clone(),
            models: self.config.models.clone(),
            dialer: self.dialer.clone(),
            meter: host.meter().clone(),
        };
        desk.restore();
        let chosen = chosen::routes(desk);
        let served = listed(host.agents());
        let offered = host.offered_model();
        let status =
            workspace::api::status::routes(chat.clone(), self.about(), served.clone(), offered);
        let listed = workspace::api::agents::routes(population.clone(), rights.clone(), served);
        let agents = workspace::api::agent::routes(population.clone(), rights.clone());
        let approvals = workspace::api::approvals::routes(population, rights);
        let metrics = metrics::routes(Measured {
            sessions: wire.metrics.clone(),
            mcp: mcp.to_vec(),
            store: self.store.clone(),
            desk: self.desk.clone(),
            tasks: tasks.clone(),
            memory: host.memory().clone(),
            files: host.files().clone(),
            population: host.population().clone(),
            models: host.meter().clone(),
            spans: self.exporter.as_ref().map(Exporter::queue),
        });
        let trail = audit::reading::routes(self.store.clone(), self.trail.stopping.clone());
        let mut routes = metrics
            .merge(large::beside_serving(memory))
            .merge(boards)
            .merge(administered)
            .merge(sessions)
            .merge(listed)
            .merge(agents)
            .merge(approvals)
            .merge(trail)
            .merge(chat.routes(projects.clone()))
            .merge(workspace::ag_ui::routes(chat.clone()))
            .merge(workspace::api::command::routes(chat.clone()))
            .merge(workspace::api::sessions::routes(chat.clone()))
            .merge(workspace::api::files::routes(
                chat.clone(),
                projects.clone(),
            ))
            .merge(workspace::api::terminals::routes(
                chat.clone(),
                projects.clone(),
            ))
            .merge(workspace::api::journal::routes(chat.clone()))
            .merge(workspace::api::tasks::routes(chat.clone()))
            .merge(workspace::api::search::routes(chat.clone()))
            .merge(status)
            .merge(chosen)
            .merge(operator::routes(tasks.clone()));
        if let Data::Folder(folder) = &self.config.data {
            routes = routes.merge(backup::routes(self.store.clone(), folder.clone()));
        }
        // Bodies of MessagePack are read behind the door, and refusals of the door are written in it, too.
        let routes = routes.route_layer(from_fn(workspace::packed::translate_request));
        let routes = door::behind(&self.door, &self.calls, routes);
        let routes = routes.route_layer(from_fn(workspace::packed::translate_reply));
        let router = match more.has_routes() {
            true => routes.merge(door::behind_for_all(&self.door, &self.calls, more)),
            false => routes,
        };
        People { router, projects }
    }
}

/// The skills of each agent of a server.
fn skills(agents: &Agents) -> Arc<dyn Fn(&str) -> Registry + Send + Sync> {
    let agents = agents.clone();
    Arc::new(move |id| {
        let mut others = agents.others();
        let agent = others.find(|(it, _)| *it == id).map(|(_, it)| it);
        agent.unwrap_or(agents.first()).skills().clone()
    })
}

/// The agents of a server, for those who ask what there is.
fn listed(agents: &Agents) -> Vec<ListedAgent> {
    let all = std::iter::once((DEFAULT_AGENT, agents.first())).chain(agents.others());
    let listed = all.map(|(id, agent)| ListedAgent {
        id: id.to_owned(),
        name: agent.manifest().name.clone(),
        description: agent.manifest().description.clone(),
        path: Some(binding::below(id)),
        ..ListedAgent::default()
    });
    listed.collect()
}

/// What is configured for each agent of a server.
fn about(
    agents: &Agents,
    population: &Population,
) -> Arc<dyn Fn(&str) -> AboutAgent + Send + Sync> {
    let (agents, population) = (agents.clone(), population.clone());
    Arc::new(move |id| {
        let mut others = agents.others();
        let agent = others.find(|(it, _)| *it == id).map(|(_, it)| it);
        let agent = agent.unwrap_or(agents.first());
        let skills = agent.skills().iter();
        let marked = agent.skills().iter().filter(|it| it.traits.approval);
        AboutAgent {
            // A plain agent of skills has a model of its own.
            model: match agent.handle().map(|it| population.model_name(it.id())) {
                Some(name) => Some(name).filter(|it| it != RULES),
                None => agent.model().map(|it| it.name().to_owned()),
            },
            skills: skills.map(|it| it.id.clone()).collect(),
            marked: marked.map(|it| it.id.clone()).collect(),
        }
    })
}

/// The right to an agent below `/api`: that of the callers which its manifest lists.
pub(super) fn rights(agents: &Agents) -> Rights {
    let agents = agents.clone();
    // A plain agent at the root has an id of its own.
    let root = agents.first().handle().map(|it| it.id().to_owned());
    let root = root.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
    Rights::unrestricted(&root).only(move |caller, agent| {
        let agent = if agent == root { DEFAULT_AGENT } else { agent };
        agents.is_for(agent, caller)
    })
}
