//! What this server says about itself as a protected resource (RFC 9728), where an issuer gives tokens for it.

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::routing::get;
use serde_json::json;

use crate::config::access::{Access, Kind, Tokens};

/// Where the documents are: that of the server itself, and below it those of its endpoints.
pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource";

/// The address of the document about an endpoint of a server. It is below the server's own URL, which may have a path.
pub(crate) fn address(url: &str, endpoint: &str) -> String {
    format!("{url}{PATH}{endpoint}")
}

/// The documents about a server and these endpoints of it, which are paths. There are none without an issuer.
pub(crate) fn routes(config: &Access, url: &str, name: &str, endpoints: &[String]) -> Router {
    let issued: Vec<&Tokens> = issued(config).collect();
    let mut routes = Router::new();
    if issued.is_empty() {
        return routes;
    }
    let mut scopes: Vec<&str> = Vec::new();
    let mut issuers: Vec<&str> = Vec::new();
    for tokens in &issued {
        if !issuers.contains(&&*tokens.issuer) {
            issuers.push(&tokens.issuer);
        }
        let own = tokens.scopes.iter().map(String::as_str);
        let new: Vec<&str> = own.filter(|scope| !scopes.contains(scope)).collect();
        scopes.extend(new);
    }
    for endpoint in std::iter::once("").chain(endpoints.iter().map(String::as_str)) {
        let mut document = json!({
            "resource": format!("{url}{endpoint}"),
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
            "resource_name": name,
        });
        if !scopes.is_empty() {
            document["scopes_supported"] = json!(scopes);
        }
        let body = document.to_string();
        let answer = move || {
            let headers = [
                (CONTENT_TYPE, "application/json"),
                (CACHE_CONTROL, "max-age=3600"),
            ];
            std::future::ready((headers, body.clone()))
        };
        routes = routes.route(&format!("{PATH}{endpoint}"), get(answer));
    }
    routes
}

/// Which signed tokens are accepted, of each scheme for them.
fn issued(config: &Access) -> impl Iterator<Item = &Tokens> {
    config
        .schemes
        .iter()
        .filter_map(|scheme| match &scheme.kind {
            Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } => Some(tokens),
            _ => None,
        })
}
