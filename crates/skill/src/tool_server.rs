//! A server of tools, as a manifest or a `mcp.json` describes it. Its tools are used as skills.

use std::collections::BTreeMap;
use std::fmt;

use access::Permission;
use serde::{Deserialize, Deserializer};

/// A server of tools: a program that is started, or a place that is called.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolServer {
    #[serde(default)]
    pub command: Option<String>,
    /// What it is started with.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment, besides what every program needs. It sees nothing else of ours.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub url: Option<String>,
    /// Headers that are sent there.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How tokens for it are got, if it asks for some. None: as its own answers say, with a person who agrees.
    #[serde(default)]
    pub oauth: Option<ToolSignIn>,
    /// The tools that may be used, by the server's own names. None: all.
    #[serde(default)]
    pub allow: Option<Vec<String>>,
    /// Its tools are for the agent's own skills; callers are not offered them.
    #[serde(default)]
    pub hidden: bool,
    /// How long a call may take. None: as long as any skill.
    #[serde(default)]
    pub seconds: Option<u64>,
    /// Its annotations are believed: a tool with `readOnlyHint` is treated like a read-only skill of this program.
    #[serde(default)]
    pub trust_hints: bool,
    /// The permission that callers of its tools need. None: the one that fits the annotations of each.
    #[serde(default, deserialize_with = "permission")]
    pub permission: Option<Permission>,
    /// The scopes that callers of its tools need beside the permission.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// It is not used.
    #[serde(default)]
    pub disabled: bool,
}

/// How tokens for a server of tools are got (OAuth). Each may be left out.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSignIn {
    /// The client that the authorization server knows. None: one is registered.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// The private key (PKCS #8, PEM) of a client that authenticates by signed statements.
    pub private_key: Option<String>,
    /// The authorization server that the client is for; it is shown to no other.
    pub issuer: Option<String>,
    /// The address of a document that describes this client, for servers that take it as a client id.
    pub client_metadata_url: Option<String>,
    /// Scopes to ask for besides those that the server names.
    pub scopes: Vec<String>,
    /// The client itself is the caller: no person is asked.
    pub client_credentials: bool,
    /// A signed statement of another issuer about this program, which is exchanged for a token (RFC 7523).
    pub assertion: Option<String>,
    /// A company's identity provider, which decides for its users.
    pub enterprise: Option<ToolEnterprise>,
}

/// Where a company's identity provider exchanges the token of a user.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolEnterprise {
    pub token_url: String,
    pub client_id: String,
    /// The user's token of the provider.
    pub id_token: String,
}

impl fmt::Debug for ToolEnterprise {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEnterprise")
            .field("token_url", &self.token_url)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolSignIn {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSignIn")
            .field("client_id", &self.client_id)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

impl ToolSignIn {
    /// Every text of it, for variables that are replaced by their values.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let enterprise = self
            .enterprise
            .as_mut()
            .map(|it| [&mut it.token_url, &mut it.client_id, &mut it.id_token]);
        self.client_id
            .iter_mut()
            .chain(&mut self.client_secret)
            .chain(&mut self.private_key)
            .chain(&mut self.issuer)
            .chain(&mut self.client_metadata_url)
            .chain(&mut self.scopes)
            .chain(&mut self.assertion)
            .chain(enterprise.into_iter().flatten())
    }
}

/// What is wrong with the description of a tool server. Each text follows the name of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolServerFault {
    #[error("needs a command or a url, not both")]
    CommandOrUrl,
    #[error("has an empty command")]
    EmptyCommand,
    #[error("has headers or oauth, which a program does not get")]
    HeadersOfProgram,
    #[error("has arguments or an environment, which only a program gets")]
    ArgumentsOfUrl,
    #[error("has a url that is neither http:// nor https://")]
    Url,
}

impl ToolServer {
    /// Checks that it describes either a program or an address.
    pub fn check(&self) -> Result<(), ToolServerFault> {
        match (&self.command, &self.url) {
            (Some(_), Some(_)) | (None, None) => Err(ToolServerFault::CommandOrUrl),
            (Some(command), None) if command.trim().is_empty() => {
                Err(ToolServerFault::EmptyCommand)
            }
            (Some(_), None) if !self.headers.is_empty() || self.oauth.is_some() => {
                Err(ToolServerFault::HeadersOfProgram)
            }
            (None, Some(_)) if !self.args.is_empty() || !self.env.is_empty() => {
                Err(ToolServerFault::ArgumentsOfUrl)
            }
            (None, Some(url)) if !["http://", "https://"].iter().any(|it| url.starts_with(it)) => {
                Err(ToolServerFault::Url)
            }
            _ => Ok(()),
        }
    }
}

/// A permission by its name.
fn permission<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Permission>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(serde::de::Error::custom)
}

/// What a program is started with, and what is sent to a place, may be secret.
impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer")
            .field("command", &self.command)
            .field("url", &self.url)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("allow", &self.allow)
            .finish_non_exhaustive()
    }
}
