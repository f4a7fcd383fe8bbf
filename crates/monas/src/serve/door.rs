//! Authentication: the [`Door`] of a server from its configuration, its declaration in the card, and routes behind it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use a2a::binding::challenge;
use a2a::types::{
    self, AgentCard, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, Flow, OAuthFlows,
    SecurityRequirement, SecurityScheme, StringList,
};
use access::users::KEY_SCHEME;
use access::{
    Calls, Door, FoundRule, Issuer, KeySet, OwnTokens, Place, Presented, Principal, Role, Rule,
    Scheme, Signatures, SigningCaller, Unauthenticated, own_token,
};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use workspace::api::one_session::check_route;
use workspace::door::DoorCaller;

use crate::config::access::{self as config, Access, Keys, Kind, Tokens};
use crate::serve::issuers::Issuers;
use crate::serve::tokens::TokenSecrets;
use crate::serve::{calls, rules};

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;

/// The role of callers without credentials on an open server for the person at the machine.
const ANONYMOUS_ROLE: Role = Role::Operator;

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

/// The door of a server with these schemes, and with its own tokens if it has secrets.
pub(crate) fn build(
    config: &Access,
    mut schemes: Vec<(String, Scheme)>,
    secrets: Option<&TokenSecrets>,
) -> Result<Door, Error> {
    if let Some(secrets) = secrets {
        let own = OwnTokens::signed_with(secrets.all());
        schemes.push((own_token::SCHEME.to_owned(), Scheme::Own(own)));
    }
    let door = Door::new(schemes)?
        .unauthenticated(config.unauthenticated)
        .default_role(config.default_role)
        .signing(config.signatures);
    // Beside configured callers the anonymous one is a viewer, and where no caller can prove a name, all may do everything.
    Ok(match door.asks() && config.schemes.is_empty() {
        true => door.anonymous(ANONYMOUS_ROLE.permissions()),
        false => door,
    })
}

/// The schemes of the configuration, each under its name.
pub(crate) fn schemes(config: &Access, issuers: &Issuers) -> Result<Vec<(String, Scheme)>, Error> {
    let mut schemes = Vec::new();
    for scheme in &config.schemes {
        let kind = match &scheme.kind {
            Kind::Bearer(callers) => Scheme::Bearer(callers.clone()),
            Kind::Basic(callers) => Scheme::Basic(callers.clone()),
            Kind::ApiKey(place, callers) => Scheme::ApiKey(place.clone(), callers.clone()),
            Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } => {
                Scheme::Token(issuer(tokens, issuers.keys(&scheme.name))?)
            }
            Kind::MutualTls(_) => Scheme::Certificate,
            Kind::Signature { keys, callers } => Scheme::Signature(signatures(keys, callers)?),
        };
        schemes.push((scheme.name.clone(), kind));
    }
    Ok(schemes)
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

/// An issuer with its configured keys; those that it publishes come into `published` later.
fn issuer(tokens: &Tokens, published: KeySet) -> Result<Issuer, Error> {
    let keys = match &tokens.keys {
        Keys::Published(_) => published,
        keys => read_keys(keys, access::Keys::read, access::Keys::has_secret)?.into(),
    };
    let mut audience = tokens.audience.iter().cloned();
    let first = audience.next().unwrap_or_default();
    let issuer = Issuer::new(&*tokens.issuer, first, keys).also_for(audience);
    Ok(issuer.requiring(tokens.scopes.clone()))
}

fn signatures(keys: &Keys, callers: &[SigningCaller]) -> Result<Signatures, Error> {
    let read = |text: &str| Signatures::new(text, callers.to_vec(), SystemTime::now());
    read_keys(keys, read, Signatures::has_secret)
}

/// Reads keys from the configuration or from a file, which must not be readable for all users if one of them is a secret.
fn read_keys<T>(
    keys: &Keys,
    read: impl Fn(&str) -> Result<T, access::Error>,
    has_secret: impl Fn(&T) -> bool,
) -> Result<T, Error> {
    let path = match keys {
        Keys::Text(text) => return Ok(read(text)?),
        Keys::File(path) => path,
        // Keys of signing callers are configured, and those of issuers come later.
        Keys::Published(_) => return Ok(read("{\"keys\": []}")?),
    };
    let failed = |source| Error::Read {
        path: path.clone(),
        source,
    };
    let text = fs::read_to_string(path).map_err(failed)?;
    let keys = read(&text).map_err(|source| Error::Keys {
        path: path.clone(),
        source,
    })?;
    if has_secret(&keys) && world_readable(path).map_err(failed)? {
        return Err(Error::Open { path: path.clone() });
    }
    Ok(keys)
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
    let schemes = config.schemes.iter();
    let schemes = schemes.map(|it| (&*it.name, declared(&it.kind, &it.description)));
    let own = (config.own_tokens != config::OwnTokens::Off).then(|| [own_tokens(), user_keys()]);
    for (name, (declared, scopes)) in schemes.chain(own.into_iter().flatten()) {
        let declared = SecurityScheme { scheme: declared };
        card.security_schemes.insert(name.to_owned(), declared);
        let scopes = StringList {
            list: scopes.to_vec(),
        };
        card.security_requirements.push(SecurityRequirement {
            schemes: BTreeMap::from([(name.to_owned(), scopes)]),
        });
    }
    if config.asks() && config.unauthenticated == Unauthenticated::Anonymous {
        // As in OpenAPI, an empty requirement makes authentication optional.
        card.security_requirements
            .push(SecurityRequirement::default());
    }
}

