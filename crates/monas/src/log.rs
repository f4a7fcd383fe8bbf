//! The log: lines on standard error, as text or as JSON.
//!
//! What a caller chose (a name, a path, an error text with its words) can be part of a line. So every line goes through a
//! writer that escapes what could begin another line, move a cursor, or turn the direction of what follows. The same writer
//! hides the values of secrets (`hide`).

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _};
use std::time::SystemTime;

use a2a::types::Timestamp;
use parking_lot::RwLock;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::{FmtSpan, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
/// A log filter, such as `info` or `warn,monas=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(String);

impl Filter {
    /// Reads a filter; `None` for a text that is none.
    pub fn new(text: &str) -> Option<Self> {
        // A word alone would be taken for a module, and everything else would be silent.
        let word = |part: &&str| !part.contains(['=', '[']);
        let level =
            |part: &str| !part.trim().is_empty() && part.trim().parse::<LevelFilter>().is_ok();
        let parsed = EnvFilter::builder().parse(text).is_ok();
        let named = text.split(',').filter(word).all(level);
        (parsed && named).then(|| Self(text.to_owned()))
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

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    /// An object of JSON on each line.
    Json,
}

/// Starts the log. Does nothing if the process has a subscriber, as in tests and in programs with a log of their own.
pub fn start(filter: &Filter) {
    start_as(filter, Format::Text);
}

/// As [`start`], in a format.
pub fn start_as(filter: &Filter, format: Format) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter.with_quiet_libraries()))
        .with_target(false)
        // One line for each span, at its end, when all its fields are known.
        .with_span_events(FmtSpan::CLOSE);
    let _ = match format {
        Format::Text => {
            let colour = io::stderr().is_terminal();
            let writer = SafeLines::new(io::stderr, Format::Text);
            let subscriber = subscriber.with_ansi(colour).with_writer(writer).finish();
            tracing::subscriber::set_global_default(subscriber)
        }
        Format::Json => {
            let writer = SafeLines::new(io::stderr, Format::Json);
            let subscriber = subscriber.with_ansi(false).event_format(JsonLines);
            let subscriber = subscriber.with_writer(writer).finish();
            tracing::subscriber::set_global_default(subscriber)
        }
    };
}

/// Whether a character could break a line, steer a terminal, or change the direction in which the text after it is shown.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Values that no line may show. They are of the process, like the log: what one server keeps secret another does not write.
static HIDDEN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// How many values are hidden at most, and how long one is at least: shorter ones would be found in many words.
const MAX_HIDDEN: usize = 4_000;
const SHORTEST_HIDDEN: usize = 4;

/// Hides a value from now on, in all lines.
pub(crate) fn hide(value: &str) {
    let mut hidden = HIDDEN.write();
    // A line ends at a line break, so that each line of the value is hidden alone.
    for line in value.lines().map(str::trim) {
        let is_new = line.len() >= SHORTEST_HIDDEN && !hidden.iter().any(|it| it == line);
        if is_new && hidden.len() < MAX_HIDDEN {
            hidden.push(line.to_owned());
        }
    }
}

/// A line without the values that it may not show.
fn without_hidden(line: &str) -> Cow<'_, str> {
    let hidden = HIDDEN.read();
    let mut shown = Cow::Borrowed(line);
    for value in hidden.iter() {
        if shown.contains(&**value) {
            shown = Cow::Owned(shown.replace(&**value, "[secret]"));
        }
    }
    shown
}

/// Makes writers that hide secrets and escape harmful characters. The subscriber writes each line with one call.
#[derive(Clone, Debug)]
pub(crate) struct SafeLines<M> {
    inner: M,
    format: Format,
}

impl<M> SafeLines<M> {
    pub(crate) fn new(inner: M, format: Format) -> Self {
        Self { inner, format }
    }
}

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for SafeLines<M> {
    type Writer = SafeWriter<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        SafeWriter {
            inner: self.inner.make_writer(),
            format: self.format,
        }
    }
}

/// Writes lines without harmful characters.
#[derive(Debug)]
pub(crate) struct SafeWriter<W> {
    inner: W,
    format: Format,
}

impl<W: io::Write> io::Write for SafeWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let shown = without_hidden(&text);
        let body = shown.strip_suffix('\n').unwrap_or(&shown);
        if body.chars().any(is_harmful) {
            let safe = escaped(body, self.format);
            self.inner.write_all(safe.as_bytes())?;
            self.inner.write_all(b"\n")?;
        } else {
            self.inner.write_all(shown.as_bytes())?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A line with its harmful characters escaped; the colours that the formatter itself writes stay.
fn escaped(line: &str, format: Format) -> String {
    let mut safe = String::with_capacity(line.len() + 16);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if format == Format::Text
            && let Some(length) = colour(rest)
        {
            let (code, after) = rest.split_at(length);
            safe.push_str(code);
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let code = u32::from(c);
        // A String takes every text.
        let _ = match (is_harmful(c), format) {
            (false, _) => safe.write_char(c),
            (true, Format::Text) => write!(safe, "\\u{{{code:x}}}"),
            (true, Format::Json) => write!(safe, "\\u{code:04x}"),
        };
    }
    safe
}

/// The length of the code for a colour or a weight at the beginning of a text: `ESC [`, digits and semicolons, `m`.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(end + 3)
}

/// Writes an event as an object of JSON: `time`, `level`, `target`, `message` and its fields.
struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let millis = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = i64::try_from(millis.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
        let metadata = event.metadata();
        let mut fields = Fields::default();
        let mut put = |name: &str, value: String| {
            fields.0.insert(name.to_owned(), Value::String(value));
        };
        put("time", Timestamp::from_millis(millis).to_string());
        put("level", metadata.level().to_string());
        put("target", metadata.target().to_owned());
        event.record(&mut fields);
        writeln!(writer, "{}", Value::Object(fields.0))
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}
