//! Which callers are admitted, and what the others are told.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use http::HeaderName;
use http::request::Parts;

use crate::Error;
use crate::capability::{self, Capabilities, Maker};
use crate::insider::{self, Insiders};
use crate::own_token;
use crate::permission::{Permission, Permissions, Role};
use crate::presented::{Credentials, Presented, TOKEN};
use crate::principal::{Known, Principal, is_name};
use crate::scheme::{Caller, Hash, Place, Scheme};
use crate::signature::{SignatureCheck, SignatureFault, SignatureRule, Signatures, Signed, Target};
use crate::token::TokenFault;
use crate::users::{self, Standing, Users};
use crate::verified::{Verified, VerifiedTokens};

mod resource;

/// The realm that challenges name (RFC 9110 11.5).
const REALM: &str = "monas";

/// Where keys of users are read besides `Authorization`.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// The scope that gives a caller of the configuration, or of an issuer, the role of an operator.
const OPERATOR: &str = "operator";

/// The names that no configured scheme may have.
const RESERVED: [&str; 4] = [
    insider::SCHEME,
    capability::SCHEME,
    users::KEY_SCHEME,
    users::LINK_SCHEME,
];

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
/// without waiting, and tested without a server. It remembers which signed tokens it has verified, which changes no answer.
/// Clones share everything and are cheap.
///
/// [`admit`](Self::admit) looks in this order:
///
/// 1. A bearer token made by this process ([`Insiders`]): the caller is an agent of this server. A token of a
///    [capability](Capabilities): the caller is the one that lent it, with less. A key or a sign-in link of a user
///    ([`Users`]): the caller is that user.
/// 2. The header `Authorization`, where a scheme uses it: a bearer token is compared with the configured ones first,
///    then verified by each issuer and as one of our own; Basic is compared with the configured callers. On the handshake
///    of a WebSocket the parameter `token` holds a bearer token, too.
/// 3. The API key in each configured place (header, query parameter, cookie), and a user's key in `X-API-Key`.
/// 4. The signature of the request, which [`check_signature`](Self::check_signature) has looked at before.
/// 5. The certificate of the connection, only where the request itself has no credentials: a proxy that holds one
///    certificate may carry requests of many callers.
/// 6. Without any: the anonymous caller or a refusal ([`Unauthenticated`]).
///
/// A caller that has to sign is refused without a signature, whatever else it shows ([`SignatureRule`]). At last the name
/// is compared with the allow list, if there is one ([`only`](Self::only)), and looked up among the users: one that was
/// removed is refused, and one that is there has the role it has there.
///
/// One valid scheme is enough, but wrong credentials are refused even where others of the request are right, and so
/// are credentials of two different callers. If they were skipped instead, a caller with an expired token would become
/// the anonymous caller without noticing, and of two callers the order of the checks would choose.
///
/// Names from the configuration and from our own tokens are used as they are: both are given by the owner of the server. Names from tokens and certificates get the name of their scheme
/// in front, as in `sso:ada`. Without that prefix, an issuer that names one of its users `ada` would give that user
/// the tasks and rights of the configured caller `ada`. Configured names have no colon, so the two never meet.
///
/// What a caller may do follows from its role: the one that [`Users`] has for its name, else the one that its token was made
/// with, else the [default one](Self::default_role). A token of a user can have less than the user, and never more.
///
/// A `Call` of a protocol cannot be made without the [`Principal`] that only a door gives. Callers of the
/// configuration are revoked by a new door: an admitted principal ends with its request, or at [`Principal::until`] where
/// a connection outlives it. What is data is revoked at once ([`Revocation`](crate::Revocation)).
#[derive(Clone, Debug)]
pub struct Door {
    schemes: Arc<[(String, Scheme)]>,
    unauthenticated: Unauthenticated,
    /// The allow list: names of the only callers admitted. `None` admits all that are authenticated.
    only: Option<Arc<[String]>>,
    /// Recognises callers inside this process, in addition to the schemes.
    insiders: Option<Insiders>,
    /// What an authenticated caller may do for which nothing else says it.
    default_role: Role,
    /// What the anonymous caller may do where it is admitted.
    anonymous: Permissions,
    /// What callers have lent to others.
    capabilities: Capabilities,
    /// Users that are data, with their keys.
    users: Users,
    /// Where a client learns which issuers give tokens for what is behind this door.
    resource_metadata: Option<Arc<str>>,
    /// Whether all callers have to sign.
    signing: SignatureRule,
    /// Tokens of the schemes that were verified lately.
    verified: VerifiedTokens,
}

