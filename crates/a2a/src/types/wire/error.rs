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

    /// The same error, seen from the message that holds the failing one as this field.
    pub(crate) fn within(mut self, field: &str) -> Self {
        let joint = match self.path.as_bytes().first() {
            None | Some(b'[') => "",
            Some(_) => ".",
        };
        self.path.insert_str(0, joint);
        self.path.insert_str(0, field);
        self
    }

    /// The same error, seen from the list that holds the failing element.
    pub(crate) fn at(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
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
