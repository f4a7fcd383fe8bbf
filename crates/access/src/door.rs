//! Which callers are admitted, and what the others are told.

use std::sync::Arc;
use std::time::SystemTime;

use crate::Error;
use crate::insider::{self, Insiders};
use crate::presented::{Credentials, Presented};
use crate::principal::{Known, Principal, is_name};
use crate::scheme::{Caller, Place, Scheme};
use crate::token::TokenFault;

/// The realm that challenges name (RFC 9110 11.5).
const REALM: &str = "monas";

/// How a request without credentials is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unauthenticated {
    #[default]
    Refused,
    /// Admitted as the anonymous caller.
    Anonymous,
}

/// Decides who a request is from: authentication for every protocol and every route.
///
/// It owns the configured schemes, the rule for requests without credentials, the allow list of an agent, and the
/// key of callers inside this process. It is pure: the credentials of the request and the time are arguments,
/// keys were read when it was made, and nothing is fetched. So it can be asked on every request of every wire
/// without waiting, and tested without a server. Clones share everything and are cheap.
///
/// [`admit`](Self::admit) looks in this order:
///
/// 1. A bearer token made by this process ([`Insiders`]): the caller is an agent of this server.
/// 2. The header `Authorization`, where a scheme uses it: a bearer token is compared with the configured ones first,
///    then verified by each issuer; Basic is compared with the configured callers.
/// 3. The API key in each configured place (header, query parameter, cookie).
/// 4. The certificate of the connection, only where the request itself has no credentials: a proxy that holds one
///    certificate may carry requests of many callers.
/// 5. Without any: the anonymous caller or a refusal ([`Unauthenticated`]).
///
/// At last the name is compared with the allow list, if there is one ([`only`](Self::only)).
///
/// One valid scheme is enough, but wrong credentials are refused even where others of the request are right, and so
/// are credentials of two different callers. If they were skipped instead, a caller with an expired token would become
/// the anonymous caller without noticing, and of two callers the order of the checks would choose.
///
/// Names from the configuration are used as they are. Names from tokens and certificates get the name of their scheme
/// in front, as in `sso:ada`. Without that prefix, an issuer that names one of its users `ada` would give that user
/// the tasks and rights of the configured caller `ada`. Configured names have no colon, so the two never meet.
///
/// A `Call` of a protocol cannot be made without the [`Principal`] that only a door gives. Revoking is a new door: an
/// admitted principal ends with its request, or at [`Principal::until`] where a connection outlives it.
#[derive(Clone, Debug)]
pub struct Door {
    schemes: Arc<[(String, Scheme)]>,
    unauthenticated: Unauthenticated,
    /// The allow list: names of the only callers admitted. `None` admits all that are authenticated.
    only: Option<Arc<[String]>>,
    /// Recognises callers inside this process, in addition to the schemes.
    insiders: Option<Insiders>,
}

impl Door {
    /// A door without schemes: every caller is anonymous.
    pub fn open() -> Self {
        Self {
            schemes: Arc::default(),
            unauthenticated: Unauthenticated::Anonymous,
            only: None,
            insiders: None,
        }
    }

    /// A door with these schemes, each under its name in the agent card. Names must differ.
    pub fn new(schemes: Vec<(String, Scheme)>) -> Result<Self, Error> {
        for (index, (name, _)) in schemes.iter().enumerate() {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let taken = schemes.iter().take(index).any(|(other, _)| other == name)
                || name == insider::SCHEME;
            if name.is_empty() || !name.chars().all(plain) || taken {
                return Err(Error::SchemeName(name.clone()));
            }
        }
        Ok(Self {
            schemes: schemes.into(),
            unauthenticated: Unauthenticated::Refused,
            only: None,
            insiders: None,
        })
    }

    /// Sets how requests without credentials are treated; they are refused by default.
    #[must_use]
    pub fn unauthenticated(self, unauthenticated: Unauthenticated) -> Self {
        Self {
            unauthenticated,
            ..self
        }
    }

    /// Admits callers inside this process, too.
    #[must_use]
    pub fn insiders(self, insiders: Insiders) -> Self {
        Self {
            insiders: Some(insiders),
            ..self
        }
    }

    /// A copy with an allow list: only callers of these names. On a door that has one already, only names on both
    /// lists stay, so a copy never admits more than its original.
    #[must_use]
    pub fn only(&self, callers: &[String]) -> Self {
        let allowed = |name: &&String| self.only.as_ref().is_none_or(|it| it.contains(name));
        let only = callers.iter().filter(allowed).cloned().collect();
        Self {
            only: Some(only),
            ..self.clone()
        }
    }

    /// Whether there are schemes. Without any, every caller is anonymous.
    pub fn asks(&self) -> bool {
        !self.schemes.is_empty()
    }

    /// Whether an API key is read from a query parameter of this name, so that operations must not read it.
    pub fn takes_parameter(&self, name: &str) -> bool {
        self.schemes
            .iter()
            .any(|(_, scheme)| matches!(scheme, Scheme::ApiKey(Place::Query(it), _) if it == name))
    }