impl Door {
    /// A door without schemes: every caller is anonymous.
    pub fn open() -> Self {
        Self {
            schemes: Arc::default(),
            unauthenticated: Unauthenticated::Anonymous,
            only: None,
            insiders: None,
            default_role: Role::default(),
            anonymous: Permissions::ALL,
            capabilities: Capabilities::default(),
            users: Users::default(),
            resource_metadata: None,
            signing: SignatureRule::Optional,
            verified: VerifiedTokens::default(),
        }
    }

    /// A door with these schemes, each under its name in the agent card. Names must differ. Where there is none, the anonymous
    /// caller may do everything, as at an [`open`](Self::open) door; else it may do what a viewer may, where it is admitted.
    pub fn new(schemes: Vec<(String, Scheme)>) -> Result<Self, Error> {
        for (index, (name, scheme)) in schemes.iter().enumerate() {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let taken = schemes.iter().take(index).any(|(other, _)| other == name)
                || RESERVED.contains(&&**name)
                || (name == own_token::SCHEME) != matches!(scheme, Scheme::Own(_));
            if name.is_empty() || !name.chars().all(plain) || taken {
                return Err(Error::SchemeName(name.clone()));
            }
        }
        let anonymous = match schemes.is_empty() {
            true => Permissions::ALL,
            false => Role::Viewer.permissions(),
        };
        Ok(Self {
            schemes: schemes.into(),
            unauthenticated: Unauthenticated::Refused,
            only: None,
            insiders: None,
            default_role: Role::default(),
            anonymous,
            capabilities: Capabilities::default(),
            users: Users::default(),
            resource_metadata: None,
            signing: SignatureRule::Optional,
            verified: VerifiedTokens::default(),
        })
    }

    /// Sets the role of authenticated callers for which nothing else says it; `user` by default.
    #[must_use]
    pub fn default_role(self, default_role: Role) -> Self {
        Self {
            default_role,
            ..self
        }
    }

