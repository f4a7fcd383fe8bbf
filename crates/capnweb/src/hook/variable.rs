//! A placeholder for a value inside a function that is being recorded for `.map()`.

use std::sync::Arc;

use super::{Hook, Operation};
use crate::error::Error;
use crate::map::record::Recorder;

/// The input of a recorded function, a capability it captured, or the result of one of its steps.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) recorder: Arc<Recorder>,
    /// 0 is the input, n > 0 the result of step n, -n the capture n.
    pub(crate) index: i64,
}

impl Variable {
    /// Records the operation instead of performing it.
    pub(crate) fn apply(&self, operation: Operation) -> Hook {
        match self.recorder.record(self.index, operation) {
            Ok(index) => Hook::Variable(Self {
                recorder: self.recorder.clone(),
                index,
            }),
            Err(error) => Hook::Broken(error),
        }
    }
}

pub(crate) fn misuse() -> Error {
    Error::type_error(
        "a placeholder of a mapped function has no value; it can only be used to record calls",
    )
}
