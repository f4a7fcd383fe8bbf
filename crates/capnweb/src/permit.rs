//! Permits: what a session has in use, counted on its [`Account`] until the permit is dropped.

use std::sync::Arc;
use std::time::Duration;

use crate::account::Account;
use crate::layer::Layers;

/// One call in flight. Only calls of a peer have one; the application's own calls run without.
#[derive(Debug)]
pub(crate) struct CallPermit {
    account: Account,
    /// The charge for the message that the call came in, if it is a large one: the arguments live as long as the call.
    _message: Option<Arc<Held>>,
}

impl CallPermit {
    pub(crate) fn new(account: Account, message: Option<Arc<Held>>) -> Self {
        Self {
            account,
            _message: message,
        }
    }

    /// The layers around the call, unless there are none. The application's own calls have no permit and so
    /// never pass through layers.
    pub(crate) fn layers(&self) -> Option<&Layers> {
        Some(self.account.layers()).filter(|layers| !layers.is_empty())
    }

    /// The time limit of the call, if it has one.
    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.account.limits().max_call_time
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        self.account.end_call();
    }
}

/// Promises inside a value that are being awaited.
#[derive(Debug)]
pub(crate) struct Awaiting {
    account: Account,
    count: usize,
}

impl Awaiting {
    pub(crate) fn new(account: Account, count: usize) -> Self {
        Self { account, count }
    }
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        self.account.end_awaiting(self.count);
    }
}

/// Bytes in a stream that the application has not read yet.
#[derive(Debug)]
pub(crate) struct Unread {
    account: Account,
    bytes: usize,
}

impl Unread {
    pub(crate) fn new(account: Account, bytes: usize) -> Self {
        Self { account, bytes }
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.account.end_unread(self.bytes);
    }
}

/// Bytes of a result that the peer has not released, of a message with running calls, or of a Blob that is
/// arriving.
#[derive(Debug)]
pub(crate) struct Held {
    account: Account,
    bytes: usize,
}

impl Held {
    pub(crate) fn new(account: Account, bytes: usize) -> Self {
        Self { account, bytes }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.end_held(self.bytes);
    }
}
