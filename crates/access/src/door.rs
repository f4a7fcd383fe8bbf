//! Who is let in, and what those are told who are not.

use std::sync::Arc;
use std::time::SystemTime;

use crate::Error;
use crate::insider::{self, Insiders};
use crate::principal::{Known, Principal, is_name};
use crate::scheme::{Caller, Place, Scheme};
use crate::shown::{Credentials, Shown};
use crate::token::Wrong;

/// What challenges name as what is behind the door.
const REALM: &str = "monas";

/// What those are who show nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strangers {
    /// Refused.
    #[default]
    Refused,
    /// Let in, as the anonymous caller.
    Anonymous,
}

/// Lets callers in.
///
/// One scheme is enough. Whoever shows something wrong is refused, whatever else they show, and so is whoever
/// shows the credentials of two. A certificate belongs to the connection: it counts for requests that show
/// nothing themselves.
///
/// Names that are configured are used as they are. Names that others give, in tokens and certificates, have the
/// name of their scheme before them, as in `sso:ada`, so that nobody can take a name by being given it elsewhere.
#[derive(Clone, Debug)]
pub struct Door {
    schemes: Arc<[(String, Scheme)]>,
    strangers: Strangers,
    /// Who alone is let in; none for all who are known.
    only: Option<Arc<[String]>>,
    /// Callers of this process, who prove it whatever schemes there are.
    insiders: Option<Insiders>,
}

impl Door {
    /// The door that asks nobody.
    pub fn open() -> Self {
        Self {
            schemes: Arc::default(),
            strangers: Strangers::Anonymous,
            only: None,
            insiders: None,
        }
    }

    /// The door for whoever proves by one of these schemes, each with its name, who they are.
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
            strangers: Strangers::Refused,
            only: None,
            insiders: None,
        })
    }

    /// The same door, with this said about those who show nothing.
    #[must_use]
    pub fn strangers(self, strangers: Strangers) -> Self {
        Self { strangers, ..self }
    }

    /// The same door, which knows callers of this process as well.
    #[must_use]
    pub fn insiders(self, insiders: Insiders) -> Self {
        Self {
            insiders: Some(insiders),
            ..self
        }
    }

    /// A door of the same kind that lets in fewer: these callers alone, by their names.
    #[must_use]
    pub fn only(&self, callers: &[String]) -> Self {
        let allowed = |name: &&String| self.only.as_ref().is_none_or(|it| it.contains(name));
        let only = callers.iter().filter(allowed).cloned().collect();
        Self {
            only: Some(only),
            ..self.clone()
        }
    }

    /// Whether there is a way to prove who one is. If not, everybody is anonymous.
    pub fn asks(&self) -> bool {
        !self.schemes.is_empty()
    }

    /// Whether keys are looked for in a parameter of this name, which is then nobody else's.
    pub fn takes_parameter(&self, name: &str) -> bool {
        self.schemes
            .iter()
            .any(|(_, scheme)| matches!(scheme, Scheme::ApiKey(Place::Query(it), _) if it == name))
    }

    /// Who a request is from.
    pub fn admit(&self, shown: &Shown<'_>, now: SystemTime) -> Result<Principal, Refusal> {
        let known = self.known(shown, now).map_err(|why| self.refusal(why))?;
        match (known, self.strangers) {
            (Some(known), _) => self.expected(known),
            (None, Strangers::Anonymous) if self.only.is_none() => Ok(Principal::anonymous()),
            (None, _) => Err(self.stranger()),
        }
    }

    /// Whose these credentials are. Where no scheme asks for any, they are nobody's.
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

    /// Who is known, unless only others are let in.
    fn expected(&self, known: Principal) -> Result<Principal, Refusal> {
        let named = |only: &Arc<[String]>| only.iter().any(|name| name == known.name());
        match self.only.as_ref().is_none_or(named) {
            true => Ok(known),
            false => Err(self.refusal(Why::Uninvited)),
        }
    }

    /// What somebody is told who has shown nothing.
    pub fn stranger(&self) -> Refusal {
        self.refusal(Why::Missing)
    }

    fn known(&self, shown: &Shown<'_>, now: SystemTime) -> Result<Option<Principal>, Why> {
        let mut known: Option<Principal> = None;
        let mut meet = |principal: Principal| match &known {
            Some(other) if other.name() != principal.name() => Err(Why::Two),
            Some(_) => Ok(()),
            None => {
                known = Some(principal);
                Ok(())
            }
        };
        if let Some(insider) = self.insider(shown) {
            meet(insider)?;
        } else if self.reads_authorization()
            && let Some(credentials) = shown.authorization()?
        {
            meet(self.holder(&credentials, now)?)?;
        }
        for (_, scheme) in &*self.schemes {
            if let Scheme::ApiKey(place, _) = scheme
                && let Some(key) = shown.key(place)?
            {
                meet(self.key_holder(&key, Some(place)).ok_or(Why::Unknown)?)?;
            }
        }
        if known.is_none()
            && let Some(name) = shown.certificate()
        {
            return self.certified(name);
        }
        Ok(known)
    }

    /// Who of this process calls, if one does.
    fn insider(&self, shown: &Shown<'_>) -> Option<Principal> {
        let insiders = self.insiders.as_ref()?;
        match shown.authorization() {
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

    fn holder(&self, credentials: &Credentials, now: SystemTime) -> Result<Principal, Why> {
        if credentials.is_huge() {
            return Err(Why::Malformed);
        }
        match credentials {
            Credentials::Bearer(token) => self.token_holder(token, now),
            Credentials::ApiKey(key) => self.key_holder(key, None).ok_or(Why::Unknown),
            Credentials::Basic { user, password } => {
                let holder = self.first(|scheme| match scheme {
                    Scheme::Basic(callers) => callers.holding(password, Some(user)),
                    _ => None,
                });
                holder.ok_or(Why::Unknown)
            }
        }
    }

    fn token_holder(&self, token: &str, now: SystemTime) -> Result<Principal, Why> {
        let holder = self.first(|scheme| match scheme {
            Scheme::Bearer(callers) => callers.holding(token, None),
            _ => None,
        });
        if let Some(holder) = holder {
            return Ok(holder);
        }
        let mut why = Why::Unknown;
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
                // Of another issuer, perhaps one of the next.
                Err(Wrong::Form | Wrong::Issuer | Wrong::Key) if why != Why::Unknown => {}
                Err(Wrong::Scope(scope)) => why = Why::Scope(scope),
                Err(wrong) => why = Why::Token(wrong),
            }
        }
        Err(why)
    }

    /// Who has the key, among those who are to show it in this place, or anywhere.
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

    /// Who a certificate names. It has been verified; where no scheme asks for one, it says nothing.
    fn certified(&self, name: &str) -> Result<Option<Principal>, Why> {
        let scheme = self
            .schemes
            .iter()
            .find(|(_, scheme)| matches!(scheme, Scheme::Certificate));
        let Some((scheme, _)) = scheme else {
            return Ok(None);
        };
        if !is_name(name) {
            return Err(Why::Malformed);
        }
        Ok(Some(Principal::known(Known {
            name: format!("{scheme}:{name}"),
            scheme: scheme.clone(),
            ..Known::default()
        })))
    }

    fn refusal(&self, why: Why) -> Refusal {
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

/// Why a caller was not let in, and what to show instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    why: Why,
    challenges: Vec<String>,
}

