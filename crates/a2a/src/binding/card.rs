//! The public card at its well-known addresses, with what caches need.

use std::time::SystemTime;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::get;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, VARY,
};
use http::request::Parts;
use http::{HeaderName, Response, StatusCode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{CARD_PATHS, VERSION, http_call};
use crate::sabotage::broken;
use crate::types::AgentCard;
use crate::v0_3;

/// The versions that a card is published for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Both: those who name 1.0 get its card, all others one with the fields of both versions. Some readers of 1.0 refuse
    /// fields that they do not know; those of 0.3 name no version.
    #[default]
    Both,
    /// 1.0 alone, for all who ask.
    V1_0,
    /// 0.3 alone, for all who ask.
    V0_3,
}

/// The two forms of a published card.
#[derive(Clone, Debug)]
struct Forms {
    /// For those who name 1.0, or a later version of the same kind.
    named: Published,
    other: Published,
}

/// A card as it is published: written once.
#[derive(Clone, Debug)]
struct Published {
    body: Bytes,
    tag: HeaderValue,
    since: SystemTime,
    modified: HeaderValue,
}

/// The routes of a card that does not change while the server runs.
pub fn routes(card: &AgentCard, view: View) -> Router {
    let published = Forms::new(card, view, SystemTime::now());
    CARD_PATHS
        .into_iter()
        .fold(Router::new(), |router, path| {
            router.route(path, get(answer))
        })
        .with_state(published)
}

impl Forms {
    fn new(card: &AgentCard, view: View, now: SystemTime) -> Self {
        let mut card = serde_json::to_value(card).expect("a card is always JSON");
        if broken("r14_card") {
            card["supportedInterfaces"] = serde_json::json!([]);
        }
        let published = |card: Value| Published::new(&card, now);
        let (named, other) = match view {
            View::Both => (card.clone(), v0_3::union(card)),
            View::V1_0 => (card.clone(), card),
            View::V0_3 => (v0_3::old_card(card.clone()), v0_3::old_card(card)),
        };
        Self {
            named: published(named),
            other: published(other),
        }
    }

    fn of(self, head: &Parts) -> Published {
        let version = http_call::version(head);
        let major = version.trim().split('.').next();
        match major == VERSION.split('.').next() {
            true => self.named,
            false => self.other,
        }
    }
}

impl Published {
    fn new(card: &Value, now: SystemTime) -> Self {
        let body = Bytes::from(card.to_string());
        let digest = Sha256::digest(&body);
        let tag: String = digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let header =
            |text: String| HeaderValue::from_str(&text).expect("digits, letters and spaces");
        Self {
            body,
            tag: header(format!("\"{tag}\"")),
            since: now,
            modified: header(httpdate::fmt_http_date(now)),
        }
    }

    /// Whether the caller has this very card. A tag says more than a date.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        if let Some(tags) = headers
            .get(IF_NONE_MATCH)
            .and_then(|value| value.to_str().ok())
        {
            let mut tags = tags
                .split(',')
                .map(|tag| tag.trim().trim_start_matches("W/"));
            return tags.any(|tag| tag == "*" || tag.as_bytes() == self.tag.as_bytes());
        }
        let since = headers
            .get(IF_MODIFIED_SINCE)
            .and_then(|value| value.to_str().ok());
        let since = since.and_then(|since| httpdate::parse_http_date(since).ok());
        // Dates have whole seconds.
        since.is_some_and(|since| {
            self.since
                .duration_since(since)
                .is_ok_and(|age| age.as_secs() == 0)
                || since >= self.since
        })
    }
}

async fn answer(State(forms): State<Forms>, head: Parts) -> Response<Body> {
    let card = forms.of(&head);
    let mut response = if card.is_known(&head.headers) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(card.body))
    };
    let headers: [(HeaderName, HeaderValue); 5] = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=60"),
        ),
        (VARY, HeaderValue::from_static("A2A-Version")),
        (ETAG, card.tag),
        (LAST_MODIFIED, card.modified),
    ];
    response.headers_mut().extend(headers);
    response
}
