//! `monas memory`: what an agent remembers, from the command line.
//!
//! Whatever is asked is a request to `/api/memory`. While a server runs on the data, it goes to that server, which the
//! lock on the folder names; otherwise the data is opened here, and the same routes answer.

use std::path::PathBuf;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use serde_json::Value;
use store::Store;

use crate::cli::Secret;
use crate::compose;
use crate::config::Config;
use crate::error::Error;
use crate::operator::{Failure, Server, exchange};

mod arguments;
#[cfg(test)]
#[path = "memory/arguments_tests.rs"]
mod arguments_tests;
mod show;

pub(crate) use arguments::{definition, read};

/// The agent whose memory is meant where none is named.
pub(crate) const DEFAULT_AGENT: &str = "default";

/// How many lines of an import are sent at once.
const LINES: usize = 2000;

/// What is asked of a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    what: What,
    agent: Option<String>,
    json: bool,
    bearer: Option<Secret>,
    /// Where the data is.
    pub(crate) config: Config,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// To store this body.
    Add(Value),
    /// To answer this body.
    Query(Value),
    Audit,
    /// As lines of JSON, or as Cypher.
    Export {
        cypher: bool,
    },
    /// From a file; `-` is standard input.
    Import(PathBuf),
}

impl Asked {
    /// Asks, and says each line of what there is to print.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let site = Site::find(self).await?;
        let done = self.ask(&site, say).await;
        site.leave().await;
        done
    }

    async fn ask(&self, site: &Site, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        match &self.what {
            What::Add(body) | What::Query(body) => {
                let adds = matches!(self.what, What::Add(_));
                let path = if adds { "store" } else { "query" };
                let mut body = body.clone();
                if let Some(agent) = &self.agent {
                    body["agent"] = agent.as_str().into();
                }
                let answer = site.json(Method::POST, path, body.to_string()).await?;
                let show = if adds { show::added } else { show::found };
                self.say(&answer, show, say);
            }
            What::Audit => {
                let answer = site
                    .json(Method::GET, &self.path("audit", ""), String::new())
                    .await?;
                self.say(&answer, show::audit, say);
            }
            What::Export { cypher } => {
                let format = if *cypher { "cypher" } else { "jsonl" };
                let path = self.path("export", format);
                let text = site.text(Method::GET, &path, String::new()).await?;
                text.lines().all(say);
            }
            What::Import(path) => {
                let text = arguments::read_text(path).map_err(|source| Error::System {
                    what: "read what is to be imported",
                    source,
                })?;
                let lines: Vec<&str> = text.lines().collect();
                let mut sum = [0, 0];
                for lines in lines.chunks(LINES) {
                    let path = self.path("import", "");
                    let answer = site.json(Method::POST, &path, lines.join("\n")).await?;
                    for (sum, name) in sum.iter_mut().zip(["imported", "known"]) {
                        *sum += answer[name].as_u64().unwrap_or_default();
                    }
                }
                let answer = serde_json::json!({ "imported": sum[0], "known": sum[1] });
                self.say(&answer, show::imported, say);
            }
        }
        Ok(())
    }

    fn path(&self, name: &str, format: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(agent) = &self.agent {
            query.append_pair("agent", agent);
        }
        if !format.is_empty() {
            query.append_pair("format", format);
        }
        format!("{name}?{}", query.finish())
    }

    fn say(&self, answer: &Value, show: fn(&Value) -> Vec<String>, say: impl Fn(&str) -> bool) {
        if self.json {
            say(&answer.to_string());
        } else {
            show(answer).iter().all(|line| say(line));
        }
    }
}

/// Who answers.
enum Site {
    /// The server that has the data open.
    There(Server),
    /// We do.
    Here {
        router: Router,
        memory: ::memory::Memory,
        store: Store,
    },
}

impl Site {
    async fn find(asked: &Asked) -> Result<Self, Error> {
        match compose::open(&asked.config, "a command").await {
            Ok(store) => {
                let memory = compose::memory(&asked.config, store.clone(), None)?;
                let router = workspace::api::memory::routes(memory.clone(), DEFAULT_AGENT);
                Ok(Self::Here {
                    router,
                    memory,
                    store,
                })
            }
            Err(Error::Store(store::Error::InUse { folder, by })) => {
                // As the server wrote it when it took the folder.
                let words = by.split_whitespace().filter(|word| word.contains("://"));
                let address = words.filter_map(|word| word.parse::<Uri>().ok()).next();
                let bearer = asked.bearer.clone();
                match address {
                    Some(address) => Ok(Self::There(Server { address, bearer })),
                    None => Err(store::Error::InUse { folder, by }.into()),
                }
            }
            Err(error) => Err(error),
        }
    }

    async fn json(&self, method: Method, path: &str, body: String) -> Result<Value, Error> {
        let text = self.text(method, path, body).await?;
        serde_json::from_str(&text).map_err(|_| self.refused("it is no Monas".to_owned()))
    }

    async fn text(&self, method: Method, path: &str, body: String) -> Result<String, Error> {
        let path = format!("/api/memory/{path}");
        let (status, bytes) = match self {
            Self::There(server) => exchange(server, method, &path, body).await?,
            Self::Here { router, .. } => answer(router.clone(), method, &path, body).await?,
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
            Self::Here { .. } => "the memory".to_owned(),
        };
        Failure::Refused { server, problem }.into()
    }

    async fn leave(self) {
        if let Self::Here { memory, store, .. } = self {
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
