//! The wires that a card lists, best first, and what is spoken over each.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::channel::{Carried, Channel, Outgoing, Piece, Reply};
use super::dial::Dialer;
use super::{Body, Error, Heard, Settings, Tap};
use crate::binding::Parameters;
use crate::binding::versioned_operation::VersionedOperation;
use crate::binding::{BINDINGS, Binding};
use crate::event::Format;
use crate::operation::Operation;
use crate::types::wire::WireMessage;
use crate::types::{AgentCard, AgentInterface};
use crate::v0_3;
use crate::version::Version;

/// A wire to an agent: a binding, a version and an address, as a card lists them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentEndpoint {
    pub binding: &'static Binding,
    pub version: Version,
    pub url: String,
    /// The tenant that requests name.
    pub tenant: String,
    /// Whether an address that does not say so is encrypted.
    pub secure: bool,
}

impl AgentEndpoint {
    fn of(interface: &AgentInterface, secure: bool) -> Option<Self> {
        let binding = Binding::named(&interface.protocol_binding)?;
        let version = Version::named(&interface.protocol_version)?;
        if version == Version::V0_3 && binding.old.is_none() {
            return None;
        }
        Some(Self {
            binding,
            version,
            url: interface.url.clone(),
            tenant: interface.tenant.clone(),
            secure,
        })
    }
}

