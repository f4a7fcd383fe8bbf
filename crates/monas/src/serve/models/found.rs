//! A local Ollama that is not configured: it is looked for when there is no language model, and offered, never used by itself.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{self, Uri};
use dial::{HttpClient, Redirects};
use serde_json::Value;

/// How long it may take to answer. It is on this computer.
const TIME: Duration = Duration::from_millis(700);

/// The largest list of models that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// How many models are named.
const NAMED: usize = 5;

/// Looks for an Ollama at a loopback address, and writes down how its model would be used.
pub(crate) async fn look(client: HttpClient, url: String, found: Arc<OnceLock<String>>) {
    let listed = tokio::time::timeout(TIME, models(&client, &url)).await;
    let Some(models) = listed.ok().flatten().filter(|it| !it.is_empty()) else {
        return;
    };
    let shown: Vec<&str> = models.iter().take(NAMED).map(String::as_str).collect();
    let offer = format!(
        "A local Ollama answers at {url}, with {}: to use it, set model.name = \"ollama:{}\" and start the server again.",
        shown.join(", "),
        shown[0],
    );
    tracing::info!("{offer}");
    // It is looked for once.
    drop(found.set(offer));
}

/// The names of the models that an Ollama has.
async fn models(client: &HttpClient, url: &str) -> Option<Vec<String>> {
    let url: Uri = format!("{}/api/tags", url.trim_end_matches('/'))
        .parse()
        .ok()?;
    let mut request = http::Request::new(Bytes::new());
    *request.uri_mut() = url;
    let response = client.send(request, Redirects::None).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let body = response.into_body().read(LARGEST).await.ok()?;
    let listed: Value = serde_json::from_slice(&body).ok()?;
    let models = listed.get("models")?.as_array()?.iter();
    let names = models.filter_map(|it| it.get("name")?.as_str());
    // A name is shown to people and written into a file.
    let sound =
        |it: &&str| !it.is_empty() && it.len() <= 100 && it.chars().all(|c| c.is_ascii_graphic());
    Some(names.filter(sound).map(str::to_owned).collect())
}
