//! The documents in which servers describe themselves: a protected resource (RFC 9728), and an authorization server
//! (RFC 8414, OpenID Connect Discovery).

use serde::Deserialize;
use serde_json::Value;

use crate::address::{Address, shortened, well_known};
use crate::{Error, Web};

/// What a protected resource says about itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The identifier of the resource, which requests for tokens name (RFC 8707).
    pub resource: String,
    pub authorization_servers: Vec<String>,
    pub scopes_supported: Vec<String>,
    pub dpop_bound_access_tokens_required: bool,
}

impl ResourceMetadata {
    /// The name of the document below `/.well-known`.
    pub const NAME: &'static str = "oauth-protected-resource";

    /// The metadata of a resource: at the address that its challenge named, or else at its well-known addresses, that of
    /// its path first. `None` if there are none.
    pub async fn discover(
        web: &Web,
        resource: &Address,
        named: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        if let Some(named) = named {
            let answer = web.get(named).await?;
            let answer = answer.ok_or_else(|| Error::NoMetadata(shortened(named)))?;
            return read::<Self>(named, answer.body)?.about(resource).map(Some);
        }
        let mut places = vec![well_known(Self::NAME, resource)];
        if !resource.path().is_empty() {
            places.push(format!("{}/.well-known/{}", resource.origin(), Self::NAME));
        }
        for place in places {
            if let Some(answer) = web.get(&place).await? {
                return read::<Self>(&place, answer.body)?.about(resource).map(Some);
            }
        }
        Ok(None)
    }

    /// RFC 9728 3.3: metadata of another resource are not used, or its server could ask for tokens in the name of ours.
    fn about(self, resource: &Address) -> Result<Self, Error> {
        let own = self.resource.parse::<Address>();
        match own.is_ok_and(|own| own.covers(resource)) {
            true => Ok(self),
            false => Err(Error::Mismatch {
                asked: resource.to_string(),
                found: shortened(&self.resource),
            }),
        }
    }
}

/// What an authorization server, or a provider of OpenID Connect, says about itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct IssuerMetadata {
    pub issuer: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub registration_endpoint: Option<String>,
    pub device_authorization_endpoint: Option<String>,
    pub jwks_uri: Option<String>,
    pub scopes_supported: Option<Vec<String>>,
    pub grant_types_supported: Option<Vec<String>>,
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub code_challenge_methods_supported: Vec<String>,
    /// A client may be named by the address of a document about it.
    pub client_id_metadata_document_supported: bool,
    /// Answers to authorization requests name the issuer (RFC 9207).
    pub authorization_response_iss_parameter_supported: bool,
    pub dpop_signing_alg_values_supported: Vec<String>,
}

impl IssuerMetadata {
    /// The metadata of an issuer, at the first of its well-known addresses that has them.
    pub async fn discover(web: &Web, issuer: &str) -> Result<Self, Error> {
        let address = web.usable(issuer)?;
        let mut places = vec![
            well_known("oauth-authorization-server", &address),
            well_known("openid-configuration", &address),
        ];
        if !address.path().is_empty() {
            let (origin, path) = (address.origin(), address.path());
            places.push(format!("{origin}{path}/.well-known/openid-configuration"));
        }
        let mut failed = None;
        for place in places {
            match web.get(&place).await {
                Ok(Some(answer)) => return read::<Self>(&place, answer.body)?.about(issuer),
                Ok(None) => {}
                // Some servers answer what they do not know with a page, or with an error.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| Error::NoMetadata(shortened(issuer))))
    }

    /// The metadata of an issuer at an address.
    pub async fn at(web: &Web, address: &Address, issuer: &str) -> Result<Self, Error> {
        let answer = web.get(address.as_str()).await?;
        let answer = answer.ok_or_else(|| Error::NoMetadata(address.to_string()))?;
        read::<Self>(address.as_str(), answer.body)?.about(issuer)
    }

    /// RFC 8414 3.3: the issuer is compared as it stands, letter by letter.
    fn about(self, issuer: &str) -> Result<Self, Error> {
        match self.issuer == issuer {
            true => Ok(self),
            false => Err(Error::Mismatch {
                asked: shortened(issuer),
                found: shortened(&self.issuer),
            }),
        }
    }

    pub(crate) fn endpoint(
        &self,
        web: &Web,
        endpoint: Option<&String>,
        lacking: &'static str,
    ) -> Result<Address, Error> {
        let endpoint = endpoint.ok_or_else(|| self.lacks(lacking))?;
        web.usable(endpoint)
    }

    pub(crate) fn lacks(&self, lacking: &'static str) -> Error {
        Error::Lacks {
            issuer: self.issuer.clone(),
            lacking,
        }
    }

    pub(crate) fn has_scope(&self, scope: &str) -> bool {
        let scopes = self.scopes_supported.as_ref();
        scopes.is_some_and(|scopes| scopes.iter().any(|it| it == scope))
    }
}

fn read<T: serde::de::DeserializeOwned>(place: &str, document: Value) -> Result<T, Error> {
    serde_json::from_value(document).map_err(|error| Error::Answer {
        address: shortened(place),
        problem: error.to_string(),
    })
}
