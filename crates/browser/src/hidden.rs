//! The values of secrets that were typed in a session, which no text of it shows.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shorter values are not hidden: they would be found in words that have nothing to do with them.
const SHORTEST: usize = 4;

/// The values, each with the name of its secret.
#[derive(Default)]
pub(crate) struct Hidden(Mutex<Vec<(String, String)>>);

impl Hidden {
    pub(crate) fn add(&self, name: &str, value: &str) {
        let mut all = self.all();
        let entry = (name.to_owned(), value.to_owned());
        if value.len() >= SHORTEST && !all.contains(&entry) {
            all.push(entry);
        }
    }

    /// A text with the names in the place of the values, also where these are written as in an address.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in self.all().iter() {
            let encoded: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
            for written in [value, &encoded] {
                if text.contains(written.as_str()) {
                    text = text.replace(written.as_str(), &format!("[secret {name}]"));
                }
            }
        }
        text
    }

    fn all(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all();
        f.debug_list().entries(all.iter().map(|it| &it.0)).finish()
    }
}