    /// The caller of a request, or why it is refused.
    pub fn admit(&self, presented: &Presented<'_>, now: SystemTime) -> Result<Principal, Refusal> {
        let known = self
            .known(presented, now)
            .map_err(|why| self.refusal(why))?;
        match (known, self.unauthenticated) {
            (Some(known), _) => self.expected(known),
            (None, Unauthenticated::Anonymous) if self.only.is_none() => Ok(Principal::anonymous()),
            (None, _) => Err(self.without_credentials()),
        }
    }

    /// The caller with these credentials, for protocols that pass them in a call. Without schemes it is the anonymous
    /// caller.
    pub fn recognise(
        &self,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Principal, Refusal> {
        if !self.asks() {
            return Ok(Principal::anonymous());
        }
        let holder = self.holder(credentials, now);
        self.expected(holder.map_err(|why| self.refusal(why))?)
    }

    /// The caller, if the allow list has its name.
    fn expected(&self, known: Principal) -> Result<Principal, Refusal> {
        let named = |only: &Arc<[String]>| only.iter().any(|name| name == known.name());
        match self.only.as_ref().is_none_or(named) {
            true => Ok(known),
            false => Err(self.refusal(CredentialFault::Uninvited)),
        }
    }

    /// The refusal of a request without credentials.
    pub fn without_credentials(&self) -> Refusal {
        self.refusal(CredentialFault::Missing)
    }

    fn known(
        &self,
        presented: &Presented<'_>,
        now: SystemTime,
    ) -> Result<Option<Principal>, CredentialFault> {
        let mut known: Option<Principal> = None;
        let mut meet = |principal: Principal| match &known {
            Some(other) if other.name() != principal.name() => Err(CredentialFault::Two),
            Some(_) => Ok(()),
            None => {
                known = Some(principal);
                Ok(())
            }
        };
        if let Some(insider) = self.insider(presented) {
            meet(insider)?;
        } else if self.reads_authorization()
            && let Some(credentials) = presented.authorization()?
        {
            meet(self.holder(&credentials, now)?)?;
        }
        for (_, scheme) in &*self.schemes {
            if let Scheme::ApiKey(place, _) = scheme
                && let Some(key) = presented.key(place)?
            {
                meet(
                    self.key_holder(&key, Some(place))
                        .ok_or(CredentialFault::Unknown)?,
                )?;
            }
        }
        if known.is_none()
            && let Some(name) = presented.certificate()
        {
            return self.certified(name);
        }
        Ok(known)
    }

    /// The caller inside this process, if the token is one of its own.
    fn insider(&self, presented: &Presented<'_>) -> Option<Principal> {
        let insiders = self.insiders.as_ref()?;
        match presented.authorization() {
            Ok(Some(Credentials::Bearer(token))) => Some(Principal::known(Known {
                name: insiders.holder(&token)?,
                scheme: insider::SCHEME.to_owned(),
                ..Known::default()
            })),
            _ => None,
        }
    }

    fn reads_authorization(&self) -> bool {
        self.schemes.iter().any(|(_, scheme)| {
            matches!(
                scheme,
                Scheme::Bearer(_) | Scheme::Basic(_) | Scheme::Token(_)
            )
        })
    }

    fn holder(
        &self,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Principal, CredentialFault> {
        if credentials.is_huge() {
            return Err(CredentialFault::Malformed);
        }
        match credentials {
            Credentials::Bearer(token) => self.token_holder(token, now),
            Credentials::ApiKey(key) => self.key_holder(key, None).ok_or(CredentialFault::Unknown),
            Credentials::Basic { user, password } => {
                let holder = self.first(|scheme| match scheme {
                    Scheme::Basic(callers) => callers.holding(password, Some(user)),
                    _ => None,
                });
                holder.ok_or(CredentialFault::Unknown)
            }
        }
    }

    fn token_holder(&self, token: &str, now: SystemTime) -> Result<Principal, CredentialFault> {
        let holder = self.first(|scheme| match scheme {
            Scheme::Bearer(callers) => callers.holding(token, None),
            _ => None,
        });
        if let Some(holder) = holder {
            return Ok(holder);
        }
        let mut why = CredentialFault::Unknown;
        for (name, scheme) in &*self.schemes {
            let Scheme::Token(issuer) = scheme else {
                continue;
            };
            match issuer.verify(token, now) {
                Ok(claims) => {
                    return Ok(Principal::known(Known {
                        name: format!("{name}:{}", claims.subject),
                        scheme: name.clone(),
                        scopes: claims.scopes,
                        until: Some(claims.until),
                    }));
                }
                // The token may be one of the next issuer; a more telling fault of an earlier one is kept.
                Err(TokenFault::Form | TokenFault::Issuer | TokenFault::Key)
                    if why != CredentialFault::Unknown => {}
                Err(TokenFault::Scope(scope)) => why = CredentialFault::Scope(scope),
                Err(wrong) => why = CredentialFault::Token(wrong),
            }
        }
        Err(why)
    }

    /// The caller with this API key: of the schemes that read this place, or of all.
    fn key_holder(&self, key: &str, at: Option<&Place>) -> Option<Principal> {
        self.first(|scheme| match scheme {
            Scheme::ApiKey(place, callers) if at.is_none_or(|at| at == place) => {
                callers.holding(key, None)
            }
            _ => None,
        })
    }

    fn first<'a>(&'a self, find: impl Fn(&'a Scheme) -> Option<&'a Caller>) -> Option<Principal> {
        self.schemes.iter().find_map(|(name, scheme)| {
            let caller = find(scheme)?;
            Some(Principal::known(Known {
                name: caller.name.clone(),
                scheme: name.clone(),
                scopes: caller.scopes.clone(),
                until: None,
            }))
        })
    }

    /// The caller that a certificate names. TLS has verified it; without a scheme for certificates it is ignored.
    fn certified(&self, name: &str) -> Result<Option<Principal>, CredentialFault> {
        let scheme = self
            .schemes
            .iter()
            .find(|(_, scheme)| matches!(scheme, Scheme::Certificate));
        let Some((scheme, _)) = scheme else {
            return Ok(None);
        };
        if !is_name(name) {
            return Err(CredentialFault::Malformed);
        }
        Ok(Some(Principal::known(Known {
            name: format!("{scheme}:{name}"),
            scheme: scheme.clone(),
            ..Known::default()
        })))
    }

    fn refusal(&self, why: CredentialFault) -> Refusal {
        let mut challenges: Vec<String> = Vec::new();
        for (_, scheme) in &*self.schemes {
            let challenge = match scheme {
                Scheme::Bearer(_) | Scheme::Token(_) => {
                    format!(r#"Bearer realm="{REALM}"{}"#, why.to_bearer())
                }
                Scheme::Basic(_) => format!(r#"Basic realm="{REALM}", charset="UTF-8""#),
                Scheme::ApiKey(place, _) => format!(r#"ApiKey realm="{REALM}", {place}"#),
                Scheme::Certificate => format!(r#"MutualTLS realm="{REALM}""#),
            };
            if !challenges.contains(&challenge) {
                challenges.push(challenge);
            }
        }
        Refusal { why, challenges }
    }
}

/// CredentialFault a caller was refused, and which credentials would be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    why: CredentialFault,
    challenges: Vec<String>,
}

impl Refusal {
    /// The values for `WWW-Authenticate`: which schemes are accepted.
    pub fn challenges(&self) -> &[String] {
        &self.challenges
    }

    /// Whether the request had no credentials at all.
    pub fn has_no_credentials(&self) -> bool {
        self.why == CredentialFault::Missing
    }

    /// Whether the caller is authenticated but not allowed (403 rather than 401).
    pub fn is_forbidden(&self) -> bool {
        matches!(
            self.why,
            CredentialFault::Scope(_) | CredentialFault::Uninvited
        )
    }

    /// The refusal of an operation that needs an authenticated caller.
    pub fn anonymous() -> Self {
        Self::bearer(CredentialFault::Missing)
    }

    /// The refusal of credentials that lack a scope.
    pub fn lacks(scope: &str) -> Self {
        Self::bearer(CredentialFault::Scope(scope.to_owned()))
    }

    /// The refusal of a caller that is not on the allow list.
    pub fn uninvited() -> Self {
        Self::bearer(CredentialFault::Uninvited)
    }

    /// The refusal of a caller with expired credentials.
    pub fn over() -> Self {
        Self::bearer(CredentialFault::Token(TokenFault::Expired))
    }

    /// A refusal by an operation, after authentication: its challenge names bearer tokens alone.
    fn bearer(why: CredentialFault) -> Self {
        let challenges = vec![format!(r#"Bearer realm="{REALM}"{}"#, why.to_bearer())];
        Self { why, challenges }
    }
}

/// What is wrong with the credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CredentialFault {
    #[error("no credentials")]
    Missing,
    #[error("malformed credentials")]
    Malformed,
    #[error("the same kind of credentials was sent twice")]
    Twice,
    #[error("credentials of two different callers")]
    Two,
    #[error("unknown credentials")]
    Unknown,
    #[error("{0}")]
    Token(TokenFault),
    #[error("credentials lack the scope {0:?}")]
    Scope(String),
    #[error("caller is not on this agent's allow list")]
    Uninvited,
}

impl CredentialFault {
    /// Its part of a bearer challenge. RFC 6750 3.1: no error code where the request had no credentials.
    fn to_bearer(&self) -> String {
        match self {
            Self::Missing | Self::Uninvited => String::new(),
            Self::Malformed | Self::Twice | Self::Two => r#", error="invalid_request""#.to_owned(),
            Self::Unknown | Self::Token(_) => r#", error="invalid_token""#.to_owned(),
            Self::Scope(scope) => format!(r#", error="insufficient_scope", scope="{scope}""#),
        }
    }
}
