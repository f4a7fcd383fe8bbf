//! Callers and what they may do: authentication, permissions, users, keys, secrets, capabilities, budgets and the audit chain.
//!
//! A [`Door`] holds the authentication [schemes](Scheme) of a server. It is asked about each request, and answers
//! with a [`Principal`] or with a [`Refusal`] that says which credentials would be accepted. It is pure: the
//! credentials of the request and the time are arguments, and nothing is fetched.
//!
//! ```
//! use access::{Callers, Door, Hash, Scheme, Presented};
//! use http::{HeaderMap, HeaderValue};
//! use std::time::SystemTime;
//!
//! # fn main() -> Result<(), access::Error> {
//! let mut callers = Callers::default();
//! callers.add("ada", Hash::of("a-long-random-token"), &[])?;
//! let door = Door::new(vec![("tokens".to_owned(), Scheme::Bearer(callers))])?;
//!
//! let mut headers = HeaderMap::new();
//! let refusal = door.admit(&Presented::headers(&headers), SystemTime::now()).unwrap_err();
//! assert_eq!(refusal.challenges(), [r#"Bearer realm="monas""#]);
//!
//! headers.insert("authorization", HeaderValue::from_static("Bearer a-long-random-token"));
//! let ada = door.admit(&Presented::headers(&headers), SystemTime::now()).unwrap();
//! assert_eq!((ada.name(), ada.scheme()), ("ada", "tokens"));
//! # Ok(()) }
//! ```
//!
//! Layout:
//! - `principal`: the authenticated caller
//! - `permission`: what a caller may do: permissions, roles, and the bounds of what was lent
//! - `rule`: what an operation needs of its caller, and the check of it
//! - `revocation`: credentials that are taken back while they are in use
//! - [`capability`]: what callers lend to others
//! - [`users`]: users, API keys and sign-in links, as data
//! - [`secrets`]: secrets that agents use, sealed
//! - `door`: which callers are admitted, and what the others are told
//! - `presented`: where a request carries credentials, and in what form
//! - `scheme`: authentication schemes; callers known by hashes of their secrets
//! - [`signature`]: signed requests (RFC 9421), verified and made
//! - `insider`: callers inside this process
//! - [`calls`]: what is said of each call on every wire; [`audit`]: the chain of hashes over a record of calls
//! - [`budget`]: what the work for a call, a caller and an agent may use
//! - `token`, `key`, `key_set`: signed tokens (JWT), the keys that verify them, and keys that change meanwhile;
//!   [`own_token`]: those that this server signs; `verified`: tokens that were verified lately

pub mod audit;
pub mod budget;
pub mod calls;
pub mod capability;
#[cfg(test)]
#[path = "capability_tests.rs"]
mod capability_tests;
mod door;
#[cfg(test)]
#[path = "door_tests.rs"]
mod door_tests;
mod insider;
mod key;
mod key_set;
pub mod own_token;
#[cfg(test)]
#[path = "own_token_tests.rs"]
mod own_token_tests;
mod permission;
#[cfg(test)]
#[path = "permission_tests.rs"]
mod permission_tests;
mod presented;
mod principal;
mod random;
mod revocation;
#[cfg(test)]
#[path = "revocation_tests.rs"]
mod revocation_tests;
mod rows;
mod rule;
#[cfg(test)]
#[path = "rule_tests.rs"]
mod rule_tests;
mod scheme;
pub mod secrets;
#[cfg(test)]
#[path = "secrets_tests.rs"]
mod secrets_tests;
pub mod signature;
mod token;
#[cfg(test)]
#[path = "token_tests.rs"]
mod token_tests;
pub mod users;
#[cfg(test)]
#[path = "users_tests.rs"]
mod users_tests;
mod verified;
#[cfg(test)]
#[path = "verified_tests.rs"]
mod verified_tests;

pub use calls::{
    Admitted, CallRecord, Calls, Limit, Origin, Outcome, Overseer, TooManyCalls, UnreadCall,
};
pub use capability::{Attenuation, Capabilities};
pub use door::{Door, Refusal, Unauthenticated};
pub use insider::Insiders;
pub use key::Keys;
pub use key_set::KeySet;
pub use own_token::{OwnTokens, TokenSecret};
pub use permission::{Bounds, Permission, Permissions, Role, UnknownName};
pub use presented::{Certified, Credentials, Presented};
pub use principal::Principal;
pub use revocation::Revocation;
pub use rule::{FoundRule, RouteRule, Rule};
pub use scheme::{Callers, Hash, Place, Scheme};
pub use secrets::Secrets;
pub use signature::{SignatureCheck, SignatureRule, Signatures, Signer, SigningCaller};
pub use token::Issuer;
pub use users::Users;

/// Why a door cannot be made from its configuration. Each completes "could not ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "use the name {0:?}: it is empty, too long, or contains a colon or a control character"
    )]
    Name(String),
    /// The name would be shown like the caller without credentials.
    #[error("use the name {0:?}: it stands for callers without credentials")]
    Anonymous(String),
    #[error(
        "use the scheme {0:?}: the name is taken, or contains more than letters, digits, - and _"
    )]
    SchemeName(String),
    #[error("read a hash: expected sha256: and 64 hexadecimal digits")]
    Hash,
    #[error("read keys: {0}")]
    Keys(&'static str),
    /// A caller names a key that is not among the keys, or there twice.
    #[error(
        "find the key {0:?} of a caller that signs: no key, or more than one, has this kid and is for ES256, EdDSA, \
         RS256, PS512 or HS256"
    )]
    SigningKey(String),
    /// Two callers name one key.
    #[error("use the key {0:?}: it is named twice, and a key has one caller")]
    SharedKey(String),
    #[error("make a secret: the system gave no random numbers")]
    Random,
    #[error("use {0:?}: it cannot be the name of a header, a parameter or a cookie")]
    Place(String),
}
