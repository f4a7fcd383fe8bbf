//! The backend of the commands that read or change an agent's data (`memory`, `law`, `why`): the running server that
//! holds the data folder, or the store opened in this process. Both answer the same requests with the same routes.

use std::time::SystemTime;

use access::{Capabilities, Permissions, Principal, Users};
use agent::{Parts, Population};
use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use clap::{Arg, ArgMatches};
use memory::Memory;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::Store;
use tokio_util::sync::CancellationToken;
use workspace::api::Rights;
use workspace::api::reply::{AgentList, ListedAgent};

use crate::command::client::flags::{self, Options, Output, Scope, Target};
use crate::command::client::print;
use crate::command::request::{Failure, RunningServer, exchange, open};
use crate::config::nearest::nearest;
use crate::config::{Config, Data};
use crate::error::Error;
use crate::serve::agents::DEFAULT_AGENT;
use crate::serve::agents::host::profiles;
use crate::serve::tokens::OWNER;
use crate::serve::{administration, audit, compose, secrets};

/// The flags that commands about data have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DataOptions {
    /// None stands for the default agent.
    pub(crate) agent: Option<String>,
    /// Print the reply as JSON instead of text.
    pub(crate) json: bool,
    /// Which server is asked, and how.
    pub(crate) asking: Options,
    /// Names the data folder.
    pub(super) config: Config,
    /// Whether data that does not exist is made.
    pub(super) makes_data: bool,
}

impl DataOptions {
    /// Adds these flags to a command. `settings` are the flags of the server; of them only `--data` and `--config`
    /// are shown in its help. A flag that the command has itself, such as `--for TIME`, stays its own.
    pub(crate) fn arguments(command: clap::Command, settings: &[Arg]) -> clap::Command {
        let is_own = |it: &Arg| {
            command
                .get_arguments()
                .any(|own| own.get_id() == it.get_id())
        };
        let shared: Vec<Arg> = flags::arguments(Scope::Servers)
            .filter(|it| !is_own(it))
            .collect();
        let is_shared = |it: &&Arg| shared.iter().any(|arg| arg.get_id() == it.get_id());
        let settings = settings.iter().filter(|it| !is_shared(it)).map(|argument| {
            let shown = matches!(argument.get_id().as_str(), "data" | "config");
            argument.clone().hide(!shown)
        });
        command.args(settings).args(shared.clone())
    }

    /// Reads the flags that [`Self::arguments`] added.
    pub(crate) fn read(
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let mut asking = Options::read(matches, environment, Scope::Servers)?;
        asking.outbound = config.outbound.clone();
        if let Data::Folder(folder) = &config.data {
            asking.data = Some(folder.clone());
        }
        // An address such as http://host/agents/scout names the agent, too.
        let named = asking.named().and_then(|target| target.server().1);
        Ok(Self {
            agent: asking.agent.clone().or(named),
            json: asking.output == Output::Json,
            asking,
            config,
            makes_data: false,
        })
    }

    /// The same for a command about no agent, in which `--for` means something else.
    pub(crate) fn without_agent(mut self) -> Self {
        self.agent = None;
        self.asking.agent = None;
        self
    }

    /// The same for a command that may be the first on a data folder.
    pub(crate) fn making_data(self) -> Self {
        Self {
            makes_data: true,
            ..self
        }
    }
}

impl DataOptions {
    /// The query string of a request, with the agent if one is named.
    pub(crate) fn query(&self) -> form_urlencoded::Serializer<'static, String> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(agent) = &self.agent {
            query.append_pair("agent", agent);
        }
        query
    }

    /// Prints the lines that `lines` gets from the backend, and closes the backend in any case. `say` prints a line, and
    /// is false when nothing more can be printed.
    pub(crate) async fn print(
        &self,
        say: impl Fn(&str) -> bool,
        lines: impl AsyncFnOnce(&Backend) -> Result<Vec<String>, Error>,
    ) -> Result<(), Error> {
        let backend = Backend::open(self).await?;
        let mut lines = lines(&backend).await;
        if let Err(Error::Operator(Failure::Refused { problem, .. })) = &mut lines
            && problem.contains("there is no agent")
            && let Some(known) = self.known_agents(&backend).await
        {
            problem.push_str(&known);
        }
        backend.close().await;
        lines?.iter().all(|line| say(line));
        Ok(())
    }

    /// What is said after a name that no agent has: the one that was probably meant, or all there are.
    async fn known_agents(&self, backend: &Backend) -> Option<String> {
        let meant = self.agent.as_deref()?;
        let asked = backend.text(Method::GET, "/api/agents", String::new());
        let known: AgentList = backend.parse(&asked.await.ok()?).ok()?;
        let ids: Vec<&str> = known.agents.iter().map(|it| &*it.id).collect();
        Some(match nearest(meant, ids.iter().copied()) {
            Some(id) => format!("; did you mean {id:?}?"),
            None => format!("; there are {}", ids.join(", ")),
        })
    }

    /// Fails if there is no data: opening the store would make them.
    fn require_data(&self) -> Result<(), Error> {
        match self.makes_data || self.config.store.url.is_some() {
            true => Ok(()),
            false => self.require_folder(),
        }
    }

    /// Fails if the folder holds no data.
    pub(super) fn require_folder(&self) -> Result<(), Error> {
        match &self.config.data {
            Data::Folder(folder) if !folder.join(compose::DATABASE).exists() => {
                Err(Error::NoData {
                    folder: folder.clone(),
                    problem: match folder.exists() {
                        true => "it holds none",
                        false => "there is no such folder",
                    },
                })
            }
            _ => Ok(()),
        }
    }
}

