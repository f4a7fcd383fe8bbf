//! `/api/model`: the model that answers, and another one in its place. What is chosen is tried first, kept sealed among the
//! secrets, and used from then on, also after a restart.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use access::Secrets;
use agent::Population;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Response, StatusCode};
use axum::routing::get;
use dial::Dialer;
use model::layer::{Meter, Observed};
use model::provider::{Endpoint, Key, Kind};
use model::{Model, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;
use workspace::api::{refusal, refusal_of_field, reply_json};

use crate::config::models::Models;

/// The secret that holds the choice.
const SECRET: &str = "monas-model";

/// How long a model may take to answer when it is tried.
const TRIAL: Duration = Duration::from_secs(60);

/// The longest answer of a trial, in tokens.
const TOKENS: u32 = 16;

/// A choice, as it is sent and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    provider: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// What the choice of a model needs of a server.
#[derive(Clone)]
pub(crate) struct ModelDesk {
    pub(crate) population: Population,
    pub(crate) secrets: Secrets,
    pub(crate) models: Models,
    pub(crate) dialer: Dialer,
    pub(crate) meter: Arc<Meter>,
}

/// The routes of `/api/model`.
pub(crate) fn routes(desk: ModelDesk) -> Router {
    Router::new()
        .route("/api/model", get(show).put(choose).delete(forget))
        .with_state(desk)
}

impl ModelDesk {
    /// Uses what was chosen before, if something was. One that cannot be used is logged, and the settings count.
    pub(crate) fn restore(&self) {
        let Some(choice) = self.kept() else {
            return;
        };
        let made = choice.endpoint().map_err(|(_, why)| why);
        match made.and_then(|it| self.model(it).map_err(|it| it.to_string())) {
            Ok(model) => {
                tracing::info!(model = model.name(), "the model that was chosen is used");
                self.population.choose_model(Some(model));
            }
            Err(problem) => {
                tracing::warn!(problem, "the model that was chosen cannot be used");
            }
        }
    }

    fn kept(&self) -> Option<Choice> {
        let kept = self.secrets.reveal(SECRET).ok()?;
        serde_json::from_str(&kept).ok()
    }

    /// The model with its time limits, budget and retries, counted like the others.
    fn model(&self, endpoint: Endpoint) -> Result<Arc<dyn Model>, model::Error> {
        let models = Models {
            model: Some(endpoint),
            ..self.models.clone()
        };
        let model = super::model(&models, &self.dialer, &self.secrets)?;
        let model = model.ok_or_else(|| model::Error::Refused("no model is named".to_owned()))?;
        let observed = Observed::new(model, self.models.price, self.meter.clone());
        Ok(Arc::new(observed))
    }

    fn shown(&self) -> Value {
        if let Some(choice) = self.kept() {
            return json!({
                "provider": choice.provider, "name": choice.name, "url": choice.url,
                "has_key": choice.key.is_some(), "from": "kept",
            });
        }
        match &self.models.model {
            Some(endpoint) => json!({
                "provider": endpoint.kind.name(), "name": endpoint.model, "url": endpoint.url,
                "has_key": endpoint.key.is_some(), "from": "settings",
            }),
            None => json!({
                "provider": null, "name": null, "url": null, "has_key": false, "from": "rules",
            }),
        }
    }
}

impl Choice {
    /// The endpoint that it names, or the field that is wrong.
    fn endpoint(&self) -> Result<Endpoint, (&'static str, String)> {
        let kind: Kind = self.provider.parse().map_err(|_| {
            let known: Vec<&str> = Kind::ALL.into_iter().map(Kind::name).collect();
            let why = format!(
                "{:?} is no provider; expected {}",
                self.provider,
                known.join(", ")
            );
            ("provider", why)
        })?;
        if self.name.trim().is_empty() {
            return Err(("name", "the name of a model is missing".to_owned()));
        }
        let mut endpoint = Endpoint::new(kind, self.name.trim());
        if let Some(url) = &self.url {
            let uri = url.parse::<axum::http::Uri>().ok();
            let usable = uri.is_some_and(|it| {
                matches!(it.scheme_str(), Some("http" | "https")) && it.query().is_none()
            });
            if !usable {
                let why = "expected a URL, such as http://localhost:1234/v1";
                return Err(("url", why.to_owned()));
            }
            endpoint.url = Some(url.clone());
        }
        if let Some(key) = &self.key {
            if key.is_empty() || !key.bytes().all(|it| it.is_ascii_graphic()) {
                let why = "a key has visible letters of ASCII alone";
                return Err(("key", why.to_owned()));
            }
            endpoint.key = Some(Key::new(key));
        }
        Ok(endpoint)
    }
}

async fn show(State(desk): State<ModelDesk>) -> Response<Body> {
    reply_json(&desk.shown())
}

async fn choose(State(desk): State<ModelDesk>, body: Bytes) -> Response<Body> {
    let choice: Choice = match serde_json::from_slice(&body) {
        Ok(choice) => choice,
        Err(error) if error.is_data() => {
            return refusal(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid",
                &error.to_string(),
            );
        }
        Err(error) => return refusal(StatusCode::BAD_REQUEST, "not_json", &error.to_string()),
    };
    let endpoint = match choice.endpoint() {
        Ok(endpoint) => endpoint,
        Err((field, why)) => return refusal_of_field(field, &why),
    };
    let model = match desk.model(endpoint) {
        Ok(model) => model,
        Err(error) => return failed(&error.to_string()),
    };
    let mut question = Request::new("Answer with the word yes.");
    question.max_tokens = Some(TOKENS);
    match timeout(TRIAL, model.ask(question)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => return failed(&error.to_string()),
        Err(_) => return failed("it did not answer in time"),
    }
    let kept = serde_json::to_string(&choice).unwrap_or_default();
    if let Err(error) = desk.secrets.set(SECRET, &kept, SystemTime::now()).await {
        let status = StatusCode::NOT_IMPLEMENTED;
        return refusal(status, "not_kept", &format!("could not {error}"));
    }
    desk.population.choose_model(Some(model));
    reply_json(&desk.shown())
}

/// The model of the settings answers again.
async fn forget(State(desk): State<ModelDesk>) -> Response<Body> {
    if desk.kept().is_some()
        && let Err(error) = desk.secrets.remove(SECRET).await
    {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return refusal(status, "unavailable", &format!("could not {error}"));
    }
    desk.population.choose_model(None);
    reply_json(&desk.shown())
}

/// The model was tried and did not answer.
fn failed(problem: &str) -> Response<Body> {
    let why = format!("the model was tried and is not used: {problem}");
    refusal(StatusCode::UNPROCESSABLE_ENTITY, "model_failed", &why)
}
