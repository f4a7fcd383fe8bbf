//! The routes by which people administer a server: users, keys, capabilities and secrets. A running server has them behind its
//! door; a command that opened the data itself calls the same ones.

use access::{Capabilities, Secrets, Users};
use axum::Router;
use workspace::api::{self, Rights};

use crate::config::Config;
use crate::serve::capabilities::find_operation;

/// The routes. `page` is the address of the page that redeems sign-in links.
pub(crate) fn routes(
    capabilities: &Capabilities,
    users: &Users,
    secrets: &Secrets,
    rights: &Rights,
    page: &str,
) -> Router {
    let rights = || rights.clone();
    api::capabilities::routes(capabilities.clone(), rights(), find_operation)
        .merge(api::users::routes(users.clone(), rights(), page))
        .merge(api::keys::routes(users.clone(), rights(), find_operation))
        .merge(api::secrets::routes(secrets.clone()))
}

/// The address of the page of the server that a configuration starts.
pub(crate) fn page(config: &Config) -> String {
    match &config.public_url {
        Some(url) => {
            let origin = url.origin();
            let (scheme, authority) = (origin.scheme(), origin.authority());
            format!("{scheme}://{authority}{}", url.path())
        }
        None => {
            let scheme = if config.tls.is_some() {
                "https"
            } else {
                "http"
            };
            format!("{scheme}://{}", config.listen)
        }
    }
}
