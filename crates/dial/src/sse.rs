//! Server-sent events and lines, read from chunks that end anywhere.
//!
//! Our own rather than `sse-stream`: that crate holds an event of any size, and a limit around it can only count
//! chunks. What is read here never grows beyond the limit of the reader.

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;

/// A line or an event is larger than the reader may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct TooLarge {
    pub limit: usize,
}

/// Cuts bytes into lines, which end with CR, LF or both.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
    /// The last line ended with a CR, so that a LF which follows belongs to it. The two can be in different chunks.
    returned: bool,
}

impl Lines {
    /// Takes from `chunk` up to the end of a line and gives that line. `None` when the chunk ended first: it is
    /// empty then, and what it held is kept for the next one.
    pub fn next_line(&mut self, chunk: &mut &[u8]) -> Option<Vec<u8>> {
        if let [first, rest @ ..] = *chunk
            && std::mem::take(&mut self.returned)
            && *first == b'\n'
        {
            *chunk = rest;
        }
        let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (line, rest) = chunk.split_at(end.unwrap_or(chunk.len()));
        self.line.extend_from_slice(line);
        *chunk = rest;
        let (ending, rest) = rest.split_first()?;
        self.returned = *ending == b'\r';
        *chunk = rest;
        Some(std::mem::take(&mut self.line))
    }

    /// How many bytes of a line without an end are held.
    pub fn held(&self) -> usize {
        self.line.len()
    }

    /// The line that had no end when the stream had one.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }
}

/// An event that arrived whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its kind, the field `event`; empty for an ordinary message.
    pub name: String,
    /// The last id that the stream named, in this event or an earlier one.
    pub id: Option<String>,
    /// Its lines of data, joined by line feeds.
    pub data: String,
}

/// Collects chunks of a body into events, as the HTML standard has it (9.2.6): fields it does not know and comments
/// are skipped, an event without data is none, an id holds until there is another.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    event: Event,
    has_data: bool,
    /// Whether the first line was read: only that one can begin with a byte order mark.
    begun: bool,
    retry: Option<u64>,
    limit: usize,
}

impl Reader {
    /// A reader that holds no more than `limit` bytes of an event.
    pub fn new(limit: usize) -> Self {
        Self {
            lines: Lines::default(),
            event: Event::default(),
            has_data: false,
            begun: false,
            retry: None,
            limit,
        }
    }

    /// Takes a chunk and gives the events that it completed. After an error the reader is of no use.
    pub fn take(&mut self, mut chunk: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        while !chunk.is_empty() {
            let line = self.lines.next_line(&mut chunk);
            let length = line.as_ref().map_or(self.lines.held(), Vec::len);
            if length + self.event.data.len() > self.limit {
                return Err(TooLarge { limit: self.limit });
            }
            if let Some(line) = line {
                events.extend(self.line(&line));
            }
        }
        Ok(events)
    }

    /// The event that was not ended by an empty line when the stream ended. The standard drops it; some servers
    /// end their last event so.
    pub fn rest(&mut self) -> Option<Event> {
        let line = self.lines.rest();
        if !line.is_empty() {
            self.line(&line);
        }
        self.line(b"")
    }

    /// The reconnection time in milliseconds that the stream named since this was last asked.
    pub fn take_retry(&mut self) -> Option<u64> {
        self.retry.take()
    }

    /// Takes a line; an empty one ends the event.
    fn line(&mut self, line: &[u8]) -> Option<Event> {
        let line = String::from_utf8_lossy(line);
        let line = match std::mem::replace(&mut self.begun, true) {
            true => &*line,
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
        };
        if line.is_empty() {
            let id = self.event.id.clone();
            let event = std::mem::take(&mut self.event);
            self.event.id = id;
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => self.event.name = value.to_owned(),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok().or(self.retry),
            _ => {}
        }
        None
    }
}
