//! Two sessions joined inside one process.

use std::sync::Arc;

use crate::connection::{Connection, Options, Shared};
use crate::error::Error;
use crate::stub::Capability;

/// Two sessions joined to each other: what one sends the other receives.
///
/// Frames move in tasks owned by `options.tasks`, so this needs a tokio runtime. Each end is a whole
/// session with tables of its own, as if there were a network between them.
pub fn pair(
    one: impl Into<Capability>,
    other: impl Into<Capability>,
    options: &Options,
) -> (Connection, Connection) {
    let one = Connection::new(one, options);
    let other = Connection::new(other, options);
    options
        .tasks
        .spawn(forward(one.shared().clone(), other.shared().clone()));
    options
        .tasks
        .spawn(forward(other.shared().clone(), one.shared().clone()));
    (one, other)
}

/// Moves frames one way until the sender's session ends, which ends the receiver's.
async fn forward(from: Arc<Shared>, to: Arc<Shared>) {
    loop {
        for frame in from.take_outgoing() {
            to.receive(&frame);
        }
        if from.ended().is_some() {
            return to.end(Error::new("the peer closed the session"));
        }
        from.outgoing().await;
    }
}
