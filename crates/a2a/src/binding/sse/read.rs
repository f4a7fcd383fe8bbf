//! A stream of events, read in portions that end anywhere.

/// An event that arrived whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::binding) struct Event {
    /// What kind it is; an error may have one of its own.
    pub(in crate::binding) name: String,
    /// The last id that the stream named.
    pub(in crate::binding) id: Option<String>,
    /// Its lines.
    pub(in crate::binding) data: String,
}

impl Event {
    /// Where to go on from after it.
    pub(in crate::binding) fn cursor(&self) -> Option<u64> {
        self.id.as_deref().and_then(|id| id.parse().ok())
    }
}

/// Collects what arrives into events. Lines end with CR, LF or both.
#[derive(Debug)]
pub(in crate::binding) struct Reader {
    line: Vec<u8>,
    event: Event,
    /// Whether the event has any line of data.
    has_data: bool,
    /// Whether the last byte was a CR, so that a LF belongs to it.
    returned: bool,
    begun: bool,
    limit: usize,
}

impl Reader {
    /// No event may be larger than `limit` bytes.
    pub(in crate::binding) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            returned: false,
            begun: false,
            limit,
        }
    }

    /// Takes what arrived; gives the events that it completed, or why there can be no more.
    pub(in crate::binding) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.returned) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (line, behind) = rest.split_at(end.unwrap_or(rest.len()));
            self.line.extend_from_slice(line);
            if self.line.len() + self.event.data.len() > self.limit {
                return Err(format!("an event is larger than {} bytes", self.limit));
            }
            let Some(ending) = behind.first() else {
                break;
            };
            self.returned = *ending == b'\r';
            rest = &behind[1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.line(&String::from_utf8_lossy(&line)));
        }
        Ok(events)
    }

    /// Takes a line; an empty one ends the event.
    fn line(&mut self, line: &str) -> Option<Event> {
        let line = match std::mem::replace(&mut self.begun, true) {
            true => line,
            false => line.trim_start_matches('\u{feff}'),
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
            // Comments, and what nobody here knows.
            _ => {}
        }
        None
    }
}