/// The scheme of the server's own tokens, with its name.
fn own_tokens() -> (&'static str, (types::Scheme, &'static [String])) {
    let scheme = types::HTTPAuthSecurityScheme {
        description: "A token that the server or a program with its secret has signed; `monas token` makes one."
            .to_owned(),
        scheme: "Bearer".to_owned(),
        bearer_format: "JWT".to_owned(),
    };
    (own_token::SCHEME, (types::Scheme::HttpAuth(scheme), &[]))
}

/// The scheme of the API keys of users, with its name. They are accepted as bearer tokens, too.
fn user_keys() -> (&'static str, (types::Scheme, &'static [String])) {
    let scheme = types::APIKeySecurityScheme {
        description: "An API key of a user; `monas key create` makes one.".to_owned(),
        location: "header".to_owned(),
        name: "X-API-Key".to_owned(),
    };
    (KEY_SCHEME, (types::Scheme::ApiKey(scheme), &[]))
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
        // A2A has no type of its own for it; RFC 9421 is a way of HTTP.
        Kind::Signature { .. } => (http("Signature"), none),
        Kind::MutualTls(_) => {
            let scheme = types::MutualTlsSecurityScheme { description };
            (types::Scheme::MutualTls(scheme), none)
        }
    }
}

/// Puts routes of ours behind a door, and their calls under the limits and into the records: each needs of its callers what its
/// row of [`rules`] says. There must be a route.
pub(crate) fn behind(door: &Arc<Door>, calls: &Calls, routes: Router) -> Router {
    let state = (door.clone(), calls.clone(), RuleSource::Table);
    routes.route_layer(from_fn_with_state(state, admit))
}

/// Puts routes that a program adds behind a door: they are for every caller that is admitted. There must be a route.
pub(crate) fn behind_for_all(door: &Arc<Door>, calls: &Calls, routes: Router) -> Router {
    routes.route_layer(from_fn_with_state(
        (door.clone(), calls.clone(), RuleSource::Method),
        admit,
    ))
}

/// What says which rule a route has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleSource {
    /// The row of its path.
    Table,
    /// The method of the request: what is no GET changes something.
    Method,
}

impl RuleSource {
    /// The rule of a request; `None` where no handler takes its method.
    fn rule(self, head: &Parts) -> Result<Option<Rule>, a2a::Error> {
        if self == Self::Method {
            let reads = matches!(head.method, Method::GET | Method::HEAD);
            return Ok(Some(match reads {
                true => Rule::reads("a route of the program"),
                false => Rule::changes("a route of the program"),
            }));
        }
        let path = head.uri.path();
        match rules::find(head.method.as_str(), path) {
            Some(FoundRule::Rule(rule)) => Ok(Some(rule)),
            Some(FoundRule::OtherVerb) => Ok(None),
            // A route without a rule is refused.
            None => {
                tracing::error!(
                    path,
                    "route without an access rule refused: add a row to its list of rules"
                );
                Err(a2a::Error::Internal(format!(
                    "the route {path} has no access rule"
                )))
            }
        }
    }
}

async fn admit(
    State((door, calls, source)): State<(Arc<Door>, Calls, RuleSource)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    match allowed(&door, source, &head) {
        Ok(caller) => {
            head.extensions.insert(caller.clone());
            let request = Request::from_parts(head, body);
            calls::answer(&calls, &caller, request, next).await
        }
        Err((caller, error)) => {
            let asked = calls::asked(&head, &caller);
            calls.refused(&asked, error.outcome());
            refused(&error)
        }
    }
}

/// The caller of a request, if it may do what the request asks for; else who it is, as far as that is known, and why not.
fn allowed(
    door: &Door,
    source: RuleSource,
    head: &Parts,
) -> Result<Principal, (Principal, a2a::Error)> {
    let caller = match head.extensions.get::<DoorCaller>() {
        // It was recognised when its session signed in.
        Some(known) => known.caller.clone(),
        None => {
            let admitted = door.admit(&Presented::by(head), SystemTime::now());
            admitted.map_err(|refusal| (Principal::anonymous(), refusal.into()))?
        }
    };
    let rule = match source.rule(head) {
        Ok(Some(rule)) => rule,
        Ok(None) => return Ok(caller),
        Err(error) => return Err((caller, error)),
    };
    // No route names a task; some are open to a credential that was lent for a session.
    match check_route(&rule, &caller, head.uri.path()) {
        Ok(()) => Ok(caller),
        Err(refusal) if refusal.has_no_credentials() => {
            Err((caller, door.without_credentials().into()))
        }
        Err(refusal) => Err((caller, refusal.into())),
    }
}

/// A refusal in the form of `/api`, with what would be accepted.
pub(crate) fn refused(error: &a2a::Error) -> Response {
    let status = StatusCode::from_u16(error.code().http);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (code, message) = match error {
        a2a::Error::Unauthenticated(it) if it.has_no_credentials() => {
            ("unauthorized", "unauthorized".to_owned())
        }
        a2a::Error::Unauthenticated(_) => ("invalid_token", "invalid token".to_owned()),
        a2a::Error::Unauthorized(_) => ("denied", error.to_string()),
        error => ("failed", error.to_string()),
    };
    let mut response = workspace::api::refusal(status, code, &message);
    challenge(error, response.headers_mut());
    response
}
