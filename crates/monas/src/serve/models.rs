//! The language model and the embedder of the configuration.

use std::path::Path;
use std::sync::Arc;

use dial::Dialer;
use model::layer::{Budget, Budgeted, Retry, Timed};
use model::provider::{Embedder as Remote, Provider};
use model::{Embed, Model};

use crate::config::models::{Embedder, Models};

pub(crate) mod weights;

/// The language model with its time limits, budget and retries. It makes no request yet.
pub(crate) fn model(
    models: &Models,
    dialer: &Dialer,
) -> Result<Option<Arc<dyn Model>>, model::Error> {
    let Some(endpoint) = &models.model else {
        return Ok(None);
    };
    let provider: Arc<dyn Model> = Arc::new(Provider::new(endpoint.clone(), dialer.http())?);
    let timed: Arc<dyn Model> = Arc::new(Timed::new(provider, models.times));
    let budget = Arc::new(Budget::shared(
        models.allowance,
        models.share,
        models.period,
    ));
    let paid: Arc<dyn Model> = Arc::new(Budgeted::new(timed, models.price, budget));
    Ok(Some(Arc::new(Retry::new(paid, models.patience))))
}

/// The embedder. Without a setting it is the local one, if this build has it and its weights are in the data folder.
pub(crate) fn embedder(
    models: &Models,
    dialer: &Dialer,
    data: Option<&Path>,
) -> Result<Option<Arc<dyn Embed>>, model::Error> {
    let endpoint = match &models.embedder {
        Some(Embedder::None) => return Ok(None),
        Some(Embedder::Local(name)) => return weights::open(name, data).map(Some),
        Some(Embedder::Provider(endpoint)) => endpoint,
        None => return weights::open_usual(data),
    };
    let remote: Arc<dyn Embed> = Arc::new(Remote::new(endpoint.clone(), dialer.http())?);
    let timed: Arc<dyn Embed> = Arc::new(Timed::new(remote, models.times));
    Ok(Some(Arc::new(Retry::new(timed, models.patience))))
}
