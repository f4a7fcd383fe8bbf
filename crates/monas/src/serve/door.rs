//! Authentication: the [`Door`] of a server from its configuration, its declaration in the card, and routes behind it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use a2a::binding::refused;
use a2a::types::{
    self, AgentCard, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, Flow, OAuthFlows,
    SecurityRequirement, SecurityScheme, StringList,
};
use access::{Door, Issuer, Place, Presented, Refusal, Scheme, Unauthenticated};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use crate::config::access::{Access, Keys, Kind, Tokens};

/// The scope that callers of the operator's routes need.
pub(crate) const OPERATOR: &str = "operator";

/// Why the authentication schemes cannot be used. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scheme has wrong parameters.
    #[error("use [access]: could not {0}")]
    Scheme(#[from] access::Error),
    /// A file of keys does not exist or may not be read.
    #[error("read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file holds no usable keys.
    #[error("use {}: could not {source}", path.display())]
    Keys {
        path: PathBuf,
        source: access::Error,
    },
    /// With the secret other users of the machine could issue tokens.
    #[error("use {}: it holds a secret, and all users may read it; chmod 600 it", path.display())]
    Open { path: PathBuf },
    /// Client certificates exist only on TLS connections.
    #[error("use [access.{0}]: mutualTLS needs tls.cert and tls.key")]
    Plain(String),
    /// A manifest lists callers, but all callers are anonymous.
    #[error(
        "use [access] of the agent's manifest: it lists callers, and the server has no scheme that authenticates them"
    )]
    NoScheme,
    /// TLS verifies with one list of authorities.
    #[error("use [access.{0}]: another scheme has the type mutualTLS, and there can be one")]
    Twice(String),
}

/// The door of one agent: that of its server, restricted to the callers that its manifest lists.
pub(crate) fn of_agent(door: &Arc<Door>, callers: Option<&[String]>) -> Result<Arc<Door>, Error> {
    match callers {
        None => Ok(door.clone()),
        Some(_) if !door.asks() => Err(Error::NoScheme),
        Some(callers) => Ok(Arc::new(door.only(callers))),
    }
}

pub(crate) fn build(config: &Access) -> Result<Door, Error> {
    let mut schemes = Vec::new();
    for scheme in &config.schemes {
        let kind = match &scheme.kind {
            Kind::Bearer(callers) => Scheme::Bearer(callers.clone()),
            Kind::Basic(callers) => Scheme::Basic(callers.clone()),
            Kind::ApiKey(place, callers) => Scheme::ApiKey(place.clone(), callers.clone()),
            Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } => {
                Scheme::Token(issuer(tokens)?)
            }
            Kind::MutualTls(_) => Scheme::Certificate,
        };
        schemes.push((scheme.name.clone(), kind));
    }
    Ok(Door::new(schemes)?.unauthenticated(config.unauthenticated))
}

/// The file with the authorities of client certificates, if a scheme uses them.
pub(crate) fn authorities(config: &Access, encrypted: bool) -> Result<Option<&Path>, Error> {
    let mut found = None;
    for scheme in &config.schemes {
        if let Kind::MutualTls(path) = &scheme.kind {
            if !encrypted {
                return Err(Error::Plain(scheme.name.clone()));
            }
            if found.replace(&**path).is_some() {
                return Err(Error::Twice(scheme.name.clone()));
            }
        }
    }
    Ok(found)
}

fn issuer(tokens: &Tokens) -> Result<Issuer, Error> {
    let keys = match &tokens.keys {
        Keys::Text(text) => access::Keys::read(text)?,
        Keys::File(path) => {
            let failed = |source| Error::Read {
                path: path.clone(),
                source,
            };
            let text = fs::read_to_string(path).map_err(failed)?;
            let keys = access::Keys::read(&text).map_err(|source| Error::Keys {
                path: path.clone(),
                source,
            })?;
            if keys.has_secret() && world_readable(path).map_err(failed)? {
                return Err(Error::Open { path: path.clone() });
            }
            keys
        }
    };
    let issuer = Issuer::new(&*tokens.issuer, &*tokens.audience, keys);
    Ok(issuer.requiring(tokens.scopes.clone()))
}

/// Whether all users of the machine may read a file. Its group may, which is how secrets are mounted.
#[cfg(unix)]
pub(crate) fn world_readable(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::metadata(path)?.mode() & 0o004 != 0)
}