/// What answers the requests of a command about data.
///
/// A data folder has one owner at a time: the store takes a lock on it, and the lock file names its owner. So
/// [`Backend::open`] first tries to open the store itself. If that succeeds no server is running, and this process
/// builds the routes of `/api/memory` and `/api/agent` over the opened store and calls them without a network. If the
/// folder is in use, the text in the lock names the address of the server that holds it, and requests go there over
/// HTTP, with the credentials of the command line or else a token that is made with the secret in the folder. There is no third way: a folder held by something that has no
/// address (another command, a server on standard input) is reported as in use.
///
/// A command therefore never needs to know which of the two it talks to: it sends a method, a path and a body, and gets
/// the reply of the same handler. Rights differ: a process that can open the files may do everything, so
/// the opened store asks for no credentials, while the running server applies its access rules.
///
/// [`Backend::close`] must be called at the end, also after a failed request: it stops the agents, then the memory, then
/// the store. In another order the memory would write into a closed store. Dropping the backend without it can
/// lose what the memory has not yet written.
///
/// Reading the files beside a running server would be simpler, but SQLite's lock and our in-memory indexes
/// allow one process at a time.
pub(crate) enum Backend {
    RunningServer(Box<RunningServer>),
    OpenedStore {
        router: Router,
        memory: Memory,
        population: Population,
        store: Store,
    },
}

/// The address of the server that holds a data folder: it wrote it into the lock when it took the folder.
pub(crate) fn address_in(holder: &str) -> Option<Uri> {
    let mut words = holder
        .split_whitespace()
        .filter(|word| word.contains("://"));
    words.find_map(|word| word.parse().ok())
}

impl Backend {
    /// Opens the store, or finds the server that holds it.
    pub(crate) async fn open(options: &DataOptions) -> Result<Self, Error> {
        if let Some(target) = options.asking.named() {
            return Ok(Self::of(target, &options.asking));
        }
        options.require_data()?;
        let DataOptions { config, asking, .. } = options;
        match compose::open(config, "a command").await {
            Ok(store) => {
                let place = match (&config.store.url, &config.data) {
                    (Some(database), _) => Some(database.to_string()),
                    (None, Data::Folder(folder)) => Some(folder.display().to_string()),
                    (None, Data::Memory) => None,
                };
                if let (Some(place), false) = (place, options.json) {
                    print::note(&format!("reading {place} (no server runs on it)"));
                }
                let secrets = secrets::open(config, &store).await?;
                let memory = compose::memory(config, store.clone(), None, &secrets)?;
                let population = Population::new(Parts::new(store.clone()).memory(memory.clone()));
                // A process that can open the files may do everything with them.
                let local = Principal::named(OWNER).permitted(Permissions::ALL);
                let rights = Rights::unrestricted(DEFAULT_AGENT).unchecked(local);
                offer(config, &population).await;
                let remembering =
                    workspace::api::memory::routes(population.clone(), rights.clone(), None);
                let named = named_agents(config);
                let listed =
                    workspace::api::agents::routes(population.clone(), rights.clone(), named);
                let boards = agent::Boards::open(store.clone());
                let boards = workspace::api::boards::routes(boards, rights.clone());
                let now = SystemTime::now();
                let lending = Capabilities::open(store.clone(), now).await?;
                let users = Users::open(store.clone(), lending.clone(), now).await?;
                let page = administration::page(config);
                let administered =
                    administration::routes(&lending, &users, &secrets, &rights, &page);
                let living = workspace::api::agent::routes(population.clone(), rights.clone());
                let waiting = workspace::api::approvals::routes(population.clone(), rights);
                Ok(Self::OpenedStore {
                    router: audit::reading::routes(store.clone(), CancellationToken::new())
                        .merge(remembering)
                        .merge(living)
                        .merge(waiting)
                        .merge(boards)
                        .merge(administered)
                        .merge(listed),
                    memory,
                    population,
                    store,
                })
            }
            Err(Error::Store(store::Error::InUse { folder, by })) => match address_in(&by) {
                Some(address) => {
                    let target = Target::on(&folder, &address.to_string());
                    Ok(Self::of(&target, asking))
                }
                None => Err(store::Error::InUse { folder, by }.into()),
            },
            Err(error) => Err(error),
        }
    }

