//! `[access]`: the authentication schemes, each a table of its own.
//!
//! ```toml
//! [access.tokens]
//! type = "bearer"
//! callers = { ada = "sha256:…" }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use access::{
    Callers, Hash, Place, Role, SignatureRule, SigningCaller, TokenSecret, Unauthenticated,
};
use toml::de::{DeTable, DeValue};

use super::file::File;
use super::settings::{Settings, find};
use super::value::{self, Raw};
use super::{Error, nearest};

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;

/// The environment variable with the secret that other programs sign tokens with.
pub(super) const SECRET_VARIABLE: &str = "JWT_SECRET";

/// Which callers are let in. The default lets in those with a token of the server itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The schemes of the configuration. A caller has to satisfy one of them, or to have a token of the server.
    pub schemes: Vec<Scheme>,
    /// How callers without credentials are treated.
    pub unauthenticated: Unauthenticated,
    pub own_tokens: OwnTokens,
    /// The role of callers for which nothing else says it.
    pub default_role: Role,
    /// Whether all callers have to sign their requests.
    pub signatures: SignatureRule,
}

/// Whether tokens of the server itself are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnTokens {
    Off,
    /// Those that are signed with the secret in the data folder, or with the other one if there is one.
    On {
        other: Option<TokenSecret>,
    },
}

value::words!(Role: "viewer, user, operator or admin" {
    "viewer" => Role::Viewer,
    "user" => Role::User,
    "operator" => Role::Operator,
    "admin" => Role::Admin,
});

value::words!(SignatureRule: "optional or required" {
    "optional" => SignatureRule::Optional,
    "required" => SignatureRule::Required,
});

impl Access {
    /// All callers are let in, as the anonymous one, and no credential is looked at: for tests, and for servers that
    /// programs start for themselves.
    pub fn open() -> Self {
        Self {
            schemes: Vec::new(),
            unauthenticated: Unauthenticated::Anonymous,
            own_tokens: OwnTokens::Off,
            default_role: Role::default(),
            signatures: SignatureRule::Optional,
        }
    }

    /// Whether callers can prove a name at all.
    pub fn asks(&self) -> bool {
        !self.schemes.is_empty() || self.own_tokens != OwnTokens::Off
    }

    /// Whether every caller has to show a credential.
    pub fn is_closed(&self) -> bool {
        self.asks() && self.unauthenticated == Unauthenticated::Refused
    }

    /// Whether a scheme reads signatures of requests.
    pub fn reads_signatures(&self) -> bool {
        let signature = |scheme: &Scheme| matches!(scheme.kind, Kind::Signature { .. });
        self.schemes.iter().any(signature)
    }

    /// Whether web pages of any origin can be let in: every call needs a credential, and none of those that a browser adds to
    /// requests of any page by itself, as it does with cookies, passwords that it remembers, and certificates.
    pub fn is_safe_for_any_page(&self) -> bool {
        let ambient = |scheme: &Scheme| {
            matches!(
                scheme.kind,
                Kind::Basic(_) | Kind::MutualTls(_) | Kind::ApiKey(Place::Cookie(_), _)
            )
        };
        self.is_closed() && !self.schemes.iter().any(ambient)
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
    /// A signature of each request, by a key of the caller.
    Signature {
        keys: Keys,
        callers: Vec<SigningCaller>,
    },
}

/// Which signed tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    pub issuer: String,
    /// The audiences of which tokens must name one: this server, by its names.
    pub audience: Vec<String>,
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
    /// Fetched from the issuer, which publishes them: its metadata are at this address, or else at its well-known ones.
    Published(Option<String>),
}

