//! One POST to a webhook. Its address was chosen by a caller, so only addresses that may be reached are dialed, and
//! redirects are not followed.

use std::time::Duration;

use bytes::Bytes;
use dial::{Dialer, HttpClient, Reach, Redirects};
use http::{HeaderMap, Request};
use tokio::time::timeout;

/// Why a webhook did not take an event. Each completes "could not deliver: ...".
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("{0:?} is not a URL")]
    Url(String),
    #[error("{0}")]
    Dial(#[from] dial::Error),
    #[error("the webhook answered with status {0}")]
    Refused(http::StatusCode),
    #[error("no answer within {0:?}")]
    Late(Duration),
}

/// Posts to webhooks, within the addresses that they may have and the time they may take.
pub(super) struct WebhookClient {
    http: HttpClient,
    time: Duration,
}

impl WebhookClient {
    pub(super) fn new(dialer: &Dialer, targets: Reach, time: Duration) -> Self {
        Self {
            http: dialer.reaching(targets).http(),
            time,
        }
    }

    /// Posts, and waits for the head of an answer that says it was taken. The body is not read.
    pub(super) async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(), Failed> {
        let request = Request::post(url).body(body);
        let mut request = request.map_err(|_| Failed::Url(url.to_owned()))?;
        *request.headers_mut() = headers;
        let sending = self.http.send(request, Redirects::None);
        let response = timeout(self.time, sending).await;
        let response = response.map_err(|_| Failed::Late(self.time))??;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(Failed::Refused(status)),
        }
    }
}
