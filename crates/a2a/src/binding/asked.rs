//! What a call asks for, in the version that its name belongs to.

use super::http_call::Versioned;
use crate::error::Error;
use crate::old::{self, Dialect};
use crate::operation::{self, Input, Operation, Replies, Reply};
use crate::service::{Call, Service};

/// An operation, under the name of one version.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    /// A row of the table.
    New(&'static Operation),
    /// An old name for one, and how its caller writes JSON.
    Old(&'static old::Row, Dialect),
}

impl Asked {
    /// What a method of JSON-RPC means. The names of the versions differ, so that each says which it is.
    pub(super) fn named(method: &str) -> Option<Self> {
        let new = operation::named(method).map(Self::New);
        new.or_else(|| old::named(method).map(|row| Self::Old(row, Dialect::Kind)))
    }

    /// What a method of the gRPC service of 0.3 means.
    #[cfg(feature = "grpc")]
    pub(super) fn old_rpc(name: &str) -> Option<Self> {
        old::rpc(name).map(|row| Self::Old(row, Dialect::Proto))
    }

    /// How many replies there are.
    pub(super) fn replies(self) -> Replies {
        match self {
            Self::New(operation) => operation.replies,
            Self::Old(row, _) => row.replies,
        }
    }

    /// Whether a client looks for errors in a stream: 0.3 has them there, also when nothing came before.
    pub(super) fn fails_in_stream(self) -> bool {
        matches!(self, Self::Old(row, _) if row.replies == Replies::Many)
    }

    /// What the call's own parameter has to say about the version.
    pub(super) fn versioned(self) -> Versioned {
        match self {
            Self::New(_) => Versioned::Parameter,
            Self::Old(..) => Versioned::OldName,
        }
    }

    /// Performs the call; the reply is in the form of the request.
    pub(super) async fn perform(
        self,
        service: &dyn Service,
        call: Call,
        input: Input,
    ) -> Result<Reply, Error> {
        match self {
            Self::New(operation) => operation.perform(service, call, input).await,
            Self::Old(row, dialect) => row.perform(service, call, input, dialect).await,
        }
    }
}
