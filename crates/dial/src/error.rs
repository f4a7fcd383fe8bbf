//! Why there is no connection, no response or no body.

use std::time::Duration;

/// Why something outbound failed. Each completes "could not ...".
///
/// The difference that callers act on: with [`Unreachable`](Self::Unreachable) nothing was sent, so anything may be
/// tried again; with [`Interrupted`](Self::Interrupted) the server may have acted on the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no connection: the name does not resolve, the port is closed, the proxy refused, or the certificate
    /// is not trusted. Nothing of the request was sent.
    #[error("connect to {address}: {problem}")]
    Unreachable { address: String, problem: String },
    /// The address, or all addresses of the name, may not be reached ([`Reach`](crate::Reach)). Nothing was sent.
    #[error("connect to {0}: not a public address")]
    Forbidden(String),
    /// The connection ended before the response, or before the end of the body.
    #[error("read the response: {0}")]
    Interrupted(String),
    /// There was no connection within the time for it.
    #[error("connect to {address}: no connection within {time:?}")]
    Late { address: String, time: Duration },
    /// The body is larger than the caller reads.
    #[error("read the response: it is larger than {0} bytes")]
    TooLarge(usize),
    /// A redirect that is not followed: to no address, from https to http, or one too many.
    #[error("follow a redirect: {0}")]
    Redirect(String),
    /// The request names no host, or a scheme other than http and https.
    #[error("send a request to {0:?}: not an http or https address")]
    Address(String),
    /// A certificate, key or proxy that cannot be used.
    #[error("use {thing}: {problem}")]
    Settings { thing: String, problem: String },
}

impl Error {
    pub(crate) fn settings(thing: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Settings {
            thing: thing.into(),
            problem: problem.into(),
        }
    }

    /// Whether nothing of the request was sent, so that it can be repeated without harm.
    pub fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Forbidden(_) | Self::Late { .. }
        )
    }
}

/// An error and its causes in one line, outermost first.
pub fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Some libraries repeat the cause in their own text.
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
