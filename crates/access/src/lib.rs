//! Who is calling.
//!
//! A [`Door`] knows the [schemes](Scheme) by which callers prove who they are. It is asked about each request,
//! and answers with a [`Principal`] or with a [`Refusal`] that says what to show instead. It is pure: what a
//! request bears and the time are arguments, and nothing is fetched from anywhere.
//!
//! ```
//! use access::{Callers, Door, Hash, Scheme, Shown};
//! use http::{HeaderMap, HeaderValue};
//! use std::time::SystemTime;
//!
//! # fn main() -> Result<(), access::Error> {
//! let mut callers = Callers::default();
//! callers.add("ada", Hash::of("a-long-random-token"), &[])?;
//! let door = Door::new(vec![("tokens".to_owned(), Scheme::Bearer(callers))])?;
//!
//! let mut headers = HeaderMap::new();
//! let refusal = door.admit(&Shown::headers(&headers), SystemTime::now()).unwrap_err();
//! assert_eq!(refusal.challenges(), [r#"Bearer realm="monas""#]);
//!
//! headers.insert("authorization", HeaderValue::from_static("Bearer a-long-random-token"));
//! let ada = door.admit(&Shown::headers(&headers), SystemTime::now()).unwrap();
//! assert_eq!((ada.name(), ada.scheme()), ("ada", "tokens"));
//! # Ok(()) }
//! ```
//!
//! Layout:
//! - `principal`: who is calling
//! - `door`: who is let in, and what those are told who are not
//! - `shown`: what a request, or a caller in so many words, shows
//! - `scheme`: the ways to prove who one is; callers known by hashes of their secrets
//! - `insider`: callers of the same process
//! - `token`, `key`: signed tokens (JWT) and the keys that verify them

mod door;
#[cfg(test)]
#[path = "door_tests.rs"]
mod door_tests;
mod insider;
mod key;
mod principal;
mod scheme;
mod shown;
mod token;
#[cfg(test)]
#[path = "token_tests.rs"]
mod token_tests;

pub use door::{Door, Refusal, Strangers};
pub use insider::Insiders;
pub use key::Keys;
pub use principal::Principal;
pub use scheme::{Callers, Hash, Place, Scheme};
pub use shown::{Certified, Credentials, Shown};
pub use token::Issuer;

/// Why a door cannot be made of what it was given. Each completes "could not ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that cannot be one.
    #[error(
        "use the name {0:?}: it is empty, too long, or has a colon or something invisible in it"
    )]
    Name(String),
    /// A name for a scheme that a card cannot have, or that is taken.
    #[error(
        "use the scheme {0:?}: its name is taken, or has more in it than letters, digits, - and _"
    )]
    SchemeName(String),
    /// What should be a hash is none.
    #[error("use a hash: it is not sha256: and 64 hexadecimal digits")]
    Hash,
    /// What should be keys are none.
    #[error("read keys: {0}")]
    Keys(&'static str),
    /// The system has no random numbers.
    #[error("make a secret: the system gave no random numbers")]
    Random,
    /// What callers are to be asked for cannot be a header, a parameter or a cookie.
    #[error("use {0:?}: it cannot be the name of a header, a parameter or a cookie")]
    Place(String),
}
