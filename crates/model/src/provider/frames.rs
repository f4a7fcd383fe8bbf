//! From the chunks of a body to frames: the data of server-sent events, or lines.

use dial::sse;

use crate::error::Error;
use crate::limits::MAX_FRAME;

/// What separates two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events. The data of one is a frame.
    Events,
    /// Lines. One that is not blank is a frame.
    Lines,
}

/// Collects chunks into frames, none larger than [`MAX_FRAME`].
#[derive(Debug)]
pub(super) enum Frames {
    Events(sse::Reader),
    Lines(sse::Lines),
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Events => Self::Events(sse::Reader::new(MAX_FRAME)),
            Framing::Lines => Self::Lines(sse::Lines::default()),
        }
    }

    /// The frames that end in these bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<String>, Error> {
        match self {
            Self::Events(reader) => {
                let events = reader.take(bytes);
                let events = events.map_err(|error| Error::Malformed(error.to_string()))?;
                Ok(events.into_iter().map(|event| event.data).collect())
            }
            Self::Lines(lines) => {
                let mut frames = Vec::new();
                while let Some(line) = lines.next_line(&mut bytes) {
                    frames.extend(frame(line)?);
                }
                match lines.held() > MAX_FRAME {
                    true => Err(too_large()),
                    false => Ok(frames),
                }
            }
        }
    }

    /// The frame without an end, when the body has ended: some servers leave out the last line break.
    pub(super) fn rest(&mut self) -> Result<Option<String>, Error> {
        match self {
            Self::Events(reader) => Ok(reader.rest().map(|event| event.data)),
            Self::Lines(lines) => frame(lines.rest()),
        }
    }
}

/// A line as a frame; `None` for a blank one.
fn frame(line: Vec<u8>) -> Result<Option<String>, Error> {
    if line.len() > MAX_FRAME {
        return Err(too_large());
    }
    let line = String::from_utf8(line);
    let line = line.map_err(|_| Error::Malformed("a line is not UTF-8".to_owned()))?;
    Ok((!line.trim().is_empty()).then_some(line))
}

fn too_large() -> Error {
    Error::Malformed(format!("a line is longer than {MAX_FRAME} bytes"))
}
