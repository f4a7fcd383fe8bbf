//! How much narrower than its lender a capability is.

use std::time::SystemTime;

use super::Error;
use crate::permission::{Bounds, Permissions};
use crate::rows::seconds;

/// How many operations a capability may name, and how long a name may be.
pub const MAX_METHODS: usize = 64;
const MAX_METHOD: usize = 128;

/// The longest note, in bytes.
pub const MAX_NOTE: usize = 200;

/// The longest id of a task, in bytes.
const MAX_TASK: usize = 256;

/// What is wanted of a capability. Whatever it says, the capability can never do more than its lender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attenuation {
    pub bounds: Bounds,
    /// The only permissions that are left; `None` leaves those of the lender.
    pub permissions: Option<Permissions>,
    /// When it ends at the latest, in seconds since 1970.
    pub until: Option<u64>,
    /// What it is for, in the words of the lender.
    pub note: String,
}

impl Attenuation {
    /// No restriction: everything that the lender may do.
    pub fn none() -> Self {
        Self::default()
    }

    /// Only these operations, by their names in the operation tables.
    #[must_use]
    pub fn methods<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(str::to_owned);
        self.bounds.methods = Some(names.collect());
        self
    }

    /// Only operations that change nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.bounds.read_only = true;
        self
    }

    /// Only this task.
    #[must_use]
    pub fn task(mut self, id: &str) -> Self {
        self.bounds.task = Some(id.to_owned());
        self
    }

    #[must_use]
    pub fn until(mut self, until: SystemTime) -> Self {
        self.until = Some(seconds(until));
        self
    }

    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        note.clone_into(&mut self.note);
        self
    }

    pub(super) fn check(&self, now: u64, longest: u64) -> Result<(), Error> {
        let invalid = |field, problem: String| Err(Error::Invalid { field, problem });
        let methods = self.bounds.methods.as_deref().unwrap_or_default();
        if self.bounds.methods.is_some() && methods.is_empty() {
            return invalid("methods", "is empty: nothing could be called".to_owned());
        }
        if methods.len() > MAX_METHODS {
            return invalid("methods", format!("has more than {MAX_METHODS} names"));
        }
        if let Some(name) = methods.iter().find(|name| !is_word(name, MAX_METHOD)) {
            return invalid(
                "methods",
                format!("has {name:?}, which is no name of an operation"),
            );
        }
        if let Some(task) = &self.bounds.task
            && !is_word(task, MAX_TASK)
        {
            return invalid("task", "is no id of a task".to_owned());
        }
        if self.note.len() > MAX_NOTE || self.note.chars().any(char::is_control) {
            let problem = format!("has control characters or more than {MAX_NOTE} bytes");
            return invalid("note", problem);
        }
        match self.until {
            Some(until) if until <= now => invalid("expires", "is in the past".to_owned()),
            Some(until) if until - now > longest => {
                let days = longest / (24 * 60 * 60);
                invalid("expires", format!("is more than {days} days from now"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a text can be a name or an id: not empty, not long, without control characters.
fn is_word(text: &str, most: usize) -> bool {
    !text.is_empty() && text.len() <= most && !text.chars().any(char::is_control)
}
