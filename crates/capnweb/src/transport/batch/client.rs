//! The client's side of a batch.

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::connection::{Connection, Options};
use crate::error::{Error, Result};
use crate::stub::{Capability, Interface, Stub};

/// Sends batches to one address and keeps its connections open between them.
#[derive(Clone, Debug)]
pub struct BatchClient {
    http: Client<HttpConnector, Full<Bytes>>,
    url: Uri,
    options: Options,
}

/// Calls that will travel together: make them on [`Batch::remote`], then [`Batch::send`], then await
/// their promises.
///
/// Calls may use each other's promises; the whole batch is one round trip. The server cannot call
/// back, and a promise that was not asked for before the sending has no answer.
#[derive(Debug)]
pub struct Batch {
    client: BatchClient,
    connection: Connection,
}

impl BatchClient {
    /// A client for an `http://` address.
    pub fn new(url: &str, options: &Options) -> Result<Self> {
        let url: Uri = url
            .parse()
            .map_err(|error| Error::type_error(format!("{url} is no address: {error}")))?;
        if url.scheme_str() != Some("http") {
            return Err(Error::type_error(format!(
                "{url}: expected an address that begins with http://"
            )));
        }
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let http = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self {
            http,
            url,
            options: options.clone(),
        })
    }

    /// A new, empty batch.
    pub fn batch(&self) -> Batch {
        Batch {
            client: self.clone(),
            connection: Connection::new(Capability::nothing(), &self.options),
        }
    }

    async fn post(&self, body: String) -> Result<String> {
        let failed =
            |problem: String| Error::new(format!("send a batch to {}: {problem}", self.url));
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.url.clone())
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| failed(error.to_string()))?;
        let response = self
            .http
            .request(request)
            .await
            .map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), self.options.limits.max_message_bytes);
        let body = body
            .collect()
            .await
            .map_err(|error| failed(error.to_string()))?
            .to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        if !status.is_success() {
            return Err(failed(format!("{status}: {text}")));
        }
        Ok(text)
    }
}

impl Batch {
    /// The server's main object.
    pub fn remote<T: Interface + ?Sized>(&self) -> Stub<T> {
        self.connection.remote()
    }

    /// Sends the calls made so far and takes their answers. Every promise that is still held and has
    /// not become part of another call is asked for.
    pub async fn send(self) -> Result<()> {
        self.connection.shared().pull_all();
        let frames: Vec<String> = self.connection.take_outgoing().into();
        let answer = match self.client.post(frames.join("\n")).await {
            Ok(answer) => answer,
            Err(error) => {
                self.connection.end(error.clone());
                return Err(error);
            }
        };
        for line in answer.lines().filter(|line| !line.is_empty()) {
            self.connection.receive(line);
        }
        self.connection.end(Error::new(
            "the batch is over, and its answer did not hold this",
        ));
        Ok(())
    }
}