/// Other systems have other permissions, which are not checked.
#[cfg(not(unix))]
pub(crate) fn world_readable(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Writes the authentication schemes into a card.
pub(crate) fn declare(config: &Access, card: &mut AgentCard) {
    for scheme in &config.schemes {
        let (declared, scopes) = declared(&scheme.kind, &scheme.description);
        let declared = SecurityScheme { scheme: declared };
        card.security_schemes.insert(scheme.name.clone(), declared);
        let scopes = StringList {
            list: scopes.to_vec(),
        };
        card.security_requirements.push(SecurityRequirement {
            schemes: BTreeMap::from([(scheme.name.clone(), scopes)]),
        });
    }
    if !config.schemes.is_empty() && config.unauthenticated == Unauthenticated::Anonymous {
        // As in OpenAPI, an empty requirement makes authentication optional.
        card.security_requirements
            .push(SecurityRequirement::default());
    }
}

fn declared<'a>(kind: &'a Kind, description: &str) -> (types::Scheme, &'a [String]) {
    let description = description.to_owned();
    let http = |scheme: &str| {
        types::Scheme::HttpAuth(types::HTTPAuthSecurityScheme {
            description: description.clone(),
            scheme: scheme.to_owned(),
            ..Default::default()
        })
    };
    let none: &[String] = &[];
    match kind {
        Kind::Bearer(_) => (http("Bearer"), none),
        Kind::Basic(_) => (http("Basic"), none),
        Kind::ApiKey(place, _) => {
            let (location, name) = match place {
                Place::Header(name) => ("header", name.as_str()),
                Place::Query(name) => ("query", &**name),
                Place::Cookie(name) => ("cookie", &**name),
            };
            let scheme = types::APIKeySecurityScheme {
                description,
                location: location.to_owned(),
                name: name.to_owned(),
            };
            (types::Scheme::ApiKey(scheme), none)
        }
        Kind::OAuth2 {
            tokens,
            token_url,
            authorization_url,
            metadata_url,
        } => {
            let scopes = tokens.scopes.iter();
            let scopes = scopes.map(|scope| (scope.clone(), String::new())).collect();
            let flow = match authorization_url {
                Some(url) => Flow::AuthorizationCode(AuthorizationCodeOAuthFlow {
                    authorization_url: url.clone(),
                    token_url: token_url.clone(),
                    scopes,
                    ..Default::default()
                }),
                None => Flow::ClientCredentials(ClientCredentialsOAuthFlow {
                    token_url: token_url.clone(),
                    scopes,
                    ..Default::default()
                }),
            };
            let scheme = types::OAuth2SecurityScheme {
                description,
                flows: Some(OAuthFlows { flow }),
                oauth2_metadata_url: metadata_url.clone().unwrap_or_default(),
            };
            (types::Scheme::OAuth2(scheme), &tokens.scopes)
        }
        Kind::OpenIdConnect { tokens, url } => {
            let scheme = types::OpenIdConnectSecurityScheme {
                description,
                open_id_connect_url: url.clone(),
            };
            (types::Scheme::OpenIdConnect(scheme), &tokens.scopes)
        }
        Kind::MutualTls(_) => {
            let scheme = types::MutualTlsSecurityScheme { description };
            (types::Scheme::MutualTls(scheme), none)
        }
    }
}

/// Puts routes behind a door. There must be a route.
pub(crate) fn behind(door: &Arc<Door>, need: Need, routes: Router) -> Router {
    routes.route_layer(from_fn_with_state((door.clone(), need), admit))
}

/// What a route asks of its callers. On a server without a scheme every caller has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The access rules let the caller in; with `open` that is the anonymous caller, too.
    Admitted,
    /// The caller has a name.
    Known,
    /// The caller has a name and this scope.
    Scope(&'static str),
}

async fn admit(
    State((door, need)): State<(Arc<Door>, Need)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    let admitted = door.admit(&Presented::by(&head), SystemTime::now());
    let admitted = admitted.and_then(|caller| match need {
        Need::Known | Need::Scope(_) if door.asks() && caller.is_anonymous() => {
            tracing::debug!(?need, "anonymous caller refused");
            Err(door.without_credentials())
        }
        Need::Scope(scope) if door.asks() && !caller.has_scope(scope) => Err(Refusal::lacks(scope)),
        _ => Ok(caller),
    });
    match admitted {
        Ok(caller) => {
            head.extensions.insert(caller);
            next.run(Request::from_parts(head, body)).await
        }
        Err(refusal) => refused(&refusal.into()),
    }
}
