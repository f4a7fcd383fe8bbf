//! The ways to prove who one is.

use std::fmt;
use std::str::FromStr;

use http::HeaderName;
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use crate::Error;
use crate::principal::is_name;
use crate::token::Issuer;

/// A way to prove who one is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Scheme {
    /// A token that says nothing by itself: `Authorization: Bearer …`.
    Bearer(Callers),
    /// A name and a password: `Authorization: Basic …`.
    Basic(Callers),
    /// A key, in a place of its own.
    ApiKey(Place, Callers),
    /// A signed token of somebody who knows the caller: `Authorization: Bearer …`, for OAuth 2.0 and OpenID
    /// Connect.
    Token(Issuer),
    /// A certificate, which the connection has been verified with.
    Certificate,
}

/// Where a key is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a header of this name.
    Header(HeaderName),
    /// In a parameter of the address.
    Query(String),
    /// In a cookie.
    Cookie(String),
}

impl Place {
    /// A header.
    pub fn header(name: &str) -> Result<Self, Error> {
        let wrong = |_| Error::Place(name.to_owned());
        // What has a meaning of its own has its own scheme.
        let name: HeaderName = name.parse().map_err(wrong)?;
        if matches!(name.as_str(), "authorization" | "cookie" | "host") {
            return Err(Error::Place(name.to_string()));
        }
        Ok(Self::Header(name))
    }

    /// A parameter of the address.
    pub fn query(name: &str) -> Result<Self, Error> {
        word(name).map(Self::Query)
    }

    /// A cookie.
    pub fn cookie(name: &str) -> Result<Self, Error> {
        word(name).map(Self::Cookie)
    }
}

/// A name that needs no encoding anywhere.
fn word(text: &str) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || !text.chars().all(plain) {
        return Err(Error::Place(text.to_owned()));
    }
    Ok(text.to_owned())
}

impl fmt::Display for Place {
    /// As a challenge has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, r#"header="{name}""#),
            Self::Query(name) => write!(f, r#"query="{name}""#),
            Self::Cookie(name) => write!(f, r#"cookie="{name}""#),
        }
    }
}

/// A secret that is known by its hash alone. Secrets are random and long, so that a plain hash will do; a
/// password that a person has thought of is neither.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of a secret.
    pub fn of(secret: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(secret).into())
    }
}

impl FromStr for Hash {
    type Err = Error;

    /// Reads `sha256:` and 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.strip_prefix("sha256:").ok_or(Error::Hash)?.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() {
            return Err(Error::Hash);
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or(Error::Hash);
            let value = digit(pair[0])? * 16 + digit(pair[1])?;
            *byte = u8::try_from(value).map_err(|_| Error::Hash)?;
        }
        Ok(Self(hash))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash(not shown)")
    }
}

/// Callers whom the server knows itself, by the hashes of their secrets. One may have several, so that a secret
/// can be replaced by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callers(Vec<Caller>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    hash: Hash,
}

impl Callers {
    /// Adds a secret of the caller of this name. A colon is for names that others give.
    pub fn add(&mut self, name: &str, hash: Hash, scopes: &[String]) -> Result<(), Error> {
        if !is_name(name) || name.contains(':') {
            return Err(Error::Name(name.to_owned()));
        }
        self.0.push(Caller {
            name: name.to_owned(),
            scopes: scopes.to_vec(),
            hash,
        });
        Ok(())
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Who has this secret; of this name, if there is one to be right as well. It takes the same time for
    /// everyone: all are compared.
    pub(crate) fn holding(&self, secret: &str, name: Option<&str>) -> Option<&Caller> {
        let hash = Hash::of(secret);
        let mut found = u64::MAX;
        for (index, caller) in (0_u64..).zip(&self.0) {
            let known = caller.hash.0.ct_eq(&hash.0);
            let named = name.map_or(1, |name| u8::from(name == caller.name));
            found.conditional_assign(&index, known & named.into());
        }
        self.0.get(usize::try_from(found).ok()?)
    }
}
