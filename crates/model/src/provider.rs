//! Models and embedders of others, over the network: OpenAI and all who are compatible with it, Anthropic, Gemini,
//! Ollama.
//!
//! What a provider wants to be told and says is a `Dialect`: plain functions from a request to JSON
//! and from frames to deltas, a file for each. Connections are the business of `http` and `frames` alone. Nothing is
//! read from the environment: keys and addresses are handed in.

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

use futures_util::stream;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use serde_json::Value;

use crate::embed::{Embed, Vectors, unit};
use crate::error::Error;
use crate::http::Client;
use crate::limits::{MAX_ERROR, MAX_VECTORS};
use crate::model::Model;
use crate::reply::{Delta, Deltas};
use crate::request::Request;
use dialect::{Dialect, Hear, Place};
use frames::Frames;

/// How many texts are sent to be embedded at once.
const BATCH: usize = 64;

/// Whose words are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// OpenAI, and everybody who is compatible with it.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

impl Kind {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// What it is called in configuration.
    pub fn name(self) -> &'static str {
        self.dialect().name
    }

    /// Where it is, if nothing else is said.
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

/// There is no provider of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no provider {0:?}: openai, anthropic, gemini or ollama")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| UnknownKind(name.to_owned()))
    }
}

/// A secret that lets one in. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// This key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a model or an embedder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Whose words are spoken there.
    pub kind: Kind,
    /// Which model.
    pub model: String,
    /// The address, up to what is asked for, as in `http://localhost:1234/v1`; `None`: the provider's own.
    pub url: Option<String>,
    /// What lets one in.
    pub key: Option<Key>,
}

impl Endpoint {
    /// This model, where the provider is, without a key.
    pub fn new(kind: Kind, model: impl Into<String>) -> Self {
        Self {
            kind,
            model: model.into(),
            url: None,
            key: None,
        }
    }
}

/// What is needed to ask. Clones share connections.
#[derive(Clone)]
struct Line {
    name: Arc<str>,
    dialect: &'static Dialect,
    place: Arc<Place>,
    /// The address, with a slash at its end.
    url: Arc<str>,
    key: Option<HeaderValue>,
    client: Client,
}

