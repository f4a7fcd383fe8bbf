//! The request of a call, in the version that its name belongs to.

#[cfg(feature = "http")]
use access::calls::BegunCall;
#[cfg(feature = "http")]
use access::{CallRecord, Outcome, UnreadCall};
use serde_json::{Map, Value};

#[cfg(feature = "http")]
use super::Wire;
#[cfg(feature = "http")]
use super::http_call::VersionSource;
#[cfg(feature = "http")]
use crate::error::Error;
#[cfg(feature = "http")]
use crate::operation::Reply;
use crate::operation::{self, Input, Operation, Replies, Route};
#[cfg(feature = "http")]
use crate::service::{Call, Service};
#[cfg(all(feature = "grpc", feature = "http"))]
use crate::types::wire::MessageDescription;
use crate::v0_3::{self, Dialect};
use crate::version::Version;

/// An operation, under the name of one version.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VersionedOperation {
    /// A row of the table.
    V1_0(&'static Operation),
    /// An old name for one, and how its caller writes JSON.
    V0_3(&'static v0_3::Row, Dialect),
    /// An old name for one, by a caller who writes loosely.
    V0_3Lenient(&'static v0_3::Row),
}

impl VersionedOperation {
    /// What a method of JSON-RPC means. The names of the versions differ, so that each says which it is.
    pub(super) fn named(method: &str) -> Option<Self> {
        let new = operation::named(method).map(Self::V1_0);
        new.or_else(|| v0_3::named(method).map(|row| Self::V0_3(row, Dialect::Kind)))
    }

    /// The row, for a caller who writes in this version.
    pub(super) fn written(operation: &'static Operation, written: Version) -> Self {
        match (written, v0_3::of(operation)) {
            (Version::V0_3, Some(row)) => Self::V0_3(row, Dialect::Kind),
            _ => Self::V1_0(operation),
        }
    }

    /// The same for a request that may be written loosely.
    pub(super) fn or_loose(self, request: &[u8]) -> Self {
        match self {
            Self::V0_3(row, Dialect::Kind) if row.is_loose(request) => Self::V0_3Lenient(row),
            asked => asked,
        }
    }

    /// The same for a caller that speaks no subprotocol, as workspace pages do: its card is told in their words.
    pub(super) fn or_for_page(self) -> Self {
        let card = match self {
            Self::V0_3(row, Dialect::Kind) => row.method.and_then(v0_3::card_or_public),
            _ => None,
        };
        card.map_or(self, Self::V0_3Lenient)
    }

    /// What a method of the gRPC service of 0.3 means.
    pub(super) fn rpc_v0_3(name: &str) -> Option<Self> {
        v0_3::rpc(name).map(|row| Self::V0_3(row, Dialect::Proto))
    }

    /// Its name in JSON-RPC.
    pub(crate) fn method(self) -> Option<&'static str> {
        match self {
            Self::V1_0(operation) => Some(operation.name),
            Self::V0_3(row, _) | Self::V0_3Lenient(row) => row.method,
        }
    }

    /// What its request over gRPC consists of, where it is an rpc.
    #[cfg(all(feature = "grpc", feature = "http"))]
    pub(super) fn rpc_request(self) -> Option<&'static MessageDescription> {
        match self {
            Self::V1_0(operation) => Some((operation.request)()),
            Self::V0_3(row, _) | Self::V0_3Lenient(row) => {
                row.rpc.as_ref().map(|rpc| (rpc.request)())
            }
        }
    }

    /// Its address in REST; below the version, for 0.3.
    pub(crate) fn route(self) -> Option<&'static Route> {
        match self {
            Self::V1_0(operation) => operation.routes.first(),
            Self::V0_3(row, _) | Self::V0_3Lenient(row) => row.routes.first(),
        }
    }

    /// How many replies there are.
    pub(crate) fn replies(self) -> Replies {
        match self {
            Self::V1_0(operation) => operation.replies,
            Self::V0_3(row, _) | Self::V0_3Lenient(row) => row.replies,
        }
    }

    /// Whether a client looks for errors in a stream: 0.3 has them there, also when nothing came before.
    pub(super) fn fails_in_stream(self) -> bool {
        matches!(self, Self::V0_3(row, _) if row.replies == Replies::Many)
    }

    /// What the call's own parameter has to say about the version.
    #[cfg(feature = "http")]
    pub(super) fn versioned(self) -> VersionSource {
        match self {
            Self::V1_0(_) => VersionSource::Parameter,
            Self::V0_3(..) | Self::V0_3Lenient(_) => VersionSource::NameOfV0_3,
        }
    }

    /// The same at an address where a name of 1.0 needs no parameter.
    #[cfg(feature = "http")]
    pub(super) fn versioned_at_address(self) -> VersionSource {
        match self {
            Self::V1_0(_) => VersionSource::Address,
            Self::V0_3(..) | Self::V0_3Lenient(_) => VersionSource::NameOfV0_3,
        }
    }

    /// A request from fields with the names of 1.0; for 0.3 they are renamed, their content is not touched.
    pub(super) fn input(self, fields: Map<String, Value>) -> Input {
        match self {
            Self::V1_0(_) => Input::json(&fields),
            Self::V0_3(row, _) | Self::V0_3Lenient(row) => Input::json(&row.renamed(fields)),
        }
    }

    /// The operation of the table that it is, whatever the version calls it.
    #[cfg(feature = "http")]
    fn operation(self) -> &'static str {
        match self {
            Self::V1_0(operation) => operation.name,
            Self::V0_3(row, _) | Self::V0_3Lenient(row) => row.operation,
        }
    }

    /// The version that has this name for it.
    #[cfg(feature = "http")]
    fn version(self) -> &'static str {
        match self {
            Self::V1_0(_) => super::VERSION,
            Self::V0_3(..) | Self::V0_3Lenient(_) => v0_3::VERSION,
        }
    }

    /// Performs the call; the reply is in the form of the request. Every call of every binding goes through here or through
    /// [`perform_read`](Self::perform_read): it is announced, and its end recorded. A call with a stream is recorded when
    /// its stream begins.
    #[cfg(feature = "http")]
    pub(super) async fn perform(
        self,
        wire: &Wire,
        call: Call,
        input: Input,
    ) -> Result<Reply, Error> {
        let begun = wire.calls.begin(self.asked(&call, &input))?;
        self.perform_begun(wire, begun, call, input).await
    }

    /// As [`perform`](Self::perform) for a call that was charged to its caller before it was read.
    #[cfg(feature = "http")]
    pub(super) async fn perform_read(
        self,
        wire: &Wire,
        unread: UnreadCall,
        call: Call,
        input: Input,
    ) -> Result<Reply, Error> {
        let begun = unread.begin(self.asked(&call, &input));
        self.perform_begun(wire, begun, call, input).await
    }

    #[cfg(feature = "http")]
    fn asked(self, call: &Call, input: &Input) -> CallRecord {
        let origin = call.origin.clone().with_bytes(input.body.len());
        CallRecord {
            origin,
            caller: call.caller.clone(),
            version: self.version(),
            operation: self.operation().into(),
        }
    }

    #[cfg(feature = "http")]
    async fn perform_begun(
        self,
        wire: &Wire,
        begun: BegunCall,
        call: Call,
        input: Input,
    ) -> Result<Reply, Error> {
        let performed = begun.run(self.work(&*wire.service, call, input)).await;
        let performed = performed.unwrap_or_else(|exceeded| Err(exceeded.into()));
        begun.end(match &performed {
            Ok(_) => Outcome::Ok,
            Err(error) => error.outcome(),
        });
        performed
    }

    #[cfg(feature = "http")]
    async fn work(self, service: &dyn Service, call: Call, input: Input) -> Result<Reply, Error> {
        match self {
            Self::V1_0(operation) => operation.perform(service, call, input).await,
            Self::V0_3(row, dialect) => row.perform(service, call, input, dialect).await,
            Self::V0_3Lenient(row) => row.perform_loosely(service, call, input).await,
        }
    }
}