/// The wires to try, best first: as the settings prefer, then as the agent does, and the newer version before
/// the older one.
pub(super) fn choose(
    card: &AgentCard,
    settings: &Settings,
    secure: bool,
) -> Result<Vec<AgentEndpoint>, Error> {
    let mut wanted = Vec::new();
    for name in &settings.bindings {
        let known = || {
            BINDINGS
                .iter()
                .map(|it| it.key)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let unknown = || Error::Settings(format!("no binding is called {name:?}: try {}", known()));
        wanted.push(Binding::named(name).ok_or_else(unknown)?.key);
    }
    let rank =
        |endpoint: &AgentEndpoint| wanted.iter().position(|key| *key == endpoint.binding.key);
    let listed = card.supported_interfaces.iter();
    let mut endpoints: Vec<AgentEndpoint> = listed
        .filter_map(|interface| AgentEndpoint::of(interface, secure))
        .filter(|endpoint| {
            settings
                .version
                .is_none_or(|version| version == endpoint.version)
        })
        .filter(|endpoint| wanted.is_empty() || rank(endpoint).is_some())
        .collect();
    endpoints.sort_by_key(|endpoint| (endpoint.version == Version::V0_3, rank(endpoint)));
    if !endpoints.is_empty() {
        return Ok(endpoints);
    }
    let listed = card.supported_interfaces.iter();
    let listed = listed.map(|it| format!("{} {}", it.protocol_binding, it.protocol_version));
    let listed = listed.collect::<Vec<_>>().join(", ");
    let asked = match (wanted.is_empty(), settings.version) {
        (true, None) => String::new(),
        (true, Some(version)) => format!(" and {version} is wanted"),
        (false, None) => format!(" and {} is wanted", wanted.join(" or ")),
        (false, Some(version)) => format!(" and {} in {version} is wanted", wanted.join(" or ")),
    };
    let listed = if listed.is_empty() {
        "nothing"
    } else {
        &listed
    };
    Err(Error::Card(format!("it lists {listed}{asked}")))
}

/// A wire, and what is spoken over it.
pub(super) struct Spoken {
    pub(super) endpoint: AgentEndpoint,
    channel: Arc<dyn Channel>,
}

impl Spoken {
    pub(super) fn new(endpoint: AgentEndpoint, dialer: &Arc<Dialer>) -> Result<Self, Error> {
        let channel = (endpoint.binding.channel)(&endpoint, dialer)?;
        Ok(Self { endpoint, channel })
    }

    /// Carries a call in the version of this wire; what comes back is 1.0.
    pub(super) async fn call<Q: WireMessage>(
        &self,
        operation: &'static Operation,
        request: &Q,
        cursor: Option<u64>,
        settings: &Settings,
    ) -> Result<Reply, Error> {
        let mut parameters = Parameters::new();
        parameters.insert("A2A-Version".to_owned(), self.endpoint.version.to_string());
        if !settings.extensions.is_empty() {
            let name = match self.endpoint.version {
                Version::V1_0 => "A2A-Extensions",
                Version::V0_3 => "X-A2A-Extensions",
            };
            parameters.insert(name.to_owned(), settings.extensions.join(", "));
        }
        if let Some(cursor) = cursor {
            parameters.insert("Last-Event-ID".to_owned(), cursor.to_string());
        }
        let owned;
        let request = if self.endpoint.tenant.is_empty() {
            request
        } else {
            let mut of_tenant = request.clone();
            let set = of_tenant.set_text("tenant", &self.endpoint.tenant);
            set.map_err(|error| Error::Card(format!("tenant: {error}")))?;
            owned = of_tenant;
            &owned
        };
        tracing::debug!(
            operation = operation.name,
            binding = self.endpoint.binding.name,
            version = %self.endpoint.version,
            url = self.endpoint.url,
            "calls"
        );
        let tap = settings.tap.clone();
        match self.endpoint.version {
            Version::V0_3 => self.call_v0_3(operation, request, parameters, tap).await,
            Version::V1_0 => self.call_v1_0(operation, request, parameters, tap).await,
        }
    }

    /// Carries a call and shows what comes back to the tap, if there is one.
    async fn carry(
        &self,
        call: Outgoing,
        operation: &'static Operation,
        tap: Option<Tap>,
    ) -> Result<Carried, Error> {
        let (binding, version) = (self.endpoint.binding, self.endpoint.version);
        let format = self.channel.format();
        let carried = self.channel.call(call).await?;
        let Some(tap) = tap else { return Ok(carried) };
        let show = move |body: &Bytes| {
            tap.show(&Heard {
                operation: operation.name,
                binding,
                version,
                format,
                body,
            });
        };
        Ok(match carried {
            Carried::One(body) => {
                show(&body);
                Carried::One(body)
            }
            Carried::Many(pieces) => Carried::Many(Box::pin(pieces.inspect(move |piece| {
                if let Ok(piece) = piece {
                    show(&piece.body);
                }
            }))),
        })
    }

    async fn call_v1_0<Q: WireMessage>(
        &self,
        operation: &'static Operation,
        request: &Q,
        parameters: Parameters,
        tap: Option<Tap>,
    ) -> Result<Reply, Error> {
        let format = self.channel.format();
        let body = match format {
            Format::Json => request.to_json(),
            Format::Protobuf => request.to_protobuf(),
        };
        let call = Outgoing {
            asked: VersionedOperation::V1_0(operation),
            body,
            parameters,
        };
        Ok(match self.carry(call, operation, tap).await? {
            Carried::One(bytes) => Reply::One(Body { format, bytes }),
            Carried::Many(pieces) => Reply::Many(Box::pin(pieces.map(move |piece| {
                let Piece {
                    cursor,
                    body: bytes,
                } = piece?;
                Ok((cursor, Body { format, bytes }))
            }))),
        })
    }

    async fn call_v0_3<Q: WireMessage>(
        &self,
        operation: &'static Operation,
        request: &Q,
        parameters: Parameters,
        tap: Option<Tap>,
    ) -> Result<Reply, Error> {
        let (format, dialect) = (self.channel.format(), self.endpoint.binding.dialect);
        let found = v0_3::asking(operation, |row| match self.endpoint.binding.key {
            "rest" => !row.routes.is_empty(),
            "grpc" => row.rpc.is_some(),
            _ => row.method.is_some(),
        });
        let Some(row) = found else {
            let why = format!(
                "version 0.3 has no {} over {}",
                operation.name, self.endpoint.binding.name
            );
            return Err(Error::Settings(why));
        };
        let request = serde_json::to_value(request).expect("a message is always JSON");
        let call = Outgoing {
            asked: VersionedOperation::V0_3(row, dialect),
            body: row.ask(request, dialect, format).map_err(translated)?,
            parameters,
        };
        let read = move |bytes: Bytes| -> Result<Body, Error> {
            let bytes = row.hear(bytes, format).map_err(translated)?;
            Ok(Body {
                format: Format::Json,
                bytes,
            })
        };
        Ok(match self.carry(call, operation, tap).await? {
            Carried::One(bytes) => Reply::One(read(bytes)?),
            Carried::Many(pieces) => Reply::Many(Box::pin(pieces.map(move |piece| {
                let Piece { cursor, body } = piece?;
                Ok((cursor, read(body)?))
            }))),
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn translated(error: crate::Error) -> Error {
    Error::unclear(error.to_string())
}
