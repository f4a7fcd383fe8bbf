//! Secrets that agents use: keys of models, passwords for pages, headers of tool servers. They are data, sealed at rest, and
//! used by name.
//!
//! A setting that takes a secret takes `secret:NAME` in its place, and `${secret:NAME}` as a part of it ([`expand`]). The value
//! is looked up when it is used, so that a changed secret needs no restart.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::{Mutex, RwLock};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use store::{Batch, Column, Row, Store, Table, Value};

use crate::random::{NoRandom, random};
use crate::rows::{self, seconds};

/// The secrets, by name. The body is sealed.
pub static SECRETS: Table = Table {
    name: "secrets",
    columns: &[Column::integer("changed")],
    indexes: &[],
};

/// The tables of this module.
pub static TABLES: &[&Table] = &[&SECRETS];

/// The length of the key that seals, in bytes.
pub const KEY_BYTES: usize = 32;

/// How many secrets there may be, how long a name is, and how long a value, in bytes.
const MAX_SECRETS: usize = 1_000;
const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 64 << 10;

/// What stands before the name where a secret is meant.
pub const REFERENCE: &str = "secret:";

/// Why a secret is not kept or found. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "use {0:?} as the name of a secret: it has up to {MAX_NAME} letters, digits and characters of -_."
    )]
    Name(String),
    #[error("keep the secret: it is empty, or longer than {MAX_VALUE} bytes")]
    Value,
    #[error("find the secret {0:?}; make it with: monas secret set {0}")]
    Unknown(String),
    #[error("keep the secret: there are {MAX_SECRETS} already; remove some")]
    TooMany,
    /// The key file is missing, damaged, or another one.
    #[error("open the secret {name:?}: {problem}")]
    Sealed { name: String, problem: String },
    /// The key file is not read or not made.
    #[error("use the key of secrets: {0}")]
    Key(#[from] NoSealingKey),
    /// `${secret:` has no end.
    #[error("read {0:?}: \"${{secret:\" without a closing \"}}\"")]
    Unclosed(String),
    #[error("keep secrets: this program keeps no data")]
    NotKept,
    #[error("seal the secret: the system gave no random numbers")]
    Random,
    #[error("record the secret: {0}")]
    Store(#[from] store::Error),
}

impl From<NoRandom> for Error {
    fn from(_: NoRandom) -> Self {
        Self::Random
    }
}

/// Whether a key that does not exist is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFile {
    Expected,
    MadeIfMissing,
}

/// Gives the key that seals: reads it where it is kept, or makes it there.
pub type FindSealingKey =
    Arc<dyn Fn(KeyFile) -> Result<[u8; KEY_BYTES], NoSealingKey> + Send + Sync>;

/// Why the key that seals secrets cannot be read or made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoSealingKey(pub String);

/// Is told each value that must not be shown, as soon as this process knows it.
pub type OnValue = Arc<dyn Fn(&str) + Send + Sync>;

/// What may be known of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret {
    pub name: String,
    /// In seconds since 1970, as `changed`.
    pub created: u64,
    pub changed: u64,
}

/// All secrets of a server. Clones share them.
///
/// A value is sealed with ChaCha20-Poly1305 under one key, which is not in the store; the name of the secret is
/// authenticated with it, so that a row cannot take the place of another. Values are sealed in memory, too, and opened when
/// they are used.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// `None` where there are no secrets.
    kept: Option<Kept>,
    all: RwLock<BTreeMap<String, Entry>>,
}

struct Kept {
    store: Store,
    find: FindSealingKey,
    on_value: OnValue,
    key: Mutex<Option<Arc<LessSafeKey>>>,
}

#[derive(Clone)]
struct Entry {
    created: u64,
    changed: u64,
    /// A nonce, and what is sealed with it.
    sealed: Arc<[u8]>,
}

/// The body of a row.
#[derive(Serialize, Deserialize)]
struct Stored {
    created: u64,
    /// In base64.
    sealed: String,
}

