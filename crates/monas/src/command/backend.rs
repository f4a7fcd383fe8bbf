//! The backend of the commands that read or change an agent's data (`memory`, `law`, `why`): the running server that
//! holds the data folder, or the store opened in this process. Both answer the same requests with the same routes.

use access::Principal;
use agent::{Parts, Population};
use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};
use memory::Memory;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::Store;
use workspace::api::Rights;

use crate::command::client::Secret;
use crate::command::request::{Failure, Server, exchange};
use crate::config::{Config, Data};
use crate::error::Error;
use crate::serve::agents::DEFAULT_AGENT;
use crate::serve::agents::host::profiles;
use crate::serve::compose;

/// The caller of a command that opened the files itself.
const LOCAL: &str = "local";

/// The flags that commands about data have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DataOptions {
    /// None stands for the default agent.
    pub(crate) agent: Option<String>,
    /// Print the reply as JSON instead of text.
    pub(crate) json: bool,
    bearer: Option<Secret>,
    /// Names the data folder.
    config: Config,
}

impl DataOptions {
    /// Adds these flags to a command. `settings` are the flags of the server; of them only `--data` and `--config`
    /// are shown in its help.
    pub(crate) fn arguments(command: clap::Command, settings: &[Arg]) -> clap::Command {
        let text = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name(value).help(help)
        };
        let settings = settings.iter().map(|argument| {
            let shown = matches!(argument.get_id().as_str(), "data" | "config");
            argument.clone().hide(!shown)
        });
        command.args(settings).args([
            text(
                "for",
                "AGENT",
                "The agent, by its id [default: the default agent]",
            ),
            text(
                "bearer",
                "TOKEN",
                "The bearer token for a running server [A2ACLI_BEARER]",
            ),
            Arg::new("output")
                .short('o')
                .long("output")
                .value_parser(PossibleValuesParser::new(["text", "json"]))
                .default_value("text")
                .help("The output format"),
        ])
    }

    /// Reads the flags that [`Self::arguments`] added.
    pub(crate) fn read(
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let bearer = text("bearer").or_else(|| environment("A2ACLI_BEARER"));
        Self {
            agent: text("for"),
            json: text("output").is_some_and(|it| it == "json"),
            bearer: bearer.map(Secret::new),
            config,
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

    /// Fails if the data folder does not exist. Commands that only read call it first: opening the store would create
    /// the folder.
    pub(crate) fn require_data(&self) -> Result<(), Error> {
        match &self.config.data {
            Data::Folder(folder) if !folder.exists() => {
                let server = folder.display().to_string();
                let problem = "no such folder".to_owned();
                Err(Failure::Unreachable { server, problem }.into())
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
/// HTTP, with the bearer token of the command line. There is no third way: a folder held by something that has no
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
    RunningServer(Server),
    OpenedStore {
        router: Router,
        memory: Memory,
        population: Population,
        store: Store,
    },
}

impl Backend {
    /// Opens the store, or finds the server that holds it.
    pub(crate) async fn open(options: &DataOptions) -> Result<Self, Error> {
        let DataOptions { config, bearer, .. } = options;
        match compose::open(config, "a command").await {
            Ok(store) => {
                let memory = compose::memory(config, store.clone(), None)?;
                let population = Population::new(Parts::new(store.clone()).memory(memory.clone()));
                // A process that can open the files may do everything with them.
                let rights = Rights::unrestricted(DEFAULT_AGENT).unchecked(Principal::named(LOCAL));
                offer(config, &population).await;
                let remembering =
                    workspace::api::memory::routes(population.clone(), rights.clone());
                let boards = agent::Boards::open(store.clone());
                let boards = workspace::api::boards::routes(boards, rights.clone(), false);
                let living = workspace::api::agent::routes(population.clone(), rights.clone());
                let waiting =
                    workspace::api::approvals::routes(population.clone(), rights, |_| true);
                Ok(Self::OpenedStore {
                    router: remembering.merge(living).merge(waiting).merge(boards),
                    memory,
                    population,
                    store,
                })
            }
            Err(Error::Store(store::Error::InUse { folder, by })) => {
                // The server wrote its address into the lock when it took the folder.
                let words = by.split_whitespace().filter(|word| word.contains("://"));
                let address = words.filter_map(|word| word.parse::<Uri>().ok()).next();
                match address {
                    Some(address) => Ok(Self::RunningServer(Server {
                        address,
                        bearer: bearer.clone(),
                        outbound: config.outbound.clone(),
                    })),
                    None => Err(store::Error::InUse { folder, by }.into()),
                }
            }
            Err(error) => Err(error),
        }
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
            Self::RunningServer(server) => exchange(server, method, path, body).await?,
            Self::OpenedStore { router, .. } => answer(router.clone(), method, path, body).await?,
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            return Ok(text);
        }
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = said["error"]["message"].as_str().map(str::to_owned);
        Err(self.refused(message.unwrap_or_else(|| format!("status {status}"))))
    }

    fn refused(&self, problem: String) -> Error {
        let server = match self {
            Self::RunningServer(server) => server.address.to_string(),
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