impl Line {
    fn to(endpoint: Endpoint) -> Result<Self, Error> {
        let dialect = endpoint.kind.dialect();
        let url = endpoint.url.as_deref().unwrap_or(dialect.url);
        let key = match endpoint.key {
            None => None,
            Some(Key(key)) => {
                let value = HeaderValue::try_from((dialect.key.1)(&key));
                let mut value = value
                    .map_err(|_| Error::Auth("the key has signs that keys cannot have".into()))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self {
            name: format!("{}:{}", dialect.name, endpoint.model).into(),
            dialect,
            url: format!("{}/", url.trim_end_matches('/')).into(),
            place: Arc::new(Place {
                model: endpoint.model,
                is_own: endpoint.url.is_none(),
            }),
            key,
            client: Client::new()?,
        })
    }

    /// Sends JSON to a path below the address; gives the body of what comes, if it is no error.
    async fn post(&self, path: &str, body: &Value) -> Result<Incoming, Error> {
        let url: Uri = format!("{}{path}", self.url)
            .parse()
            .map_err(|_| Error::Refused(format!("{}{path} is no address", self.url)))?;
        let mut request = http::Request::new(Full::new(Bytes::from(body.to_string())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = url;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.dialect.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = &self.key {
            headers.insert(&self.dialect.key.0, key.clone());
        }
        let response = self.client.send(request).await?;
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        let (head, body) = response.into_parts();
        let said = Limited::new(body, MAX_ERROR).collect().await;
        let said = said.map(|it| it.to_bytes()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        Err(fail::of_status(head.status, &said, &head.headers))
    }
}

/// A language model of a provider.
#[derive(Clone)]
pub struct Provider(Line);

impl Provider {
    /// The model that is there. Nobody is asked yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, Error> {
        Line::to(endpoint).map(Self)
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn reply(&self, request: Request) -> Deltas {
        let answer = Answer {
            line: self.0.clone(),
            hearer: (self.0.dialect.hear)(),
            frames: Frames::new(self.0.dialect.framing),
            state: State::Unasked(Box::new(request)),
            heard: VecDeque::new(),
        };
        Box::pin(stream::unfold(answer, Answer::next))
    }
}

/// An answer on its way.
struct Answer {
    line: Line,
    hearer: Box<dyn Hear>,
    frames: Frames,
    state: State,
    /// What came and was not told yet.
    heard: VecDeque<Result<Delta, Error>>,
}

enum State {
    Unasked(Box<Request>),
    Coming(Incoming),
    /// What is to be told is all there is.
    Over,
}

impl Answer {
    async fn next(mut self) -> Option<(Result<Delta, Error>, Self)> {
        loop {
            if let Some(delta) = self.heard.pop_front() {
                if matches!(delta, Ok(Delta::End(_)) | Err(_)) {
                    // Whatever may follow is not for us.
                    self.state = State::Over;
                    self.heard.clear();
                }
                return Some((delta, self));
            }
            if let Err(error) = self.go_on().await? {
                self.heard.push_back(Err(error));
            }
        }
    }

    /// Waits for more; `None` when there is nothing to wait for.
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
                let frames = match coming.frame().await {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(bytes) => self.frames.push(&bytes),
                        Err(_trailers) => return Some(Ok(())),
                    },
                    Some(Err(error)) => return Some(Err(Error::Cut(crate::http::cause(&error)))),
                    None => {
                        self.state = State::Over;
                        let rest = self.frames.rest();
                        let told = rest.and_then(|rest| self.hear(rest));
                        return Some(told.and_then(|()| self.end()));
                    }
                };
                Some(frames.and_then(|frames| self.hear(frames)))
            }
        }
    }

    fn hear(&mut self, frames: Vec<String>) -> Result<(), Error> {
        for frame in frames {
            let told = self.hearer.frame(&frame)?;
            self.heard.extend(told.into_iter().map(Ok));
        }
        Ok(())
    }

    /// The connection has ended in good order: so may have the answer.
    fn end(&mut self) -> Result<(), Error> {
        if self.heard.iter().any(|it| matches!(it, Ok(Delta::End(_)))) {
            return Ok(());
        }
        let last = self.hearer.over();
        let last = last.ok_or_else(|| Error::Cut("it has no end".to_owned()))?;
        self.heard.extend(last.into_iter().map(Ok));
        Ok(())
    }
}

/// An embedder of a provider.
#[derive(Clone)]
pub struct Embedder(Line);

impl Embedder {
    /// The embedder that is there. Nobody is asked yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, Error> {
        match endpoint.kind.dialect().vectors {
            Some(_) => Line::to(endpoint).map(Self),
            None => {
                let name = endpoint.kind.name();
                Err(Error::Unsupported(format!("{name} has no embedders")))
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
            return Err(Error::Unsupported("there are no embedders".to_owned()));
        };
        let model = &self.place.model;
        let body = self
            .post(&(dialect.path)(model), &(dialect.body)(model, texts))
            .await?;
        let body = Limited::new(body, MAX_VECTORS).collect().await;
        let body = body.map_err(|error| match error.downcast::<hyper::Error>() {
            Ok(broken) => Error::Cut(crate::http::cause(&*broken)),
            Err(_) => Error::Malformed(format!("it is larger than {MAX_VECTORS} bytes")),
        })?;
        let value = serde_json::from_slice(&body.to_bytes());
        let value: Value = value.map_err(|error| Error::Malformed(error.to_string()))?;
        let vectors = (dialect.hear)(&value);
        vectors.ok_or_else(|| Error::Malformed("there are no vectors in it".to_owned()))
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
