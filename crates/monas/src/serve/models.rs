//! The language model and the embedder of the configuration.

use std::path::Path;
use std::sync::Arc;

use access::{Secrets, secrets};
use dial::Dialer;
use model::layer::{Budget, Budgeted, Retry, Timed};
use model::provider::{Embedder as Remote, Endpoint, Key, MissingKey, Provider};
use model::{Embed, Model};

use crate::config::models::{Embedder, Models};
use crate::serve::tokens::OWNER;

pub(crate) mod chosen;
pub(crate) mod found;
pub(crate) mod weights;

/// The language model with its time limits, budget and retries. It makes no request yet.
pub(crate) fn model(
    models: &Models,
    dialer: &Dialer,
    secrets: &Secrets,
) -> Result<Option<Arc<dyn Model>>, model::Error> {
    let Some(endpoint) = &models.model else {
        return Ok(None);
    };
    let endpoint = with_secret(endpoint, secrets);
    let provider: Arc<dyn Model> = Arc::new(Provider::new(endpoint, dialer.http())?);
    let timed: Arc<dyn Model> = Arc::new(Timed::new(provider, models.times));
    // The person at the machine may spend what the others leave.
    let budget = Budget::shared(models.allowance, models.share, models.period).whole_for(OWNER);
    let budget = Arc::new(budget);
    let paid: Arc<dyn Model> = Arc::new(Budgeted::new(timed, models.price, budget));
    Ok(Some(Arc::new(Retry::new(paid, models.patience))))
}

/// The embedder. Without a setting it is the local one, if this build has it and its weights are in the data folder.
pub(crate) fn embedder(
    models: &Models,
    dialer: &Dialer,
    data: Option<&Path>,
    secrets: &Secrets,
) -> Result<Option<Arc<dyn Embed>>, model::Error> {
    let endpoint = match &models.embedder {
        Some(Embedder::None) => return Ok(None),
        Some(Embedder::Local(name)) => return weights::open(name, data).map(Some),
        Some(Embedder::Provider(endpoint)) => endpoint,
        None => return weights::open_usual(data),
    };
    let endpoint = with_secret(endpoint, secrets);
    let remote: Arc<dyn Embed> = Arc::new(Remote::new(endpoint, dialer.http())?);
    let timed: Arc<dyn Embed> = Arc::new(Timed::new(remote, models.times));
    Ok(Some(Arc::new(Retry::new(timed, models.patience))))
}

/// The endpoint with the secret that its key names, if it names one: it is looked up for each request.
fn with_secret(endpoint: &Endpoint, secrets: &Secrets) -> Endpoint {
    let mut endpoint = endpoint.clone();
    let named = endpoint
        .key
        .as_ref()
        .and_then(|key| key.after(secrets::REFERENCE));
    if let Some(name) = named.map(str::to_owned) {
        let secrets = secrets.clone();
        let find = move || {
            let found = secrets.reveal(&name);
            found.map_err(|error| MissingKey(format!("could not {error}")))
        };
        endpoint.key = Some(Key::found(Arc::new(find)));
    }
    endpoint
}
