//! Replies of a door to callers with tokens of issuers: which keys it lacks, and where tokens are got.

use std::sync::Arc;

use super::{CredentialFault, Door};
use crate::presented::{Credentials, Presented};
use crate::scheme::Scheme;

impl Door {
    /// The scheme of the issuer that seems to have signed the token of a request with a key that is not here yet: what
    /// serves the request may have the keys fetched, and ask the door afterwards. The token is not verified for it, so that
    /// any caller can cause the question; it must have a limit.
    pub fn wanted_key(&self, presented: &Presented<'_>) -> Option<&str> {
        let is_issuer = |(_, scheme): &(String, Scheme)| matches!(scheme, Scheme::Token(_));
        if !self.schemes.iter().any(is_issuer) {
            return None;
        }
        match presented.authorization() {
            Ok(Some(credentials)) => self.wanted_key_of(&credentials),
            _ => None,
        }
    }

    /// The same for credentials that are passed in a call.
    pub fn wanted_key_of(&self, credentials: &Credentials) -> Option<&str> {
        let Credentials::Bearer(token) = credentials else {
            return None;
        };
        if credentials.is_huge() {
            return None;
        }
        self.schemes.iter().find_map(|(name, scheme)| match scheme {
            Scheme::Token(issuer) if issuer.lacks_key_of(token) => Some(&**name),
            _ => None,
        })
    }

    /// A copy that names, to callers without a valid token, the address of the metadata of what is behind it (RFC 9728
    /// 5.1). It has no effect without a scheme of an issuer.
    #[must_use]
    pub fn with_resource_metadata(&self, address: &str) -> Self {
        let is_issuer = |(_, scheme): &(String, Scheme)| matches!(scheme, Scheme::Token(_));
        let has_issuer = self.schemes.iter().any(is_issuer);
        Self {
            resource_metadata: has_issuer.then(|| Arc::from(address)),
            ..self.clone()
        }
    }

    /// The part of a bearer challenge that says where tokens are got, and with which scopes.
    pub(super) fn resource_parameters(&self, why: &CredentialFault) -> String {
        let Some(address) = &self.resource_metadata else {
            return String::new();
        };
        let mut scopes: Vec<&str> = Vec::new();
        for (_, scheme) in &*self.schemes {
            if let Scheme::Token(issuer) = scheme {
                scopes.extend(issuer.scopes().iter().map(String::as_str));
            }
        }
        scopes.sort_unstable();
        scopes.dedup();
        // A refusal for a scope names that one already.
        match scopes.is_empty() || matches!(why, CredentialFault::Scope(_)) {
            true => format!(r#", resource_metadata="{address}""#),
            false => format!(
                r#", resource_metadata="{address}", scope="{}""#,
                scopes.join(" ")
            ),
        }
    }
}
