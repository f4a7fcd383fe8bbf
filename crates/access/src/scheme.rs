//! Authentication schemes, and callers known by hashes of their secrets.

use std::fmt;
use std::str::FromStr;

use http::HeaderName;
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use crate::Error;
use crate::own_token::OwnTokens;
use crate::principal::{ANONYMOUS, is_name};
use crate::signature::Signatures;
use crate::token::Issuer;

/// One way to authenticate, with the callers or issuer it accepts.
#[derive(Debug)]
#[non_exhaustive]
pub enum Scheme {
    /// An opaque token: `Authorization: Bearer …`.
    Bearer(Callers),
    /// A name and a password: `Authorization: Basic …`.
    Basic(Callers),
    /// An API key in a header, a query parameter or a cookie.
    ApiKey(Place, Callers),
    /// A signed token (JWT) of an issuer: `Authorization: Bearer …`, for OAuth 2.0 and OpenID Connect.
    Token(Issuer),
    /// A token that is signed with a secret of this server: `Authorization: Bearer …`.
    Own(OwnTokens),
    /// A client certificate, which TLS has verified.
    Certificate,
    /// A signature of the whole request, by a key of the caller.
    Signature(Signatures),
}

impl Scheme {
    /// Changes whenever the keys that verify its tokens do.
    pub(crate) fn generation(&self) -> u64 {
        match self {
            Self::Token(issuer) => issuer.generation(),
            _ => 0,
        }
    }
}

/// Where a request carries an API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Header(HeaderName),
    Query(String),
    Cookie(String),
}

impl Place {
    /// A header, except those that have a scheme or a meaning of their own.
    pub fn header(name: &str) -> Result<Self, Error> {
        let wrong = |_| Error::Place(name.to_owned());
        let name: HeaderName = name.parse().map_err(wrong)?;
        if matches!(name.as_str(), "authorization" | "cookie" | "host") {
            return Err(Error::Place(name.to_string()));
        }
        Ok(Self::Header(name))
    }

    pub fn query(name: &str) -> Result<Self, Error> {
        word(name).map(Self::Query)
    }

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
    /// As it stands in a challenge.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, r#"header="{name}""#),
            Self::Query(name) => write!(f, r#"query="{name}""#),
            Self::Cookie(name) => write!(f, r#"cookie="{name}""#),
        }
    }
}

/// The SHA-256 of a secret. A plain hash is enough because secrets here are long and random; passwords that people
/// choose need a slow hash and are not meant for this.
#[derive(Clone, Copy, PartialEq, Eq, std::hash::Hash)]
pub struct Hash([u8; 32]);

impl Hash {
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

/// Callers from the configuration, each with the hash of its secret. A caller may have several secrets, so that one can
/// be replaced while both are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callers(Vec<Caller>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    hash: Hash,
}

impl Callers {
    /// Adds a secret of a caller. The name has no colon: names with one come from tokens and certificates.
    pub fn add(&mut self, name: &str, hash: Hash, scopes: &[String]) -> Result<(), Error> {
        if !is_name(name) || name.contains(':') {
            return Err(Error::Name(name.to_owned()));
        }
        // Grants and sources are kept under what the anonymous caller is shown as.
        if name.eq_ignore_ascii_case(ANONYMOUS) {
            return Err(Error::Anonymous(name.to_owned()));
        }
        self.0.push(Caller {
            name: name.to_owned(),
            scopes: scopes.to_vec(),
            hash,
        });
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a caller of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|caller| caller.name == name)
    }

    /// The caller with this secret, and with this name if one is given. All secrets are compared, each in constant
    /// time, so that the time taken tells nothing about which ones exist.
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
