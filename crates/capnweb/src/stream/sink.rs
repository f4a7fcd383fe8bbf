//! A sink of the application's behind a stream, kept to the rules of one: one write at a time, and
//! nothing but its error after one has failed.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::error::{Error, Result};
use crate::stub::Capability;
use crate::target::{Arguments, Member, Reply, Target};
use crate::value::Value;

/// What stands between the writer and the application's object.
pub(crate) struct GuardedSink {
    sink: Capability,
    /// The error of a failed write, after which it takes no more. Locked during each write; waiting writes are
    /// served in turn.
    failure: Mutex<Option<Error>>,
}

impl GuardedSink {
    pub(crate) fn new(sink: Capability) -> Self {
        Self {
            sink,
            failure: Mutex::new(None),
        }
    }

    async fn in_turn(&self, method: &str, arguments: Vec<Value>) -> Result<Value> {
        let mut failure = self.failure.lock().await;
        if let Some(error) = &*failure {
            return Err(error.clone());
        }
        let result = self.sink.call(method, arguments).await;
        *failure = result.as_ref().err().cloned();
        result
    }
}

impl Target for GuardedSink {
    fn member(&self, name: &str) -> Member {
        match name {
            "write" | "close" | "abort" => Member::Method,
            _ => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let arguments = arguments.rest();
        match method {
            "write" => Reply::future(async move { self.in_turn("write", arguments).await }),
            "close" => Reply::future(async move { self.in_turn("close", arguments).await }),
            // Overtakes the waiting writes, which have become useless.
            "abort" => Reply::ready(self.sink.call("abort", arguments)),
            _ => Reply::no_such_method(method),
        }
    }
}
