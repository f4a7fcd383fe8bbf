//! Why a message could not be read, and where.

use serde::de::DeserializeOwned;

/// A message that could not be read, on either wire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {}: {reason}", if path.is_empty() { "the message" } else { path })]
pub struct DecodeError {
    /// The place, from the message that was read: `message.parts[1].text`. Empty for the message itself.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

impl DecodeError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            reason: reason.into(),
        }
    }

    /// Says that the failing message is this field of another one.
    #[cold]
    pub(crate) fn enter(&mut self, field: &str) {
        let joint = match self.path.as_bytes().first() {
            None | Some(b'[') => "",
            Some(_) => ".",
        };
        self.path.insert_str(0, joint);
        self.path.insert_str(0, field);
    }

    /// Reads the JSON once more, now to learn where `error` is.
    #[cold]
    pub(super) fn in_json<M: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Self {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        match serde_path_to_error::deserialize::<_, M>(&mut json) {
            Err(error) => {
                let path = error.path().to_string();
                Self {
                    path: if path == "." { String::new() } else { path },
                    reason: error.into_inner().to_string(),
                }
            }
            // The message is fine, but something follows it.
            Ok(_) => Self::new(error.to_string()),
        }
    }
}

/// Why protobuf could not be read. Any number could be wrong, so the way to say so takes one word, not six.
pub(crate) type Fault = Box<DecodeError>;

/// A fault without a place.
#[cold]
pub(crate) fn fault(reason: impl Into<String>) -> Fault {
    Box::new(DecodeError::new(reason))
}

/// Adds the place to a fault, on its way out of the messages around it.
pub(crate) trait FaultPath {
    /// It is in this field, or in the value of a map with this key.
    fn within(self, field: &str) -> Self;

    /// It is in the element of a list with this index.
    fn at(self, index: usize) -> Self;
}

impl<T> FaultPath for Result<T, Fault> {
    fn within(mut self, field: &str) -> Self {
        if let Err(error) = &mut self {
            error.enter(field);
        }
        self
    }

    fn at(mut self, index: usize) -> Self {
        if let Err(error) = &mut self {
            error.enter(&format!("[{index}]"));
        }
        self
    }
}