    /// Sets what the anonymous caller may do where it is admitted.
    #[must_use]
    pub fn anonymous(self, anonymous: Permissions) -> Self {
        Self { anonymous, ..self }
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

    /// Admits the holders of these capabilities, too.
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// Sets whether all callers have to sign their requests. It needs a scheme for signatures.
    #[must_use]
    pub fn signing(self, signing: SignatureRule) -> Self {
        Self { signing, ..self }
    }

    /// Looks at the signature of a request, if it has one and there is a scheme for it, and puts what came of it into
    /// the extensions of the request. To be called once for each request: a second look would find it replayed.
    /// `targets` are the addresses that the request may have been made for.
    pub fn check_signature(&self, request: &mut Parts, targets: &[Target], now: SystemTime) {
        // Only this check puts it there.
        request.extensions.remove::<SignatureCheck>();
        let mut checked = None;
        for (_, scheme) in &*self.schemes {
            if let Scheme::Signature(signatures) = scheme
                && Signatures::is_in(&request.headers)
                && !matches!(checked, Some(Ok(_)))
            {
                let found = signatures.verify(request, targets, now);
                // A key that another scheme knows.
                if checked.is_none() || found != Err(SignatureFault::Key) {
                    checked = Some(found);
                }
            }
        }
        if let Some(checked) = checked {
            request.extensions.insert(SignatureCheck(checked));
        }
    }

    /// Whether there is a scheme for signatures.
    pub fn reads_signatures(&self) -> bool {
        let signature = |scheme: &Scheme| matches!(scheme, Scheme::Signature(_));
        self.schemes.iter().any(|(_, scheme)| signature(scheme))
    }

    /// What callers of this door have lent to others.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Admits these users by their keys, too, and gives all callers that are among them their roles.
    #[must_use]
    pub fn with_users(self, users: Users) -> Self {
        Self { users, ..self }
    }

    /// The users that are data.
    pub fn users(&self) -> &Users {
        &self.users
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
        let signed = presented.signature().is_some();
        match (known, self.unauthenticated) {
            (Some(known), _) if !signed && self.must_sign(&known) => {
                Err(self.refusal(CredentialFault::Unsigned))
            }
            (Some(known), _) => self.expected(&known),
            (None, Unauthenticated::Anonymous)
                if self.only.is_none() && self.signing == SignatureRule::Optional =>
            {
                Ok(self.nameless())
            }
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
        if !self.asks() && !is_own(credentials) {
            return Ok(self.nameless());
        }
        let holder = self.holder(credentials, now);
        let holder = holder.map_err(|why| self.refusal(why))?;
        // What is passed in a call has no signature of its own.
        if self.must_sign(&holder) {
            return Err(self.refusal(CredentialFault::Unsigned));
        }
        self.expected(&holder)
    }

    /// The caller, if the allow list has its name.
    fn expected(&self, known: &Principal) -> Result<Principal, Refusal> {
        let named = |only: &Arc<[String]>| only.iter().any(|name| name == known.name());
        match self.only.as_ref().is_none_or(named) {
            true => self.permitted(known).map_err(|why| self.refusal(why)),
            false => Err(self.refusal(CredentialFault::Uninvited)),
        }
    }

    /// Whether a request of this caller needs a signature. The holder of a lent credential has no key of the lender's.
    fn must_sign(&self, caller: &Principal) -> bool {
        if caller.scheme() == insider::SCHEME {
            return false;
        }
        let required = |scheme: &Scheme| match scheme {
            Scheme::Signature(signatures) => signatures.requires(caller.name()),
            _ => false,
        };
        self.signing == SignatureRule::Required
            || !caller.is_lent() && self.schemes.iter().any(|(_, scheme)| required(scheme))
    }

    /// The anonymous caller, with what it may do here.
    fn nameless(&self) -> Principal {
        Principal::anonymous().permitted(self.anonymous)
    }

    /// The caller with what its role allows. A user that was removed is refused, whatever proves its name.
    fn permitted(&self, known: &Principal) -> Result<Principal, CredentialFault> {
        let (standing, revocation) = match known.is_anonymous() {
            true => (Standing::Unknown, None),
            false => self.users.known(known.name()),
        };
        let role = self.role(known, standing)?;
        let narrows = known.is_lent() || known.scheme() == users::KEY_SCHEME;
        let permissions = match (narrows, known.is_anonymous()) {
            (false, _) => role.permissions(),
            // What was lent, or what the key leaves, as far as the lender or the user has it still.
            (true, false) => known.permissions().intersect(role.permissions()),
            (true, true) => known.permissions().intersect(self.anonymous),
        };
        Ok(known.admitted(permissions, revocation))
    }

    /// The role that the data has for the name, or less where the credential says so; else the one that the credential gives,
    /// else that of its scope, else the default one. Of what a user has lent, no more is left than the user has now.
    fn role(&self, known: &Principal, standing: Standing) -> Result<Role, CredentialFault> {
        let default = match known.has_scope(OPERATOR) {
            true => self.default_role.max(Role::Operator),
            false => self.default_role,
        };
        Ok(match (standing, known.role()) {
            (Standing::Removed, _) => return Err(CredentialFault::Revoked),
            (Standing::Active { tokens_after, .. }, _) if known.has_token_of(tokens_after) => {
                return Err(CredentialFault::Revoked);
            }
            (Standing::Active { role, .. }, Some(own)) if !known.is_lent() => own.min(role),
            (Standing::Active { role, .. }, _) => role,
            (Standing::Unknown, role) => role.unwrap_or(default),
        })
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
        if self.users.standing(&maker.name) == Standing::Removed {
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

    fn refusal(&self, why: CredentialFault) -> Refusal {
        let mut challenges: Vec<String> = Vec::new();
        for (_, scheme) in &*self.schemes {
            let challenge = match scheme {
                Scheme::Bearer(_) | Scheme::Token(_) | Scheme::Own(_) => {
                    let more = self.resource_parameters(&why);
                    format!(r#"Bearer realm="{REALM}"{}{more}"#, why.to_bearer())
                }
                Scheme::Basic(_) => format!(r#"Basic realm="{REALM}", charset="UTF-8""#),
                Scheme::ApiKey(place, _) => format!(r#"ApiKey realm="{REALM}", {place}"#),
                Scheme::Certificate => format!(r#"MutualTLS realm="{REALM}""#),
                Scheme::Signature(_) => format!(
                    r#"Signature realm="{REALM}", components="@method @target-uri content-digest""#
                ),
            };
            if !challenges.contains(&challenge) {
                challenges.push(challenge);
            }
        }
        Refusal { why, challenges }
    }
}

/// Whether these credentials are a secret that this server made, by their form: the token of a capability, the key or the
/// sign-in link of a user.
fn is_own(credentials: &Credentials) -> bool {
    match credentials {
        Credentials::Bearer(token) => [capability::PREFIX, users::KEY_PREFIX, users::LINK_PREFIX]
            .iter()
            .any(|prefix| token.starts_with(prefix)),
        Credentials::ApiKey(key) => key.starts_with(users::KEY_PREFIX),
        Credentials::Basic { .. } => false,
    }
}

/// Why a caller was refused, and which credentials would be accepted.
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
            CredentialFault::Scope(_)
                | CredentialFault::Permission(_)
                | CredentialFault::Bounds
                | CredentialFault::Uninvited
        )
    }

    /// The permission that the caller lacks, if that is why.
    pub fn missing_permission(&self) -> Option<Permission> {
        match self.why {
            CredentialFault::Permission(permission) => Some(permission),
            _ => None,
        }
    }

    /// The refusal of an operation that needs an authenticated caller.
    pub fn anonymous() -> Self {
        Self::bearer(CredentialFault::Missing)
    }

    /// The refusal of credentials that lack a scope.
    pub fn lacks(scope: &str) -> Self {
        Self::bearer(CredentialFault::Scope(scope.to_owned()))
    }

    /// The refusal of a caller without a permission.
    pub fn permission(permission: Permission) -> Self {
        Self::bearer(CredentialFault::Permission(permission))
    }

    /// The refusal of a call that a lent credential does not reach.
    pub fn out_of_bounds() -> Self {
        Self::bearer(CredentialFault::Bounds)
    }

    /// The refusal of a caller that is not on the allow list.
    pub fn uninvited() -> Self {
        Self::bearer(CredentialFault::Uninvited)
    }

    /// The refusal of a caller with expired credentials.
    pub fn over() -> Self {
        Self::bearer(CredentialFault::Token(TokenFault::Expired))
    }

    /// The refusal of a caller with credentials that were revoked while it used them.
    pub fn revoked() -> Self {
        Self::bearer(CredentialFault::Revoked)
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
    #[error("credentials were revoked")]
    Revoked,
    #[error("{0}")]
    Token(TokenFault),
    #[error("{0}")]
    Signature(SignatureFault),
    #[error("request is not signed, and this caller has to sign (RFC 9421)")]
    Unsigned,
    #[error("credentials lack the scope {0:?}")]
    Scope(String),
    #[error("caller lacks the permission {0}, which {roles} have", roles = roles_with(*.0))]
    Permission(Permission),
    #[error("lent credential does not reach this operation, or this task")]
    Bounds,
    #[error("caller is not on this agent's allow list")]
    Uninvited,
}

impl CredentialFault {
    /// Its part of a bearer challenge. RFC 6750 3.1: no error code where the request had no credentials.
    fn to_bearer(&self) -> String {
        match self {
            Self::Missing | Self::Uninvited => String::new(),
            Self::Malformed | Self::Twice | Self::Two | Self::Unsigned => {
                r#", error="invalid_request""#.to_owned()
            }
            Self::Unknown | Self::Revoked | Self::Token(_) | Self::Signature(_) => {
                r#", error="invalid_token""#.to_owned()
            }
            Self::Permission(_) | Self::Bounds => r#", error="insufficient_scope""#.to_owned(),
            Self::Scope(scope) => format!(r#", error="insufficient_scope", scope="{scope}""#),
        }
    }
}

/// The roles that have a permission, for the sentence of a refusal.
fn roles_with(permission: Permission) -> String {
    let roles = Role::ALL
        .into_iter()
        .filter(|role| role.permissions().has(permission));
    match &roles.map(Role::name).collect::<Vec<_>>()[..] {
        [only] => format!("users with the role {only}"),
        roles => format!("users with a role among {}", roles.join(", ")),
    }
}
