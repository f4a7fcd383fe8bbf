//! The check of webhook addresses against server-side request forgery: a caller must not make the server call its own
//! network.

use dial::{Reach, ip_literal, is_local_name};
use http::Uri;

use crate::error::Error;
use crate::limits::MAX_ID;
use crate::types::TaskPushNotificationConfig;

/// Checks the form of a webhook when it is registered; its address is checked again when it is resolved.
pub(in crate::server) fn check(
    config: &TaskPushNotificationConfig,
    targets: Reach,
) -> Result<(), Error> {
    if config.id.len() > MAX_ID {
        let why = format!("is longer than {MAX_ID} bytes");
        return Err(Error::invalid_field("id", why));
    }
    let wrong = |description: &str| Err(Error::invalid_field("url", description));
    let Ok(uri) = config.url.parse::<Uri>() else {
        return wrong("is not a URL");
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return wrong("must be http or https");
    }
    let Some(authority) = uri.authority() else {
        return wrong("names no host");
    };
    if authority.as_str().contains('@') {
        return wrong("must not hold credentials");
    }
    // The parsed authority drops a port above 65535 without an error, so its text is checked.
    let behind_host = &authority.as_str()[authority.host().len()..];
    if !behind_host.is_empty() && !matches!(authority.port_u16(), Some(1..)) {
        return wrong("has an invalid port");
    }
    match ip_literal(authority.host()) {
        Some(address) if !targets.allows(address) => return wrong("is not a public address"),
        None if targets == Reach::Public && is_local_name(authority.host()) => {
            return wrong("is not a public address");
        }
        _ => {}
    }
    if config.authentication.as_ref().is_some_and(super::signs) && super::secret(config).is_none() {
        let why =
            "is not a signing secret: give 16 bytes or more, or whsec_ and the base64 of as many";
        return Err(Error::invalid_field("authentication.credentials", why));
    }
    let authentication = config.authentication.iter();
    let secrets = authentication.flat_map(|it| {
        [
            ("authentication.scheme", &it.scheme),
            ("authentication.credentials", &it.credentials),
        ]
    });
    for (field, value) in secrets.chain([("token", &config.token)]) {
        // A line break would add headers of the caller's choosing.
        if http::HeaderValue::from_str(value).is_err() {
            return Err(Error::invalid_field(field, "cannot stand in a header"));
        }
    }
    Ok(())
}