impl Refusal {
    /// What would be taken: the values of `WWW-Authenticate`.
    pub fn challenges(&self) -> &[String] {
        &self.challenges
    }

    /// Whether nothing was shown at all.
    pub fn is_of_stranger(&self) -> bool {
        self.why == Why::Missing
    }

    /// Whether it is known who calls, and they may not.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.why, Why::Scope(_) | Why::Uninvited)
    }

    /// That the anonymous caller may not do what others may.
    pub fn anonymous() -> Self {
        Self::bearer(Why::Missing)
    }

    /// That somebody known lacks a scope.
    pub fn lacks(scope: &str) -> Self {
        Self::bearer(Why::Scope(scope.to_owned()))
    }

    /// That somebody known is none of those who may.
    pub fn uninvited() -> Self {
        Self::bearer(Why::Uninvited)
    }

    /// That credentials have ceased to hold.
    pub fn over() -> Self {
        Self::bearer(Why::Token(Wrong::Expired))
    }

    /// A refusal by somebody behind the door.
    fn bearer(why: Why) -> Self {
        let challenges = vec![format!(r#"Bearer realm="{REALM}"{}"#, why.to_bearer())];
        Self { why, challenges }
    }
}

/// What is wrong with what was shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Why {
    #[error("no credentials were shown")]
    Missing,
    #[error("the credentials cannot be read")]
    Malformed,
    #[error("credentials were shown twice")]
    Twice,
    #[error("credentials of two callers were shown")]
    Two,
    #[error("the credentials are nobody's")]
    Unknown,
    #[error("{0}")]
    Token(Wrong),
    #[error("the scope {0:?} is missing")]
    Scope(String),
    #[error("this agent is for others")]
    Uninvited,
}

impl Why {
    /// What a challenge for tokens says of it. RFC 6750 3.1: nothing of what was not shown.
    fn to_bearer(&self) -> String {
        match self {
            Self::Missing | Self::Uninvited => String::new(),
            Self::Malformed | Self::Twice | Self::Two => r#", error="invalid_request""#.to_owned(),
            Self::Unknown | Self::Token(_) => r#", error="invalid_token""#.to_owned(),
            Self::Scope(scope) => format!(r#", error="insufficient_scope", scope="{scope}""#),
        }
    }
}
