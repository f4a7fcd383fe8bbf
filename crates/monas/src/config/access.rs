//! `[access]`: the authentication schemes, each a table of its own.
//!
//! ```toml
//! [access.tokens]
//! type = "bearer"
//! callers = { ada = "sha256:…" }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use access::{Callers, Hash, Place, Unauthenticated};
use toml::de::{DeTable, DeValue};

use super::file::File;
use super::{Error, nearest};

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;

/// Which callers are let in.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// A caller has to satisfy one of them. Without any, all callers are let in.
    pub schemes: Vec<Scheme>,
    /// How callers without credentials are treated.
    pub unauthenticated: Unauthenticated,
}

impl Access {
    /// Whether web pages of any origin can be let in: every call needs a credential, and none of those that a browser adds to
    /// requests of any page by itself, as it does with cookies, passwords that it remembers, and certificates.
    pub fn is_safe_for_any_page(&self) -> bool {
        let ambient = |scheme: &Scheme| {
            matches!(
                scheme.kind,
                Kind::Basic(_) | Kind::MutualTls(_) | Kind::ApiKey(Place::Cookie(_), _)
            )
        };
        self.unauthenticated == Unauthenticated::Refused
            && !self.schemes.is_empty()
            && !self.schemes.iter().any(ambient)
    }
}

/// An authentication scheme of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Its name, as the card has it.
    pub name: String,
    pub description: String,
    pub kind: Kind,
}

/// The kinds of schemes, with their parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A token, in `Authorization: Bearer`.
    Bearer(Callers),
    /// A name and a password, in `Authorization: Basic`.
    Basic(Callers),
    /// A key, in a header, a parameter or a cookie.
    ApiKey(Place, Callers),
    /// A signed token of an authorization server.
    OAuth2 {
        tokens: Tokens,
        /// Where callers get a token.
        token_url: String,
        /// Where a user grants it, for flows with a user.
        authorization_url: Option<String>,
        /// The metadata document of the authorization server.
        metadata_url: Option<String>,
    },
    /// A signed token of an identity provider.
    OpenIdConnect {
        tokens: Tokens,
        /// The discovery document of the provider.
        url: String,
    },
    /// A certificate that one of the authorities in this file has signed.
    MutualTls(PathBuf),
}

/// Which signed tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    pub issuer: String,
    /// The audience that tokens must name: this server.
    pub audience: String,
    pub keys: Keys,
    /// Scopes that a token must have.
    pub scopes: Vec<String>,
}

/// JSON Web Keys that verify tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    File(PathBuf),
    /// Written in the configuration itself.
    Text(String),
}

impl Default for Access {
    /// All callers are let in, as the anonymous caller.
    fn default() -> Self {
        Self {
            schemes: Vec::new(),
            unauthenticated: Unauthenticated::Anonymous,
        }
    }
}

/// All keys that the table of a scheme can have.
const KEYS: &[&str] = &[
    "type",
    "description",
    "callers",
    "header",
    "query",
    "cookie",
    "issuer",
    "audience",
    "keys",
    "scopes",
    "token_url",
    "authorization_url",
    "metadata_url",
    "url",
    "ca",
];

/// Reads the tables below `[access]`.
pub(super) fn read(file: &File<'_>, table: &DeTable<'_>) -> Result<Vec<Scheme>, Error> {
    let mut schemes = Vec::new();
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in members {
        let (name, start) = (key.get_ref().to_string(), key.span().start);
        let DeValue::Table(inner) = value.get_ref() else {
            let problem = format!("`access.{name}` is a table: write [access.{name}]");
            return Err(file.wrong(start, problem));
        };
        let table = Table::new(file, format!("access.{name}"), start, inner);
        schemes.push(table.scheme(name)?);
    }
    Ok(schemes)
}

impl Scheme {
    /// Resolves relative paths against the folder of the configuration file.
    pub(super) fn relative_to(mut self, folder: &Path) -> Self {
        match &mut self.kind {
            Kind::MutualTls(path) => *path = folder.join(&*path),
            Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } => {
                if let Keys::File(path) = &mut tokens.keys {
                    *path = folder.join(&*path);
                }
            }
            Kind::Bearer(_) | Kind::Basic(_) | Kind::ApiKey(..) => {}
        }
        self
    }
}

/// A table that is being read. Keys are removed as they are read; a key that is left at the end is an error.
struct Table<'a> {
    file: &'a File<'a>,
    name: String,
    start: usize,
    left: BTreeMap<String, (usize, &'a DeValue<'a>)>,
}

impl<'a> Table<'a> {
    fn new(file: &'a File<'a>, name: String, start: usize, table: &'a DeTable<'a>) -> Self {
        let members = table.iter().map(|(key, value)| {
            let place = (key.span().start, value.get_ref());
            (key.get_ref().to_string(), place)
        });
        Self {
            file,
            name,
            start,
            left: members.collect(),
        }
    }

