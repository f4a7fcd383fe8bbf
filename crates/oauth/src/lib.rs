//! The client side of OAuth 2.1 and OpenID Connect: where tokens are got, how, and where they are kept.
//!
//! [`Authorizer`] is the whole of it for one protected resource, such as a tool server of MCP: it answers the challenge of
//! a 401, signs requests, renews tokens. `monas login` uses the parts below it, and the server takes the keys of its
//! issuers from [`keys`].
//!
//! Everything is fetched through [`dial`], with a limit on size and time. An address is https; plain http is accepted
//! on loopback alone, and only where the resource itself is there, so that a server elsewhere cannot send us to services
//! of this machine.
//!
//! Layout, in the order of a sign-in:
//! - `challenge`: what a refusal says (`WWW-Authenticate`)
//! - `metadata`: of a protected resource (RFC 9728) and of an authorization server (RFC 8414, OpenID Connect Discovery);
//!   `keys`: the key set of an issuer
//! - `client`: as which client we come: configured, named by a document, or registered (RFC 7591); how it authenticates
//! - `flow`: what a flow needs besides; `pkce`; `callback`: the answer of an authorization server, checked (RFC 9207)
//! - `grant`: the requests to the token endpoint; `assertion`: signed assertions; `dpop`: proofs of possession (RFC 9449)
//! - `token`: what comes back; `vault`: where it is kept
//! - `authorizer`: all of these for one resource
//! - `web`: the requests themselves; `address`: which addresses are used

mod address;
mod assertion;
mod authorizer;
mod callback;
mod challenge;
mod client;
mod dpop;
mod error;
mod flow;
mod grant;
mod keys;
mod metadata;
mod pkce;
mod token;
mod vault;
mod web;

pub use address::{Address, well_known};
pub use authorizer::{Authorizer, Signed, TokenUse};
pub use callback::Callback;
pub use challenge::Challenge;
pub use client::{ClientMetadata, OAuthClient};
pub use dpop::ProofKey;
pub use error::Error;
pub use flow::{Consent, ConsentError, Consenting, EnterpriseLogin, Flow, NoConsent, Plan};
pub use grant::{Device, Polled, TokenEndpoint};
pub use keys::{FetchedKeys, keys};
pub use metadata::{IssuerMetadata, ResourceMetadata};
pub use pkce::Pkce;
pub use token::Token;
pub use vault::{Kept, Vault};
pub use web::Web;
