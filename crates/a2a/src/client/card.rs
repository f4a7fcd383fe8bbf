//! The card of an agent, found at an address and read in either version.

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use serde_json::Value;

use super::Error;
use super::dial::Dialer;
use crate::binding::CARD_PATHS as PATHS;
use crate::signature::TrustedKeys;
use crate::types::AgentCard;
use crate::types::wire::WireMessage as _;
use crate::v0_3;

/// A card as it was fetched, and what its address says about it.
pub(super) struct FetchedCard {
    pub(super) card: AgentCard,
    pub(super) raw: Value,
    /// Whether it came over an encrypted connection: then so is what does not say otherwise.
    pub(super) secure: bool,
}

impl FetchedCard {
    /// Whether it is the card of the agent below a path. A card found at the root of the host counts only for the
    /// addresses that it lists.
    fn is_at(&self, folder: &str, place: &Uri) -> bool {
        let lists = |url: &str| {
            let url = url.parse::<Uri>();
            url.is_ok_and(|url| url.path().trim_end_matches('/') == folder)
        };
        let mut listed = self.card.supported_interfaces.iter();
        place.path().starts_with(folder) || listed.any(|it| lists(&it.url))
    }

    /// The card as a trusted key signed it; what the signature does not cover is not believed.
    pub(super) fn verified(self, trusted: &TrustedKeys) -> Result<Self, Error> {
        let verified = trusted.verify_value(self.raw);
        let verified = verified.map_err(|error| Error::Card(error.to_string()))?;
        Ok(Self {
            card: verified.card,
            raw: verified.json,
            secure: self.secure,
        })
    }
}

/// Fetches the card: at the address itself, or where cards are kept below it and at its host.
pub(super) async fn fetch(dialer: &Dialer, url: &str) -> Result<FetchedCard, Error> {
    let mut missing = None;
    let places = places(url)?;
    let first = places.first().map_or("", |place| place.path());
    let folder = first.strip_suffix(PATHS[0]).unwrap_or_default().to_owned();
    for place in places {
        let request = Request::get(place.clone()).header("accept", "application/json");
        let request = request
            .body(Bytes::new())
            .map_err(|error| Error::Settings(format!("{place}: {error}")))?;
        let response = dialer.send(request).await?;
        match response.status() {
            StatusCode::OK => {
                let body = dialer.read(response.into_body()).await?;
                let card = serde_json::from_slice(&body).map_err(|error| {
                    Error::Card(format!("the answer of {place} is not JSON: {error}"))
                })?;
                let found = read(card, Some(&place))?;
                if found.is_at(&folder, &place) {
                    return Ok(found);
                }
                missing.get_or_insert_with(|| format!("the one at {place} is of another agent"));
            }
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                return Err(Error::Unauthorized {
                    status: status.as_u16(),
                    message: format!("the card at {place}"),
                });
            }
            StatusCode::NOT_FOUND => {
                missing.get_or_insert_with(|| format!("there is none at {place}"));
            }
            // An agent that is there and fails is not replaced by another one of the host.
            status => return Err(Error::Card(format!("{place} answers with {status}"))),
        }
    }
    Err(Error::Card(missing.unwrap_or_default()))
}

/// Where the card of an agent may be.
pub(super) fn places(url: &str) -> Result<Vec<Uri>, Error> {
    let wrong = |why: &str| Error::Settings(format!("invalid address of an agent {url:?}: {why}"));
    let full = if url.contains("://") {
        url.to_owned()
    } else {
        format!("http://{url}")
    };
    let uri: Uri = full.parse().map_err(|_| wrong("not a URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("it must begin with http:// or https://"));
    }
    if uri.path().ends_with(".json") {
        return Ok(vec![uri]);
    }
    let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
    let host = format!("{}://{authority}", uri.scheme_str().unwrap_or("http"));
    let folder = format!("{host}{}", uri.path().trim_end_matches('/'));
    let mut places: Vec<String> = Vec::new();
    for base in [folder, host] {
        for path in PATHS {
            let place = format!("{base}{path}");
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let parse = |place: String| place.parse().map_err(|_| wrong("not a URL"));
    places.into_iter().map(parse).collect()
}

/// Reads a card of either version.
pub(super) fn read(raw: Value, place: Option<&Uri>) -> Result<FetchedCard, Error> {
    if !raw.is_object() {
        return Err(Error::Card("it is not a JSON object".to_owned()));
    }
    let card = v0_3::renewed(raw.clone()).to_string();
    let card = AgentCard::from_json(card.as_bytes());
    Ok(FetchedCard {
        card: card.map_err(|error| Error::Card(error.to_string()))?,
        raw,
        secure: place.is_some_and(|place| place.scheme_str() == Some("https")),
    })
}