impl Secrets {
    /// The secrets in a store. The key is looked for if there are any.
    pub async fn open(
        store: Store,
        find: FindSealingKey,
        on_value: OnValue,
    ) -> Result<Self, store::Error> {
        let mut all = BTreeMap::new();
        for row in rows::all(&store, &SECRETS).await? {
            match Entry::of_row(&row) {
                Some(entry) => drop(all.insert(row.key, entry)),
                None => tracing::warn!(name = row.key, "stored secret cannot be read"),
            }
        }
        let secrets = Self(Arc::new(Inner {
            kept: Some(Kept {
                store,
                find,
                on_value,
                key: Mutex::default(),
            }),
            all: RwLock::new(all),
        }));
        for secret in secrets.list() {
            if let Err(error) = secrets.reveal(&secret.name) {
                tracing::warn!("could not {error}");
            }
        }
        Ok(secrets)
    }

    /// Keeps a value under a name, in place of the one before. It is committed when this returns.
    pub async fn set(&self, name: &str, value: &str, now: SystemTime) -> Result<Secret, Error> {
        if !is_secret_name(name) {
            return Err(Error::Name(name.to_owned()));
        }
        if value.is_empty() || value.len() > MAX_VALUE {
            return Err(Error::Value);
        }
        let kept = self.kept()?;
        // A new key beside secrets of the old one would hide that the old one is lost.
        let made = match self.0.all.read().is_empty() {
            true => KeyFile::MadeIfMissing,
            false => KeyFile::Expected,
        };
        let key = kept.key(made)?;
        (kept.on_value)(value);
        let sealed = seal(&key, name, value)?;
        let (secret, before, commit) = {
            let mut all = self.0.all.write();
            if all.len() >= MAX_SECRETS && !all.contains_key(name) {
                return Err(Error::TooMany);
            }
            let now = seconds(now);
            let before = all.get(name).cloned();
            let entry = Entry {
                created: before.as_ref().map_or(now, |it| it.created),
                changed: now,
                sealed,
            };
            let commit = kept
                .store
                .commit(Batch::new().put(&SECRETS, entry.row(name)));
            let secret = entry.shown(name);
            all.insert(name.to_owned(), entry);
            (secret, before, commit)
        };
        if let Err(error) = commit.await {
            let mut all = self.0.all.write();
            match before {
                Some(before) => drop(all.insert(name.to_owned(), before)),
                None => drop(all.remove(name)),
            }
            return Err(error.into());
        }
        Ok(secret)
    }

    /// Removes a secret. What uses it fails from then on.
    pub async fn remove(&self, name: &str) -> Result<Secret, Error> {
        let kept = self.kept()?;
        let (secret, commit) = {
            let all = self.0.all.read();
            let entry = all.get(name).ok_or_else(|| unknown(name))?;
            let batch = Batch::new().delete(&SECRETS, name);
            (entry.shown(name), kept.store.commit(batch))
        };
        commit.await?;
        self.0.all.write().remove(name);
        Ok(secret)
    }

    /// The names of all secrets; no values.
    pub fn list(&self) -> Vec<Secret> {
        let all = self.0.all.read();
        let shown = all.iter().map(|(name, entry)| entry.shown(name));
        shown.collect()
    }

    /// The value of a secret, for the one who uses it.
    pub fn reveal(&self, name: &str) -> Result<String, Error> {
        let entry = self.0.all.read().get(name).cloned();
        let (Some(kept), Some(entry)) = (&self.0.kept, entry) else {
            return Err(unknown(name));
        };
        let key = kept.key(KeyFile::Expected).map_err(|error| Error::Sealed {
            name: name.to_owned(),
            problem: format!("could not {error}"),
        })?;
        let value = open(&key, name, &entry.sealed).ok_or_else(|| Error::Sealed {
            name: name.to_owned(),
            problem:
                "it was sealed with another key; restore the key file, or set the secret again"
                    .to_owned(),
        })?;
        (kept.on_value)(&value);
        Ok(value)
    }

