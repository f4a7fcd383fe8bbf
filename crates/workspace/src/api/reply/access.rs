//! Replies about users, keys, secrets and sessions. Times are RFC 3339.

use serde::{Deserialize, Serialize};

/// The reply to `GET /api/users`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserList {
    pub users: Vec<ListedUser>,
}

/// A user of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedUser {
    pub name: String,
    pub role: String,
    /// How many API keys it has.
    pub keys: usize,
    pub created: String,
    /// What else is to be known, where it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The reply to `POST /api/users`: the user, and either a link or a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedUser {
    pub user: ListedUser,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<SavedLink>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<NewApiKey>,
}

/// A sign-in link: the only place where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLink {
    /// The address of the page, with the secret in its fragment.
    pub url: String,
    pub user: String,
    pub expires: String,
}

/// The reply to `GET /api/keys`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyList {
    pub keys: Vec<ListedKey>,
}

/// An API key, without its secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedKey {
    pub id: String,
    pub user: String,
    /// The purpose of the secret.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How far it reaches; none stands for all that its user may.
    pub scopes: Vec<String>,
    /// The key that it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<String>,
}

/// The reply to `POST /api/keys`: the only place where the secret stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewApiKey {
    pub secret: String,
    #[serde(flatten)]
    pub key: ListedKey,
}

/// The reply to `GET /api/secrets`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretList {
    pub secrets: Vec<ListedSecret>,
}

/// A secret, without its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedSecret {
    pub name: String,
    pub created: String,
    pub changed: String,
}

/// The reply to `GET /api/session`: what the caller is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub user: String,
    /// What authenticated it; empty for the anonymous caller.
    pub scheme: String,
    /// Its role, if it is a user of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub permissions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// Whether its credential was lent to read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The only session that it may see, if its credential was lent for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The reply to `POST /api/session`: a token for the user of the sign-in link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuedToken {
    pub token: String,
    pub user: String,
    pub expires: String,
}