    /// A running server, which is said on standard error.
    fn of(target: &Target, asking: &Options) -> Self {
        asking.announce(target);
        Self::RunningServer(Box::new(RunningServer {
            address: target.server().0,
            options: asking.clone(),
        }))
    }

    /// Reads a reply that [`Backend::text`] gave.
    pub(crate) fn parse<T: DeserializeOwned>(&self, text: &str) -> Result<T, Error> {
        serde_json::from_str(text).map_err(|_| {
            self.refused("unexpected reply; is it a Monas server of this version?".to_owned())
        })
    }

    /// Sends a request; gives the body of the reply.
    pub(crate) async fn text(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<String, Error> {
        let (status, bytes) = match self {
            Self::RunningServer(server) => {
                let bytes = exchange(server, method, path, body).await?;
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
            Self::OpenedStore { router, .. } => answer(router.clone(), method, path, body).await?,
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            return Ok(text);
        }
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = said["error"].as_str().map(str::to_owned);
        Err(self.refused(message.unwrap_or_else(|| format!("status {status}"))))
    }

    /// Sends a request whose reply is one line after the other, and says each as it comes, while `say` is true.
    pub(crate) async fn lines(&self, path: &str, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let Self::RunningServer(server) = self else {
            let problem = "nothing more can happen: no server runs on it";
            return Err(self.refused(problem.to_owned()));
        };
        let mut body = open(server, Method::GET, path, String::new()).await?;
        let mut rest = Vec::new();
        loop {
            let Some(piece) = body.chunk().await else {
                return Ok(());
            };
            let piece = piece.map_err(|error| Failure::Unreachable {
                server: server.address.clone(),
                problem: error.to_string(),
            })?;
            rest.extend_from_slice(&piece);
            while let Some(end) = rest.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if !say(String::from_utf8_lossy(&line).trim_end()) {
                    return Ok(());
                }
            }
        }
    }

    pub(crate) fn refused(&self, problem: String) -> Error {
        let server = match self {
            Self::RunningServer(server) => server.address.clone(),
            Self::OpenedStore { .. } => "the data".to_owned(),
        };
        Failure::Refused { server, problem }.into()
    }

    /// Closes an opened store and what stands on it.
    pub(crate) async fn close(self) {
        if let Self::OpenedStore {
            memory,
            population,
            store,
            ..
        } = self
        {
            population.close().await;
            memory.close().await;
            store.close().await;
        }
    }
}

/// Says what the manifests of the configuration have now, so that it can be shown and accepted without a server. An agent
/// that has not been started yet has no law to compare with.
async fn offer(config: &Config, population: &Population) {
    let Ok(profiles) = profiles(config) else {
        return;
    };
    for profile in profiles {
        // Agents without a journal, and laws that cannot be read, are reported by the server when it starts.
        drop(population.offer(&profile).await);
    }
}

/// The agents that the configuration names. Agents that only have data from earlier runs are not listed.
fn named_agents(config: &Config) -> Vec<ListedAgent> {
    let default = ListedAgent {
        id: DEFAULT_AGENT.to_owned(),
        name: config.agent.name.clone(),
        description: config.agent.description.clone(),
        ..ListedAgent::default()
    };
    let mut agents = vec![default];
    for profile in profiles(config).unwrap_or_default() {
        agents.retain(|it| it.id != profile.id);
        agents.push(ListedAgent {
            id: profile.id,
            name: profile.name,
            description: profile.description,
            ..ListedAgent::default()
        });
    }
    agents
}

/// Calls a router in this process.
async fn answer(
    mut router: Router,
    method: Method,
    path: &str,
    body: String,
) -> Result<(StatusCode, axum::body::Bytes), Error> {
    use http_body_util::BodyExt as _;
    use tower_service::Service as _;
    let request = axum::http::Request::builder()
        .method(method)
        .uri(path)
        .body(axum::body::Body::from(body));
    let request = request.expect("the path is one of ours");
    let response = match router.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    let body = response.into_body().collect().await;
    Ok((
        status,
        body.map_or_else(
            |_| axum::body::Bytes::new(),
            http_body_util::Collected::to_bytes,
        ),
    ))
}
