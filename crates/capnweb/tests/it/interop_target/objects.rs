//! The objects and the function that the interop target hands out.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use capnweb::{Capability, target};

use super::lock;

pub(crate) struct Counter {
    value: Mutex<f64>,
}

#[target(pub(crate))]
impl Counter {
    pub(crate) fn new(start: f64) -> Self {
        Self {
            value: Mutex::new(start),
        }
    }

    pub fn increment(&self, by: Option<f64>) -> f64 {
        let mut value = lock(&self.value);
        *value += by.unwrap_or(1.0);
        *value
    }

    #[getter]
    pub fn value(&self) -> f64 {
        *lock(&self.value)
    }
}

/// An object that the server counts while it lives.
pub(crate) struct Tracked {
    live: Arc<AtomicU32>,
}

#[target(pub(crate))]
impl Tracked {
    pub(crate) fn new(live: Arc<AtomicU32>) -> Self {
        live.fetch_add(1, Ordering::SeqCst);
        Self { live }
    }

    pub fn ping(&self) -> &'static str {
        "pong"
    }

    #[method(name = "self")]
    pub fn itself(self: Arc<Self>) -> Capability {
        Capability::from_target(self)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The function n -> 2 * n.
pub(crate) fn double() -> Capability {
    Capability::from_fn(|mut arguments| async move { arguments.take("n").map(|n: f64| 2.0 * n) })
}
