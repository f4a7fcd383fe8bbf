//! The client's end of a binding: it carries a call there and the replies back.

use std::time::Duration;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use tokio::time::timeout;

use super::{Body, Error};
use crate::binding::Parameters;
use crate::binding::versioned_operation::VersionedOperation;
use crate::event::Format;

/// A wire to one agent. It connects when it is first needed, and again when a connection was lost.
pub(crate) trait Channel: Send + Sync {
    /// How requests and replies are written here.
    fn format(&self) -> Format;

    fn call(&self, call: Outgoing) -> BoxFuture<'static, Result<Carried, Error>>;
}

/// A call on its way.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    /// What is called, under the name of a version.
    pub(crate) asked: VersionedOperation,
    pub(crate) body: Bytes,
    /// Service parameters of this call.
    pub(crate) parameters: Parameters,
}

impl Outgoing {
    /// The same in the trace of the work that makes it: for a wire on which a call has no headers of its own.
    pub(crate) fn traced(mut self) -> Self {
        if let Some(context) = dial::trace::current() {
            let name = dial::trace::HEADER.to_owned();
            self.parameters.insert(name, context.to_string());
        }
        self
    }
}

/// What came back, as bytes.
pub(crate) enum Carried {
    One(Bytes),
    Many(Pieces),
}

/// Replies as they come.
pub(crate) type Pieces = BoxStream<'static, Result<Piece, Error>>;

/// The time in which a failure to open a stream is reported at once; after it the stream counts as open.
const SOON: Duration = Duration::from_secs(1);

/// Opens a stream. What fails soon is told at once. Some servers say nothing at all until something happens;
/// then the stream is open, and what fails is its first event.
pub(crate) async fn open(
    mut opening: BoxFuture<'static, Result<Pieces, Error>>,
) -> Result<Pieces, Error> {
    match timeout(SOON, &mut opening).await {
        Ok(opened) => opened,
        Err(_) => {
            let pieces = |opened: Result<Pieces, Error>| match opened {
                Ok(pieces) => pieces,
                Err(error) => Box::pin(stream::iter([Err(error)])),
            };
            Ok(Box::pin(stream::once(opening).flat_map(pieces)))
        }
    }
}

/// One of many replies.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Where to go on from after it, if the wire says so.
    pub(crate) cursor: Option<u64>,
    pub(crate) body: Bytes,
}

/// What came back, in 1.0.
pub(crate) enum Reply {
    One(Body),
    Many(BoxStream<'static, Result<(Option<u64>, Body), Error>>),
}