    fn scheme(mut self, name: String) -> Result<Scheme, Error> {
        let kind = match &*self.required("type")? {
            "bearer" => Kind::Bearer(self.callers()?),
            "basic" => Kind::Basic(self.callers()?),
            "apiKey" => Kind::ApiKey(self.place()?, self.callers()?),
            "oauth2" => Kind::OAuth2 {
                tokens: self.tokens()?,
                token_url: self.required("token_url")?,
                authorization_url: self.text("authorization_url")?,
                metadata_url: self.text("metadata_url")?,
            },
            "openIdConnect" => {
                let tokens = self.tokens()?;
                let discovery = || {
                    let issuer = tokens.issuer.trim_end_matches('/');
                    format!("{issuer}/.well-known/openid-configuration")
                };
                let url = self.text("url")?.unwrap_or_else(discovery);
                Kind::OpenIdConnect { tokens, url }
            }
            "mutualTLS" => Kind::MutualTls(self.required("ca")?.into()),
            _ => {
                let kinds = "bearer, basic, apiKey, oauth2, openIdConnect or mutualTLS";
                return Err(self.wrong(format!("{}.type: expected {kinds}", self.name)));
            }
        };
        let description = self.text("description")?.unwrap_or_default();
        self.finish()?;
        Ok(Scheme {
            name,
            description,
            kind,
        })
    }

    fn tokens(&mut self) -> Result<Tokens, Error> {
        let keys = self.required("keys")?;
        Ok(Tokens {
            issuer: self.required("issuer")?,
            audience: self.required("audience")?,
            keys: if keys.trim_start().starts_with('{') {
                Keys::Text(keys)
            } else {
                Keys::File(keys.into())
            },
            scopes: self.list("scopes")?,
        })
    }

    fn place(&mut self) -> Result<Place, Error> {
        let names = (
            self.text("header")?,
            self.text("query")?,
            self.text("cookie")?,
        );
        let place = match names {
            (Some(name), None, None) => Place::header(&name),
            (None, Some(name), None) => Place::query(&name),
            (None, None, Some(name)) => Place::cookie(&name),
            _ => {
                let name = &self.name;
                return Err(self.wrong(format!("{name}: set one of header, query and cookie")));
            }
        };
        place.map_err(|error| self.wrong(format!("{}: could not {error}", self.name)))
    }

    /// Names with their secrets: one, several, or a table that adds scopes.
    fn callers(&mut self) -> Result<Callers, Error> {
        let expected = "names with hashes of secrets, such as { ada = \"sha256:…\" }";
        let Some((start, DeValue::Table(table))) = self.left.remove("callers") else {
            return Err(self.wrong(format!("{}.callers: expected {expected}", self.name)));
        };
        let mut callers = Callers::default();
        for (name, value) in table.iter() {
            let (at, name) = (name.span().start, name.get_ref());
            let place = format!("{}.callers.{name}", self.name);
            let (secrets, scopes) = match value.get_ref() {
                DeValue::Table(inner) => {
                    let mut inner = Table::new(self.file, place.clone(), at, inner);
                    let given = (inner.list("secret")?, inner.list("scopes")?);
                    inner.finish()?;
                    given
                }
                value => (self.texts(&place, at, value)?, Vec::new()),
            };
            if secrets.is_empty() {
                return Err(self.file.wrong(at, format!("{place}: expected a secret")));
            }
            for secret in secrets {
                let hash = secret.parse::<Hash>();
                let added = hash.and_then(|hash| callers.add(name, hash, &scopes));
                let wrong = |error| self.file.wrong(at, format!("{place}: could not {error}"));
                added.map_err(wrong)?;
            }
        }
        if callers.is_empty() {
            let problem = format!("{}.callers: expected {expected}", self.name);
            return Err(self.file.wrong(start, problem));
        }
        Ok(callers)
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, Error> {
        match self.left.remove(key) {
            None => Ok(None),
            Some((_, DeValue::String(text))) if !text.is_empty() => Ok(Some(text.to_string())),
            Some((start, _)) => {
                let problem = format!("{}.{key}: expected a text", self.name);
                Err(self.file.wrong(start, problem))
            }
        }
    }

    fn required(&mut self, key: &str) -> Result<String, Error> {
        let text = self.text(key)?;
        text.ok_or_else(|| self.wrong(format!("{}: {key} is missing", self.name)))
    }

    fn list(&mut self, key: &str) -> Result<Vec<String>, Error> {
        match self.left.remove(key) {
            None => Ok(Vec::new()),
            Some((start, value)) => self.texts(&format!("{}.{key}", self.name), start, value),
        }
    }

    /// Reads a text or a list of texts.
    fn texts(&self, place: &str, start: usize, value: &DeValue<'_>) -> Result<Vec<String>, Error> {
        let texts = match value {
            DeValue::String(text) => Some(vec![text.to_string()]),
            DeValue::Array(all) => all
                .iter()
                .map(|it| it.get_ref().as_str().map(str::to_owned))
                .collect(),
            _ => None,
        };
        let wrong = || format!("{place}: expected a text, or a list of texts");
        texts.ok_or_else(|| self.file.wrong(start, wrong()))
    }

    /// Fails if a key is left that was not read.
    fn finish(self) -> Result<(), Error> {
        let first = self.left.iter().min_by_key(|(_, (start, _))| *start);
        match first {
            None => Ok(()),
            Some((key, (start, _))) => {
                let name = format!("{}.{key}", self.name);
                let problem = if KEYS.contains(&&**key) {
                    format!("`{name}` does not belong to this type")
                } else {
                    nearest::unknown(&name, KEYS.iter().copied())
                };
                Err(self.file.wrong(*start, problem))
            }
        }
    }

    fn wrong(&self, problem: String) -> Error {
        self.file.wrong(self.start, problem)
    }
}
