//! Who answers a command about data: while a server runs on it, that server, which the lock on the folder names;
//! otherwise the data is opened here, and the same routes answer.

use agent::{Household, Parts};
use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};
use memory::Memory;
use serde_json::Value;
use store::Store;
use workspace::api::Rights;

use crate::command::client::Secret;
use crate::command::request::{Failure, Server, exchange};
use crate::config::{Config, Data};
use crate::error::Error;
use crate::serve::agents::DEFAULT_AGENT;
use crate::serve::compose;

/// Whose data a command is about, who asks, and how the answer is printed: what such commands have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whose {
    /// The agent; none is the default one.
    pub(crate) agent: Option<String>,
    /// The answer is printed as it is.
    pub(crate) json: bool,
    bearer: Option<Secret>,
    /// Where the data is.
    config: Config,
}

impl Whose {
    /// A command with the arguments for it; `settings` are the flags of the server that say where the data is.
    pub(crate) fn arguments(command: clap::Command, settings: &[Arg]) -> clap::Command {
        let text = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name(value).help(help)
        };
        let settings = settings.iter().map(|argument| {
            let shown = matches!(argument.get_id().as_str(), "data" | "config");
            argument.clone().hide(!shown)
        });
        command.args(settings).args([
            text("for", "AGENT", "Which agent [default: the default agent]"),
            text(
                "bearer",
                "TOKEN",
                "Who asks a running server [A2ACLI_BEARER]",
            ),
            Arg::new("output")
                .short('o')
                .long("output")
                .value_parser(PossibleValuesParser::new(["text", "json"]))
                .default_value("text")
                .help("What to print"),
        ])
    }

    /// What the matches of such a command say.
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

impl Whose {
    /// That there is data to look at, for those who only look.
    pub(crate) fn is_there(&self) -> Result<(), Error> {
        match &self.config.data {
            Data::Folder(folder) if !folder.exists() => {
                let server = folder.display().to_string();
                let problem = "there is no such folder".to_owned();
                Err(Failure::Unreachable { server, problem }.into())
            }
            _ => Ok(()),
        }
    }
}

/// Who answers.
pub(crate) enum Site {
    /// The server that has the data open.
    There(Server),
    /// We do.
    Here {
        router: Router,
        memory: Memory,
        household: Household,
        store: Store,
    },
}

impl Site {
    /// Whoever has the data.
    pub(crate) async fn find(whose: &Whose) -> Result<Self, Error> {
        let Whose { config, bearer, .. } = whose;
        match compose::open(config, "a command").await {
            Ok(store) => {
                let memory = compose::memory(config, store.clone(), None)?;
                let household = Household::new(Parts::new(store.clone()).memory(memory.clone()));
                // Who can open the data needs nobody's leave.
                let rights = Rights::everybody(DEFAULT_AGENT);
                let remembering = workspace::api::memory::routes(memory.clone(), rights.clone());
                let living = workspace::api::agent::routes(household.clone(), rights);
                Ok(Self::Here {
                    router: remembering.merge(living),
                    memory,
                    household,
                    store,
                })
            }
            Err(Error::Store(store::Error::InUse { folder, by })) => {
                // As the server wrote it when it took the folder.
                let words = by.split_whitespace().filter(|word| word.contains("://"));
                let address = words.filter_map(|word| word.parse::<Uri>().ok()).next();
                match address {
                    Some(address) => Ok(Self::There(Server {
                        address,
                        bearer: bearer.clone(),
                    })),
                    None => Err(store::Error::InUse { folder, by }.into()),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// What is answered, as JSON.
    pub(crate) async fn json(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<Value, Error> {
        let text = self.text(method, path, body).await?;
        serde_json::from_str(&text).map_err(|_| self.refused("it is no Monas".to_owned()))
    }

    /// What is answered, as it is.
    pub(crate) async fn text(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<String, Error> {
        let (status, bytes) = match self {
            Self::There(server) => exchange(server, method, path, body).await?,
            Self::Here { router, .. } => answer(router.clone(), method, path, body).await?,
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            return Ok(text);
        }
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = said["error"]["message"].as_str().map(str::to_owned);
        Err(self.refused(message.unwrap_or_else(|| format!("it answered {status}"))))
    }

    fn refused(&self, problem: String) -> Error {
        let server = match self {
            Self::There(server) => server.address.to_string(),
            Self::Here { .. } => "the data".to_owned(),
        };
        Failure::Refused { server, problem }.into()
    }

    /// Closes what was opened.
    pub(crate) async fn leave(self) {
        if let Self::Here {
            memory,
            household,
            store,
            ..
        } = self
        {
            household.close().await;
            memory.close().await;
            store.close().await;
        }
    }
}

/// What our own routes answer.
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
