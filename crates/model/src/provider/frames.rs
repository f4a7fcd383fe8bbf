//! From bytes to frames: the data of server-sent events, or lines.

use crate::error::Error;
use crate::limits::MAX_FRAME;

/// What stands between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events, of which the data is a frame.
    Events,
    /// Lines.
    Lines,
}

/// Bytes that are not a frame yet.
#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    /// A line that has no end yet.
    line: Vec<u8>,
    /// The last line ended with a carriage return, so that a line feed belongs to it.
    returned: bool,
    /// The data of an event that has no end yet.
    data: Option<String>,
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            returned: false,
            data: None,
        }
    }

    /// The frames that end in these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, Error> {
        let mut frames = Vec::new();
        for &byte in bytes {
            let returned = std::mem::replace(&mut self.returned, byte == b'\r');
            match byte {
                b'\n' if returned => {}
                b'\n' | b'\r' => frames.extend(self.end_line()?),
                byte => self.line.push(byte),
            }
        }
        let length = self.line.len() + self.data.as_ref().map_or(0, String::len);
        match length > MAX_FRAME {
            true => Err(Error::Malformed(format!(
                "a piece of it is longer than {MAX_FRAME} bytes"
            ))),
            false => Ok(frames),
        }
    }

    /// What is left when nothing more comes.
    pub(super) fn rest(&mut self) -> Result<Vec<String>, Error> {
        let mut frames: Vec<String> = self.end_line()?.into_iter().collect();
        frames.extend(self.data.take());
        Ok(frames)
    }

    fn end_line(&mut self) -> Result<Option<String>, Error> {
        let line = String::from_utf8(std::mem::take(&mut self.line));
        let line = line.map_err(|_| Error::Malformed("it is not UTF-8".to_owned()))?;
        match self.framing {
            Framing::Lines => Ok((!line.trim().is_empty()).then_some(line)),
            Framing::Events if line.is_empty() => Ok(self.data.take()),
            Framing::Events => {
                if let Some(more) = line.strip_prefix("data:") {
                    let more = more.strip_prefix(' ').unwrap_or(more);
                    match &mut self.data {
                        Some(data) => {
                            data.push('\n');
                            data.push_str(more);
                        }
                        None => self.data = Some(more.to_owned()),
                    }
                }
                Ok(None)
            }
        }
    }
}
