//! How work in a browser fails.

use std::time::Duration;

/// Why something could not be done in a browser. Each message completes "could not ...".
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Chromium on the machine, or not at the configured path.
    #[error(
        "start a browser: {0}; install Chromium, on Debian with `apt-get install chromium`, or set `browser.program`"
    )]
    Missing(String),
    /// Chromium keeps its sandbox only for users other than root.
    #[error(
        "start a browser: Chromium's sandbox does not work for root; run the server as another user, or set \
         browser.sandbox = \"off\" if the machine holds nothing else"
    )]
    SandboxAsRoot,
    /// Chromium ended before it answered; the text is the end of what it wrote.
    #[error("start a browser: {0}")]
    Start(String),
    /// The browser ended during the work. The next call starts a new one with empty pages.
    #[error("{doing}: the browser ended; call again to start a new one, all pages are gone")]
    Ended { doing: String },
    /// The page's process ended: it used too much memory or time, or failed by itself.
    #[error("{doing}: the page has crashed ({why}); open it again with browser-navigate")]
    Crashed { doing: String, why: String },
    /// The tab was closed, by the page or by a person.
    #[error("{doing}: the tab was closed; browser-tabs lists the others")]
    TabClosed { doing: String },
    #[error("{doing}: no answer within {after:?}")]
    TimedOut { doing: String, after: Duration },
    /// Chromium refused a command.
    #[error("{doing}: {message}")]
    Protocol { doing: String, message: String },
    /// The text is no address of a page.
    #[error("open {url:?}: {problem}")]
    Address { url: String, problem: String },
    /// The policy of the network does not let the page reach a host.
    #[error("open {url}: {why}")]
    Refused { url: String, why: String },
    /// The page could not be loaded; the text is Chromium's.
    #[error("open {url}: {problem}")]
    Unreachable { url: String, problem: String },
    /// An element of a list that is not the newest, or one that has gone from the page.
    #[error("{doing} element {element}: {problem}")]
    Stale {
        doing: &'static str,
        element: u32,
        problem: String,
    },
    /// Another element lies over it, or it has no place on the page.
    #[error("{doing} element {element}: {problem}")]
    Covered {
        doing: &'static str,
        element: u32,
        problem: String,
    },
    /// An element of the wrong kind, a missing option, a value that does not fit.
    #[error("{doing}: {problem}")]
    Unfit { doing: String, problem: String },
    /// A dialog of the page blocks everything else.
    #[error(
        "{doing}: the page shows a dialog ({kind}: {message:?}); answer it with browser-dialog"
    )]
    Dialog {
        doing: String,
        kind: String,
        message: String,
    },
    /// A limit of sessions, tabs or bytes.
    #[error("{doing}: {limit}")]
    Limit { doing: String, limit: String },
    /// A script of the agent failed in the page.
    #[error("evaluate the script: {0}")]
    Script(String),
    /// A file of the project cannot be used.
    #[error("{doing}: {problem}")]
    File { doing: String, problem: String },
    #[error("use the secret {name:?}: {problem}")]
    Secret { name: String, problem: String },
    /// A person works in the page.
    #[error(
        "{doing}: {by} has taken over the page; the call can be repeated when it is given back"
    )]
    TakenOver { doing: String, by: String },
}

impl Error {
    /// The stable code of this error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "no-browser",
            Self::SandboxAsRoot => "no-sandbox",
            Self::Start(_) => "no-start",
            Self::Ended { .. } => "browser-ended",
            Self::Crashed { .. } => "page-crashed",
            Self::TabClosed { .. } => "tab-closed",
            Self::TimedOut { .. } => "timed-out",
            Self::Protocol { .. } => "browser",
            Self::Address { .. } => "invalid-address",
            Self::Refused { .. } => "refused-address",
            Self::Unreachable { .. } => "unreachable",
            Self::Stale { .. } => "stale",
            Self::Covered { .. } => "covered",
            Self::Unfit { .. } => "does-not-fit",
            Self::Dialog { .. } => "dialog",
            Self::Limit { .. } => "limit",
            Self::Script(_) => "script",
            Self::File { .. } => "file",
            Self::Secret { .. } => "secret",
            Self::TakenOver { .. } => "taken-over",
        }
    }
}
