//! Why there is no token.

/// Why something of a sign-in failed. Each completes "could not ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be used: it is no http address, or it is plain http beyond loopback.
    #[error("use the address {0:?}: it must be https, or http on loopback")]
    Address(String),
    /// No answer: no connection, too late, or too large.
    #[error("reach {address}: {problem}")]
    Unreachable { address: String, problem: String },
    /// The answer is not what the specification asks for.
    #[error("use the answer of {address}: {problem}")]
    Answer { address: String, problem: String },
    /// The server has no document at any of the places where one is looked for.
    #[error("find the metadata of {0}: there is none at its well-known addresses")]
    NoMetadata(String),
    /// The document is about another issuer or another resource than it was fetched for.
    #[error("use the metadata of {asked}: it is about {found}")]
    Mismatch { asked: String, found: String },
    /// The authorization server refused, in the words of OAuth: `error` and `error_description`.
    #[error("get a token from {issuer}: {code}{description}")]
    Refused {
        issuer: String,
        code: String,
        /// Empty, or it begins with a colon.
        description: String,
    },
    /// The authorization server lacks what the flow needs.
    #[error("sign in at {issuer}: it has no {lacking}")]
    Lacks {
        issuer: String,
        lacking: &'static str,
    },
    /// There is no client for the authorization server, and it registers none.
    #[error("sign in at {0}: it registers no clients; configure a client id")]
    NoClient(String),
    /// The answer of the authorization server is not one to our request: another state or another issuer.
    #[error("trust the answer of {issuer}: {problem}")]
    Callback {
        issuer: String,
        problem: &'static str,
    },
    /// A person has to agree, and this process has no way to ask one.
    #[error("sign in at {issuer}: a person has to agree; {hint}")]
    NeedsPerson { issuer: String, hint: String },
    /// The server rejects a token that has all scopes it asked for.
    #[error(
        "get a token with more scopes than {0:?}: the server rejects a token that has the scopes it asked for"
    )]
    Repeated(String),
    /// A private key that cannot be used.
    #[error("use the private key: {0}")]
    Key(&'static str),
    /// The kept tokens cannot be read or written.
    #[error("read or write the token file {place}: {problem}")]
    Vault { place: String, problem: String },
    #[error("make a secret: the system gave no random numbers")]
    Random,
}
