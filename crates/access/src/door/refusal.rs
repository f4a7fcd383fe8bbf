//! Refusals: what is wrong with the credentials of a request, and which would be accepted.

use super::Door;
use crate::permission::{Permission, Role};
use crate::scheme::Scheme;
use crate::signature::SignatureFault;
use crate::token::TokenFault;

/// The realm that challenges name (RFC 9110 11.5).
const REALM: &str = "monas";

impl Door {
    /// The refusal for this fault, with a challenge for each scheme.
    pub(super) fn refusal(&self, why: CredentialFault) -> Refusal {
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
