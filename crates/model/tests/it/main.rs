//! Providers over the wire, against a script that is played by a real server in their own words.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod embedders;
mod failing;
#[cfg(feature = "local")]
mod local;
mod speaking;

use std::sync::Arc;

use model::Model;
use model::provider::{Endpoint, Key, Kind, Provider};
use model::scripted::{Scripted, Server, Turn};

/// Where a provider of this kind is on a scripted server.
fn endpoint(kind: Kind, server: &Server) -> Endpoint {
    let path = match kind {
        Kind::OpenAi | Kind::Anthropic => "/v1",
        Kind::Gemini => "/v1beta",
        _ => "",
    };
    let mut endpoint = Endpoint::new(kind, "scripted");
    endpoint.url = Some(format!("{}{path}", server.url()));
    endpoint.key = Some(Key::new("secret"));
    endpoint
}

/// A client without a proxy.
fn client() -> dial::HttpClient {
    let dialer = dial::Dialer::new(&dial::Settings::default());
    dialer.unwrap().http()
}

/// A provider of this kind that is asked over the wire, and the script it answers by.
async fn wired(kind: Kind, turns: impl IntoIterator<Item = Turn>) -> (Server, Arc<dyn Model>) {
    let script = Scripted::new(turns);
    let server = Server::start_with(script, Some("secret")).await.unwrap();
    let model = Provider::new(endpoint(kind, &server), client()).unwrap();
    (server, Arc::new(model))
}
