//! What the server tells whoever runs it, line by line on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// What to log, such as `info` or `warn,monas=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(String);

impl Filter {
    /// The filter that a text describes, or `None` when it describes none.
    pub fn new(text: &str) -> Option<Self> {
        let parsed = EnvFilter::builder().parse(text);
        parsed.is_ok().then(|| Self(text.to_owned()))
    }

    /// What matters to whoever runs a server.
    pub fn info() -> Self {
        Self("info".to_owned())
    }

    /// What a client has to say: little, or everything of its own.
    pub(crate) fn of_client(debug: bool) -> Self {
        Self(if debug { "debug" } else { "error" }.to_owned())
    }

    /// What went wrong.
    pub fn warn() -> Self {
        Self("warn".to_owned())
    }

    /// The library of MCP complains about its peers as if it were the server that is wrong, so that anybody could
    /// fill the log. Who wants to hear it names it.
    fn with_quiet_libraries(&self) -> String {
        match self.0.contains("rmcp") {
            true => self.0.clone(),
            false => format!("{},rmcp=off", self.0),
        }
    }
}

/// Logs from now on. Does nothing when the process logs already, as when it is not ours alone.
pub fn start(filter: &Filter) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter.with_quiet_libraries()))
        .with_target(false)
        // A line for each span that was asked for, with all that is known about it at its end.
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .finish();
    let _ = tracing::subscriber::set_global_default(subscriber);
}
