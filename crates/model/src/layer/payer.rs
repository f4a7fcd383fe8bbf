//! The caller that pays for a request to a model from its share of the budget.

use std::sync::Arc;

use crate::model::Model;
use crate::reply::Deltas;
use crate::request::Request;

/// Puts the name of a caller on each request, so that a budget charges the share of that caller.
#[derive(Debug)]
pub struct Payer {
    inner: Arc<dyn Model>,
    name: String,
}

impl Payer {
    pub fn new(inner: Arc<dyn Model>, name: impl Into<String>) -> Self {
        Self {
            inner,
            name: name.into(),
        }
    }
}

impl Model for Payer {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, mut request: Request) -> Deltas {
        request.payer.clone_from(&self.name);
        self.inner.reply(request)
    }
}
