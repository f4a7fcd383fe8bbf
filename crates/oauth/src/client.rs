//! As which client we come to an authorization server, and how the client authenticates there.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::assertion::client_assertion;
use crate::{Error, IssuerMetadata, Web};

/// A client that an authorization server knows.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthClient {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// How it authenticates (`token_endpoint_auth_method`), if the server said so when it registered the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// A private key (PKCS #8, PEM), for a client that authenticates by signed statements. It is configured, never kept.
    #[serde(skip)]
    pub private_key: Option<String>,
}

/// What a client says about itself when it is registered.
#[derive(Clone, Debug)]
pub struct ClientMetadata<'a> {
    pub name: &'a str,
    pub redirect: Option<&'a str>,
    pub grants: &'a [&'a str],
    pub scopes: &'a [String],
}

impl OAuthClient {
    /// A client without a secret.
    pub fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Registers a client (RFC 7591).
    pub async fn register(
        web: &Web,
        issuer: &IssuerMetadata,
        about: &ClientMetadata<'_>,
    ) -> Result<Self, Error> {
        let Some(endpoint) = &issuer.registration_endpoint else {
            return Err(Error::NoClient(issuer.issuer.clone()));
        };
        let endpoint = web.usable(endpoint)?;
        let methods = issuer.token_endpoint_auth_methods_supported.as_deref();
        // A program on the machine of its user keeps no secret from that user; one that is given is used all the same.
        let method = match methods {
            Some(methods) if !methods.iter().any(|it| it == "none") => methods.first(),
            _ => None,
        };
        let mut body = json!({
            "client_name": about.name,
            "application_type": "native",
            "grant_types": about.grants,
            "token_endpoint_auth_method": method.map_or("none", |method| method),
        });
        match about.redirect {
            Some(redirect) => {
                body["redirect_uris"] = json!([redirect]);
                body["response_types"] = json!(["code"]);
            }
            None => {
                body["redirect_uris"] = json!([]);
                body["response_types"] = json!([]);
            }
        }
        if !about.scopes.is_empty() {
            body["scope"] = json!(about.scopes.join(" "));
        }
        let answer = web.post_json(&endpoint, &body).await?;
        let text = |name: &str| answer.body[name].as_str().map(str::to_owned);
        if !answer.status.is_success() {
            return Err(refused(issuer, &answer.body, "registration failed"));
        }
        let id = text("client_id").filter(|id| !id.is_empty());
        Ok(Self {
            id: id.ok_or_else(|| Error::Answer {
                address: endpoint.to_string(),
                problem: "no client_id".to_owned(),
            })?,
            secret: text("client_secret"),
            method: text("token_endpoint_auth_method"),
            private_key: None,
        })
    }

    /// Adds to a request of the token endpoint what shows which client asks (RFC 6749 2.3, RFC 7523).
    pub(crate) fn authenticate(
        &self,
        issuer: &IssuerMetadata,
        form: &mut Vec<(&str, String)>,
        headers: &mut HeaderMap,
    ) -> Result<(), Error> {
        if let Some(key) = &self.private_key {
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            let assertion = client_assertion(key, &self.id, &issuer.issuer)?;
            form.push(("client_id", self.id.clone()));
            form.push(("client_assertion_type", kind.to_owned()));
            form.push(("client_assertion", assertion));
            return Ok(());
        }
        match (&self.secret, self.method(issuer)) {
            (Some(secret), "client_secret_basic") => {
                let encoded = |text: &str| {
                    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                let pair = format!("{}:{}", encoded(&self.id), encoded(secret));
                let value = format!("Basic {}", STANDARD.encode(pair));
                let mut value = HeaderValue::from_str(&value).expect("base64 is a header value");
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            (Some(secret), "client_secret_post") => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_secret", secret.clone()));
            }
            _ => form.push(("client_id", self.id.clone())),
        }
        Ok(())
    }

    /// How it authenticates: as it was registered, or else the first way of ours that the server has. RFC 8414 2: a
    /// server that says nothing has Basic.
    fn method(&self, issuer: &IssuerMetadata) -> &str {
        if let Some(method) = &self.method {
            return method;
        }
        let Some(offered) = &issuer.token_endpoint_auth_methods_supported else {
            return "client_secret_basic";
        };
        let ways = ["client_secret_basic", "client_secret_post"];
        let found = ways
            .into_iter()
            .find(|way| offered.iter().any(|it| it == way));
        found.unwrap_or("none")
    }
}

impl fmt::Debug for OAuthClient {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthClient")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// What an authorization server said instead of doing what it was asked (RFC 6749 5.2).
pub(crate) fn refused(issuer: &IssuerMetadata, said: &serde_json::Value, otherwise: &str) -> Error {
    let clean = |text: &str| -> String {
        let plain = text.chars().filter(|it| !it.is_control());
        plain.take(200).collect()
    };
    let code = said["error"].as_str().map(clean);
    let description = said["error_description"].as_str().map(clean);
    Error::Refused {
        issuer: issuer.issuer.clone(),
        code: code.unwrap_or_else(|| otherwise.to_owned()),
        description: description.map_or_else(String::new, |it| format!(": {it}")),
    }
}
