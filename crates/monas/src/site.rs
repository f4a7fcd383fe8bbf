//! Who answers a command about data: while a server runs on it, that server, which the lock on the folder names;
//! otherwise the data is opened here, and the same routes answer.

use agent::{Household, Parts};
use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use memory::Memory;
use serde_json::Value;
use store::Store;

use crate::cli::Secret;
use crate::compose;
use crate::config::Config;
use crate::error::Error;
use crate::memory::DEFAULT_AGENT;
use crate::operator::{Failure, Server, exchange};

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
    /// Whoever has the data of a configuration, for a caller with this token.
    pub(crate) async fn find(config: &Config, bearer: Option<Secret>) -> Result<Self, Error> {
        match compose::open(config, "a command").await {
            Ok(store) => {
                let memory = compose::memory(config, store.clone(), None)?;
                let household = Household::new(Parts::new(store.clone()).memory(memory.clone()));
                let remembering = workspace::api::memory::routes(memory.clone(), DEFAULT_AGENT);
                let living = workspace::api::agent::routes(household.clone(), DEFAULT_AGENT);
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
                    Some(address) => Ok(Self::There(Server { address, bearer })),
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
