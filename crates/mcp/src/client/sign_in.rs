//! Tokens for tool servers: how the sign-in that a manifest describes is done.

use std::sync::Arc;

use oauth::{Authorizer, Consent, EnterpriseLogin, Flow, OAuthClient, Plan, Vault};
use skill::{ToolServer, ToolSignIn};

/// The name that a person is shown who is asked to agree.
const NAME: &str = "Monas";

/// How a program signs in at tool servers that ask for tokens: where tokens are kept, and which person is asked.
#[derive(Clone)]
pub struct SignIns {
    vault: Vault,
    consent: Arc<dyn Consent>,
}

impl SignIns {
    pub fn new(vault: Vault, consent: Arc<dyn Consent>) -> Self {
        Self { vault, consent }
    }

    /// What gets the tokens for a server. None for a server with a configured credential, and for one that must not be
    /// shown a token: it is reached without encryption.
    pub(super) fn of(&self, server: &ToolServer, dialer: &dial::Dialer) -> Option<Authorizer> {
        let url = server.url.as_deref()?;
        let is_credential = |name: &String| name.eq_ignore_ascii_case("authorization");
        if server.headers.keys().any(is_credential) {
            return None;
        }
        let plan = plan(server.oauth.as_ref());
        let (consent, vault) = (self.consent.clone(), self.vault.clone());
        Authorizer::new(url, dialer, plan, consent, vault).ok()
    }
}

impl std::fmt::Debug for SignIns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIns").finish_non_exhaustive()
    }
}

/// The sign-in that a manifest describes.
pub fn plan(described: Option<&ToolSignIn>) -> Plan {
    let described = described.cloned().unwrap_or_default();
    let flow = match (described.assertion, described.enterprise) {
        (Some(assertion), _) => Flow::Assertion(assertion),
        (None, Some(login)) => Flow::Enterprise(EnterpriseLogin {
            token_endpoint: login.token_url,
            client_id: login.client_id,
            id_token: login.id_token,
        }),
        (None, None) if described.client_credentials => Flow::ClientCredentials,
        (None, None) => Flow::Code,
    };
    let (secret, private_key) = (described.client_secret, described.private_key);
    let client = described.client_id.map(|id| OAuthClient {
        secret,
        private_key,
        ..OAuthClient::public(id)
    });
    Plan {
        flow,
        client,
        issuer: described.issuer,
        client_document: described.client_metadata_url,
        client_name: NAME.to_owned(),
        scopes: described.scopes,
    }
}