impl Default for Access {
    fn default() -> Self {
        Self {
            unauthenticated: Unauthenticated::Refused,
            own_tokens: OwnTokens::On { other: None },
            ..Self::open()
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
    "required",
];

/// Reads `[access]`: the settings in it, and the schemes, which are the tables below it.
pub(super) fn read(
    file: &File<'_>,
    table: &DeTable<'_>,
    settings: &mut Settings,
) -> Result<Vec<Scheme>, Error> {
    let mut schemes = Vec::new();
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in members {
        let (name, start) = (key.get_ref().to_string(), key.span().start);
        let setting = format!("access.{name}");
        if find(&setting).is_some() {
            let set = settings.set(&setting, Raw::Toml(value.get_ref()));
            let wrong = |expected| file.wrong(start, format!("{setting}: expected {expected}"));
            set.map_err(wrong)?;
            continue;
        }
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
            Kind::Signature { keys, .. } => {
                if let Keys::File(path) = keys {
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
            "oauth2" => {
                let metadata_url = self.text("metadata_url")?;
                Kind::OAuth2 {
                    tokens: self.tokens(metadata_url.clone())?,
                    token_url: self.required("token_url")?,
                    authorization_url: self.text("authorization_url")?,
                    metadata_url,
                }
            }
            "openIdConnect" => {
                let url = self.text("url")?;
                let tokens = self.tokens(url.clone())?;
                let discovery = || {
                    let issuer = tokens.issuer.trim_end_matches('/');
                    format!("{issuer}/.well-known/openid-configuration")
                };
                let url = url.unwrap_or_else(discovery);
                Kind::OpenIdConnect { tokens, url }
            }
            "mutualTLS" => Kind::MutualTls(self.required("ca")?.into()),
            "signature" => Kind::Signature {
                keys: self.keys()?,
                callers: self.signing_callers()?,
            },
            _ => {
                let kinds = "bearer, basic, apiKey, oauth2, openIdConnect, mutualTLS or signature";
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

    /// Reads which tokens are accepted; `metadata` is where the metadata of their issuer are, if that is configured.
    fn tokens(&mut self, metadata: Option<String>) -> Result<Tokens, Error> {
        let issuer = self.required("issuer")?;
        let audience = self.list("audience")?;
        if audience.is_empty() || audience.iter().any(String::is_empty) {
            return Err(self.wrong(format!("{}: audience is missing", self.name)));
        }
        let keys = match self.text("keys")? {
            Some(keys) if keys.trim_start().starts_with('{') => Keys::Text(keys),
            Some(keys) => Keys::File(keys.into()),
            None => Keys::Published(metadata),
        };
        if let Keys::Published(metadata) = &keys {
            for address in std::iter::once(&issuer).chain(metadata) {
                self.check_fetched(address)?;
            }
        }
        Ok(Tokens {
            issuer,
            audience,
            keys,
            scopes: self.list("scopes")?,
        })
    }

    /// JSON Web Keys, or a file of them.
    fn keys(&mut self) -> Result<Keys, Error> {
        let keys = self.required("keys")?;
        Ok(match keys.trim_start().starts_with('{') {
            true => Keys::Text(keys),
            false => Keys::File(keys.into()),
        })
    }

    /// Names with the ids of their keys: one, several, or a table that adds scopes and whether they have to sign.
    fn signing_callers(&mut self) -> Result<Vec<SigningCaller>, Error> {
        let expected = "names with ids of keys, such as { ada = \"ada-2026\" }";
        let wrong = format!("{}.callers: expected {expected}", self.name);
        let Some((_, DeValue::Table(table))) = self.left.remove("callers") else {
            return Err(self.wrong(wrong));
        };
        let mut callers = Vec::new();
        for (name, value) in table.iter() {
            let (at, name) = (name.span().start, name.get_ref());
            let place = format!("{}.callers.{name}", self.name);
            let mut caller = SigningCaller {
                name: name.to_string(),
                ..SigningCaller::default()
            };
            match value.get_ref() {
                DeValue::Table(inner) => {
                    let mut inner = Table::new(self.file, place.clone(), at, inner);
                    caller.keys = inner.list("keys")?;
                    caller.scopes = inner.list("scopes")?;
                    caller.required = inner.switch("required")?;
                    inner.finish()?;
                }
                value => caller.keys = self.texts(&place, at, value)?,
            }
            if caller.keys.is_empty() {
                let problem = format!("{place}: expected the id of a key");
                return Err(self.file.wrong(at, problem));
            }
            callers.push(caller);
        }
        match callers.is_empty() {
            true => Err(self.wrong(wrong)),
            false => Ok(callers),
        }
    }

    /// Reads `true` or `false`; without the key it is false.
    fn switch(&mut self, key: &str) -> Result<bool, Error> {
        match self.left.remove(key) {
            None => Ok(false),
            Some((_, DeValue::Boolean(value))) => Ok(*value),
            Some((start, _)) => {
                let problem = format!("{}.{key}: expected true or false", self.name);
                Err(self.file.wrong(start, problem))
            }
        }
    }

    /// What is fetched decides who may call: it comes encrypted, or from this machine.
    fn check_fetched(&self, address: &str) -> Result<(), Error> {
        let read = address.parse::<oauth::Address>();
        match read.is_ok_and(|it| it.is_encrypted() || it.is_loopback()) {
            true => Ok(()),
            false => Err(self.wrong(format!(
                "{}: its keys are fetched from {address:?}, which must be https, or http on loopback; or name a file of \
                 keys",
                self.name
            ))),
        }
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
