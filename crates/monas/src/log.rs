//! The log: lines on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// A log filter, such as `info` or `warn,monas=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(String);

impl Filter {
    /// Reads a filter; `None` for a text that is none.
    pub fn new(text: &str) -> Option<Self> {
        let parsed = EnvFilter::builder().parse(text);
        parsed.is_ok().then(|| Self(text.to_owned()))
    }

    /// The default of a server.
    pub fn info() -> Self {
        Self("info".to_owned())
    }

    /// The filter of client commands: errors, or everything with `--debug`.
    pub(crate) fn of_client(debug: bool) -> Self {
        Self(if debug { "debug" } else { "error" }.to_owned())
    }

    /// Warnings and errors, the default of programs that are measured.
    pub fn warn() -> Self {
        Self("warn".to_owned())
    }

    /// rmcp logs faults of its peers as warnings of its own, so any caller could fill the log. It is off unless the filter
    /// names it.
    fn with_quiet_libraries(&self) -> String {
        match self.0.contains("rmcp") {
            true => self.0.clone(),
            false => format!("{},rmcp=off", self.0),
        }
    }
}

/// Starts the log. Does nothing if the process has a subscriber, as in tests and in programs with a log of their own.
pub fn start(filter: &Filter) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter.with_quiet_libraries()))
        .with_target(false)
        // One line for each span, at its end, when all its fields are known.
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .finish();
    let _ = tracing::subscriber::set_global_default(subscriber);
}
