//! The needs of a sign-in: which flow, which client, and a person where one has to agree.

use std::fmt;
use std::pin::Pin;

use crate::OAuthClient;

/// How tokens are got.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Flow {
    /// A person agrees at an address, and a code comes back (with PKCE).
    #[default]
    Code,
    /// The client itself is the caller.
    ClientCredentials,
    /// A signed statement of another issuer about this program (RFC 7523 2.1), such as the identity of a workload.
    Assertion(String),
    /// The company's identity provider decides: its token of the user is exchanged for a statement to the authorization
    /// server.
    Enterprise(EnterpriseLogin),
}

/// Where a company's identity provider exchanges tokens (RFC 8693), and the token that it gave for the user.
#[derive(Clone, PartialEq, Eq)]
pub struct EnterpriseLogin {
    pub token_endpoint: String,
    pub client_id: String,
    pub id_token: String,
}

/// What is configured about a sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub flow: Flow,
    /// The client that is configured. Without one, the document or a registration is used.
    pub client: Option<OAuthClient>,
    /// The only issuer that the configured client is shown to.
    pub issuer: Option<String>,
    /// The address of a document that describes this client, for servers that take such an address as a client id.
    pub client_document: Option<String>,
    /// The name that a person is shown when asked to agree.
    pub client_name: String,
    /// Scopes to ask for besides those that the server names.
    pub scopes: Vec<String>,
}

/// The answer of a person: the query of the address that the authorization server sent them back to.
pub type Consenting<'a> = Pin<Box<dyn Future<Output = Result<String, ConsentError>> + Send + 'a>>;

/// Why no person agreed, or what to do so that one can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConsentError(pub String);

/// Has a person agree.
pub trait Consent: Send + Sync {
    /// Where the authorization server sends the person back to; `None` if there is no person to ask.
    fn redirect(&self) -> Option<String>;

    /// Shows the address to a person and waits for the answer, or says why there is none.
    fn agree<'a>(&'a self, url: &'a str) -> Consenting<'a>;
}

/// There is no person to ask; the text says what to do instead.
#[derive(Clone, Debug)]
pub struct NoConsent(pub String);

impl Consent for NoConsent {
    fn redirect(&self) -> Option<String> {
        None
    }

    fn agree<'a>(&'a self, _: &'a str) -> Consenting<'a> {
        Box::pin(std::future::ready(Err(ConsentError(self.0.clone()))))
    }
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "Code",
            Self::ClientCredentials => "ClientCredentials",
            Self::Assertion(_) => "Assertion",
            Self::Enterprise(_) => "Enterprise",
        })
    }
}

impl fmt::Debug for EnterpriseLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterpriseLogin")
            .field("token_endpoint", &self.token_endpoint)
            .finish_non_exhaustive()
    }
}
