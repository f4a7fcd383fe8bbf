//! Models and embedders over the network: OpenAI and compatible servers, Anthropic, Gemini, Ollama.
//!
//! A provider is a `Dialect`: plain functions from a request to JSON and from frames to deltas, a file for each. This
//! file sends and reads for all of them over [`dial`]; it knows no provider. Nothing is read from the environment: keys,
//! addresses and the HTTP client are passed in.
//!
//! The dialects are our own, about 950 lines. The crate `genai` was read before, and not taken for these reasons: it
//! switches on `preserve_order` of serde_json and `test-util` of tokio for the whole program; it takes the end of a
//! connection for the end of a reply with Gemini and Ollama, so that a reply which was cut off looks whole; it passes no
//! output schema to Ollama; and it lets the server choose how much memory is used (the index of a call, the length of a
//! line). `rig` and `async-openai` cover one provider well and the others little. A library can still be put behind the
//! trait [`Model`], since nothing outside this module knows a dialect.
//!
//! A reply ends only where the dialect has its end marker (or, for those without one, its finish reason): a connection
//! that closes before is [`Error::Cut`]. Each dialect is tested over a real socket against the script server, which
//! writes each provider's own format: text, calls, errors, replies that are cut off, and garbage.

mod anthropic;
mod dialect;
mod fail;
mod frames;
mod gemini;
mod ollama;
mod openai;

#[cfg(test)]
#[path = "provider/dialect_tests.rs"]
mod dialect_tests;
#[cfg(test)]
#[path = "provider/fail_tests.rs"]
mod fail_tests;
#[cfg(test)]
#[path = "provider/frames_tests.rs"]
mod frames_tests;

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use dial::{Body, HttpClient, Redirects};
use futures_util::stream;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Uri};
use serde_json::Value;

use crate::embed::{Embed, Vectors, unit};
use crate::error::Error;
use crate::limits::{MAX_ERROR, MAX_VECTORS};
use crate::model::Model;
use crate::reply::{Delta, Deltas};
use crate::request::Request;
use dialect::{Dialect, ModelRef, ReadReply};
use frames::Frames;

/// The error for a reply that is not in the form of the provider at all.
const NO_STREAM: &str = "no event stream: is model.url right?";

/// How many texts one request for vectors holds.
const BATCH: usize = 64;

/// Which API a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// OpenAI and compatible servers.
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        self.dialect().name
    }

    pub fn url(self) -> &'static str {
        self.dialect().url
    }

    fn dialect(self) -> &'static Dialect {
        match self {
            Self::OpenAi => &openai::DIALECT,
            Self::Anthropic => &anthropic::DIALECT,
            Self::Gemini => &gemini::DIALECT,
            Self::Ollama => &ollama::DIALECT,
        }
    }
}

/// A provider name that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider {0:?}; known are {names}", names = Kind::ALL.map(Kind::name).join(", "))]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| UnknownKind(name.to_owned()))
    }
}

/// Finds a key at the time of each request, so that it can change meanwhile.
pub type FindKey = Arc<dyn Fn() -> Result<String, MissingKey> + Send + Sync>;

/// Why there is no API key for a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MissingKey(pub String);

/// An API key. Its `Debug` does not show it.
#[derive(Clone)]
pub struct Key(KeySource);

#[derive(Clone)]
enum KeySource {
    Text(String),
    Found(FindKey),
}

impl Key {
    pub fn new(key: impl Into<String>) -> Self {
        Self(KeySource::Text(key.into()))
    }

    /// A key that is looked up for each request.
    pub fn found(find: FindKey) -> Self {
        Self(KeySource::Found(find))
    }

    /// What follows a prefix of a key that is a text: a key can be the name of one that is kept elsewhere.
    pub fn after(&self, prefix: &str) -> Option<&str> {
        match &self.0 {
            KeySource::Text(text) => text.strip_prefix(prefix),
            KeySource::Found(_) => None,
        }
    }

