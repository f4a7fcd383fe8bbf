//! A server of tools at an address: the requests of the protocol's library, over our connections and within limits.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dial::sse::Reader;
use dial::{Body, Dialer, HttpClient, Redirects};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::request::Builder;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use oauth::{Authorizer, Signed};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{HEADER_LAST_EVENT_ID, HEADER_SESSION_ID};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse as Posted,
};
use sse_stream::Sse;
use tokio::sync::watch;
use tokio::time::timeout;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// How much of a refusal is read.
const MAX_REFUSAL: usize = 64 << 10;

/// How long a call waits for the session's own stream to be open.
const LISTENING: Duration = Duration::from_secs(2);

/// Sends the requests of one tool server. Clones share connections.
#[derive(Clone)]
pub(super) struct HttpTransport {
    http: HttpClient,
    /// Whether the session's own stream was asked for and answered. Some servers ask there what belongs to a call,
    /// and who is not listening yet never hears it.
    listening: Arc<watch::Sender<bool>>,
    /// The largest message.
    max_message: usize,
    /// Gets tokens, if the server asks for some.
    sign_in: Option<Arc<Authorizer>>,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("{0}")]
    Dial(#[from] dial::Error),
    #[error("a message is larger than {0} bytes")]
    TooLarge(usize),
    #[error("not a valid request: {0}")]
    Request(#[from] http::Error),
    /// The server asks for a token, and there is none.
    #[error("could not {0}")]
    SignIn(#[from] oauth::Error),
}

type Failure = StreamableHttpError<Error>;

impl HttpTransport {
    pub(super) fn new(
        dialer: &Dialer,
        connect: Duration,
        max_message: usize,
        sign_in: Option<Arc<Authorizer>>,
    ) -> Self {
        Self {
            http: dialer.connecting_within(connect).http(),
            listening: Arc::new(watch::Sender::new(false)),
            max_message,
            sign_in,
        }
    }

    /// Waits for the session's own stream, though not for long: it may never be offered.
    async fn until_listening(&self) {
        let mut listening = self.listening.subscribe();
        let opened = listening.wait_for(|listening| *listening);
        if timeout(LISTENING, opened).await.is_err() {
            self.listening.send_replace(true);
        }
    }

    async fn send(&self, request: Builder, body: Bytes) -> Result<Response<Body>, Failure> {
        let request = request.body(body);
        let request = request.map_err(|error| Failure::Client(error.into()))?;
        let response = self.send_signed(request).await.map_err(Failure::Client)?;
        let challenge = response.headers().get(WWW_AUTHENTICATE);
        if response.status() == StatusCode::UNAUTHORIZED {
            let challenge = challenge
                .and_then(|it| it.to_str().ok())
                .unwrap_or_default();
            return Err(Failure::AuthRequired(AuthRequiredError::new(
                challenge.to_owned(),
            )));
        }
        Ok(response)
    }

    /// Sends a request, with a token if the server asks for one. What a server refused it has not done, so that it can be
    /// sent again.
    async fn send_signed(&self, request: Request<Bytes>) -> Result<Response<Body>, Error> {
        let mut signed = Signed::default();
        loop {
            let mut request = request.clone();
            if let Some(sign_in) = &self.sign_in {
                sign_in.sign(&mut request, &mut signed).await?;
            }
            // Redirects are not followed: the token is meant for this server alone.
            let response = self.http.send(request, Redirects::None).await?;
            let Some(sign_in) = &self.sign_in else {
                return Ok(response);
            };
            let (status, headers) = (response.status(), response.headers());
            if !sign_in.answer(status, headers, &mut signed).await? {
                return Ok(response);
            }
        }
    }

    /// The whole body, if it is not larger than the limit.
    async fn read(&self, response: Response<Body>, limit: usize) -> Result<Bytes, Failure> {
        let read = response.into_body().read(limit).await;
        read.map_err(|error| {
            Failure::Client(match error {
                dial::Error::TooLarge(limit) => Error::TooLarge(limit),
                error => error.into(),
            })
        })
    }

    /// The events of a body, none larger than a message may be.
    fn events(&self, response: Response<Body>) -> BoxStream<'static, Result<Sse, SseError>> {
        let limit = self.max_message;
        let start = (response.into_body(), Reader::new(limit));
        let chunks = stream::try_unfold(start, move |(mut body, mut reader)| async move {
            let Some(chunk) = body.chunk().await else {
                return Ok(None);
            };
            let failed = |error: Error| SseError::Body(Box::new(error));
            let chunk = chunk.map_err(|error| failed(error.into()))?;
            let events = reader.take(&chunk);
            let events = events.map_err(|_| failed(Error::TooLarge(limit)))?;
            let mut retry = reader.take_retry();
            let events = events.into_iter().map(move |event| Sse {
                event: Some(event.name).filter(|name| !name.is_empty()),
                data: Some(event.data),
                id: event.id,
                retry: retry.take(),
            });
            let events: Vec<Result<Sse, SseError>> = events.map(Ok).collect();
            Ok(Some((stream::iter(events), (body, reader))))
        });
        chunks.try_flatten().boxed()
    }

    /// What a refusal says: an error of the protocol if there is one, and the status if not.
    async fn refused(
        &self,
        response: Response<Body>,
        message: &ClientJsonRpcMessage,
        session: Option<String>,
    ) -> Result<Posted, Failure> {
        let status = response.status();
        let is_json = is_kind(&response, JSON);
        let has_session = session.is_some();
        let body = self.read(response, MAX_REFUSAL).await.unwrap_or_default();
        let said = serde_json::from_slice(&body).ok();
        let error = match said {
            Some(ServerJsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        };
        if let ClientJsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
            && !has_session
            && status.is_client_error()
            && status != StatusCode::FORBIDDEN
        {
            // A server of before 2026-07-28 does not know what it was asked, and may not even say to what it
            // answers.
            let unknown = || ErrorData::invalid_request(format!("HTTP {status}"), None);
            let error = error.map_or_else(unknown, |it| it.error);
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(Posted::Json(answer, None));
        }
        match error {
            Some(error) if is_json && status != StatusCode::FORBIDDEN => {
                Ok(Posted::Json(ServerJsonRpcMessage::Error(error), session))
            }
            _ => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }
}

impl StreamableHttpClient for HttpTransport {
    type Error = Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Posted, Failure> {
        let had_session = session.is_some();
        if had_session && matches!(message, ClientJsonRpcMessage::Request(_)) {
            self.until_listening().await;
        }
        let request = request(Method::POST, &uri, session.as_deref(), token, headers);
        let request = request
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, format!("{EVENTS}, {JSON}"));
        let body = serde_json::to_vec(&message)?;
        let response = self.send(request, body.into()).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(Posted::Accepted);
        }
        if status == StatusCode::NOT_FOUND && had_session {
            return Err(Failure::SessionExpired);
        }
        let session = response.headers().get(HEADER_SESSION_ID);
        let session = session.and_then(|it| it.to_str().ok()).map(str::to_owned);
        if !status.is_success() {
            return self.refused(response, &message, session).await;
        }
        if is_kind(&response, EVENTS) {
            return Ok(Posted::Sse(self.events(response), session));
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        let length = response.headers().get(CONTENT_LENGTH);
        if !is_request && length.is_some_and(|length| length == "0") {
            return Ok(Posted::Accepted);
        }
        if !is_kind(&response, JSON) {
            return Err(Failure::UnexpectedContentType(
                kind(&response).map(str::to_owned),
            ));
        }
        let body = self.read(response, self.max_message).await?;
        match serde_json::from_slice(&body) {
            Ok(answer) => Ok(Posted::Json(answer, session)),
            // A notification or a response has no reply.
            Err(_) if !is_request => Ok(Posted::Accepted),
            Err(error) => Err(error.into()),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request = request(Method::GET, &uri, session.as_deref(), token, headers);
        request = request.header(ACCEPT, EVENTS);
        if let Some(last_event) = last_event {
            request = request.header(HEADER_LAST_EVENT_ID, last_event);
        }
        let response = self.send(request, Bytes::new()).await;
        self.listening.send_replace(true);
        let response = response?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(Failure::ServerDoesNotSupportSse),
            status if !status.is_success() => {
                Err(HttpStatusError::new(status.as_u16(), None).into())
            }
            _ if !is_kind(&response, EVENTS) => Err(Failure::UnexpectedContentType(
                kind(&response).map(str::to_owned),
            )),
            _ => Ok(self.events(response)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let request = request(Method::DELETE, &uri, Some(&session), token, headers);
        let response = self.send(request, Bytes::new()).await?;
        match response.status() {
            // A server need not know how to end a session.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }
}

fn request(
    method: Method,
    uri: &str,
    session: Option<&str>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> Builder {
    let mut request = Request::builder().method(method).uri(uri);
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(HEADER_SESSION_ID, session),
        None => request,
    }
}

fn kind(response: &Response<Body>) -> Option<&str> {
    response.headers().get(CONTENT_TYPE)?.to_str().ok()
}

fn is_kind(response: &Response<Body>, wanted: &str) -> bool {
    let kind = kind(response).unwrap_or_default();
    kind.split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted))
}
