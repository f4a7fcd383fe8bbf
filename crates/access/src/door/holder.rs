//! How the caller is found by each kind of credential that a request can carry.

use std::borrow::Cow;
use std::time::SystemTime;

use http::HeaderName;

use super::{CredentialFault, Door, Unauthenticated};
use crate::capability::{self, Maker};
use crate::insider;
use crate::presented::{Credentials, Presented, TOKEN};
use crate::principal::{Known, Principal, is_name};
use crate::scheme::{Caller, Hash, Place, Scheme};
use crate::signature::{SignatureCheck, Signed};
use crate::token::TokenFault;
use crate::users::{self, UserStatus};
use crate::verified::Verified;

/// Where keys of users are read besides `Authorization`.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

impl Door {
    /// The caller that the credentials of a request prove, if it has any. Credentials of two callers are a fault.
    pub(super) fn known(
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
        } else if let Ok(Some(credentials)) = presented.authorization()
            && is_own(&credentials)
        {
            // Also where no scheme is configured: the holder has a name, or less than the anonymous caller.
            meet(self.holder(&credentials, now)?)?;
        } else if self.reads_authorization()
            && let Some(credentials) = presented.authorization()?
        {
            meet(self.holder(&credentials, now)?)?;
        }
        if !self.takes_parameter(TOKEN)
            && let Some(credentials) = presented.token()?
            && (self.reads_authorization() || is_own(&credentials))
        {
            meet(self.holder(&credentials, now)?)?;
        }
        for (_, scheme) in &*self.schemes {
            if let Scheme::ApiKey(place, _) = scheme
                && let Some(key) = presented.key(place)?
            {
                meet(self.key_holder(&key, Some(place), now)?)?;
            }
        }
        if let Some(key) = self.own_key(presented)? {
            meet(self.users.key_holder(&key, now)?)?;
        }
        if let Some(SignatureCheck(checked)) = presented.signature() {
            let signed = checked.as_ref();
            let signed = signed.map_err(|fault| CredentialFault::Signature(fault.clone()))?;
            meet(self.signer(signed)?)?;
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

    /// The caller that signed a request.
    fn signer(&self, signed: &Signed) -> Result<Principal, CredentialFault> {
        let knows = |scheme: &Scheme| match scheme {
            Scheme::Signature(signatures) => signatures.has(&signed.caller),
            _ => false,
        };
        let scheme = self.schemes.iter().find(|(_, scheme)| knows(scheme));
        let (scheme, _) = scheme.ok_or(CredentialFault::Unknown)?;
        Ok(Principal::known(Known {
            name: signed.caller.clone(),
            scheme: scheme.clone(),
            scopes: signed.scopes.clone(),
            credential: signed.key.clone(),
            ..Known::default()
        }))
    }

    fn reads_authorization(&self) -> bool {
        self.schemes.iter().any(|(_, scheme)| {
            matches!(
                scheme,
                Scheme::Bearer(_) | Scheme::Basic(_) | Scheme::Token(_) | Scheme::Own(_)
            )
        })
    }

    /// The caller with credentials of the header `Authorization`, or of a call.
    pub(super) fn holder(
        &self,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Principal, CredentialFault> {
        if credentials.is_huge() {
            return Err(CredentialFault::Malformed);
        }
        match credentials {
            Credentials::Bearer(token) => self.token_holder(token, now),
            Credentials::ApiKey(key) => self.key_holder(key, None, now),
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
        if token.starts_with(capability::PREFIX) {
            let is_known = |maker: &Maker| self.still_admits(maker);
            return self.capabilities.holder(token, now, is_known);
        }
        if token.starts_with(users::KEY_PREFIX) {
            return self.users.key_holder(token, now);
        }
        if token.starts_with(users::LINK_PREFIX) {
            return self.users.link_holder(token, now);
        }
        let holder = self.first(|scheme| match scheme {
            Scheme::Bearer(callers) => callers.holding(token, None),
            _ => None,
        });
        if let Some(holder) = holder {
            return Ok(holder);
        }
        let hash = Hash::of(token);
        if let Some(caller) = self.verified_before(&hash, now) {
            return Ok(caller);
        }
        let mut why = CredentialFault::Unknown;
        for (index, (name, scheme)) in self.schemes.iter().enumerate() {
            // Keys that are replaced while they are used must not count as the new ones.
            let generation = scheme.generation();
            let verified = match scheme {
                Scheme::Token(issuer) => issuer.verify(token, now).map(|claims| {
                    let known = Known {
                        name: format!("{name}:{}", claims.subject),
                        scheme: name.clone(),
                        scopes: claims.scopes,
                        until: Some(claims.validity.until),
                        ..Known::default()
                    };
                    (known, claims.validity)
                }),
                Scheme::Own(own) => own.verify(token, now).map(|claims| {
                    let known = Known {
                        name: claims.user,
                        scheme: name.clone(),
                        issued: Some(claims.issued),
                        role: claims.role,
                        until: Some(claims.validity.until),
                        ..Known::default()
                    };
                    (known, claims.validity)
                }),
                _ => continue,
            };
            match verified {
                Ok((known, validity)) => {
                    let caller = Principal::known(known);
                    let verified = Verified {
                        caller: caller.clone(),
                        validity,
                        scheme: index,
                        generation,
                    };
                    self.verified.insert(hash, verified);
                    return Ok(caller);
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

    /// The caller of a token that was verified before, if the keys are the same and it is the time for it.
    fn verified_before(&self, token: &Hash, now: SystemTime) -> Option<Principal> {
        let found = self.verified.find(token)?;
        let (_, scheme) = self.schemes.get(found.scheme)?;
        let is_current = found.generation == scheme.generation();
        (is_current && found.validity.check(now).is_ok()).then_some(found.caller)
    }

    /// Whether the caller that lent a capability could still be authenticated: its scheme is configured and has its name.
    fn still_admits(&self, maker: &Maker) -> bool {
        if maker.name.is_empty() {
            return self.unauthenticated == Unauthenticated::Anonymous;
        }
        if maker.scheme == insider::SCHEME {
            return self.insiders.is_some();
        }
        if self.users.status(&maker.name) == UserStatus::Removed {
            return false;
        }
        if maker.scheme == users::KEY_SCHEME {
            return self.users.has_key(&maker.name, &maker.credential);
        }
        let mut schemes = self.schemes.iter();
        match schemes.find(|(name, _)| *name == maker.scheme) {
            Some((_, Scheme::Bearer(callers) | Scheme::Basic(callers))) => callers.has(&maker.name),
            Some((_, Scheme::ApiKey(_, callers))) => callers.has(&maker.name),
            Some((_, Scheme::Token(_) | Scheme::Own(_) | Scheme::Certificate)) => true,
            Some((_, Scheme::Signature(signatures))) => signatures.has(&maker.name),
            // A caller that was authenticated outside of this door has no scheme.
            None => maker.scheme.is_empty(),
        }
    }

    /// The caller with this API key: of a user, or of the schemes that read this place, or of all.
    fn key_holder(
        &self,
        key: &str,
        at: Option<&Place>,
        now: SystemTime,
    ) -> Result<Principal, CredentialFault> {
        if key.starts_with(users::KEY_PREFIX) {
            return self.users.key_holder(key, now);
        }
        let holder = self.first(|scheme| match scheme {
            Scheme::ApiKey(place, callers) if at.is_none_or(|at| at == place) => {
                callers.holding(key, None)
            }
            _ => None,
        });
        holder.ok_or(CredentialFault::Unknown)
    }

    /// The key of a user in `X-API-Key`, unless a configured scheme reads that header. What is no key of ours is not read
    /// there, because no scheme asks for it.
    fn own_key<'a>(
        &self,
        presented: &Presented<'a>,
    ) -> Result<Option<Cow<'a, str>>, CredentialFault> {
        let is_read = self.schemes.iter().any(
            |(_, scheme)| matches!(scheme, Scheme::ApiKey(Place::Header(it), _) if *it == KEY_HEADER),
        );
        if is_read {
            return Ok(None);
        }
        let key = presented.key(&Place::Header(KEY_HEADER))?;
        Ok(key.filter(|key| key.starts_with(users::KEY_PREFIX)))
    }

    fn first<'a>(&'a self, find: impl Fn(&'a Scheme) -> Option<&'a Caller>) -> Option<Principal> {
        self.schemes.iter().find_map(|(name, scheme)| {
            let caller = find(scheme)?;
            Some(Principal::known(Known {
                name: caller.name.clone(),
                scheme: name.clone(),
                scopes: caller.scopes.clone(),
                ..Known::default()
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
}

/// Whether these credentials are a secret that this server made, by their form: the token of a capability, the key or the
/// sign-in link of a user.
pub(super) fn is_own(credentials: &Credentials) -> bool {
    match credentials {
        Credentials::Bearer(token) => [capability::PREFIX, users::KEY_PREFIX, users::LINK_PREFIX]
            .iter()
            .any(|prefix| token.starts_with(prefix)),
        Credentials::ApiKey(key) => key.starts_with(users::KEY_PREFIX),
        Credentials::Basic { .. } => false,
    }
}
