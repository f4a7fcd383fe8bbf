//! The callers that are admitted, and what the others are told.
//!
//! - `holder`: how a caller is found by each kind of credential
//! - `refusal`: what is wrong with credentials, and which would be accepted
//! - `resource`: what callers with tokens of issuers are told

use std::sync::Arc;
use std::time::SystemTime;

use http::request::Parts;

use crate::Error;
use crate::capability::{self, Capabilities};
use crate::insider::{self, Insiders};
use crate::own_token;
use crate::permission::{Permissions, Role};
use crate::presented::{Credentials, Presented};
use crate::principal::Principal;
use crate::scheme::{Place, Scheme};
use crate::signature::{SignatureCheck, SignatureFault, SignatureRule, Signatures, Target};
use crate::users::{self, UserStatus, Users};
use crate::verified::VerifiedTokens;

mod holder;
mod refusal;
mod resource;

use holder::is_own;
pub(crate) use refusal::CredentialFault;
pub use refusal::Refusal;

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
    /// The role of an authenticated caller without a role of its own.
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
        // A credential that is an argument of a call has no signature of its own.
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
            true => (UserStatus::Unknown, None),
            false => self.users.known(known.name()),
        };
        let role = self.role(known, standing)?;
        let narrows = known.is_lent() || known.scheme() == users::KEY_SCHEME;
        let permissions = match (narrows, known.is_anonymous()) {
            (false, _) => role.permissions(),
            // The permissions of the capability or key, limited to those that the lender or user still has.
            (true, false) => known.permissions().intersect(role.permissions()),
            (true, true) => known.permissions().intersect(self.anonymous),
        };
        Ok(known.admitted(permissions, revocation))
    }

    /// The role that the data has for the name, or less where the credential says so; else the one that the credential gives,
    /// else that of its scope, else the default one. Of what a user has lent, no more is left than the user has now.
    fn role(&self, known: &Principal, standing: UserStatus) -> Result<Role, CredentialFault> {
        let default = match known.has_scope(OPERATOR) {
            true => self.default_role.max(Role::Operator),
            false => self.default_role,
        };
        Ok(match (standing, known.role()) {
            (UserStatus::Removed, _) => return Err(CredentialFault::Revoked),
            (UserStatus::Active { tokens_after, .. }, _) if known.has_token_of(tokens_after) => {
                return Err(CredentialFault::Revoked);
            }
            (UserStatus::Active { role, .. }, Some(own)) if !known.is_lent() => own.min(role),
            (UserStatus::Active { role, .. }, _) => role,
            (UserStatus::Unknown, role) => role.unwrap_or(default),
        })
    }

    /// The refusal of a request without credentials.
    pub fn without_credentials(&self) -> Refusal {
        self.refusal(CredentialFault::Missing)
    }
}
