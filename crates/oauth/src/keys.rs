//! The key set of an issuer: the text that a server verifies tokens with.

use std::time::Duration;

use http::header::CACHE_CONTROL;

use crate::{Address, Error, IssuerMetadata, Web};

/// The key set of an issuer, as it was fetched.
#[derive(Clone, Debug)]
pub struct FetchedKeys {
    /// JSON Web Keys (RFC 7517).
    pub text: String,
    /// How long the issuer says that the document may be kept.
    pub max_age: Option<Duration>,
}

/// Fetches the keys of an issuer: its metadata, and the key set that they name. `metadata` is where the metadata
/// are, if not at a well-known address.
pub async fn keys(
    web: &Web,
    issuer: &str,
    metadata: Option<&Address>,
) -> Result<FetchedKeys, Error> {
    let found = match metadata {
        Some(address) => IssuerMetadata::at(web, address, issuer).await?,
        None => IssuerMetadata::discover(web, issuer).await?,
    };
    let lacking = || Error::Lacks {
        issuer: issuer.to_owned(),
        lacking: "key set (jwks_uri)",
    };
    let address = found.jwks_uri.ok_or_else(lacking)?;
    let answer = web.get(&address).await?;
    let answer = answer.ok_or_else(|| Error::NoMetadata(address.clone()))?;
    let cached = answer.headers.get(CACHE_CONTROL);
    let max_age = cached.and_then(|it| it.to_str().ok()).and_then(max_age);
    Ok(FetchedKeys {
        text: answer.body.to_string(),
        max_age,
    })
}

/// `max-age` of `Cache-Control`.
fn max_age(text: &str) -> Option<Duration> {
    let seconds = text.split(',').find_map(|directive| {
        let (name, value) = directive.trim().split_once('=')?;
        (name.eq_ignore_ascii_case("max-age")).then(|| value.trim_matches('"').parse().ok())?
    });
    seconds.map(Duration::from_secs)
}
