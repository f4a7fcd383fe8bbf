//! Authentication: who is calling.
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
//! - `door`: which callers are admitted, and what the others are told
//! - `presented`: where a request carries credentials, and in what form
//! - `scheme`: authentication schemes; callers known by hashes of their secrets
//! - `insider`: callers inside this process
//! - `token`, `key`: signed tokens (JWT) and the keys that verify them

mod door;
#[cfg(test)]
#[path = "door_tests.rs"]
mod door_tests;
mod insider;
mod key;
mod presented;
mod principal;
mod scheme;
mod token;
#[cfg(test)]
#[path = "token_tests.rs"]
mod token_tests;

pub use door::{Door, Refusal, Unauthenticated};
pub use insider::Insiders;
pub use key::Keys;
pub use presented::{Certified, Credentials, Presented};
pub use principal::Principal;
pub use scheme::{Callers, Hash, Place, Scheme};
pub use token::Issuer;

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
    #[error("make a secret: the system gave no random numbers")]
    Random,
    #[error("use {0:?}: it cannot be the name of a header, a parameter or a cookie")]
    Place(String),
}
