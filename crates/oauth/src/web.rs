//! Requests to issuers: JSON out of GET and POST, within limits.

use std::time::Duration;

use bytes::Bytes;
use dial::{Dialer, HttpClient, Redirects};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode};
use serde_json::Value;

use crate::{Address, Error};

/// How large an answer may be. Key sets of large providers have some tens of kilobytes.
const SIZE: usize = 256 << 10;

/// How long one request may take.
const TIME: Duration = Duration::from_secs(10);

/// Sends the requests of one sign-in.
///
/// It is made for one resource or issuer: addresses that it is sent to are https, or plain http on loopback if that
/// resource is on loopback itself. Redirects are followed within the same origin for documents, and never for requests with
/// credentials.
#[derive(Clone, Debug)]
pub struct Web {
    http: HttpClient,
    plain_loopback: bool,
}

/// The answer to a request: its status, its headers, and the JSON of its body.
#[derive(Debug)]
pub(crate) struct WebResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Web {
    /// What reaches the authorization servers of a resource. The resource must be reached by https or on loopback: it
    /// will be shown tokens.
    pub fn of(resource: &Address, dialer: &Dialer) -> Result<Self, Error> {
        let web = Self {
            http: dialer.http(),
            plain_loopback: resource.is_loopback(),
        };
        web.check(resource)?;
        Ok(web)
    }

    /// Refuses an address that must not be used.
    pub(crate) fn check(&self, address: &Address) -> Result<(), Error> {
        let plain = self.plain_loopback && address.is_loopback();
        match address.is_encrypted() || plain {
            true => Ok(()),
            false => Err(Error::Address(address.to_string())),
        }
    }

    /// Reads an address that a document names, and refuses one that must not be used.
    pub(crate) fn usable(&self, text: &str) -> Result<Address, Error> {
        let address: Address = text.parse()?;
        self.check(&address)?;
        Ok(address)
    }

    /// The JSON at an address; `None` if there is no document.
    pub(crate) async fn get(&self, address: &str) -> Result<Option<WebResponse>, Error> {
        let address = self.usable(address)?;
        let answer = self
            .send(
                Method::GET,
                &address,
                HeaderMap::new(),
                Bytes::new(),
                Redirects::SameOrigin,
            )
            .await?;
        match answer.status {
            StatusCode::OK if answer.body.is_object() => Ok(Some(answer)),
            StatusCode::OK => Err(Error::Answer {
                address: address.to_string(),
                problem: "no JSON object".to_owned(),
            }),
            status if status.is_client_error() => Ok(None),
            status => Err(Error::Answer {
                address: address.to_string(),
                problem: format!("status {}", status.as_u16()),
            }),
        }
    }

    pub(crate) async fn post_form(
        &self,
        address: &Address,
        headers: HeaderMap,
        form: &[(&str, String)],
    ) -> Result<WebResponse, Error> {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form.iter().map(|(name, value)| (name, value)))
            .finish();
        self.post(address, headers, "application/x-www-form-urlencoded", body)
            .await
    }

    pub(crate) async fn post_json(
        &self,
        address: &Address,
        body: &Value,
    ) -> Result<WebResponse, Error> {
        let body = body.to_string();
        self.post(address, HeaderMap::new(), "application/json", body)
            .await
    }

    async fn post(
        &self,
        address: &Address,
        mut headers: HeaderMap,
        kind: &'static str,
        body: String,
    ) -> Result<WebResponse, Error> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        self.send(Method::POST, address, headers, body.into(), Redirects::None)
            .await
    }

    async fn send(
        &self,
        method: Method,
        address: &Address,
        headers: HeaderMap,
        body: Bytes,
        redirects: Redirects,
    ) -> Result<WebResponse, Error> {
        self.check(address)?;
        let unreachable = |problem: String| Error::Unreachable {
            address: address.to_string(),
            problem,
        };
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = address.uri().clone();
        *request.headers_mut() = headers;
        let accepted = HeaderValue::from_static("application/json");
        request.headers_mut().insert(ACCEPT, accepted);
        let exchanging = async {
            let response = self.http.send(request, redirects).await?;
            let (head, body) = response.into_parts();
            Ok((head, body.read(SIZE).await?))
        };
        let exchanged: Result<_, dial::Error> = tokio::time::timeout(TIME, exchanging)
            .await
            .map_err(|_| unreachable(format!("no answer within {TIME:?}")))?;
        let (head, body) = exchanged.map_err(|error| unreachable(error.to_string()))?;
        Ok(WebResponse {
            status: head.status,
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        })
    }
}