    /// A text with the secrets that it names ([`expand`]).
    pub fn expand(&self, text: &str) -> Result<String, Error> {
        expand(text, |name| self.reveal(name))
    }

    fn kept(&self) -> Result<&Kept, Error> {
        self.0.kept.as_ref().ok_or(Error::NotKept)
    }
}

impl Kept {
    fn key(&self, file: KeyFile) -> Result<Arc<LessSafeKey>, Error> {
        let mut known = self.key.lock();
        if let Some(key) = &*known {
            return Ok(key.clone());
        }
        let bytes = (self.find)(file)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes);
        let key = key.map_err(|_| NoSealingKey("it has a wrong length".to_owned()))?;
        let key = Arc::new(LessSafeKey::new(key));
        *known = Some(key.clone());
        Ok(key)
    }
}

/// A new key that seals.
pub fn new_key() -> Result<[u8; KEY_BYTES], Error> {
    Ok(random()?)
}

/// The name that a text refers to as a whole: `secret:NAME`.
pub fn reference(text: &str) -> Option<&str> {
    text.strip_prefix(REFERENCE)
}

/// A text with its secrets: `secret:NAME` is one as a whole, and `${secret:NAME}` is replaced where it stands.
pub fn expand<E: From<Error>>(
    text: &str,
    find: impl Fn(&str) -> Result<String, E>,
) -> Result<String, E> {
    if let Some(name) = reference(text) {
        return find(name);
    }
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${secret:") {
        let unclosed = || Error::Unclosed(text.to_owned());
        let (name, after) = after.split_once('}').ok_or_else(unclosed)?;
        expanded.push_str(before);
        expanded.push_str(&find(name)?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Whether a text names a secret.
pub fn has_reference(text: &str) -> bool {
    reference(text).is_some() || text.contains("${secret:")
}

fn unknown(name: &str) -> Error {
    Error::Unknown(name.to_owned())
}

fn is_secret_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(plain) && !text.starts_with('.')
}

fn seal(key: &LessSafeKey, name: &str, value: &str) -> Result<Arc<[u8]>, Error> {
    let nonce = random::<NONCE_LEN>()?;
    let mut sealed = value.as_bytes().to_vec();
    let done = key.seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::from(name),
        &mut sealed,
    );
    done.map_err(|_| Error::Value)?;
    Ok([&nonce[..], &sealed].concat().into())
}

fn open(key: &LessSafeKey, name: &str, sealed: &[u8]) -> Option<String> {
    let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let mut opened = sealed.to_vec();
    let value = key.open_in_place(nonce, Aad::from(name), &mut opened);
    String::from_utf8(value.ok()?.to_vec()).ok()
}

impl Entry {
    fn shown(&self, name: &str) -> Secret {
        Secret {
            name: name.to_owned(),
            created: self.created,
            changed: self.changed,
        }
    }

    fn row(&self, name: &str) -> Row {
        let stored = Stored {
            created: self.created,
            sealed: STANDARD.encode(&self.sealed),
        };
        Row {
            key: name.to_owned(),
            columns: vec![i64::try_from(self.changed).unwrap_or(i64::MAX).into()],
            body: serde_json::to_vec(&stored).unwrap_or_default().into(),
        }
    }

    fn of_row(row: &Row) -> Option<Self> {
        let [Value::Integer(changed)] = &row.columns[..] else {
            return None;
        };
        let stored: Stored = serde_json::from_slice(&row.body).ok()?;
        Some(Self {
            created: stored.created,
            changed: u64::try_from(*changed).ok()?,
            sealed: STANDARD.decode(stored.sealed).ok()?.into(),
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.all.read().len();
        f.debug_tuple("Secrets").field(&count).finish()
    }
}
