//! The client's side of a batch.

use bytes::Bytes;
use dial::{Dialer, HttpClient, Redirects};
use http::{Method, Request, Uri};

use crate::connection::{Connection, Options};
use crate::error::{Error, Result};
use crate::stub::{Capability, Interface, Stub};

/// Sends batches to one address and keeps its connections open between them.
#[derive(Clone, Debug)]
pub struct BatchClient {
    http: HttpClient,
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
    /// A client for an `http://` or `https://` address that trusts the Mozilla roots and uses no proxy.
    pub fn new(url: &str, options: &Options) -> Result<Self> {
        Self::over(url, options, &Dialer::default())
    }

    /// As [`new`](Self::new), with connections of a dialer: authorities of one's own, proxies.
    pub fn over(url: &str, options: &Options, dialer: &Dialer) -> Result<Self> {
        let url: Uri = url
            .parse()
            .map_err(|error| Error::type_error(format!("{url} is no address: {error}")))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) {
            return Err(Error::type_error(format!(
                "{url}: expected an address that begins with http:// or https://"
            )));
        }
        Ok(Self {
            http: dialer.http(),
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
            .body(Bytes::from(body))
            .map_err(|error| failed(error.to_string()))?;
        let response = self.http.send(request, Redirects::None).await;
        let response = response.map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        let limit = self.options.limits.max_message_bytes;
        let body = response.into_body().read(limit).await;
        let body = body.map_err(|error| failed(error.to_string()))?;
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