    /// The header of a request.
    fn header(&self, dialect: &Dialect) -> Result<HeaderValue, Error> {
        let written = match &self.0 {
            KeySource::Text(key) => (dialect.key.1)(key),
            KeySource::Found(find) => {
                (dialect.key.1)(find().map_err(|why| Error::Auth(why.0))?.trim())
            }
        };
        let value = HeaderValue::try_from(written);
        let mut value = value.map_err(|_| {
            Error::Auth("the API key contains characters that a header cannot hold".into())
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (KeySource::Text(own), KeySource::Text(other)) => own == other,
            (KeySource::Found(own), KeySource::Found(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A model or an embedder of a provider, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub kind: Kind,
    pub model: String,
    /// The base address, as in `http://localhost:1234/v1`; `None` for the provider's own.
    pub url: Option<String>,
    pub key: Option<Key>,
}

impl Endpoint {
    /// A model at the default address, without a key.
    pub fn new(kind: Kind, model: impl Into<String>) -> Self {
        Self {
            kind,
            model: model.into(),
            url: None,
            key: None,
        }
    }
}

/// Sends requests to an endpoint. Clones share connections.
#[derive(Clone)]
struct Line {
    name: Arc<str>,
    dialect: &'static Dialect,
    place: Arc<ModelRef>,
    /// The base address, with a slash at its end.
    url: Arc<str>,
    key: Option<Key>,
    client: HttpClient,
}

impl Line {
    fn to(endpoint: Endpoint, client: HttpClient) -> Result<Self, Error> {
        let dialect = endpoint.kind.dialect();
        let url = endpoint.url.as_deref().unwrap_or(dialect.url);
        // A key that cannot be sent is reported now rather than at the first request.
        let key = endpoint.key;
        if let Some(key) = &key {
            key.header(dialect)?;
        }
        Ok(Self {
            name: format!("{}:{}", dialect.name, endpoint.model).into(),
            dialect,
            url: format!("{}/", url.trim_end_matches('/')).into(),
            place: Arc::new(ModelRef {
                model: endpoint.model,
                is_own: endpoint.url.is_none(),
            }),
            key,
            client,
        })
    }

    /// Posts JSON to a path below the base address and gives the body of a successful response. Redirects are not
    /// followed, so the key goes to no other server.
    async fn post(&self, path: &str, body: &Value) -> Result<Body, Error> {
        let url: Uri = format!("{}{path}", self.url)
            .parse()
            .map_err(|_| Error::Refused(format!("{}{path} is not an address", self.url)))?;
        let mut request = http::Request::new(Bytes::from(body.to_string()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = url;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.dialect.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let key = self.key.as_ref().map(|it| it.header(self.dialect));
        let key = key.transpose()?;
        if let Some(key) = &key {
            headers.insert(&self.dialect.key.0, key.clone());
        }
        let response = self.client.send(request, Redirects::None).await?;
        if response.status().is_success() {
            let page = response.headers().get(CONTENT_TYPE);
            let page = page.and_then(|it| it.to_str().ok());
            // A login page, or a server that is no provider.
            if page.is_some_and(|it| it.starts_with("text/html")) {
                return Err(Error::Malformed(format!(
                    "{} answers with a web page; {NO_STREAM}",
                    self.url
                )));
            }
            return Ok(response.into_body());
        }
        let (head, body) = response.into_parts();
        let said = body.read(MAX_ERROR).await.unwrap_or_default();
        let said = without_key(&String::from_utf8_lossy(&said), key.as_ref());
        Err(fail::of_status(head.status, &said, &head.headers))
    }
}

/// A text of the provider without the key, which some repeat in their errors; callers see these.
fn without_key(said: &str, key: Option<&HeaderValue>) -> String {
    let key = key.and_then(|it| it.to_str().ok());
    let key = key.and_then(|it| it.rsplit(' ').next());
    match key.filter(|it| !it.is_empty()) {
        Some(key) => said.replace(key, "…"),
        None => said.to_owned(),
    }
}

/// A language model of a provider.
#[derive(Clone)]
pub struct Provider(Line);

impl Provider {
    /// Sends nothing yet.
    pub fn new(endpoint: Endpoint, client: HttpClient) -> Result<Self, Error> {
        Line::to(endpoint, client).map(Self)
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn reply(&self, request: Request) -> Deltas {
        let reply = ReplyStream {
            line: self.0.clone(),
            reader: (self.0.dialect.reader)(),
            frames: Frames::new(self.0.dialect.framing),
            state: State::Unasked(Box::new(request)),
            deltas: VecDeque::new(),
            read: false,
        };
        Box::pin(stream::unfold(reply, ReplyStream::next))
    }
}

/// A reply under way.
struct ReplyStream {
    line: Line,
    reader: Box<dyn ReadReply>,
    frames: Frames,
    state: State,
    /// Deltas that arrived and were not passed on yet.
    deltas: VecDeque<Result<Delta, Error>>,
    /// Whether a frame was read.
    read: bool,
}

enum State {
    Unasked(Box<Request>),
    Coming(Body),
    /// Nothing more is read; `deltas` may still hold some.
    Over,
}

impl ReplyStream {
    async fn next(mut self) -> Option<(Result<Delta, Error>, Self)> {
        loop {
            if let Some(delta) = self.deltas.pop_front() {
                if matches!(delta, Ok(Delta::End(_)) | Err(_)) {
                    // The stream has ended; anything behind is ignored.
                    self.state = State::Over;
                    self.deltas.clear();
                }
                return Some((delta, self));
            }
            if let Err(error) = self.go_on().await? {
                self.deltas.push_back(Err(error));
            }
        }
    }

    /// Waits for the next chunk; `None` when the reply is over.
    async fn go_on(&mut self) -> Option<Result<(), Error>> {
        match &mut self.state {
            State::Over => None,
            State::Unasked(request) => {
                let Line { dialect, place, .. } = &self.line;
                let body = (dialect.body)(place, request);
                let path = (dialect.path)(&place.model);
                Some(match self.line.post(&path, &body).await {
                    Ok(coming) => {
                        self.state = State::Coming(coming);
                        Ok(())
                    }
                    Err(error) => Err(error),
                })
            }
            State::Coming(coming) => {
                let frames = match coming.chunk().await {
                    Some(Ok(bytes)) => self.frames.push(&bytes),
                    Some(Err(error)) => return Some(Err(error.into())),
                    None => {
                        self.state = State::Over;
                        let rest = self.frames.rest();
                        let read = rest.and_then(|rest| self.read(rest));
                        return Some(read.and_then(|()| self.end()));
                    }
                };
                Some(frames.and_then(|frames| self.read(frames)))
            }
        }
    }

    fn read(&mut self, frames: impl IntoIterator<Item = String>) -> Result<(), Error> {
        for frame in frames {
            let read = self.reader.frame(&frame).map_err(|error| match error {
                Error::Malformed(why) if !self.read => {
                    Error::Malformed(format!("{NO_STREAM} ({why})"))
                }
                error => error,
            })?;
            self.read = true;
            self.deltas.extend(read.into_iter().map(Ok));
        }
        Ok(())
    }

    /// The body has ended. That is an error unless the dialect says that the reply was complete.
    fn end(&mut self) -> Result<(), Error> {
        if self.deltas.iter().any(|it| matches!(it, Ok(Delta::End(_)))) {
            return Ok(());
        }
        let last = self.reader.over();
        let last = last.ok_or_else(|| match self.read {
            true => Error::Cut("the stream ended without an end marker".to_owned()),
            false => Error::Malformed(NO_STREAM.to_owned()),
        })?;
        self.deltas.extend(last.into_iter().map(Ok));
        Ok(())
    }
}

/// An embedder of a provider.
#[derive(Clone)]
pub struct Embedder(Line);

impl Embedder {
    /// Sends nothing yet. Fails for a provider without embedders.
    pub fn new(endpoint: Endpoint, client: HttpClient) -> Result<Self, Error> {
        match endpoint.kind.dialect().vectors {
            Some(_) => Line::to(endpoint, client).map(Self),
            None => {
                let name = endpoint.kind.name();
                Err(Error::Unsupported(format!("{name} offers no embedders")))
            }
        }
    }
}

impl Embed for Embedder {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        let line = self.0.clone();
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                let answer = line.vectors(batch).await?;
                if answer.len() != batch.len() {
                    let (came, sent) = (answer.len(), batch.len());
                    return Err(Error::Malformed(format!("{came} vectors for {sent} texts")));
                }
                vectors.extend(answer.into_iter().map(unit));
            }
            Ok(vectors)
        })
    }
}

impl Line {
    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let Some(dialect) = &self.dialect.vectors else {
            return Err(Error::Unsupported(
                "this provider offers no embedders".to_owned(),
            ));
        };
        let model = &self.place.model;
        let body = self
            .post(&(dialect.path)(model), &(dialect.body)(model, texts))
            .await?;
        let body = body.read(MAX_VECTORS).await?;
        let value = serde_json::from_slice(&body);
        let value: Value = value.map_err(|error| Error::Malformed(error.to_string()))?;
        let vectors = (dialect.read)(&value);
        vectors.ok_or_else(|| Error::Malformed("the response holds no vectors".to_owned()))
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.0.name).finish()
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedder").field(&self.0.name).finish()
    }
}
